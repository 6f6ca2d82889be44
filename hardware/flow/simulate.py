# SPDX-License-Identifier: Apache-2.0
"""Simulations: Verilator makes a C++ model, a harness drives it, and its JSON lines become results.

A harness gets the model's class as `model` from "model.h", the parameters as macros in capitals
(Threads -> THREADS), and the repository and include/ as include folders. The flow calls it as
    harness [arguments...] [--waves FILE] [--coverage FILE]
and it returns 0 (passed), 1 (a check failed; stderr says which) or 2 (bad arguments).
A harness in Python builds and runs what it likes: it is called with its arguments, a folder and the
sources, and returns 0, 1, 3 (no model) or 77 (a tool is missing).
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
        waves: bool, coverage: tuple, quick: bool) -> tools.Outcome:  # fmt: skip
    """Builds folder/model/harness. `coverage` has the kinds that the model counts: line, toggle,
    user (cover statements). A quick run takes less time than the compilation of its model: it is
    compiled as one file, because each file reads Verilator's headers, which takes a second."""
    shutil.rmtree(folder / "model", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    # Harnesses name the class `model`, whatever the top module is called.
    (folder / "model.h").write_text(
        "// Made by hardware/flow.\n#pragma once\n#include \"Vmodel.h\"\nusing model = Vmodel;\n")
    defines = [f"-D{_macro(key)}={value}" for key,
        value in {**parameters, **simulation.defines}.items()]
    flags = ["-std=c++20", "-Wall", "-Wextra", *defines]
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
    made = "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O0" + " VM_PARALLEL_BUILDS=0" * quick
    command += ["-MAKEFLAGS", made]
    command += [f"-G{key}={value}" for key, value in parameters.items()]
    if waves:
        command.append("--trace")
    command += [f"--coverage-{kind}" for kind in coverage]
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
        command = [sys.executable, program, *simulation.arguments, folder, *sources]
        outcome = tools.run(command, BUILD_SECONDS + simulation.timeout)
        if outcome.status == 77:
            raise tools.Absent(tools.tail(outcome.text, 1))
        return outcome
    coverage = ("line", "toggle") if simulation.coverage and not quick else ()
    made = build(unit, simulation, parameters, sources, folder, waves is not None, coverage,
        quick)
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
    outcome = tools.run(command, simulation.timeout, folder)
    if simulation.kept and outcome.status == 0:
        wrong = _not_as_kept(unit, simulation, parameters, outcome.text)
        if wrong:
            return tools.Outcome(1, f"{outcome.text}\n{wrong}", outcome.seconds)
    return outcome


def measured(parameters: dict, text: str) -> list:
    """Returns what a simulation measured: its lines of JSON, with its parameters."""
    return [{**parameters, **json.loads(line)} for line in text.splitlines()
        if line.startswith("{")]  # fmt: skip


def _kept(unit: Unit, simulation: Simulation) -> dict:
    """Returns the lines that the sources keep of a simulation, by the label of their parameters."""
    file = unit.folder / simulation.kept
    rows = file.read_text("utf-8").splitlines() if file.is_file() else []
    return _by_size([json.loads(row) for row in rows])


def _by_size(lines: list) -> dict:
    found: dict = {}
    for line in lines:
        size = label({key: value for key, value in line.items() if key[:1].isupper()})
        found.setdefault(size, []).append(line)
    return found


def _not_as_kept(unit: Unit, simulation: Simulation, parameters: dict, text: str) -> str:
    """Returns a sentence about the first line that is not the one that the sources keep."""
    made = measured(parameters, text)
    kept = _kept(unit, simulation).get(label(parameters), [])
    if len(made) != len(kept):
        return f"{len(made)} lines were measured, {simulation.kept} keeps {len(kept)}"
    return next((f"{simulation.kept} keeps {old}, now it is {new}"
        for old, new in zip(kept, made) if old != new), "")  # fmt: skip


def keep(unit: Unit, simulation: Simulation, lines: list) -> None:
    """Writes new lines in place of those of the same parameters that the sources keep."""
    kept = {**_kept(unit, simulation), **_by_size(lines)}
    text = "".join(json.dumps(line) + "\n" for size in kept for line in kept[size])
    (unit.folder / simulation.kept).write_text(text, "utf-8")


def covers(unit: Unit, simulation: Simulation, parameters: dict,
        folder: pathlib.Path) -> tuple:  # fmt: skip
    """Returns (how often each cover statement was true by its name, outcome) of a simulation that
    drives a proof's top."""
    made = build(unit, simulation, parameters, unit.sources, folder, False, ("user",), False)
    if made.status != 0:
        return {}, made
    command = [folder / "model" / "harness", *simulation.arguments, "--coverage", "coverage.dat"]
    outcome = tools.run(command, simulation.timeout, folder)
    data = folder / "coverage.dat"
    counts = {}
    if outcome.status == 0 and data.is_file():
        points = re.findall(r"v_user/.*\.(\w+)' (\d+)$", data.read_text(errors="replace"), re.M)
        counts = {name: int(count) for name, count in points}
    return counts, outcome


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
    said = [line for line in outcome.text.splitlines() if not line.startswith("{")]
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
    for values in measured(parameters, outcome.text):
        lines.append({"type": "cycles", "unit": unit.name, "simulation": simulation.name,
            **values})
    return lines
