# SPDX-License-Identifier: Apache-2.0
"""StreamCluster, figure 2 of Hetland et al. 2019 for this machine: time and speed-up against
threads, a line for each barrier.
"""

from __future__ import annotations

from dataclasses import replace

from report import style
from report.figures.common import drawable, time_axis, without_result
from report.figures.threads import series_of
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series, Shade
from report.select import Row, best, default_of, peers_of, rows, threads_words
from report.statistics import compare, format_ratio, format_time

NAME = "streamcluster"
TITLE = "StreamCluster with every barrier (figure 2 of Hetland et al. 2019)"
QUESTION = (
    "A widely used benchmark in which one thread decides, all work, and a barrier stands between "
    "any two steps: how much of its "
    "time does the choice of the barrier decide?"
)
PAPERS_INPUT = "native"
PAPER = (
    f"In the paper (input {PAPERS_INPUT}, machines of up to eight sockets) the counting barrier is "
    "up to 123x as fast as pthread's on the machine of eight sockets, and 7x on a Xeon Phi; with "
    "pthread's the program stops scaling after 32 threads. The ratios here are of our own program, "
    "which computes less between two barriers than PARSEC's: the barrier weighs more."
)


def build(data: Dataset) -> Figure:
    found, notes = drawable(rows(data, benchmark=NAME))
    if not found:
        return without_result(data, NAME, "benchmark streamcluster", NAME, TITLE, QUESTION)
    panels, captions = [], []
    for what in sorted({row["what"] for row in found}):
        same = [row for row in found if row["what"] == what]
        panels += _panels(data, same, what)
        captions += [*_captions(data, same), _extent(same, what)]
    return Figure(NAME, TITLE, QUESTION, panels, [*captions, PAPER], notes)


def _panels(data: Dataset, found: list[Row], what: str) -> list[Panel]:
    counts = sorted({row["threads"] for row in found})
    times = series_of(found, lambda row, value: value)
    panels = [
        _panel(data, counts, f"{what}: time", time_axis("time of the whole clustering"), times)
    ]
    alone = best(row for row in found if row["threads"] == 1)
    if alone and len(counts) > 1:
        faster = [
            replace(series, points=[_speed_up(point, alone["median"]) for point in series.points])
            for series in times
        ]
        axis = Axis("speed-up over the best time of one thread", log=True)
        panels.append(_panel(data, counts, f"{what}: speed-up", axis, faster))
    return panels


def _panel(data: Dataset, counts: list[int], title: str, y: Axis, series: list[Series]) -> Panel:
    axis = Axis("threads", log=True, ticks=[(n, str(n)) for n in counts])
    crowded = data.cores is not None and counts[-1] > data.cores
    rules = [Rule(data.cores, f"{data.cores} cores", True)] if data.cores else []
    shade = Shade(data.cores, "oversubscribed") if crowded else None
    return Panel(title, axis, y, series, rules, height=620, shade=shade)


def _speed_up(point: Point, alone: float) -> Point:
    low = alone / point.high if point.high else None
    high = alone / point.low if point.low else None
    return Point(
        point.x, alone / point.y, low, high, f"{point.text}: {format_ratio(alone / point.y)}"
    )


def _captions(data: Dataset, found: list[Row]) -> list[str]:
    made = []
    for n in sorted({row["threads"] for row in found if row["threads"] > 1}):
        cell = [row for row in found if row["threads"] == n]
        first, last = best(cell), max(cell, key=lambda row: row["median"])
        situation = threads_words(n).capitalize()
        if data.cores and n > data.cores:
            situation += f" on {data.cores} cores, oversubscribed"
        text = (
            f"{situation}: the fastest is {style.label(first)} ({format_time(first['median'])}), "
            "the slowest "
            f"{style.label(last)} ({format_time(last['median'])}, "
            f"{format_ratio(last['median'] / first['median'])} as long)"
        )
        ours = default_of(cell)
        pairs = (
            [(style.label(peer), compare(ours, peer).text()) for peer in peers_of(cell)]
            if ours
            else []
        )
        against = (
            "; tutti's default: " + ", ".join(f"{_against(words)} {name}" for name, words in pairs)
            if pairs
            else ""
        )
        made.append(f"{text}{against}.")
    return made


def _against(words: str) -> str:
    return f"{words} of" if words.startswith("within noise") else f"{words} than"


def _extent(found: list[Row], what: str) -> str:
    row = found[0]
    results = {row["fingerprint"] for row in found if row["fingerprint"]}
    same = (
        "all results are identical, bit for bit"
        if len(results) == 1
        else f"{len(results)} DIFFERENT results"
    )
    samples = sorted({row["samples"] for row in found if row["samples"]})
    runs = (
        "one run of each"
        if samples == [1]
        else f"median of {samples[0] if len(samples) == 1 else 'several'} runs of each"
    )
    work = (
        f"{row['barriers']:,} barriers and {row['reductions']:,} reductions"
        if row["barriers"]
        else "barriers"
    )
    beside = (
        "as in the paper"
        if what == PAPERS_INPUT
        else f"smaller than the paper's {PAPERS_INPUT}, so that the report stays short"
    )
    return f"The input here is {what}, {beside}: {work} a run, {runs}, interleaved; {same}."
