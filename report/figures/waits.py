# SPDX-License-Identifier: Apache-2.0
"""Waits and gaps of every length: what the answer costs in time, and what the waiting costs in
processor time.
"""

from __future__ import annotations

from itertools import groupby
from typing import Callable

from report import style
from report.figures.common import absent_peers, drawable, hover, time_axis
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.select import Row, default_of, duration_of, is_gap, is_imbalance, rows, scenario_words
from report.statistics import format_time

WAITS = "waits"
WAITS_TITLE = "How long one waits, and what for"
WAITS_QUESTION = (
    "One of two participants comes later and later: when does a waiter stop to spin, what does "
    "that save in processor time, and "
    "what does waking up cost?"
)
GAPS = "gaps"
GAPS_TITLE = "Serial code between two regions"
GAPS_QUESTION = (
    "Between two empty regions the caller computes alone, longer and longer: does the next region "
    "find the workers awake, and "
    "what do they burn meanwhile?"
)
# With fewer lengths a line says nothing.
FEWEST = 3
CONSTANT = ("_uniform", "_alternating", "_rotating")
# Where users ask most.
TOLD = (60e3, 200e3, 1e6)


def _series(found: list[Row]) -> list[Series]:
    by_label = sorted(
        found,
        key=lambda row: (not style.is_default(row), style.label(row), duration_of(row["scenario"])),
    )
    series, turns = [], {}
    for name, group in groupby(by_label, key=style.label):
        group = list(group)
        first = group[0]
        default = style.is_default(first)
        points = [
            Point(
                duration_of(row["scenario"]), row["median"], row["min"] if default else None,
                row["p99"] if default else None,
                hover(row, f", {scenario_words(row['scenario'])}"),
            )
            for row in group
        ]
        turn = turns.get(first["provider"], 0)
        turns[first["provider"]] = turn + 1
        ours = style.is_tutti(first["provider"]) and not default
        color = style.tutti_shade(turn) if ours else style.color(first["provider"])
        series.append(
            Series(
                name, color, points, emphasis=default, dash=style.DASHES[turn % 4],
                marker=style.MARKERS[turn % 7],
            )
        )
    return series


def _panel(title: str, axis: str, length: str, found: list[Row]) -> Panel:
    lengths = sorted({duration_of(row["scenario"]) for row in found})
    rules = [Rule(200e3, "200 µs", True)] if lengths[0] < 200e3 < lengths[-1] else []
    return Panel(
        title, Axis(length, log=True, time=True), time_axis(axis), _series(found), rules, height=520
    )


def _captions(latency: list[Row], burned: list[Row]) -> list[str]:
    sentences = []
    for length in TOLD:
        late = default_of(row for row in latency if duration_of(row["scenario"]) == length)
        cpu = default_of(row for row in burned if duration_of(row["scenario"]) == length)
        if late and cpu:
            sentences.append(
                f"{scenario_words(late['scenario']).capitalize()}: tutti's default answers in "
                f"{format_time(late['median'])} and "
                f"burns {format_time(cpu['median'])} of processor time in each waiter."
            )
    return sentences


def _build(
    data: Dataset, name: str, words: tuple[str, str], scenario: Callable[[str], bool], metric: str,
    axes: tuple[str, str, str]
) -> Figure:
    def wanted(text: str) -> bool:
        return scenario(text) and not any(suffix in text for suffix in CONSTANT)

    kinds = {} if metric == "last_in_last_out" else {"what": "empty"}
    found, notes = drawable(
        rows(
            data, scenario=wanted, threads=2, ranks=2, pinned=True,
            metric=lambda m: m in (metric, "cpu_time"), **kinds,
        )
    )
    latency = [row for row in found if row["metric"] == metric]
    burned = [row for row in found if row["metric"] == "cpu_time"]
    if len({duration_of(row["scenario"]) for row in latency}) < FEWEST or not burned:
        return Figure(
            name, *words, [], [],
            ["Not measured: no result of enough lengths of waits with two threads."],
        )
    panels = [
        _panel(axes[0], "latency (median)", axes[2], latency),
        _panel(axes[1], "processor time an episode (median)", axes[2], burned),
    ]
    return Figure(
        name, *words, panels, _captions(latency, burned) or ["tutti's default was not measured."],
        notes + absent_peers(data, found),
    )


def build(data: Dataset) -> Figure:
    axes = ("Last-in to last-out", "Processor time of the waiter", "the last one is late by")
    return _build(
        data, WAITS, (WAITS_TITLE, WAITS_QUESTION), is_imbalance, "last_in_last_out", axes
    )


def build_gaps(data: Dataset) -> Figure:
    axes = (
        "The region after the gap", "Processor time of the worker, gap included",
        "serial code before the region",
    )
    return _build(data, GAPS, (GAPS_TITLE, GAPS_QUESTION), is_gap, "latency", axes)
