# SPDX-License-Identifier: Apache-2.0
"""A pool of logical processors as the runtime Legion has it: what it takes until a task begins."""

from __future__ import annotations

from report.lines import Dataset
from report.model import Cell, Table
from report.statistics import format_count, format_time

NAME = "pool"
TITLE = "A pool of logical processors (section III.B of Hale and Dinda 2018)"
QUESTION = (
    "The submitter of a task tells all idle processors of a pool, which race for it: what does it "
    "take until the task begins?"
)
# How the processors are told, by the names in the lines.
TOLD = {
    "pthread_cond": "pthread_cond_broadcast",
    "tutti_event": "tutti::event, broadcast",
    "condition": "condition variable",
    "condition_kick": "condition variable with kick",
    "event": "event whose action wakes the processor",
    "action": "event whose action runs the task",
}
PLACES = {
    "ns": "user space, Linux",
    "instructions": "kernel, instructions under QEMU's icount",
    "cycles": "kernel, cycles of the time stamp counter",
}


def build(data: Dataset) -> Table:
    found = [line for line in data.kernel if line["type"] == "pool" and line["unit"] in PLACES]
    if not found:
        why = data.why_failed(NAME) or [
            "these lines have none of `tutti kernel run --program pool --json` or `tutti-pool`."
        ]
        return Table(NAME, TITLE, QUESTION, [], [], [], [], [f"Not made: {text}" for text in why])
    heads = ["where", "told by", "processors", "median", "p95", "lost races a task"]
    order = list(PLACES)
    rows = []
    for line in sorted(found, key=lambda line: order.index(line["unit"])):
        value = format_time if line["unit"] == "ns" else format_count
        cells = [
            PLACES[line["unit"]], TOLD.get(line["name"], line["name"]), str(line["processors"]),
            value(line["median"]), value(line["p95"]), f"{line['lost_races'] / line['tasks']:.2f}",
        ]
        rows.append([Cell(text) for text in cells])
    return Table(
        NAME, TITLE, QUESTION, [], heads, rows,
        [
            "From the instant before the submission to the first instruction of the task; the "
            "processors were idle. A processor that comes to a task which another one has taken "
            "has lost a race.",
            "Instructions of an emulator are no time, and do not compare with that of Linux. The "
            "paper describes the pool and prints no number of it.",
        ],
    )
