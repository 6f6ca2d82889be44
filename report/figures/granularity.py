# SPDX-License-Identifier: Apache-2.0
"""From how many elements on an instruction of the vector machine pays with two threads, which
Hetland et al. 2019 call the granularity that barriers allow.
"""

from __future__ import annotations

from report import style
from report.figures.common import share_y, time_axis, without_result
from report.granularity import A_TURN, PREFIX, additions
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Series
from report.select import Row, rows, threads_words
from report.statistics import format_ratio, format_time

NAME = "granularity"
TITLE = "Granularity of vector instructions (section 2 of Hetland et al. 2019)"
QUESTION = (
    "An addition of two vectors, whose result the next one needs: from how many elements on is it "
    "worth a second thread?"
)
ENGINES = {
    "spmd": "every thread executes every instruction, and a barrier ends each",
    "lazy": "tutti's default: a chain of instructions goes over the elements once",
}
PAPER = (
    "Medians of runs in turn; beside other work on the machine two threads wait for each other at "
    "every barrier. The paper says that the latency of the barrier limits how fine the computation "
    "of each thread may be, and prints no number of elements."
)


def _found(data: Dataset) -> dict[tuple[str, int], dict[int, Row]]:
    """Engine and threads: the row for each number of elements."""
    made: dict[tuple[str, int], dict[int, Row]] = {}
    for row in rows(data, benchmark="vcode", provider="tutti"):
        if row["what"].startswith(PREFIX) and row["name"] in ENGINES and row["median"] > 0:
            elements = int(row["what"].removeprefix(PREFIX))
            made.setdefault((row["name"], row["threads"]), {})[elements] = row
    return made


def each(row: Row, elements: int) -> float:
    return row["median"] / additions(elements)


def pays_from(alone: dict[int, Row], together: dict[int, Row]) -> int | None:
    """The least number of elements from which on two threads are always faster."""
    first = None
    for elements in sorted(set(alone) & set(together), reverse=True):
        if together[elements]["median"] >= alone[elements]["median"]:
            break
        first = elements
    return first


def build(data: Dataset) -> Figure:
    found = _found(data)
    if not found:
        return without_result(
            data, NAME, "tutti bench vcode on these programs", NAME, TITLE, QUESTION
        )
    panels, captions = [], []
    for engine, words in ENGINES.items():
        mine = {threads: found[name, threads] for name, threads in found if name == engine}
        if mine:
            panels.append(_panel(engine, mine))
            captions.append(_words(engine, words, mine))
    panels = share_y(panels)
    return Figure(NAME, TITLE, QUESTION, panels, [*captions, PAPER], data.not_measured(NAME))


def _panel(engine: str, mine: dict[int, dict[int, Row]]) -> Panel:
    series = []
    for place, (threads, cells) in enumerate(sorted(mine.items())):
        points = [
            Point(
                elements, each(row, elements),
                text=f"{engine}, {threads_words(threads)}, {elements:,} elements: "
                f"{format_time(each(row, elements))} an addition",
            )
            for elements, row in sorted(cells.items())
        ]
        dash, marker = style.look(place)
        words, shade = threads_words(threads), style.tutti_shade(place)
        series.append(Series(words, shade, points, dash=dash, marker=marker))
    sizes = sorted({elements for cells in mine.values() for elements in cells})
    axis_x = Axis("elements", log=True, ticks=[(n, f"{n:,}") for n in sizes])
    return Panel(f"engine {engine}", axis_x, time_axis("time of an addition"), series)


def _words(engine: str, words: str, mine: dict[int, dict[int, Row]]) -> str:
    counts = sorted(mine)
    text = f"Engine {engine} ({words}; chains of {A_TURN})"
    if len(counts) < 2:
        return f"{text}: only {threads_words(counts[0])} measured."
    alone, together = mine[counts[0]], mine[counts[-1]]
    first = pays_from(alone, together)
    largest = max(set(alone) & set(together), default=None)
    if largest is None:
        return f"{text}: no number of elements was measured with both numbers of threads."
    ratio = alone[largest]["median"] / together[largest]["median"]
    if first is None:
        return (
            f"{text}: {threads_words(counts[-1])} are not faster with any of these numbers, and "
            f"take {format_ratio(1 / ratio)} the time with {largest:,} elements."
        )
    return (
        f"{text}: {threads_words(counts[-1])} pay from {first:,} elements on "
        f"({format_time(each(alone[first], first))} an addition on one thread), and are "
        f"{format_ratio(ratio)} as fast with {largest:,}."
    )
