# SPDX-License-Identifier: Apache-2.0
"""What tutti's kernel has counted or measured, for the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from report.lines import Dataset
from report.style import MECHANISMS

NAME = "kernel"
# Instructions under QEMU, which are the same on every machine: kept with the sources, and compared
# by kernel/tests/kernel_test.py.
KEPT = Path(__file__).resolve().parent.parent / "kernel" / "exact.jsonl"
# The units that the page shows, with the words of their axes. The ticks of an emulator that runs
# its CPUs at once are neither instructions nor a time.
UNITS = {
    "instructions": "instructions under QEMU's icount",
    "cycles": "cycles of the time stamp counter",
}

Line = dict[str, Any]
# Values, rising, and how often each occurs.
Counts = list[tuple[int, int]]


def results(data: Dataset, metric: str, unit: str) -> list[Line]:
    """The lines of a metric over all receivers, in the order of MECHANISMS."""
    found = {
        line["name"]: line
        for line in data.kernel
        if line["type"] == "result" and line["metric"] == metric and line["unit"] == unit
        and line["name"] in MECHANISMS
    }
    return [found[name] for name in MECHANISMS if name in found]


def distribution(data: Dataset, name: str, metric: str, unit: str) -> Counts:
    wanted = {"type": "distribution", "name": name, "metric": metric, "unit": unit}
    return [
        (value, count)
        for line in data.kernel
        if wanted.items() <= line.items()
        for value, count in line["counts"]
    ]


def distributions_to_cores(data: Dataset, name: str, unit: str) -> dict[int, Counts]:
    """What a mechanism took to each core."""
    wanted = {"type": "distribution", "name": name, "metric": "unicast_to", "unit": unit}
    found: dict[int, Counts] = {}
    for line in data.kernel:
        if wanted.items() <= line.items():
            found.setdefault(line["receiver"], []).extend(line["counts"])
    return dict(sorted(found.items()))


def parts(data: Dataset, unit: str) -> list[Line]:
    """The lines with the parts of an interrupt."""
    return [line for line in data.kernel if line["type"] == "parts" and line["unit"] == unit]


def missing(data: Dataset) -> list[str]:
    why = data.why_failed(NAME)
    return [f"Not made: {text}" for text in why] or [
        "Not made: these lines have none of `tutti kernel run --bench --json`."
    ]
