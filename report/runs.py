# SPDX-License-Identifier: Apache-2.0
"""One of the runs that a report is measured by."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from report.lines import Dataset

Command = tuple[str, ...]


@dataclass(frozen=True)
class Absent:
    """Something that this machine lacks, so that a run does without it; the page says so."""

    benchmark: str
    provider: str
    reason: str


@dataclass(frozen=True)
class Run:
    """A file name, what it asks in words, how long it may measure, the program that it needs, and
    what is called.
    """

    name: str
    question: str
    seconds: float
    needs: Path
    calls: tuple[Command, ...]
    # Makes the input that the calls read; says nothing that is kept.
    prepare: tuple[Command, ...] = ()
    absent: tuple[Absent, ...] = ()
    # Calls that measure again what the calls before found; their lines replace those of the same
    # measurements.
    again: Callable[[Dataset], tuple[Command, ...]] | None = None
    # Seconds after which the rest is left out, even if it is not taken for hung yet.
    limit: float = math.inf


@dataclass(frozen=True)
class Programs:
    """The command `tutti`; the workloads lie beside it. `scratch` is for inputs that are made and
    thrown away.
    """

    tutti: Path
    scratch: Path

    def workload(self, name: str) -> Path:
        return self.tutti.parent / f"tutti-{name}"


def joined(values: list[int]) -> str:
    return ",".join(str(value) for value in values)


def bench(
    programs: Programs, quick: bool, name: str, question: str, seconds: float, *options: str
) -> Run:
    """A run of `tutti bench` that ends by --time."""
    seconds = max(2.0, seconds * (0.15 if quick else 1.0))
    call = (
        str(programs.tutti), "bench", *options, "--peers", "all", "--time", f"{seconds:g}",
        "--json",
    )
    return Run(name, question, seconds, programs.tutti, (call,))
