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


def results(data: Dataset, metric: str, unit: str) -> list[Line]:
    """The lines of a metric over all receivers, in the order of MECHANISMS."""
    found = {
        line["name"]: line
        for line in data.kernel
        if line["type"] == "result" and line["metric"] == metric and line["unit"] == unit
        and line["name"] in MECHANISMS
    }
    return [found[name] for name in MECHANISMS if name in found]


def distribution(data: Dataset, name: str, metric: str, unit: str) -> list[tuple[int, int]]:
    """Values, rising, and how often each occurs."""
    wanted = {"type": "distribution", "name": name, "metric": metric, "unit": unit}
    return [
        (value, count)
        for line in data.kernel
        if wanted.items() <= line.items()
        for value, count in line["counts"]
    ]


def missing(data: Dataset) -> list[str]:
    why = data.why_failed(NAME)
    return [f"Not made: {text}" for text in why] or [
        "Not made: these lines have none of `tutti kernel run --bench --json`."
    ]
