# SPDX-License-Identifier: Apache-2.0
"""What an application's use of the caches does to the barriers after it, which Berger and
Stamatakis 2010 leave to future work.
"""

from __future__ import annotations

from report import style
from report.figures.common import hover, share_y, time_axis, without_result
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Series
from report.papers import TABLE_1
from report.plan import ACCESS_LINES, ACCESS_SETS
from report.select import Row, rows, threads_words
from report.statistics import format_ratio, format_time, overlap

NAME = "access"
TITLE = "The barrier after work on the caches (future work of Berger and Stamatakis 2010)"
QUESTION = (
    f"In each region every thread reads and writes {ACCESS_LINES:,} cache lines of a set of its "
    "own, which fits a level of the caches or none. What does the region cost beyond the longest "
    "thread's work, and which barrier is best after which work?"
)
PAPER = (
    "The paper names the influence of an application's cache use and access pattern on the best "
    "barrier as future work and has no numbers. The work takes its time whichever lines it "
    "touches, so the set of one line is the comparison: the same pause between barriers, and "
    "nothing displaced."
)
SETS = dict(zip(ACCESS_SETS, ("one line", "half of L1", "half of L2", "half of L3", "memory")))
PATTERNS = {"stream": "line by line", "random": "at random places"}
FORMS = {"default": "tutti's choice", **{name: title for title, name, _ in TABLE_1.rows}}


def _cells(data: Dataset) -> dict[str, dict[str, dict[str, Row]]]:
    """Access, set, barrier: the row with the fewest threads."""
    found = [
        row for row in rows(data, metric="overhead") if row["name"] in FORMS and row["median"] > 0
    ]
    threads = min((row["threads"] for row in found), default=0)
    cells: dict[str, dict[str, dict[str, Row]]] = {}
    for row in found:
        access, _, size = row["scenario"].partition("_")
        if row["threads"] == threads and access in PATTERNS and size in SETS:
            cells.setdefault(access, {}).setdefault(size, {})[row["name"]] = row
    return cells


def build(data: Dataset) -> Figure:
    cells = _cells(data)
    if not cells:
        return without_result(data, NAME, "tutti-synthetic --set", NAME, TITLE, QUESTION)
    panels = share_y([_panel(access, cells[access]) for access in PATTERNS if access in cells])
    captions = [_words(access, cells[access]) for access in PATTERNS if access in cells]
    any_row = next(iter(next(iter(next(iter(cells.values())).values())).values()))
    extent = (
        f"{threads_words(any_row['threads']).capitalize()}, medians of "
        f"{any_row['rounds'] or 'some'} interleaved rounds; each thread times its work by its own "
        "clock, and the readings of the clocks are in all of the times."
    )
    return Figure(
        NAME, TITLE, QUESTION, panels, [*captions, extent, PAPER], data.not_measured(NAME)
    )


def _panel(access: str, sets: dict[str, dict[str, Row]]) -> Panel:
    places = [size for size in SETS if size in sets]
    series = []
    for turn, (name, label) in enumerate(FORMS.items()):
        points = [
            Point(
                place, sets[size][name]["median"],
                text=hover(sets[size][name], f" after {SETS[size]}, {PATTERNS[access]}"),
            )
            for place, size in enumerate(places)
            if name in sets[size]
        ]
        if not points:
            continue
        ours = name == "default"
        series.append(
            Series(
                label, "color:tutti" if ours else COLORS[turn % len(COLORS)], points,
                emphasis=ours, dash=style.DASHES[turn % 4], marker=style.MARKERS[turn % 7],
            )
        )
    ticks = [(place, SETS[size]) for place, size in enumerate(places)]
    axis_x = Axis("the set of a thread", ticks=ticks, lowest=-0.3, highest=len(places) - 0.7)
    return Panel(PATTERNS[access], axis_x, time_axis("cost of the region beyond its work"), series)


COLORS = (
    "color:tutti", "color:pthread", "color:std", "color:libgomp", "color:boost", "color:libomp",
    "color:mutex_condvar",
)


def _words(access: str, sets: dict[str, dict[str, Row]]) -> str:
    parts = []
    for size, words in SETS.items():
        forms = {name: row for name, row in sets.get(size, {}).items() if name != "default"}
        if len(forms) < 2:
            continue
        first, last = (pick(forms, key=lambda name: forms[name]["median"]) for pick in (min, max))
        ratio = forms[last]["median"] / forms[first]["median"]
        told = (
            "the paper's forms cannot be told apart"
            if overlap(forms[first], forms[last])
            else f"{FORMS[first]} is best and {FORMS[last]} takes {format_ratio(ratio)}"
        )
        ours = sets[size].get("default")
        mine = (
            f", tutti's choice {format_ratio(ours['median'] / forms[first]['median'])}"
            if ours
            else ""
        )
        parts.append(f"after {words} ({format_time(forms[first]['median'])}) {told}{mine}")
    return f"{PATTERNS[access].capitalize()}: {'; '.join(parts)}."
