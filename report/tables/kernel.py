# SPDX-License-Identifier: Apache-2.0
"""The parts of an interrupt's cost in tutti's kernel beside the paper's."""

from __future__ import annotations

from report import kernel
from report.lines import Dataset
from report.model import Cell, Table
from report.papers import HALE_PARTS
from report.statistics import format_count

NAME = "kernel_parts"
TITLE = "Parts of an interrupt (figures 19 and 20 of Hale and Dinda 2018)"
QUESTION = (
    "What do the source, the flight and the destination of an interrupt from core to core cost, "
    "and what would it cost if a core took it like a system call?"
)
ROWS = (
    ("at the source", "source"),
    ("in flight, as a difference", "flight"),
    ("at the destination", "destination"),
    ("the whole interrupt", "interrupt"),
    ("a system call", "system_call"),
    ("an interrupt taken like a system call (figure 20)", "interrupt_as_system_call"),
)


def build(data: Dataset) -> Table:
    found = {
        line["unit"]: line
        for line in data.kernel
        if line["type"] == "parts" and line["unit"] in kernel.UNITS
    }
    if not found:
        return Table(NAME, TITLE, QUESTION, [], [], [], [], kernel.missing(data))
    heads = ["part", "the paper, x64: least cycles", *(kernel.UNITS[unit] for unit in found)]
    rows = []
    for words, key in ROWS:
        paper = HALE_PARTS.get(key)
        cells = [format_count(line[key]) for line in found.values()]
        rows.append(
            [Cell(words), Cell("no number", kind="muted") if paper is None else Cell(f"{paper:,}"),
             *(Cell(text) for text in cells)]
        )
    runs = [line for line in data.kernel if line["type"] == "kernel_run"]
    captions = [
        f"{run['emulator']} counted; {run['compiler']} built the kernel." for run in runs
    ]
    captions.append(
        "Instructions and cycles do not compare: the processor's own steps, the dispatch of an "
        "interrupt and the write to the controller, are one instruction each in the emulator."
    )
    return Table(NAME, TITLE, QUESTION, [], heads, rows, captions)
