# SPDX-License-Identifier: Apache-2.0
"""More threads than cores: the default, every wait policy, the peers, and the kernel's own floor.
"""

from __future__ import annotations

from report import style
from report.figures.common import (
    SPREAD,
    absent_peers, absent_waits, against_best_static, dots, drawable, loop_rows, switch_floor,
    switches, verdict,
)
from report.figures.threads import multiple_of
from report.lines import Dataset
from report.model import Figure, Rule
from report.select import Row, default_of, fixed_wait, is_free, threads_words
from report.statistics import format_ratio

TITLE = "More threads than cores"
QUESTION = "Who stays near the time that the kernel needs to give every thread its turn?"
NAME = "oversubscription"


def _contenders(found: list[Row]) -> list[Row]:
    """The peers, the defaults, and what was measured with several waits; the other algorithms have
    their own plot.
    """
    names = {"default", "default_rankless"} | {row["name"] for row in found if fixed_wait(row)}
    return [row for row in found if not style.is_tutti(row["provider"]) or row["name"] in names]


def count_words(threads: int, cores: int) -> str:
    count = switches(threads, cores)
    return f"{count} context switch{'es' if count != 1 else ''}"


def build(data: Dataset) -> Figure:
    cores = data.cores
    if not cores:
        return Figure(
            NAME, TITLE, QUESTION, [], [],
            ["Not measured: the lines do not say how many cores there are."],
        )
    found = loop_rows(data, scenario=is_free, pinned=True, threads=lambda n: n > cores)
    found, notes = drawable(_contenders(found))
    if not found:
        return Figure(
            NAME, TITLE, QUESTION, [], [],
            [f"Not measured: no result with more than {cores} threads."],
        )
    panels, captions = [], []
    for n in sorted({row["threads"] for row in found}):
        cell = [row for row in found if row["threads"] == n]
        floor = switch_floor(data, n)
        rules = [Rule(floor, count_words(n, cores), True)] if floor else []
        title = f"{threads_words(n)} on {cores} cores"
        panels.append(dots(title, cell, f"time per episode: {SPREAD}", rules))
        sentences = [verdict(cell, title), *against_best_static(cell)]
        ours = default_of(cell)
        if ours and floor:
            multiple = format_ratio(multiple_of(data, ours))
            sentences.append(f"It takes {multiple} the kernel's floor of {count_words(n, cores)}.")
        captions.append(" ".join(sentences))
    return Figure(
        NAME, TITLE, QUESTION, panels, captions,
        notes + absent_peers(data, found) + absent_waits(found),
    )
