# SPDX-License-Identifier: Apache-2.0
"""Cost of an episode against the number of threads: in time, and as multiples of the machine's
floor.
"""

from __future__ import annotations

from itertools import groupby
from typing import Callable

from report import style
from report.figures.common import (
    absent_peers, drawable, ends, hover, loop_rows, one_way, switch_floor, time_axis, verdict,
)
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.select import Row, is_free, threads_words, usual_wait
from report.statistics import format_ratio

TITLE = "Cost of a barrier against the number of threads"
QUESTION = "Back-to-back episodes, pinned, nothing else running: what does one episode cost?"
MULTIPLES_TITLE = "The same, as multiples of the machine's floor"
MULTIPLES_QUESTION = (
    "How far is each barrier from physics? The floor is one line transfer while every thread has a "
    "core, and one turn of "
    "context switches (on each core one less than it has threads, by sched_yield) beyond."
)

# How a row becomes a height on the y axis; None leaves it out.
Measure = Callable[[Row, float | None], float | None]


def _free_rows(data: Dataset) -> list[Row]:
    found = loop_rows(data, scenario=is_free, pinned=True)
    return [row for row in found if usual_wait(row)]


def floor_of(data: Dataset, row: Row) -> float | None:
    """The floor a row is held against, from its own rounds where the command gave it."""
    return row["floor_median"] or switch_floor(data, row["threads"]) or one_way(data)


def multiple_of(data: Dataset, row: Row) -> float:
    """The median as a multiple of the floor; of the rounds' own ratios where the command gave that.
    """
    return row["ratio_median"] or row["median"] / floor_of(data, row)


def series_of(found: list[Row], measure: Measure) -> list[Series]:
    by_label = sorted(found, key=lambda row: (style.label(row), row["threads"]))
    series, shade, dashes = [], 0, {}
    for name, group in groupby(by_label, key=style.label):
        group = list(group)
        points = []
        for row in group:
            y = measure(row, row["median"])
            if y is not None and y > 0:
                of = f" with {threads_words(row['threads'])}"
                points.append(
                    Point(
                        row["threads"], y, *(measure(row, end) for end in ends(row)),
                        hover(row, of),
                    )
                )
        if not points:
            continue
        first = group[0]
        if style.is_default(first):
            series.append(Series(name, "color:tutti", points, emphasis=True))
        elif style.is_tutti(first["provider"]):
            dash = style.DASHES[shade // 4 % len(style.DASHES)]
            series.append(
                Series(
                    name, style.tutti_shade(shade), points, dash=dash,
                    marker=style.MARKERS[shade % 7],
                )
            )
            shade += 1
        else:
            turn = dashes.get(first["provider"], 0)
            dashes[first["provider"]] = turn + 1
            dash, marker = style.DASHES[turn % 4], style.MARKERS[turn % 7]
            series.append(
                Series(name, style.color(first["provider"]), points, dash=dash, marker=marker)
            )
    return series


def _panels(
    data: Dataset, found: list[Row], measure: Measure, y: Axis, floor: Series | None
) -> list[Panel]:
    counts = sorted({row["threads"] for row in found})
    ticks = [(n, str(n)) for n in counts]
    rules = [Rule(data.cores, f"{data.cores} cores", True)] if data.cores else []
    ours = [row for row in found if style.is_tutti(row["provider"])]
    beside = [row for row in found if not style.is_tutti(row["provider"]) or style.is_default(row)]
    panels = []
    for title, part in (("tutti's algorithms", ours), ("tutti's default and its peers", beside)):
        series = series_of(part, measure)
        if not series:
            continue
        if floor is not None:
            series.append(floor)
        axis = Axis("threads", log=True, ticks=ticks)
        panels.append(Panel(title, axis, y, series, rules, height=560))
    return panels


def floor_series(data: Dataset, found: list[Row]) -> Series | None:
    points = []
    for n in sorted({row["threads"] for row in found if row["threads"] > 1}):
        level = switch_floor(data, n) or (one_way(data) if data.cores and n <= data.cores else None)
        if level:
            points.append(Point(n, level, text=f"floor with {threads_words(n)}: {level:.0f} ns"))
    return (
        Series("the machine's floor", "color:floor", points, dash="dot", marker="x")
        if points
        else None
    )


def build(data: Dataset) -> Figure:
    found, notes = drawable(_free_rows(data))
    if not found:
        missing = ["Not measured: no result with metric loop, scenario free, pinned."]
        return Figure("threads", TITLE, QUESTION, [], [], missing)
    panels = _panels(
        data,
        found,
        lambda row, value: value,
        time_axis("time per episode"),
        floor_series(data, found),
    )
    captions = []
    for n in sorted({row["threads"] for row in found if row["threads"] > 1}):
        same = [row for row in found if row["threads"] == n]
        captions.append(verdict(same, threads_words(n).capitalize()))
    return Figure("threads", TITLE, QUESTION, panels, captions, notes + absent_peers(data, found))


def build_multiples(data: Dataset) -> Figure:
    found, notes = drawable(row for row in _free_rows(data) if row["threads"] > 1)
    found = [row for row in found if floor_of(data, row)]
    if not found:
        missing = ["Not measured: no floor to hold the results against."]
        return Figure("multiples", MULTIPLES_TITLE, MULTIPLES_QUESTION, [], [], missing)

    def multiple(row: Row, value: float | None) -> float | None:
        # The tails are in the plot above; here they would squeeze the scale, so only the default
        # keeps them.
        if value == row["median"]:
            return multiple_of(data, row)
        if not value or not style.is_default(row):
            return None
        # The tails, too, of the rounds' own ratios where the command gave them.
        ratio = {row["min"]: row["ratio_min"], row["p99"]: row["ratio_p99"]}.get(value)
        return ratio or value / floor_of(data, row)

    panels = _panels(data, found, multiple, Axis("multiples of the floor", log=True), None)
    for panel in panels:
        panel.rules = panel.rules + [Rule(1, "floor", False)]
    captions = [
        _multiple_words(data, row)
        for row in sorted(found, key=lambda r: r["threads"])
        if style.is_default(row)
    ]
    if captions:
        captions = ["tutti's default, in multiples of the floor: " + ", ".join(captions) + "."]
    below = sum(1 for row in found if multiple_of(data, row) < 1)
    if below:
        captions.append(
            f"{below} points lie below 1: two threads can pass two back-to-back episodes on one "
            "line transfer (last-in to "
            "last-out, below, cannot), and a floor beyond the cores is as noisy as the scheduler."
        )
    return Figure("multiples", MULTIPLES_TITLE, MULTIPLES_QUESTION, panels, captions, notes)


def _multiple_words(data: Dataset, row: Row) -> str:
    return f"{format_ratio(multiple_of(data, row))} with {row['threads']}"
