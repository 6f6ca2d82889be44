# SPDX-License-Identifier: Apache-2.0
"""Checks every module alone: Verilator's warnings, Slang's elaboration, and whether these tools
refuse the bad parameters that unit.toml lists. tools.py runs the tools, each for at most 120 s.
"""

from __future__ import annotations

import pathlib

from . import tools
from .results import FAILED, PASSED, result
from .unit import Module, Unit, label, with_black_boxes


def _verilator(unit: Unit, module: Module, parameters: dict, folder: pathlib.Path,
        sources: list | None = None) -> tools.Outcome:  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    waived = [f"-Wno-{name}" for name in module.waive]
    generics = [f"-G{key}={value}" for key, value in parameters.items()]
    return tools.run(
        # fmt: off
        [tools.find("verilator"), "--lint-only", "-Wall", "-Wno-DECLFILENAME", "-Wno-UNUSEDPARAM",
            *waived, *generics,
         "--top-module", module.name, *with_black_boxes(unit, module, sources or unit.sources)],
        # fmt: on
        120,
        folder,
    )


def warnings(unit: Unit, module: Module, parameters: dict, sources: list,
        folder: pathlib.Path) -> list:  # fmt: skip
    """Returns Verilator's warnings and errors about other sources in place of the unit's."""
    outcome = _verilator(unit, module, parameters, folder, sources)
    return [line for line in outcome.text.splitlines() if line.startswith(("%Warning", "%Error"))]


def slang(unit: Unit, module: Module, parameters: dict, folder: pathlib.Path,
        sources: list | None = None) -> tools.Outcome:  # fmt: skip
    """Elaborates a module, from other sources in place of the unit's if they are given."""
    generics = " ".join(f"-G {key}={value}" for key, value in parameters.items())
    files = " ".join(tools.stage(
        with_black_boxes(unit, module, sources or unit.sources), folder))  # fmt: skip
    return tools.yosys(
        f"read_slang -j 1 --top {module.name} {generics} {files}\n"
        # read_slang leaves no process; `proc` would walk through all cells and find nothing.
        "hierarchy -check\nselect -assert-none p:* t:$dlatch t:$adlatch\ncheck -assert\n",
        folder,
        120,
    )


def lint(unit: Unit, module: Module, parameters: dict, folder: pathlib.Path) -> list:
    """Passes if Verilator gives no warning."""
    name = f"{module.name} {label(parameters)}".strip()
    outcome = _verilator(unit, module, parameters, folder)
    ok = outcome.status == 0 and "%Warning" not in outcome.text
    log = "" if ok else tools.tail(outcome.text)
    return [result(unit.name, "lint", name, PASSED if ok else FAILED, outcome.seconds, log=log)]


def elaborate(unit: Unit, module: Module, parameters: dict, folder: pathlib.Path) -> list:
    """Passes if Yosys, reading with Slang, elaborates the module and finds no latch, no
    combinational loop, and no net with two drivers or none."""
    name = f"{module.name} {label(parameters)}".strip()
    outcome = slang(unit, module, parameters, folder)
    ok = outcome.status == 0
    log = "" if ok else tools.tail(outcome.text)
    return [result(unit.name, "elaborate", name, PASSED if ok else FAILED, outcome.seconds,
        log=log)]


def refuse(unit: Unit, module: Module, refusal, folder: pathlib.Path) -> list:
    """Passes if the refusal's tools stop at bad parameters with the module's own message."""
    name = f"{module.name} refuses {label(refusal.parameters)}"
    problems, seconds = [], 0.0
    for tool in refusal.tools:
        read = {"verilator": _verilator, "slang": slang}[tool]
        outcome = read(unit, module, refusal.parameters, folder / tool)
        seconds += outcome.seconds
        if outcome.status == 0:
            problems.append(f"{tool} accepts it")
        elif refusal.message not in outcome.text:
            problems.append(
                f"{tool} does not say '{refusal.message}' but: {tools.first_error(outcome.text)}")
    status = FAILED if problems else PASSED
    return [result(unit.name, "refuse", name, status, seconds, log="; ".join(problems))]
