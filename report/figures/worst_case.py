# SPDX-License-Identifier: Apache-2.0
"""How many messages shortest paths take in each order of sending: the worst case that Naylor et al.
2020 describe (section V.F), and the average over graphs in the plane.
"""

from __future__ import annotations

import math

from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Series
from report.select import Row, rows

NAME = "worst_case"
TITLE = "Shortest paths: worst case and average (section V.F of Naylor et al. 2020)"
QUESTION = (
    "A vertex that hears of a shorter way tells its neighbours at once. How many messages do all "
    "distances take, if the vertex with the newest news sends first, if the one with the oldest "
    "does, and in steps?"
)
PAPER = (
    "The paper says that the k-th of N components can receive 2^k updates, and that the average "
    "is polynomial on its machine, whose vertices send newest first; it gives no graph and no "
    "number. Our graph of the worst case is the generator detours. The counts are exact: one "
    "thread, the same in every run."
)
FORMS = {
    ("async", "lifo"): ("newest first", "color:pthread", "square"),
    ("async", "fifo"): ("oldest first", "color:tutti", "circle"),
    ("sync", "fifo"): ("in steps", "color:floor", "diamond"),
}
WORST, AVERAGE = "detours", "geometric"


def components(row: Row) -> int:
    return (row["vertices"] - 1) // 2


def _found(data: Dataset, kind: str) -> dict[tuple[str, str], list[Row]]:
    """The rows of each form, by vertices."""
    found = [
        row
        for row in rows(data, benchmark="graph", run=NAME, what="sssp")
        if str(row["graph"]).startswith(kind)
    ]
    return {
        form: sorted(
            (row for row in found if (row["name"], row["order"]) == form),
            key=lambda row: row["vertices"],
        )
        for form in FORMS
    }


def exponent(group: list[Row]) -> float:
    """By how much the messages an edge grow with the vertices, on a scale of logarithms."""
    first, last = group[0], group[-1]
    return math.log(each(last) / each(first)) / math.log(last["vertices"] / first["vertices"])


def each(row: Row) -> float:
    return row["messages"] / row["edges"]


def build(data: Dataset) -> Figure:
    worst, average = _found(data, WORST), _found(data, AVERAGE)
    panels, captions = [], []
    if all(worst.values()):
        panels.append(_worst(worst))
        captions.append(_worst_words(worst))
    if all(average.values()):
        panels.append(_average(average))
        captions.append(_average_words(average))
    otherwise = None if panels else "no result of tutti graph in both orders."
    missing = data.not_measured(NAME, otherwise)
    return Figure(NAME, TITLE, QUESTION, panels, [*captions, PAPER] if panels else [], missing)


def _series(form: tuple[str, str], points: list[Point]) -> Series:
    label, color, marker = FORMS[form]
    return Series(label, color, points, marker=marker, emphasis=form == ("async", "fifo"))


def _worst(found: dict[tuple[str, str], list[Row]]) -> Panel:
    series = []
    for form, group in found.items():
        points = [
            Point(
                components(row), row["messages"],
                text=f"{FORMS[form][0]}, {components(row)} components: {row['messages']:,} "
                "messages",
            )
            for row in group
        ]
        series.append(_series(form, points))
    counts = [components(row) for row in next(iter(found.values()))]
    ticks = [(n, str(n)) for n in counts]
    axis_y = Axis("messages", log=True, counts=True)
    return Panel(
        "the worst case: a chain of components, each a detour", Axis("components", ticks=ticks),
        axis_y, series,
    )


def _average(found: dict[tuple[str, str], list[Row]]) -> Panel:
    series = []
    for form, group in found.items():
        points = [
            Point(
                row["vertices"], each(row),
                text=f"{FORMS[form][0]}, {row['vertices']:,} vertices: {each(row):,.1f} messages "
                "an edge",
            )
            for row in group
        ]
        series.append(_series(form, points))
    sizes = [row["vertices"] for row in next(iter(found.values()))]
    axis_x = Axis("vertices", log=True, ticks=[(n, f"{n:,}") for n in sizes])
    axis_y = Axis("messages an edge", log=True, counts=True)
    return Panel("the average: near points in the plane are joined", axis_x, axis_y, series)


def _worst_words(found: dict[tuple[str, str], list[Row]]) -> str:
    newest, oldest = (found["async", order][-1] for order in ("lifo", "fifo"))
    n = components(newest)
    law = 3 * (2**n - 1)
    holds = "3 (2^N - 1), which is 2^k updates at the k-th component" if all(
        row["messages"] == 3 * (2 ** components(row) - 1) for row in found["async", "lifo"]
    ) else f"beside {law:,} by the paper's 2^k"
    return (
        f"N = {n} components ({newest['edges']} edges): newest first {newest['messages']:,} "
        f"messages, {holds}; oldest first {oldest['messages']:,}, one an edge."
    )


def _average_words(found: dict[tuple[str, str], list[Row]]) -> str:
    newest, oldest = (found["async", order] for order in ("lifo", "fifo"))
    first, last = newest[0], newest[-1]
    seeds = last["samples"] or 1
    if first["vertices"] == last["vertices"]:
        return f"In the plane, only graphs of {first['vertices']:,} vertices were measured."
    versions = f"mean of {seeds} graphs of each size" if seeds > 1 else "one graph of each size"
    return (
        f"In the plane ({versions}): newest first takes {each(first):,.0f} messages an edge with "
        f"{first['vertices']:,} vertices and {each(last):,.0f} with {last['vertices']:,}, which "
        f"grows like the vertices to the power {exponent(newest):.1f}; oldest first "
        f"{each(oldest[0]):.1f} and {each(oldest[-1]):.1f}, in steps "
        f"{each(found['sync', 'fifo'][0]):.1f} and {each(found['sync', 'fifo'][-1]):.1f}."
    )
