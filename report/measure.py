# SPDX-License-Identifier: Apache-2.0
"""Makes the runs of a plan one after the other and keeps their raw lines."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from report import hardware, kernel
from report.errors import ReportError
from report.lines import Dataset, assemble, parse_lines, read_file, replaced
from report.output import write_text
from report.plan import plan
from report.runs import Absent, Command, Programs, Run
from report.progress import Display

# A run that takes this many times its planned seconds, and so many seconds more, is taken for hung.
PATIENCE = 6
GRACE = 120
# Shells and launchers add this to the number of the signal that ended a program.
OF_A_SIGNAL = 128
# How the programs begin a sentence on stderr.
SPEAKER = re.compile(r"(tutti[\w-]*|compare\.py): ")
PROGRESS = re.compile(r" %  |: repetition \d+, cycle \d+")
LEFT_OUT = re.compile(r"compare\.py: (\w+) is left out: (.*)")


def runs_of(
    tutti: Path, quick: bool = False, long: bool = False, scratch: str = tempfile.gettempdir()
) -> list[Run]:
    """All runs of a report on the CPUs that this process may use."""
    return plan(len(os.sched_getaffinity(0)), quick, Programs(tutti, Path(scratch)), long)


def _chosen(runs: list[Run], only: list[str] | None, out: Path) -> tuple[list[Run], list[Path]]:
    """The runs to make, and the stored lines of the others."""
    if only is None:
        return runs, []
    names = [run.name for run in runs]
    for name in only:
        if name not in names:
            raise ReportError(f"no run is called {name}; there are: {', '.join(names)}.")
    stored = [out / f"{name}.jsonl" for name in names if name not in only]
    return [run for run in runs if run.name in only], [path for path in stored if path.is_file()]


def measure(
    tutti: Path, out: Path, quick: bool, display: Display, long: bool = False,
    only: list[str] | None = None,
) -> Dataset:
    """Makes all runs, or those that `only` names, and reads the lines of the others from `out`. A
    run that fails is told and left out, and only when all fail it is an error.
    """
    _check_command(tutti)
    failures = []
    with tempfile.TemporaryDirectory(prefix="tutti-report-") as scratch:
        runs, stored = _chosen(runs_of(tutti, quick, long, scratch), only, out)
        parsed = [(path, read_file(path)) for path in stored]
        with display.measuring(sum(run.seconds for run in runs), len(runs)):
            for run in runs:
                display.begin(run.question, run.seconds)
                path = out / f"{run.name}.jsonl"
                path.unlink(missing_ok=True)
                try:
                    text, troubles = _make(run, display)
                    write_text(path, text)
                    parsed.append((path, read_file(path)))
                except ReportError as error:
                    troubles = [str(error)]
                for trouble in troubles:
                    failures.append(f"{run.name}: {trouble}")
                    display.tell(f"not measured: {run.question}: {trouble}")
                display.end(run.seconds)
    if not parsed:
        raise ReportError(f"nothing could be measured; the first failure was {failures[0]}")
    _add_hardware(tutti, out, parsed, failures, display)
    _add_kernel(out, parsed, failures, display)
    data = assemble(parsed)
    data.failed = failures
    return data


def _add_hardware(
    tutti: Path, out: Path, parsed: list, failures: list[str], display: Display
) -> None:
    """What `make hardware` has found, or the cycles and cells that come with the sources."""
    results, path = hardware.results_beside(tutti), out / f"{hardware.NAME}.jsonl"
    path.unlink(missing_ok=True)
    if not results.is_file():
        display.tell(f"hardware: the cycles kept with the sources; {hardware.HOW}")
        results = hardware.KEPT
    try:
        text = hardware.text_of(results)
        parse_lines(text, f"{results}, line ")
        write_text(path, text)
        parsed.append((path, read_file(path)))
    except ReportError as error:
        failures.append(f"{hardware.NAME}: {error}")
        display.tell(f"not read: {error}")


def _add_kernel(out: Path, parsed: list, failures: list[str], display: Display) -> None:
    """The counts of tutti's kernel that come with the sources."""
    path = out / f"{kernel.NAME}.jsonl"
    try:
        read_file(kernel.KEPT)
        write_text(path, kernel.KEPT.read_text(encoding="utf-8"))
        parsed.append((path, read_file(path)))
    except ReportError as error:
        failures.append(f"{kernel.NAME}: {error}")
        display.tell(f"not read: {error}")


def _check_command(tutti: Path) -> None:
    if not tutti.is_file():
        raise ReportError(f"{tutti}: no such program; `make build` makes build/tutti.")
    if not os.access(tutti, os.X_OK):
        raise ReportError(f"{tutti}: not executable.")


def _make(run: Run, display: Display) -> tuple[str, list[str]]:
    """All lines of a run, and a sentence for each of its calls that gave none or crashed; an error
    when none gave any.
    """
    if not run.needs.is_file():
        raise ReportError(
            f"{run.needs}: no such program; the build leaves it out where what it needs is not "
            "installed."
        )
    allowed = min(run.limit, run.seconds * PATIENCE + GRACE)
    ends = time.monotonic() + allowed
    for command in run.prepare:
        _call(command, run, ends, lambda fraction: None, display)
    text, troubles = _lines_of(run, run.calls, ends, display)
    text = "".join(_absent_line(each) for each in run.absent) + text
    if not text:
        raise ReportError(troubles[0])
    if run.again is not None and not troubles:
        found = assemble([(Path(run.name), parse_lines(text, f"{run.name}, line "))])
        newer, troubles = _lines_of(run, run.again(found), ends, display)
        text = replaced(text, newer)
    return text, troubles


def _lines_of(
    run: Run, calls: tuple[Command, ...], ends: float, display: Display
) -> tuple[str, list[str]]:
    """What the calls print, and a sentence for each that gave nothing or crashed."""
    text, troubles = "", []
    for turn, command in enumerate(calls):
        if time.monotonic() > ends:
            left = f"{len(calls) - turn} of {len(calls)} calls"
            troubles.append(
                f"{left} were left out: the run took too long; planned were {run.seconds:.0f} s."
            )
            break
        def advance(fraction: float | None, turn: int = turn) -> None:
            if fraction is not None or len(calls) == 1:
                display.advance(fraction)
            else:
                display.advance(turn / len(calls))

        try:
            said, crash = _call(command, run, ends, advance, display)
            parse_lines(said, f"{run.name}, call {turn + 1}, line ")
            text += said
            troubles += crash
        except ReportError as error:
            troubles.append(str(error))
    return text, troubles


def _call(
    command: tuple[str, ...], run: Run, ends: float, advance, display: Display
) -> tuple[str, list[str]]:
    """The standard output of one call, and a sentence if it crashed after some lines; a failure
    without lines becomes an error, one sentence with the program's own last words.
    """
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    except OSError as error:
        raise ReportError(f"{command[0]}: cannot be started ({error.strerror}).") from None
    # Both pipes are drained all the time: a full one would stop the program in the middle of a
    # measurement.
    output: list[str] = []
    complaints: list[str] = []
    readers = [_drain(process.stdout, output), _drain(process.stderr, complaints)]
    try:
        while process.poll() is None:
            if time.monotonic() > ends:
                elapsed = time.monotonic() - started
                raise ReportError(
                    f"`{' '.join(command)}` was stopped after {elapsed:.0f} s; planned were "
                    f"{run.seconds:.0f} s."
                )
            advance(_fraction(complaints))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.1)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
        for reader in readers:
            reader.join(timeout=10)
    said = [
        line.strip() for line in complaints if SPEAKER.match(line) and not PROGRESS.search(line)
    ]
    last = said[-1].rstrip(".") if said else "it said nothing"
    failure = f"`{' '.join(command)}` failed with status {process.returncode}: {last}."
    if process.returncode != 0 and not output:
        raise ReportError(failure)
    # With output, a failure means that some contenders could not be measured; their lines say
    # which. A program that a signal ended could not say it, nor end its last line.
    crashed = process.returncode < 0 or process.returncode > OF_A_SIGNAL
    if crashed and not output[-1].endswith("\n"):
        del output[-1]
    for sentence in said:
        display.tell(sentence)
    return "".join(output) + "".join(_skipped_lines(said)), [failure] if crashed else []


def _absent_line(each: Absent) -> str:
    line = {
        "type": "skipped", "benchmark": each.benchmark, "provider": each.provider,
        "reason": each.reason,
    }
    return json.dumps(line) + "\n"


def _skipped_lines(said: list[str]) -> list[str]:
    """Programs that the comparison did without, as lines, so that stored lines tell it too."""
    found = [match for sentence in said if (match := LEFT_OUT.match(sentence))]
    return [
        _absent_line(Absent("phylo", match[1].lower(), match[2].rstrip("."))) for match in found
    ]


def _fraction(complaints: list[str]) -> float | None:
    """How far the program says it is, 0 to 1; None when it has not said it yet."""
    for line in reversed(complaints):
        found = re.match(r"tutti[\w-]*:\s+(\d+) %", line)
        if found:
            return int(found[1]) / 100
    return None


def _drain(pipe, into: list[str]) -> threading.Thread:
    reader = threading.Thread(target=lambda: into.extend(iter(pipe.readline, "")), daemon=True)
    reader.start()
    return reader
