# SPDX-License-Identifier: Apache-2.0
"""Threads that the scheduler may move: the default, its waits and the peers, not pinned."""

from __future__ import annotations

from report.figures.common import SPREAD, absent_peers, dots, drawable, loop_rows, verdict
from report.lines import Dataset
from report.model import Figure
from report.select import default_of, is_free, threads_words
from report.statistics import format_ratio, format_time

TITLE = "Threads that are not pinned"
QUESTION = (
    "The scheduler may put two participants on one core, where a spinning one only delays the "
    "other."
)
NAME = "unpinned"


def build(data: Dataset) -> Figure:
    found, notes = drawable(loop_rows(data, scenario=is_free, pinned=False))
    if not found:
        return Figure(
            NAME, TITLE, QUESTION, [], [], ["Not measured: no result that is not pinned."]
        )
    panels, captions = [], []
    for n in sorted({row["threads"] for row in found}):
        cell = [row for row in found if row["threads"] == n]
        title = f"{threads_words(n)}, not pinned"
        panels.append(dots(title, cell, f"time per episode: {SPREAD}"))
        captions.append(verdict(cell, title))
        ours, pinned = (
            default_of(cell), default_of(loop_rows(data, scenario=is_free, pinned=True, threads=n)),
        )
        if ours and pinned and pinned["median"] > 0:
            ratio = format_ratio(ours["median"] / pinned["median"])
            captions.append(
                f"{title}: the default takes {ratio} its pinned time "
                f"({format_time(pinned['median'])})."
            )
    return Figure(NAME, TITLE, QUESTION, panels, captions, notes + absent_peers(data, found))
