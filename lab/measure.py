# SPDX-License-Identifier: Apache-2.0
"""Runs `tutti bench barrier --json` once for each question of the report and keeps the raw lines."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError
from lab.lines import Dataset, assemble, parse_line, read_file
from lab.output import write_text
from lab.progress import Display

# A run that takes this many times its planned seconds, and a minute more, is taken for hung.
PATIENCE = 6


@dataclass(frozen=True)
class Run:
    """One call of the command: a file name, what it asks in words, its options, and how long it may measure."""

    name: str
    question: str
    options: tuple[str, ...]
    seconds: float


def thread_counts(cores: int) -> list[int]:
    """1, the powers of two, the number of cores, and beyond it up to 64 or four times the cores."""
    highest = max(64, 4 * cores)
    powers = {2**k for k in range(highest.bit_length()) if 2**k <= highest}
    return sorted(powers | {cores})


def _joined(values: list[int]) -> str:
    return ",".join(str(value) for value in values)


def plan(cores: int, quick: bool) -> list[Run]:
    """About three minutes of measuring, or about half a minute when quick."""
    counts = thread_counts(cores)
    free = [n for n in counts if 1 < n <= cores] or [2]
    crowded = [n for n in (4, 8, 16, 64) if n > cores] or [2 * cores, 4 * cores]
    if quick:
        counts, crowded = [n for n in counts if n <= 4 * cores], crowded[:2]
    loop = ("--metric", "loop")
    # The defaults always wait adaptively; the fixed waits are shown on the simplest algorithm.
    waits = ("--algorithms", "default,default_rankless,ticket", "--wait", "all")
    two = ("--threads", "2", *waits)
    late = ("--scenario", "free,skew_500ns,skew_10us", "--metric", "last_in_last_out")
    runs = [
        Run("threads", "cost against the number of threads", ("--threads", _joined(counts), "--algorithms", "all", *loop), 50),
        Run(
            "latency", "last-in to last-out under random skew",
            ("--threads", _joined(sorted({2, free[-1]})), "--algorithms", "all", *late), 25,
        ),
        Run("oversubscription", "more threads than cores, every wait policy", ("--threads", _joined(crowded), *waits, *loop), 35),
        Run("neighbour", "a busy neighbour on one core, and on every core", ("--threads", "2,4", *waits, "--neighbour", "one,all", *loop), 40),
        Run("imbalance", "one participant late by 10 µs and by 1 ms", (*two, "--imbalance", "10us,1ms"), 15),
        Run("unpinned", "threads that are not pinned", (*two, "--pin", "none", *loop), 10),
    ]
    scale = 0.15 if quick else 1.0
    return [Run(r.name, r.question, r.options, max(2.0, r.seconds * scale)) for r in runs]


def command(tutti: Path, run: Run) -> list[str]:
    return [str(tutti), "bench", "barrier", *run.options, "--peers", "all", "--time", f"{run.seconds:g}", "--json"]


def measure(tutti: Path, out: Path, quick: bool, display: Display) -> Dataset:
    """Makes all runs; a run that fails is told and left out, and only when all fail it is an error."""
    _check_command(tutti)
    cores = len(os.sched_getaffinity(0))
    runs = plan(cores, quick)
    parsed, failures = [], []
    with display.measuring(sum(run.seconds for run in runs), len(runs)):
        for run in runs:
            display.begin(run.question, run.seconds)
            path = out / f"{run.name}.jsonl"
            path.unlink(missing_ok=True)
            try:
                text = _run(command(tutti, run), run, display)
                write_text(path, text)
                parsed.append((path, read_file(path)))
            except LabError as error:
                failures.append(f"{run.name}: {error}")
                display.tell(f"not measured: {run.question}: {error}")
            display.end(run.seconds)
    if not parsed:
        raise LabError(f"nothing could be measured; the first failure was {failures[0]}")
    data = assemble(parsed)
    data.failed = failures
    return data


def _check_command(tutti: Path) -> None:
    if not tutti.is_file():
        raise LabError(f"{tutti}: no such program; `make build` makes build/tutti.")
    if not os.access(tutti, os.X_OK):
        raise LabError(f"{tutti}: not executable.")


def _run(arguments: list[str], run: Run, display: Display) -> str:
    """The standard output of one call; its failure becomes one sentence with the command's own last words."""
    started = time.monotonic()
    try:
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise LabError(f"{arguments[0]}: cannot be started ({error.strerror}).") from None
    # Both pipes are drained all the time: a full one would stop the command in the middle of a measurement.
    output: list[str] = []
    complaints: list[str] = []
    readers = [_drain(process.stdout, output), _drain(process.stderr, complaints)]
    limit = run.seconds * PATIENCE + 60
    try:
        while process.poll() is None:
            elapsed = time.monotonic() - started
            if elapsed > limit:
                raise LabError(f"`{' '.join(arguments)}` was stopped after {elapsed:.0f} s; planned were {run.seconds:.0f} s.")
            display.advance(_fraction(complaints))
            time.sleep(0.1)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=10)
        for reader in readers:
            reader.join(timeout=10)
    said = [line.strip() for line in complaints if line.startswith("tutti:") and " %  " not in line]
    if process.returncode != 0 and not output:
        last = said[-1].rstrip(".") if said else "it said nothing"
        raise LabError(f"`{' '.join(arguments)}` failed with status {process.returncode}: {last}.")
    # With output, a failure means that some contenders could not be measured; their lines say which.
    for sentence in said:
        display.tell(sentence)
    for number, line in enumerate(output, start=1):
        parse_line(line, f"{run.name}, line {number}")
    return "".join(output)


def _fraction(complaints: list[str]) -> float | None:
    """How far the command says it is, 0 to 1; None when it has not said it yet."""
    for line in reversed(complaints):
        found = re.match(r"tutti:\s+(\d+) %", line)
        if found:
            return int(found[1]) / 100
    return None


def _drain(pipe, into: list[str]) -> threading.Thread:
    reader = threading.Thread(target=lambda: into.extend(iter(pipe.readline, "")), daemon=True)
    reader.start()
    return reader
