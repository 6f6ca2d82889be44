# SPDX-License-Identifier: Apache-2.0
"""Notifications between threads: the time until one receiver, or all, have been woken, by tutti's
events and by what the system and other libraries have, and how far the receivers are apart."""

from __future__ import annotations

from typing import Any

from report import style
from report.figures.common import DOT_FRAME, ROW_HEIGHT, SPREAD
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Series
from report.select import Row, rows
from report.statistics import format_time

UNICAST = (
    "event_unicast",
    "Waking one thread (figure 3 of Hale and Dinda 2018)",
    "From the instant before the notification until the receiver's wait has returned: how long "
    "does each mechanism take, and how does it vary?",
)
BROADCAST = (
    "event_broadcast",
    "Waking all threads (figure 4 of Hale and Dinda 2018)",
    "A thread notifies several others: how long does it take until the last of them runs?",
)
SIGMA = (
    "event_sigma",
    "Synchrony of a broadcast between threads (figures 5 and 6 of Hale and Dinda 2018)",
    "How far apart do the receivers of one broadcast wake: the standard deviation over them?",
)
# The contenders whose distributions are drawn: more would hide each other.
DRAWN = (
    ("tutti", "event"), ("pthread", "pthread_cond"), ("futex", "futex"), ("std", "atomic::wait"),
)
# A wait that a receiver spends awake, and one that it spends asleep by its policy.
GAPS = {"gap_5us": "5 µs after the last one waits", "gap_1ms": "1 ms after the last one waits"}


def label(row: dict[str, Any]) -> str:
    who = f"tutti::{row['name']}" if style.is_tutti(row["provider"]) else row["name"]
    return f"{who}, {row['wait']}" if row["wait"] else who


def _color(row: dict[str, Any]) -> str:
    """The same in both panels: a shade of tutti's for each wait policy but the usual one."""
    if style.is_tutti(row["provider"]) and row["wait"] in style.WAITS and (
        row["wait"] != style.USUAL_WAIT
    ):
        return style.tutti_shade(style.WAITS.index(row["wait"]))
    return style.color(row["provider"])


def _found(data: Dataset, metric: str) -> dict[tuple[str, int], list[Row]]:
    """The rows of a metric by scenario and number of threads, the shorter gap first."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows(data.of("event"), metric=metric):
        groups.setdefault((row["scenario"], row["threads"]), []).append(row)
    order = list(GAPS)

    def place(group: tuple[str, int]) -> tuple[int, tuple[str, int]]:
        return (order.index(group[0]) if group[0] in order else len(order), group)

    return {group: groups[group] for group in sorted(groups, key=place)}


def _title(scenario: str, threads: int) -> str:
    receivers = "one receiver" if threads == 2 else f"{threads - 1} receivers"
    return f"{receivers}, {GAPS.get(scenario, scenario)}"


def _dots(title: str, found: list[Row], axis: str) -> Panel:
    """A row for each contender, the fastest at the top, with mean and sigma beside the pointer."""
    series, ticks = [], []
    good = [row for row in found if row["median"] > 0]
    for place, row in enumerate(sorted(good, key=lambda row: -row["median"])):
        text = (
            f"{label(row)}: median {format_time(row['median'])} (mean {format_time(row['mean'])}, "
            f"sigma {format_time(row['sigma'])}, {row['samples']} samples)"
        )
        point = Point(
            row["median"], place, max(row["min"], 1), row["p99"], text, (row["p25"], row["p75"])
        )
        series.append(Series(label(row), _color(row), [point], line=False))
        ticks.append((place, label(row)))
    axis_y = Axis("", ticks=ticks, lowest=-0.7, highest=len(series) - 0.3)
    height = DOT_FRAME + ROW_HEIGHT * len(series)
    return Panel(
        f"{title}; {SPREAD}", Axis(axis, log=True, time=True), axis_y, series, [], "dots", height
    )


def _cdf(
    data: Dataset, title: str, metric: str, scenario: str, threads: int, axis: str
) -> Panel | None:
    """The share of the samples that are no greater than a value."""
    series = []
    for line in data.kernel:
        wanted = {
            "type": "distribution", "metric": metric, "unit": "ns", "scenario": scenario,
            "threads": threads,
        }
        if not wanted.items() <= line.items() or (line["provider"], line["name"]) not in DRAWN:
            continue
        # A logarithmic axis has no place for zero.
        counts = [(max(value, 1), count) for value, count in line["counts"]]
        total, reached, points = sum(n for _, n in counts), 0, [Point(counts[0][0], 0.0)]
        for value, count in counts:
            reached += count
            text = f"{label(line)}: {reached / total:.0%} within {format_time(value)}"
            points.append(Point(value, reached / total, text=text))
        series.append(Series(label(line), _color(line), points))
    if not series:
        return None
    share = Axis("share of the samples", lowest=0, highest=1.02)
    return Panel(title, Axis(axis, log=True, time=True), share, series, [], "cdf", 380)


PAPER = {
    "event_unicast": "In the paper an interrupt (IPI) takes 16 times less than condition variables "
    "and futexes on x64, on the Xeon Phi 32 and 16 times less, 740 cycles in the mean; a signal "
    "takes at least 10,800 cycles on x64 and 10,300 on the Xeon Phi.",
    "event_broadcast": "In the paper a broadcast of interrupts takes 78 times less than condition "
    "variables and 30 times less than futexes on x64, on the Xeon Phi over 4,000 and almost 2,000 "
    "times less.",
    "event_sigma": "In the paper the synchrony of broadcast interrupts is three orders of "
    "magnitude better than that of condition variables and futexes on x64 (figure 5), and five on "
    "the Xeon Phi (figure 6).",
}


def _figure(head: tuple[str, str, str], data: Dataset, metric: str, axis: str) -> Figure:
    panels: list[Panel | None] = []
    captions = []
    for (scenario, threads), found in _found(data, metric).items():
        title = _title(scenario, threads)
        panels.append(_dots(title, found, axis))
        panels.append(_cdf(data, f"{title}, all samples", metric, scenario, threads, axis))
        first = min(found, key=lambda row: row["median"])
        captions.append(f"{title}: {label(first)} is first, {format_time(first['median'])}.")
    drawn = [panel for panel in panels if panel is not None]
    if not drawn:
        missing = data.why_failed("event") or [
            "these lines have none of `tutti bench event --json`."
        ]
        return Figure(*head, [], [], [f"Not made: {text}" for text in missing])
    captions.append(PAPER[head[0]])
    captions.append(
        "The time to read the clock is taken off. The paper's condition variables and futexes ran "
        "on machines with 64 hardware threads and more; its interrupts are in the next chapter."
    )
    return Figure(*head, drawn, captions)


def build_unicast(data: Dataset) -> Figure:
    return _figure(UNICAST, data, "unicast", "time until the receiver runs")


def build_broadcast(data: Dataset) -> Figure:
    return _figure(BROADCAST, data, "broadcast_last", "time until the last receiver runs")


def build_sigma(data: Dataset) -> Figure:
    return _figure(SIGMA, data, "broadcast_sigma", "standard deviation over the receivers")
