# SPDX-License-Identifier: Apache-2.0
"""Long waits: the CPU time that a waiter burns against the latency with which it notices the last
arrival.
"""

from __future__ import annotations

from report import style
from report.figures.common import absent_peers, absent_waits, time_axis
from report.lines import Dataset
from report.model import Figure, Panel, Point, Series
from report.select import (
    Row, duration_of, fixed_wait, is_imbalance, rows, scenario_words, threads_words,
)
from report.statistics import format_ratio, format_time

TITLE = "One participant comes late"
QUESTION = (
    "What does the waiting cost in CPU time, and what does saving it cost in latency? Best is low "
    "and left."
)
NAME = "imbalance"


def _pairs(cell: list[Row]) -> list[tuple[Row, Row]]:
    """(latency, cpu time) of the same contender."""
    latency = {style.label(row): row for row in cell if row["metric"] == "last_in_last_out"}
    burned = {style.label(row): row for row in cell if row["metric"] == "cpu_time"}
    both = [(latency[name], burned[name]) for name in sorted(latency) if name in burned]
    # The default's name is placed first, nearest to its point.
    return sorted(both, key=lambda pair: not style.is_default(pair[0]))


def _series(late: Row, cpu: Row) -> Series:
    default = style.is_default(late)
    color = (
        style.color(late["provider"])
        if default or not style.is_tutti(late["provider"])
        else "color:tutti1"
    )
    name = style.label(late)
    text = (
        f"{name}: latency {format_time(late['median'])}, CPU time {format_time(cpu['median'])} an "
        "episode"
    )
    # Shown at no less than one nanosecond: a clock that saw no CPU time at all still needs a place
    # on a log axis.
    point = Point(max(late["median"], 1.0), max(cpu["median"], 1.0), text=text)
    return Series(name, color, [point], emphasis=default, line=False)


def _caption(pairs: list[tuple[Row, Row]], title: str) -> str:
    ours = next((pair for pair in pairs if style.is_default(pair[0])), None)
    spin = next((pair for pair in pairs if fixed_wait(pair[0]) and pair[0]["wait"] == "spin"), None)
    if ours is None:
        return f"{title}: tutti's default was not measured."
    text = (
        f"{title}: the default burns {format_time(ours[1]['median'])} an episode, latency "
        f"{format_time(ours[0]['median'])}"
    )
    if spin is None or ours[1]["median"] <= 0 or ours[0]["median"] <= 0:
        return text + "."
    share = spin[1]["median"] / ours[1]["median"]
    relation = (
        f"{format_ratio(share)} less than"
        if share >= 1
        else f"{format_ratio(1 / share)} as much as"
    )
    return (
        f"{text}: {relation} pure spinning burns, whose latency is "
        f"{format_time(spin[0]['median'])}."
    )


def build(data: Dataset) -> Figure:
    found = rows(
        data, scenario=is_imbalance, metric=lambda m: m in ("last_in_last_out", "cpu_time")
    )
    # Situations that were measured with every wait; the others have a plot of their own.
    shown = {
        (row["threads"], row["scenario"])
        for row in found
        if fixed_wait(row) and row["wait"] == "park"
    }
    found = [row for row in found if (row["threads"], row["scenario"]) in shown]
    panels, captions = [], []
    cells = sorted(
        {(row["threads"], row["scenario"]) for row in found},
        key=lambda c: (duration_of(c[1]) or 0, c),
    )
    for threads, scenario in cells:
        cell = [row for row in found if (row["threads"], row["scenario"]) == (threads, scenario)]
        pairs = _pairs(cell)
        if not pairs:
            continue
        title = f"{threads_words(threads)}, {scenario_words(scenario)}"
        series = [_series(late, cpu) for late, cpu in pairs]
        axis_x = time_axis("last-in to last-out latency (median)")
        axis_y = time_axis("CPU time burned an episode (median)")
        panels.append(Panel(title, axis_x, axis_y, series, [], "scatter", 520))
        captions.append(_caption(pairs, title))
    if not panels:
        missing = [
            "Not measured: no contender has both last_in_last_out and cpu_time under an imbalance."
        ]
        return Figure(NAME, TITLE, QUESTION, [], [], missing)
    return Figure(
        NAME, TITLE, QUESTION, panels, captions, absent_peers(data, found) + absent_waits(found)
    )
