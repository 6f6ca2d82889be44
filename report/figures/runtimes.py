# SPDX-License-Identifier: Apache-2.0
"""Parallel regions and reductions: each contender's episode without and with a sum of two doubles,
on one row.
"""

from __future__ import annotations

from dataclasses import dataclass

from report import style
from report.figures.common import (
    DOT_FRAME, ROW_HEIGHT, absent_peers, drawable, hover, share_x, time_axis, verdict,
    without_result,
)
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.select import Row, best, default_of, is_free, peers_of, ranks_words, rows, tutti_of
from report.statistics import format_ratio, format_time

PAIR = "reduce2"
FLOOR_WORDS = {
    "line_one_way": "one line transfer", "yield_rotation": "one turn of context switches",
}


@dataclass(frozen=True)
class _Subject:
    """One of the two benchmarks: what its first dot is, and what the words at the right say."""

    benchmark: str
    run: str
    title: str
    question: str
    plain: str
    plain_words: str
    pair_words: str
    of_floor: bool


REGIONS = _Subject(
    "region", "regions", "Parallel regions",
    "One thread opens a region, all run it, it ends: what does that cost when the region does "
    "nothing, and when it sums two "
    "doubles of each participant? At the right, both as multiples of the machine's floor in the "
    "same rounds.",
    "empty", "empty region", "region and the sum of two doubles", True,
)
REDUCTIONS = _Subject(
    "reduce", "reductions", "Reductions inside a region",
    "All participants meet and each gets the sum of everybody's two doubles: what does that add to "
    "the same provider's barrier "
    "alone? At the right, the median ratio of the two in the same sweeps.",
    "barrier", "barrier alone", "barrier and the sum of two doubles", False,
)


def _note(first: Row | None, second: Row | None, subject: _Subject) -> str:
    if subject.of_floor:
        ratios = [
            format_ratio(row["ratio_median"])
            for row in (first, second)
            if row and row["ratio_median"]
        ]
        return " → ".join(ratios)
    if second is None:
        return ""
    ratio = second["over_barrier_median"] or (
        second["median"] / first["median"] if first and first["median"] > 0 else None
    )
    return format_ratio(ratio) if ratio else ""


def _panel(cell: list[Row], subject: _Subject, title: str) -> Panel:
    pairs: dict[str, dict[str, Row]] = {}
    for row in cell:
        pairs.setdefault(style.label(row), {})[row["what"]] = row
    order = sorted(
        pairs.values(), key=lambda pair: max(row["median"] for row in pair.values()), reverse=True
    )
    series = []
    for place, pair in enumerate(order):
        first, second = pair.get(subject.plain), pair.get(PAIR)
        points = [
            Point(row["median"], place, row["min"], row["p99"], hover(row, f", {words}"))
            for row, words in ((first, subject.plain_words), (second, subject.pair_words))
            if row
        ]
        any_row = first or second
        ours = style.is_tutti(any_row["provider"]) and not style.is_default(any_row)
        color = "color:tutti1" if ours else style.color(any_row["provider"])
        series.append(
            Series(
                style.label(any_row), color, points, emphasis=style.is_default(any_row), line=False,
                marker="circle-open" if second is None else "circle",
                note=_note(first, second, subject),
            )
        )
    axis_y = Axis(
        "", ticks=[(place, s.label) for place, s in enumerate(series)], lowest=-0.7,
        highest=len(series) - 0.3,
    )
    axis_x = time_axis(f"time: ○ {subject.plain_words}, ● {subject.pair_words}")
    return Panel(
        title, axis_x, axis_y, series, _floor_rules(cell), "pairs",
        DOT_FRAME + ROW_HEIGHT * len(series),
    )


def _floor_rules(cell: list[Row]) -> list[Rule]:
    known = [row for row in cell if row["floor_median"] and row["floor"]]
    if not known:
        return []
    return [Rule(known[0]["floor_median"], FLOOR_WORDS.get(known[0]["floor"], "floor"), True)]


def _build(data: Dataset, subject: _Subject) -> Figure:
    kinds = (subject.plain, PAIR)
    found, notes = drawable(
        rows(
            data, benchmark=subject.benchmark, scenario=is_free, pinned=True,
            what=lambda what: what in kinds,
        )
    )
    if not found:
        return without_result(
            data, subject.run, f"benchmark {subject.benchmark}",
            subject.run, subject.title, subject.question,
        )
    panels, captions = [], []
    shapes = sorted(
        {(row["ranks"] > row["threads"], row["ranks"], row["threads"]) for row in found}
    )
    for _, ranks, threads in shapes:
        cell = [row for row in found if (row["ranks"], row["threads"]) == (ranks, threads)]
        title = ranks_words(threads, ranks, data.cores)
        panels.append(_panel(cell, subject, title))
        captions += _captions(cell, title, subject)
        if ranks > threads:
            kernel = [row for row in found if row["threads"] == ranks and row["ranks"] == ranks]
            captions += _beside_kernel_threads(cell, kernel, subject)
    return Figure(
        subject.run, subject.title, subject.question, share_x(panels), captions,
        notes + absent_peers(data, found),
    )


def _captions(cell: list[Row], title: str, subject: _Subject) -> list[str]:
    if all(style.is_tutti(row["provider"]) for row in cell):
        ours = [
            default_of(row for row in cell if row["what"] == what) for what in (subject.plain, PAIR)
        ]
        words = [
            f"{name} {format_time(row['median'])}"
            for row, name in zip(ours, (subject.plain_words, subject.pair_words))
            if row
        ]
        return [f"{title}: only tutti has such ranks; {', '.join(words)}."] if words else []
    captions = []
    for what, words in ((subject.plain, subject.plain_words), (PAIR, subject.pair_words)):
        same = [row for row in cell if row["what"] == what]
        if same:
            captions.append(verdict(same, f"{title}, {words}"))
    return captions


def _beside_kernel_threads(cell: list[Row], kernel: list[Row], subject: _Subject) -> list[str]:
    """Virtual ranks against as many kernel threads, which is what everybody else would use."""
    ours, peer = (
        best(row for row in part if row["what"] == PAIR)
        for part in (tutti_of(cell), peers_of(kernel))
    )
    if ours is None or peer is None:
        return []
    ratio = format_ratio(peer["median"] / ours["median"])
    return [
        f"The best peer needs {peer['threads']} kernel threads for that: {subject.pair_words} "
        f"{format_time(peer['median'])} with "
        f"{style.label(peer)}, {ratio} as long."
    ]


def build_regions(data: Dataset) -> Figure:
    return _build(data, REGIONS)


def build_reductions(data: Dataset) -> Figure:
    return _build(data, REDUCTIONS)
