# SPDX-License-Identifier: Apache-2.0
"""NESL's programs on the vector machine: one and two threads, beside plain loops."""

from __future__ import annotations

from report.granularity import PREFIX
from report.lines import Dataset
from report.model import Cell, Table
from report.papers import VECTOR_PROGRAMS
from report.select import Row, rows
from report.statistics import format_ratio, format_time

NAME = "vcode"
TITLE = "Programs of the vector machine"
QUESTION = (
    "What the NESL compiler makes of quicksort, quickhull, sparse products, ...: how long does it "
    "take, what does the second thread "
    "gain, and what would a loop written by hand take?"
)
HEADS = [
    "program", "fresh memory: 1 thread", "2 threads", "speed-up", "kept memory: 1 thread",
    "2 threads", "speed-up", "plain loop", "of the loop's time",
]
# (memory, threads), or "loop".
Runs = dict[tuple[str, int] | str, Row]
FRESH, KEPT = "fresh_memory", "kept_memory"
# A ratio below this is shown as a loss.
NOTABLY = 0.97
DASH = Cell("–", kind="muted")


def _time(row: Row | None) -> Cell:
    if row is None:
        return DASH
    extent = (
        f"{format_time(row['min'])} to {format_time(row['p99'])}"
        if row["samples"] and row["samples"] > 1
        else ""
    )
    return Cell(format_time(row["median"]), extent)


def _ratio(over: float | None, under: float | None, slower: bool = True) -> Cell:
    if not over or not under:
        return DASH
    ratio = over / under
    return Cell(format_ratio(ratio), kind="bad" if slower and ratio < NOTABLY else "")


def programs(data: Dataset) -> dict[str, Runs]:
    """The columns of a program: (memory, threads) for the lazy engine, "loop" for the plain loop.
    """
    made: dict[str, Runs] = {}
    for row in rows(data, benchmark=NAME, what=_is_program):
        if row["provider"] == "tutti" and row["name"] == "lazy" and row["threads"] in (1, 2):
            made.setdefault(row["what"], {})[row["scenario"], row["threads"]] = row
        if row["provider"] == "plain":
            made.setdefault(row["what"], {})["loop"] = row
    return made


def _is_program(what: str) -> bool:
    """Vectors of each length have a figure of their own."""
    return not what.startswith(PREFIX)


def build(data: Dataset) -> Table:
    made = Table(NAME, TITLE, QUESTION, [], HEADS, [])
    found = programs(data)
    if not found:
        missing = data.why_failed(NAME) or ["no result of benchmark vcode."]
        made.missing = [f"Not measured: {text}" for text in missing]
        return made
    order = [
        *(name for name in VECTOR_PROGRAMS if name in found),
        *sorted(set(found) - set(VECTOR_PROGRAMS)),
    ]
    for name in order:
        runs = [
            found[name].get(key) for key in ((FRESH, 1), (FRESH, 2), (KEPT, 1), (KEPT, 2), "loop")
        ]
        fresh, fresh_two, kept, kept_two, by_hand = (row["median"] if row else None for row in runs)
        made.rows.append(
            [
                Cell(name), _time(runs[0]), _time(runs[1]), _ratio(fresh, fresh_two),
                _time(runs[2]), _time(runs[3]),
                _ratio(kept, kept_two), _time(runs[4]), _ratio(kept, by_hand, slower=False),
            ]
        )
    made.captions = [
        "The plain loop is C++ on one thread, compiled like tutti; what the machine takes over it "
        "is what its vectors cost.",
        "Fresh memory: as for a process that has just begun, for whom the system must find and "
        "clear each page. Kept memory: touched "
        "by an earlier run, as for a program that calls the machine again and again; here the "
        "second thread shows what it is worth.",
        *_losses(found),
    ]
    return made


def _losses(found: dict[str, Runs]) -> list[str]:
    slower = [
        f"{name} ({format_ratio(runs[KEPT, 1]['median'] / runs[KEPT, 2]['median'])})"
        for name, runs in found.items()
        if (KEPT, 1) in runs
        and (KEPT, 2) in runs
        and runs[KEPT, 1]["median"] < NOTABLY * runs[KEPT, 2]["median"]
    ]
    return (
        [f"Slower with two threads than with one, by more than 3 %: {', '.join(slower)}."]
        if slower
        else []
    )
