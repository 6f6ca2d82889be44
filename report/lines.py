# SPDX-License-Identifier: Apache-2.0
"""Reads the JSON lines of `tutti bench ... --json` and of the workloads into one data set, refusing
what cannot be trusted.

A line is an object with a "type": "machine", "floor", "result", "skipped", or of the hardware flow.
cli/result_line.json says what a result has. Unknown types and unknown keys are no error, so that an
older report reads the lines of a newer command.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Iterable

import polars as pl

from cli.result_line import PROPERTIES, fault, is_number, type_of, wrong_value
from report.errors import ReportError
from report.statistics import pool

POLARS = {"string": pl.String, "integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean}
# What can stand in a cell: neither the samples themselves nor an application's own numbers.
COLUMNS = {
    key: POLARS[type_of(key)] for key in PROPERTIES if key != "type" and type_of(key) in POLARS
}
RESULT_SCHEMA: dict[str, Any] = {"run": pl.String, "what": pl.String} | COLUMNS
FLOATS = [key for key, kind in COLUMNS.items() if kind == pl.Float64]

# Stands behind what was measured by a program that the compiler did not optimise.
UNOPTIMISED = ", compiled by -O0"

# What makes two result lines the same measurement.
KEY = [
    "benchmark", "what", "provider", "name", "wait", "threads", "ranks", "processes", "mpi",
    "detector", "graph", "order", "steps", "pin", "pinned",
    "scenario", "session", "metric",
]

USUAL_BENCHMARK = "barrier"
# Graphs that differ in nothing else are versions of one graph, over which the report averages.
SEED = re.compile(r",seed=\d+")
HARDWARE_TYPES = ("hardware", "cycles", "hardware_run")
KERNEL_TYPES = ("kernel_run", "distribution", "parts", "pool", "bound")
# How the types and the benchmarks of simulated machines begin. They never stand among what was
# measured.
SIMULATED = "sim_"


@dataclass
class Dataset:
    """Everything that one report is made from."""

    results: pl.DataFrame
    machines: list[dict[str, Any]] = field(default_factory=list)
    floors: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    sources: list[Path] = field(default_factory=list)
    # Lines of the hardware flow, as they are.
    hardware: list[dict[str, Any]] = field(default_factory=list)
    # Lines of tutti's kernel, of pools, and of the distributions and bounds of events, as they are.
    kernel: list[dict[str, Any]] = field(default_factory=list)
    # Lines of simulated machines, as they are.
    simulated: list[dict[str, Any]] = field(default_factory=list)
    # Runs that gave no lines, a sentence each.
    failed: list[str] = field(default_factory=list)

    @property
    def machine(self) -> dict[str, Any]:
        return self.machines[0] if self.machines else {}

    @property
    def cores(self) -> int | None:
        """The number of cores that the runs could use; from the machine line, or else from the
        results.
        """
        cores = self.machine.get("cores")
        if isinstance(cores, int) and cores > 0:
            return cores
        seen = self.results["cores"].drop_nulls()
        return int(seen.max()) if len(seen) else None

    def of(self, *benchmarks: str) -> Dataset:
        """The part that belongs to some benchmarks; machines and floors belong to all."""
        kept = [
            line for line in self.skipped if line.get("benchmark", USUAL_BENCHMARK) in benchmarks
        ]
        return replace(
            self, results=self.results.filter(pl.col("benchmark").is_in(benchmarks)), skipped=kept
        )

    def floor(self, quantity: str, threads: int | None = None) -> dict[str, Any] | None:
        """All floor lines of one quantity (and team, where it has one) pooled, or None when it was
        not measured.
        """
        found = [
            line
            for line in self.floors
            if line.get("quantity") == quantity and line.get("threads") == threads
        ]
        return pool(found) if found else None

    def why_failed(self, *runs: str) -> list[str]:
        """What is known of runs that gave no lines."""
        return [failure for failure in self.failed if failure.split(":")[0] in runs]

    def not_measured(self, run: str, otherwise: str | None = None) -> list[str]:
        """The same as notes of a figure: of several calls, some may have given lines. `otherwise`
        is the note if no failure is known.
        """
        known = self.why_failed(run) or ([otherwise] if otherwise else [])
        return [f"Not measured: {text}" for text in known]

    def why_missing(self, provider: str) -> str | None:
        """The reason that the command gave for leaving a provider out, if it gave one."""
        for line in self.skipped:
            if line.get("provider") == provider and line.get("reason"):
                return str(line["reason"])
        return None


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def parse_lines(text: str, where: str) -> list[dict[str, Any]]:
    """All lines of one output, checked; `where` stands before the number of the line in an error.
    """
    return [
        checked(_typed(line, f"{where}{number}"), f"{where}{number}")
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]


def json_object(text: str, where: str) -> dict[str, Any]:
    """The JSON object of one line; anything else is an error that says where it stands."""
    try:
        line = json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise ReportError(f"{where}: not a JSON line of tutti bench ({reason}).") from None
    if not isinstance(line, dict):
        raise ReportError(f"{where}: expected a JSON object, found {type(line).__name__}.")
    return line


def _typed(text: str, where: str) -> dict[str, Any]:
    line = json_object(text, where)
    if not isinstance(line.get("type"), str):
        raise ReportError(f'{where}: the key "type" is missing or not a string.')
    return line


def checked(line: dict[str, Any], where: str) -> dict[str, Any]:
    """The line, whose type is known; a result, a floor or a reason that cannot be right is an
    error.
    """
    if line["type"] == "result":
        _check_result(line, where)
    if line["type"] == "floor":
        _check_floor(line, where)
    # A contender and its situation, in the keys of a result.
    told = {key: value for key, value in line.items() if key != "type"}
    if line["type"] == "skipped" and (wrong := wrong_value(told)) is not None:
        raise ReportError(f"{where}: {wrong}")
    return line


def _check_result(line: dict[str, Any], where: str) -> None:
    if (wrong := fault(line)) is not None:
        raise ReportError(f"{where}: {wrong}")


def _check_floor(line: dict[str, Any], where: str) -> None:
    if not isinstance(line.get("quantity"), str):
        raise ReportError(f'{where}: a floor without the key "quantity".')
    if not is_number(line.get("median")):
        raise ReportError(f'{where}: a floor whose "median" is not a number.')


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ReportError(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise ReportError(f"{path}: not a text file in UTF-8.") from None


def kept_text(lines: list[dict[str, Any]], sources: Iterable[Path]) -> str:
    """The text of a kept file with these lines of the sources; an error if none is of a machine."""
    if all(line.get("type") != "machine" for line in lines):
        names = ", ".join(str(path) for path in sources)
        raise ReportError(f"{names}: no line of type machine, which tells what was measured on.")
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def read_file(path: Path) -> list[dict[str, Any]]:
    """All lines of one file; an unreadable, empty or malformed file is an error that names it."""
    lines = parse_lines(text_of(path), f"{path}:")
    if not lines:
        raise ReportError(
            f"{path}: the file has no lines; expected the output of tutti bench ... --json or of a "
            "workload."
        )
    return lines


def _what(line: dict[str, Any]) -> str:
    """What was repeated or computed, in the words of its own line: a kind of episode, an input, a
    size.
    """
    if line.get("patterns") is not None:
        return f"{line.get('taxa')} x {line['patterns']}"
    if line.get("length") is not None:
        return f"length {line['length']}{UNOPTIMISED if line.get('optimised') is False else ''}"
    return next(
        (
            str(line[key])
            for key in ("kind", "data", "input", "program", "application")
            if line.get(key)
        ),
        "",
    )


def row_of(line: dict[str, Any], run: str = "") -> dict[str, Any]:
    """The row of a result line, with what the line leaves out."""
    row = {key: line.get(key) for key in RESULT_SCHEMA}
    row["run"] = run
    row["benchmark"] = row["benchmark"] or USUAL_BENCHMARK
    row["what"] = _what(line)
    row["graph"] = SEED.sub("", row["graph"]) if row["graph"] else row["graph"]
    row["ranks"] = row["ranks"] or row["threads"]
    if row["p99"] is None:
        # Programs that run a few times say which run was the longest.
        row["p99"] = line.get("max")
    row["scenario"] = row["scenario"] or "free"
    row["session"] = row["session"] or ""
    row["wait"] = row["wait"] or ""
    row["unit"] = row["unit"] or "ns"
    row["pinned"] = bool(row["pinned"]) if row["pinned"] is not None else True
    for key in FLOATS:
        row[key] = float(row[key]) if row[key] is not None else None
    return row


def assemble(parsed: Iterable[tuple[Path, list[dict[str, Any]]]]) -> Dataset:
    """Joins the lines of several files; the same measurement made twice is pooled."""
    machines, floors, skipped, rows, sources, hardware, kernel = [], [], [], [], [], [], []
    simulated = []
    for path, lines in parsed:
        sources.append(path)
        for line in lines:
            if _is_simulated(line):
                simulated.append(line)
            elif line["type"] == "machine":
                machines.append(line)
            elif line["type"] == "floor":
                floors.append(line)
            elif line["type"] in ("skipped", "not_measured"):
                skipped.append(line)
            elif line["type"] in KERNEL_TYPES or (
                line["type"] == "result" and line["provider"] == "kernel"
                # The kernel on the simulated machine of hardware/machine: cycles without samples.
                and line.get("benchmark") != "machine_event"
            ):
                kernel.append(line)
            elif line["type"] == "result" and line.get("unit") == "cycles":
                hardware.append(line)
            elif line["type"] == "result":
                rows.append(row_of(line, path.stem))
            elif line["type"] in HARDWARE_TYPES:
                hardware.append(line)
    if not rows and not simulated:
        names = ", ".join(str(path) for path in sources)
        raise ReportError(f"{names}: no line of type result, so there is nothing to report.")
    return Dataset(
        pl.DataFrame(_pool_rows(rows), schema=RESULT_SCHEMA), machines, floors, skipped, sources,
        hardware, kernel, simulated,
    )


def _is_simulated(line: dict[str, Any]) -> bool:
    kind = line.get("benchmark") if line["type"] == "result" else line["type"]
    return str(kind).startswith(SIMULATED)


def replaced(text: str, newer: str) -> str:
    """The lines of `text` but for results that `newer` has too, and reasons why there was none of
    a contender that `newer` says something of; and then the lines of `newer`.
    """
    lines = parse_lines(newer, "line ")
    again = {_key(line) for line in lines if line["type"] == "result"}
    told = {_contender(line) for line in lines if line["type"] in ("result", "skipped")}
    kept = [
        each
        for each, line in zip(text.splitlines(), parse_lines(text, "line "), strict=True)
        if not (
            (line["type"] == "result" and _key(line) in again)
            or (line["type"] == "skipped" and _contender(line) in told)
        )
    ]
    return "".join(f"{each}\n" for each in kept) + newer


def _contender(line: dict[str, Any]) -> tuple[Any, ...]:
    """A contender in a situation, whatever is measured of it; lines of both types have this."""
    keys = ("provider", "name", "wait", "threads", "session")
    usual = (line.get("benchmark") or USUAL_BENCHMARK, line.get("scenario") or "free")
    return (*usual, *(line.get(key) or "" for key in keys))


def _key(line: dict[str, Any]) -> tuple[Any, ...]:
    row = row_of(line)
    return tuple(row[key] for key in KEY)


def _pool_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in KEY), []).append(row)
    return [pool(group) for group in groups.values()]


def load(paths: Iterable[Path]) -> Dataset:
    return assemble([(path, read_file(path)) for path in paths])
