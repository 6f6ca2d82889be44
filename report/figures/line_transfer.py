# SPDX-License-Identifier: Apache-2.0
"""The machine's floor: the one-way transfer of a cache line, ping-pong by ping-pong, with its
regimes.
"""

from __future__ import annotations

from report.figures.common import time_axis
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.statistics import format_time, regimes

TITLE = "The floor: one cache line from core to core"
QUESTION = (
    "How fast can one core tell another anything at all, and was that constant during the run?"
)
MOST_BINS = 36


def values_of(data: Dataset) -> list[float]:
    """Every ping-pong that the lines give: the floor's own samples, or else the floor beside each
    result.
    """
    own = [
        float(v)
        for line in data.floors
        if line.get("quantity") == "line_one_way"
        for v in line.get("values") or []
    ]
    if own:
        return own
    beside = [float(v) for v in data.results["floor_median"].drop_nulls()]
    medians = [
        float(line["median"]) for line in data.floors if line.get("quantity") == "line_one_way"
    ]
    return medians + beside


def describe(values: list[float]) -> str:
    found = regimes(values)
    if found.count == 0:
        return "The one-way line latency was not measured."
    if found.count == 1:
        return (
            f"One-way line latency: {format_time(found.medians[0])}, one regime in {len(values)} "
            "ping-pongs."
        )
    low, high = found.medians
    return (
        f"One-way line latency: two regimes, {format_time(low)} ({found.shares[0]:.0%} of "
        f"{len(values)} ping-pongs) and "
        f"{format_time(high)} ({found.shares[1]:.0%}); sub-microsecond numbers differ by the same "
        "factor between them."
    )


def build(data: Dataset) -> Figure:
    values = [value for value in values_of(data) if value > 0]
    if not values:
        return Figure(
            "line_transfer", TITLE, QUESTION, [], [],
            ["Not measured: no floor line of quantity line_one_way."],
        )
    rules = [Rule(level, format_time(level), False) for level in regimes(values).medians]
    points = [
        Point(i + 1, value, text=f"ping-pong {i + 1}: {format_time(value)}")
        for i, value in enumerate(values)
    ]
    strip = Panel(
        "In the order of measurement",
        Axis("ping-pong"),
        time_axis("one-way latency"),
        [Series("one-way", "color:tutti", points, line=False, direct_label=False)],
        rules,
        height=340,
    )
    return Figure("line_transfer", TITLE, QUESTION, [strip, _histogram(values)], [describe(values)])


def _histogram(values: list[float]) -> Panel:
    bins = min(MOST_BINS, max(8, round(3 * len(values) ** 0.5)))
    low, high = min(values) * 0.97, max(values) * 1.03
    step = (high / low) ** (1 / bins)
    counts = [0] * bins
    edges = [low * step**i for i in range(bins + 1)]
    for value in values:
        counts[sum(1 for edge in edges[1:-1] if value >= edge)] += 1
    points = [
        Point((edges[i] * edges[i + 1]) ** 0.5, counts[i], edges[i], edges[i + 1],
              f"{format_time(edges[i])} to {format_time(edges[i + 1])}: {counts[i]}")
        for i in range(bins)
    ]
    series = Series("one-way", "color:tutti", points, line=False, direct_label=False)
    return Panel(
        "How often", time_axis("one-way latency"), Axis("ping-pongs"), [series], [], "histogram",
        340,
    )
