# SPDX-License-Identifier: Apache-2.0
"""Instructions of the vector machine in engine spmd, figure 3 of Hetland et al. 2019 for this
machine: a line for each barrier.
"""

from __future__ import annotations

from report import style
from report.figures.common import drawable, time_axis, without_result
from report.figures.threads import series_of
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.papers import HETLAND_3
from report.select import Row, default_of, peers_of, rows, threads_words
from report.statistics import format_ratio, format_time

NAME = "instruction"
TITLE = "An instruction of the vector machine with every barrier (figure 3 of Hetland et al. 2019)"
QUESTION = (
    "An interpreter in which every thread executes every instruction, and a barrier ends each: "
    "what does an instruction cost "
    "that does nothing itself?"
)
PAPER = (
    "In the paper, on HARP, the interpreter needs of the order of 100 cycles for an instruction "
    "that does nothing without barriers, and of the order of 10,000 with the best software "
    "barrier, the tournament: the crosses stand at these orders of magnitude. Its interpreter "
    "needs several barriers an instruction, this one needs one."
)
KINDS = {"stack": "COPY 0 0: nothing at all", "vector": "NOT on a vector of two elements"}


def build(data: Dataset) -> Figure:
    found, notes = drawable(rows(data, benchmark=NAME))
    if not found:
        return without_result(data, NAME, "benchmark instruction", NAME, TITLE, QUESTION)
    panels, captions = [], []
    for kind, words in KINDS.items():
        same = [row for row in found if row["metric"] == kind]
        if same:
            panels.append(_panel(data, same, words, HETLAND_3 if kind == "stack" else ()))
            captions += _captions(same, words)
    return Figure(
        NAME, TITLE, QUESTION, panels, [*captions, PAPER], notes + data.not_measured(NAME)
    )


def _is_ideal(row: Row) -> bool:
    return row["provider"] == "ideal"


def _panel(
    data: Dataset, found: list[Row], title: str, paper: tuple[tuple[str, int, int], ...]
) -> Panel:
    """In cycles of the time stamp counter, as in the paper, where their length is known."""
    clock = data.machine.get("ns_per_tick")
    scale = clock or 1.0
    papers = {threads for _, threads, _ in paper} if clock else set()
    counts = sorted({row["threads"] for row in found} | papers)
    series = series_of(
        [row for row in found if not _is_ideal(row)],
        lambda row, value: value / scale if value is not None else None,
    )
    points = [
        Point(
            row["threads"], row["median"] / scale,
            text=f"without any barrier: {format_time(row['median'])}",
        )
        for row in sorted(found, key=lambda row: row["threads"])
        if _is_ideal(row)
    ]
    if points:
        series.append(Series("ideal: no barrier", "color:floor", points, dash="dot", marker="x"))
    rules = [Rule(data.cores, f"{data.cores} cores", True)] if data.cores else []
    axis = Axis("threads", log=True, ticks=[(n, str(n)) for n in counts])
    if not clock:
        return Panel(title, axis, time_axis("time of an instruction"), series, rules, height=620)
    series += [_of_paper(*values) for values in paper]
    axis_y = Axis("cycles of an instruction", log=True, counts=True)
    return Panel(title, axis, axis_y, series, rules, height=620)


def _of_paper(words: str, threads: int, cycles: int) -> Series:
    text = f"Hetland et al. 2019, HARP, {threads} threads, {words}: of the order of {cycles:,}"
    point = Point(threads, cycles, text=text)
    label = f"the paper, {words}"
    return Series(label, "color:floor", [point], line=False, marker="x")


def _captions(found: list[Row], words: str) -> list[str]:
    made = []
    for n in sorted({row["threads"] for row in found}):
        cell = [row for row in found if row["threads"] == n]
        ours, ideal = default_of(cell), next((row for row in cell if _is_ideal(row)), None)
        if ours is None or ideal is None:
            continue
        cycles = f" ({ours['cycles_median']:.0f} cycles)" if ours["cycles_median"] else ""
        text = (
            f"{words}, {threads_words(n)}: {format_time(ours['median'])}{cycles} with tutti's "
            "default, "
            f"{format_time(ideal['median'])} without any barrier"
        )
        peers = sorted(
            (row for row in peers_of(cell) if not _is_ideal(row)), key=lambda row: row["median"]
        )
        ends = [peers[0], peers[-1]] if len(peers) > 1 else peers
        others = [
            f"{style.label(row)} {format_ratio(row['median'] / ours['median'])} as long"
            for row in ends
        ]
        made.append(f"{text}; of the peers {' to '.join(others)}." if others else f"{text}.")
    return made
