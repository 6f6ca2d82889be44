# SPDX-License-Identifier: Apache-2.0
"""Simulations: Verilator makes a C++ model, a harness drives it, and its JSON lines become results.

A harness gets the model's class as `model` from "model.h", the parameters as macros in capitals
(Threads -> THREADS), and the repository and include/ as include folders. The flow calls it as
    harness [arguments...] [--waves FILE] [--coverage FILE]
and it returns 0 (passed), 1 (a check failed; stderr says which) or 2 (bad arguments).
A harness in Python builds and runs what it likes: it is called with a folder and the sources, and
returns 0, 1, 3 (no model) or 77 (a tool is missing).
"""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import sys

from . import tools
from .results import FAILED, PASSED, result
from .unit import HARDWARE, ROOT, Simulation, Unit, label

# A mesh of 48 nodes takes long to build on a machine that is busy.
BUILD_SECONDS = 1800


def _macro(name: str) -> str:
    """Converts MaxThreads to MAX_THREADS."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def build(unit: Unit, simulation: Simulation, parameters: dict, sources: list, folder: pathlib.Path,
        waves: bool,
          coverage: bool) -> tools.Outcome:  # fmt: skip
    """Builds folder/model/harness."""
    shutil.rmtree(folder / "model", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    # Harnesses name the class `model`, whatever the top module is called.
    (folder / "model.h").write_text(
        "// Made by hardware/flow.\n#pragma once\n#include \"Vmodel.h\"\nusing model = Vmodel;\n")
    defines = [f"-D{_macro(key)}={value}" for key,
        value in {**parameters, **simulation.defines}.items()]
    flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", *defines]
    if waves:
        flags.append("-DWAVES")
    if coverage:
        flags.append("-DCOVERAGE")
    flags += [f"-I{folder}", f"-I{ROOT}", f"-I{ROOT}/include"]
    command = [tools.find("verilator"), "--cc", "--exe", "--build", "-j", "1", "--assert",
        "-Wno-fatal", "-Wno-lint"]
    command += ["-Wno-style", "--prefix", "Vmodel", "--top-module", simulation.top, "-Mdir",
        folder / "model"]
    command += ["-o", "harness", "--x-initial", "unique", "-O3", "-CFLAGS", " ".join(flags),
        "-LDFLAGS", "-pthread"]
    command += [f"-G{key}={value}" for key, value in parameters.items()]
    if waves:
        command.append("--trace")
    if coverage:
        command += ["--coverage-line", "--coverage-toggle"]
    command += sources + [unit.folder / f for f in simulation.files]
    command += [unit.folder / f for f in simulation.harness]
    # Builds in other folders share what they compile.
    cached = {"OBJCACHE": "ccache", "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}
    if not shutil.which("ccache"):
        cached = {}
    return tools.run(command, BUILD_SECONDS, folder, cached)


def run_once(unit: Unit, simulation: Simulation, parameters: dict, sources: list,
        folder: pathlib.Path, quick: bool,
             waves: pathlib.Path | None = None) -> tools.Outcome:  # fmt: skip
    """Builds and runs a harness; status 3 means that the build failed."""
    if simulation.harness[0].endswith(".py"):
        program = unit.folder / simulation.harness[0]
        command = [sys.executable, program, folder, *sources]
        outcome = tools.run(command, BUILD_SECONDS + simulation.timeout)
        if outcome.status == 77:
            raise tools.Absent(tools.tail(outcome.text, 1))
        return outcome
    coverage = simulation.coverage and not quick
    made = build(unit, simulation, parameters, sources, folder, waves is not None, coverage)
    if made.status != 0:
        return tools.Outcome(3, made.text, made.seconds)
    arguments = simulation.arguments
    if quick and simulation.quick_arguments:
        arguments = simulation.quick_arguments
    command = [folder / "model" / "harness", *arguments]
    if waves is not None:
        command += ["--waves", waves]
    if coverage:
        command += ["--coverage", folder / "coverage.dat"]
    return tools.run(command, simulation.timeout, folder)


def _coverage(folder: pathlib.Path) -> dict:
    """Returns the percentages of the unit's lines and signal toggles that the run reached; empty
    without data."""
    data = folder / "coverage.dat"
    if not data.is_file():
        return {}
    hit, total = {"line": 0, "toggle": 0}, {"line": 0, "toggle": 0}
    for line in data.read_text(errors="replace").splitlines():
        match = re.match(r"C '(.*)' (\d+)$", line)
        if not match or str(HARDWARE) not in match.group(1):
            continue
        kind = "toggle" if "v_toggle" in match.group(1) else "line"
        total[kind] += 1
        hit[kind] += int(match.group(2)) > 0
    return {kind: round(100.0 * hit[kind] / total[kind], 1) for kind in total if total[kind]}


def simulate(unit: Unit, simulation: Simulation, parameters: dict, folder: pathlib.Path,
        quick: bool,
             waves_folder: pathlib.Path | None) -> list:  # fmt: skip
    """Returns the results of one simulation at one set of parameters: its verdict, then its
    measurements."""
    name = f"{simulation.name} {label(parameters)}".strip()
    waves = None
    if waves_folder is not None:
        waves_folder.mkdir(parents=True, exist_ok=True)
        waves = waves_folder / (f"{unit.name}-{simulation.name}-{label(parameters)}".strip("-")
            + ".vcd")
    outcome = run_once(unit, simulation, parameters, unit.sources, folder, quick, waves)
    measured, said = [], []
    for line in outcome.text.splitlines():
        if line.startswith("{"):
            measured.append(json.loads(line))
        else:
            said.append(line)
    ok = outcome.status == 0
    log = "" if ok else ("the time was up" if outcome.timed_out else tools.tail("\n".join(said)))
    percent = _coverage(folder) if ok else {}
    note = f"{outcome.seconds:.1f} s" + "".join(f", {value} % of {kind}s" for kind,
        value in percent.items())
    lines = [
        # fmt: off
        result(unit.name, "simulate", name, PASSED if ok else FAILED, outcome.seconds,
            parameters=parameters,
               coverage_percent=percent, note=note, log=log)
        # fmt: on
    ]
    for values in measured:
        lines.append({"type": "cycles", "unit": unit.name, "simulation": simulation.name,
            **parameters, **values})
    return lines
