# SPDX-License-Identifier: Apache-2.0
"""Last-in to last-out: the time from the last arrival until the last participant has left."""

from __future__ import annotations

from report.figures.common import SPREAD, absent_peers, dots, drawable, one_way, share_x, verdict
from report.lines import Dataset
from report.model import Figure, Rule
from report.select import (
    Row,
    default_of,
    duration_of,
    is_free,
    rows,
    scenario_words,
    threads_words,
    usual_wait,
)
from report.statistics import format_time

TITLE = "Last-in to last-out"
QUESTION = (
    "The participants arrive at random times. From the last arrival until the last has left: how "
    "long? This is the latency "
    "that a program feels; a back-to-back loop understates it."
)


def _excess(cell: list[Row]) -> list[str]:
    ours = default_of(cell)
    if ours is None or ours["excess_median"] is None:
        return []
    if ours["floor"] not in (None, "line_one_way"):
        return []
    return [
        f"It is {format_time(ours['excess_median'])} above the one-way line transfer of the same "
        "rounds."
    ]


def build(data: Dataset) -> Figure:
    found = rows(
        data, metric="last_in_last_out", pinned=True, threads=lambda n: n > 1,
        scenario=lambda s: is_free(s) or s.startswith("skew_")
    )
    found, notes = drawable(row for row in found if usual_wait(row))
    if not found:
        missing = ["Not measured: no result with metric last_in_last_out."]
        return Figure("last_in_last_out", TITLE, QUESTION, [], [], missing)
    floor = one_way(data)
    panels, captions = [], []
    cells = sorted(
        {(row["threads"], row["scenario"]) for row in found},
        key=lambda c: (c[0], duration_of(c[1]) or 0, c[1]),
    )
    for threads, scenario in cells:
        cell = [row for row in found if (row["threads"], row["scenario"]) == (threads, scenario)]
        arrivals = "no skew added" if is_free(scenario) else scenario_words(scenario)
        title = f"{threads_words(threads)}, {arrivals}"
        within = floor is not None and (data.cores is None or threads <= data.cores)
        rules = [Rule(floor, "one line transfer", True)] if within else []
        panels.append(dots(title, cell, f"last-in to last-out: {SPREAD}", rules))
        captions.append(" ".join([verdict(cell, title), *_excess(cell)]))
    return Figure(
        "last_in_last_out", TITLE, QUESTION, share_x(panels), captions,
        notes + absent_peers(data, found),
    )
