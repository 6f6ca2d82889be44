# SPDX-License-Identifier: Apache-2.0
"""The refutable barrier: an empty episode and one with a message each, and episodes a second
against participants.
"""

from __future__ import annotations

from itertools import groupby

from report import style
from report.figures.common import (
    DOT_FRAME, ROW_HEIGHT, drawable, hover, share_x, time_axis, without_result,
)
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series, Shade
from report.select import Row, best, default_of, peers_of, ranks_words, rows, threads_words
from report.statistics import compare, format_count, format_ratio, format_time

NAME = "idle"
TITLE = "The refutable barrier: episodes of idle()"
QUESTION = (
    "Everybody waits until a message comes, or until all wait and nothing is under way: what does "
    "an episode cost in which "
    "nothing was sent, and one in which each participant sent a message? At the right, both as "
    "multiples of one line transfer; "
    "with more threads than cores, where lines are not what it costs, the times."
)
EMPTY, EACH = "empty_episode", "message_each"
WORDS = {EMPTY: "empty episode", EACH: "episode with a message each"}
# The panels; the other numbers of participants are in the next figure.
SHOWN = (2, 4, 8)
BARRIERS = (
    "Barriers know nothing of messages and cannot be refuted: they are a floor for the empty "
    "episode, not rivals."
)

NO_CLOCK_TREE = "A clock tree in software was not measured."
# They are in the table of processes.
OF_PROCESSES = ("openmpi", "mpich")

RATE_NAME = "detectors"
RATE_TITLE = "Termination detection in software (figure 6 of Naylor et al. 2020)"
RATE_QUESTION = (
    "How many empty episodes a second does each way of detecting termination reach, from 2 to 64 "
    "participants? Higher is better."
)
RATE_PAPER = (
    "In the paper, detection in hardware makes 6 to 13 times as many round trips a second as an "
    "asynchronous clock tree in "
    "software, on meshes of up to 48 FPGAs; its single hop takes 150 cycles at 240 MHz, 625 ns."
)
CLOCK_TREES = {
    "sampled": "sums of counters sampled again and again",
    "messages": "a clock tree of messages (one round trip, of which a detection needs two)",
}


def _in_one_process(row: Row) -> bool:
    return row["processes"] is None


def _is_virtual(row: Row) -> bool:
    """Participants that are fibers."""
    return row["scenario"] == "fibers" or row["ranks"] > row["threads"]


def _is_barrier(row: Row) -> bool:
    return row["name"] == "barrier"


def _found(data: Dataset) -> list[Row]:
    return [
        row
        for row in rows(data, benchmark="idle", metric=lambda metric: metric in WORDS)
        if _in_one_process(row)
    ]


def _nothing(data: Dataset, name: str, title: str, question: str) -> Figure:
    return without_result(data, "idle", "benchmark idle in one process", name, title, question)


def build(data: Dataset) -> Figure:
    found, notes = drawable(row for row in _found(data) if not _is_virtual(row))
    counts = [n for n in SHOWN if any(row["threads"] == n for row in found)]
    if not counts:
        return _nothing(data, NAME, TITLE, QUESTION)
    panels, captions = [], []
    for n in counts:
        cell = [row for row in found if row["threads"] == n]
        crowded = data.cores is not None and n > data.cores
        panels.append(_panel(cell, ranks_words(n, n, data.cores), crowded))
        captions += _captions(cell, ranks_words(n, n, data.cores))
    notes += [
        f"{style.PEER_LABELS.get(line['provider'], line['provider'])}: not measured: "
        f"{line.get('reason')}."
        for line in data.skipped
        if line.get("provider") in style.PEER_LABELS and line["provider"] not in OF_PROCESSES
    ]
    return Figure(NAME, TITLE, QUESTION, share_x(panels), [*captions, BARRIERS], notes)


def _label(row: Row) -> str:
    return style.label(row) if style.is_tutti(row["provider"]) else style.peer_label(row)


def _panel(cell: list[Row], title: str, crowded: bool) -> Panel:
    pairs: dict[str, dict[str, Row]] = {}
    for row in cell:
        pairs.setdefault(_label(row), {})[row["metric"]] = row
    order = sorted(
        pairs.items(), key=lambda item: next(iter(item[1].values()))["median"], reverse=True
    )
    series = []
    for place, (label, pair) in enumerate(order):
        known = [pair[metric] for metric in WORDS if metric in pair]
        points = [
            Point(
                row["median"], place, row["min"], row["p99"],
                hover(row, f", {WORDS[row['metric']]}"),
            )
            for row in known
        ]
        ours = style.is_default(known[0])
        color = (
            "color:tutti1"
            if style.is_tutti(known[0]["provider"]) and not ours
            else style.color(known[0]["provider"])
        )
        marker = "circle-open" if EACH not in pair else "circle"
        series.append(
            Series(
                label, color, points, emphasis=ours, line=False, marker=marker,
                note=_note(known, crowded),
            )
        )
    axis_y = Axis(
        "", ticks=[(place, s.label) for place, s in enumerate(series)], lowest=-0.7,
        highest=len(series) - 0.3,
    )
    axis_x = time_axis("time: ○ empty episode, ● with a message each")
    floors = [row["floor_median"] for row in cell if row["floor_median"]]
    rules = [Rule(floors[0], "one line transfer", True)] if floors and not crowded else []
    return Panel(
        title, axis_x, axis_y, series, rules, "pairs", DOT_FRAME + ROW_HEIGHT * len(series)
    )


def _note(known: list[Row], crowded: bool) -> str:
    if crowded:
        return " → ".join(format_time(row["median"]) for row in known)
    ratios = [
        row["ratio_median"]
        or (row["median"] / row["floor_median"] if row["floor_median"] else None)
        for row in known
    ]
    return " → ".join(format_ratio(ratio) for ratio in ratios if ratio)


def _captions(cell: list[Row], title: str) -> list[str]:
    empty = [row for row in cell if row["metric"] == EMPTY]
    ours = default_of(empty)
    each = default_of(row for row in cell if row["metric"] == EACH)
    if ours is None:
        return [f"{title}: tutti's default was not measured."]
    text = f"{title}: an empty episode of tutti's default takes {format_time(ours['median'])}"
    if each:
        text += f", with a message each {format_time(each['median'])}"
    other = best(
        row for row in empty if style.is_tutti(row["provider"]) and not style.is_default(row)
    )
    if other and compare(ours, other).loses:
        text += f"; detector {other['name']} is faster: {format_time(other['median'])}"
    peer = best(row for row in peers_of(empty) if _is_barrier(row))
    if peer:
        text += f"; the best barrier, {_label(peer)}, {format_time(peer['median'])}"
    return [f"{text}."]


def build_rates(data: Dataset) -> Figure:
    found, notes = drawable(row for row in _found(data) if row["metric"] == EMPTY)
    counts = sorted({row["ranks"] for row in found})
    if len(counts) < 2:
        return _nothing(data, RATE_NAME, RATE_TITLE, RATE_QUESTION)
    series, shade = [], 0
    for label, group in groupby(
        sorted(found, key=lambda row: (_rate_label(row), row["ranks"])), key=_rate_label
    ):
        group = list(group)
        points = [_rate(row) for row in group]
        first = group[0]
        if style.is_default(first) and not _is_virtual(first):
            series.append(Series(label, "color:tutti", points, emphasis=True))
        elif style.is_tutti(first["provider"]):
            dash, marker = style.DASHES[shade % 4], style.MARKERS[shade % 7]
            series.append(Series(label, style.tutti_shade(shade), points, dash=dash, marker=marker))
            shade += 1
        else:
            dash = "dash" if _is_virtual(first) or first["name"] == "messages" else "solid"
            series.append(Series(label, style.color(first["provider"]), points, dash=dash))
    axis_x = Axis("participants", log=True, ticks=[(n, str(n)) for n in counts])
    axis_y = Axis("empty episodes a second", log=True, counts=True)
    crowded = data.cores is not None and counts[-1] > data.cores
    shade_of = Shade(data.cores, f"more threads than the {data.cores} cores") if crowded else None
    panel = Panel("an empty episode", axis_x, axis_y, series, height=560, shade=shade_of)
    return Figure(
        RATE_NAME, RATE_TITLE, RATE_QUESTION, [panel], _rate_captions(found, counts), notes
    )


def _participants(row: Row) -> str:
    return f"{row['ranks']} virtual ranks" if _is_virtual(row) else threads_words(row["threads"])


def _rate_label(row: Row) -> str:
    return f"{_label(row)}, virtual ranks" if _is_virtual(row) else _label(row)


def _rate(row: Row) -> Point:
    # The tails of all would hide the lines.
    slow, fast = (
        1e9 / row[key] if row[key] and style.is_default(row) else None for key in ("p99", "min")
    )
    rate = 1e9 / row["median"]
    text = f"{_label(row)} with {_participants(row)}: {format_count(rate)} episodes/s"
    return Point(row["ranks"], rate, slow, fast, text)


def _rate_captions(found: list[Row], counts: list[int]) -> list[str]:
    captions = []
    for n in (counts[0], counts[-1]):
        cell = [row for row in found if row["threads"] == n and not _is_virtual(row)]
        detectors = [
            row for row in cell if style.is_tutti(row["provider"]) and not style.is_default(row)
        ]
        if not detectors:
            continue
        first, last = best(detectors), max(detectors, key=lambda row: row["median"])
        most, least = (format_count(1e9 / row["median"]) for row in (first, last))
        captions.append(
            f"{threads_words(n).capitalize()}: the fastest of tutti's detectors to choose is "
            f"{first['name']} ({most} episodes/s), the slowest "
            f"{last['name']} ({least})."
        )
    against = [_against(found, counts, name, words) for name, words in CLOCK_TREES.items()]
    return [*captions, *(filter(None, against) if any(against) else [NO_CLOCK_TREE]), RATE_PAPER]


def _against(found: list[Row], counts: list[int], name: str, words: str) -> str:
    """How tutti's default stands against one of the clock trees, with each number of threads."""
    ratios = []
    for n in counts:
        cell = [row for row in found if row["threads"] == n and not _is_virtual(row)]
        ours = default_of(cell)
        tree = next(
            (row for row in cell if row["provider"] == "clock_tree" and row["name"] == name), None
        )
        if ours and tree:
            ratios.append(f"{format_ratio(tree['median'] / ours['median'])} with {n}")
    return (
        f"Episodes a second of tutti's default over those of {words}: {', '.join(ratios)}."
        if ratios
        else ""
    )
