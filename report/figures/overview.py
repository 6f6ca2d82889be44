# SPDX-License-Identifier: Apache-2.0
"""The picture at the top of the README: tutti's default and what most programs use, in two panels
of a few lines.
"""

from __future__ import annotations

from itertools import groupby
from typing import Callable

from report import style
from report.figures.common import drawable, hover, loop_rows, time_axis
from report.figures.threads import floor_series
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.select import Row, duration_of, is_free, is_gap, rows, usual_wait

TITLE = "tutti's default and what programs use today"
QUESTION = (
    "What does a barrier cost with more and more threads, and a parallel region after more and "
    "more serial code?"
)
# Provider and name of each line; the name "" is any.
BARRIERS = (("tutti", "default"), ("std", ""), ("pthread", ""), ("libgomp", "default"))
REGIONS = (
    ("tutti", "default"), ("pthread", ""), ("libgomp", "default"), ("libgomp", "passive"),
    ("tbb", ""),
)
CONSTANT = ("_uniform", "_alternating")
# What a reader must know of a line to compare it with the others.
NOTES = {("region", "libgomp"): "libgomp (polls meanwhile)"}


def is_shown(row: Row, wanted: tuple[tuple[str, str], ...]) -> bool:
    """True for a contender of the list with its usual wait policy."""
    return usual_wait(row) and any(
        row["provider"] == provider and name in ("", row["name"]) for provider, name in wanted
    )


def _series(found: list[Row], place: Callable[[Row], float]) -> list[Series]:
    series = []
    ordered = sorted(
        found, key=lambda row: (not style.is_default(row), style.label(row), place(row))
    )
    for turn, (name, group) in enumerate(groupby(ordered, key=style.label)):
        group = list(group)
        points = [Point(place(row), row["median"], text=hover(row)) for row in group]
        color = style.color(group[0]["provider"])
        dash = "dash" if name.endswith("passive") else "solid"
        name = NOTES.get((group[0]["benchmark"], name), name)
        series.append(
            Series(
                name, color, points, emphasis=style.is_default(group[0]), dash=dash,
                marker=style.MARKERS[turn % 7],
            )
        )
    return series


def barrier_rows(data: Dataset) -> list[Row]:
    found = loop_rows(data.of("barrier"), scenario=is_free, pinned=True, threads=lambda n: n > 1)
    return drawable(row for row in found if is_shown(row, BARRIERS))[0]


def region_rows(data: Dataset) -> list[Row]:
    found = rows(
        data.of("region"), metric="latency", what="empty", threads=2, ranks=2, pinned=True,
        scenario=lambda text: is_gap(text) and not any(suffix in text for suffix in CONSTANT),
    )
    return drawable(row for row in found if is_shown(row, REGIONS))[0]


def _barriers(data: Dataset) -> list[Panel]:
    found = barrier_rows(data)
    if not found:
        return []
    series = _series(found, lambda row: row["threads"])
    floor = floor_series(data, found)
    if floor is not None:
        series.append(floor)
    ticks = [(n, str(n)) for n in sorted({row["threads"] for row in found})]
    rules = [Rule(data.cores, f"{data.cores} cores", True)] if data.cores else []
    axis = Axis("threads", log=True, ticks=ticks)
    return [
        Panel("A barrier", axis, time_axis("time per episode (median)"), series, rules, height=460)
    ]


def _regions(data: Dataset) -> list[Panel]:
    found = region_rows(data)
    if not found:
        return []
    axis = Axis("serial code before the region", log=True, time=True)
    series = _series(found, lambda row: duration_of(row["scenario"]))
    title = "A parallel region of two threads"
    return [Panel(title, axis, time_axis("time until it is over (median)"), series, height=460)]


def build(data: Dataset) -> Figure:
    panels = [*_barriers(data), *_regions(data)]
    captions = [
        "Medians; all contenders of a point are interleaved in one run. The dotted line is what "
        "the machine itself needs: a "
        "line transfer for two threads, and beyond the cores the context switches that let each "
        "thread run once."
    ]
    missing = (
        []
        if panels
        else ["Not measured: no barriers on free cores and no regions after serial code."]
    )
    return Figure("overview", TITLE, QUESTION, panels, captions if panels else [], missing)
