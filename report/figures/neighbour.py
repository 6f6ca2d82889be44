# SPDX-License-Identifier: Apache-2.0
"""A busy neighbour process beside the run: the default against its own fixed waits and the peers.
"""

from __future__ import annotations

from report.figures.common import (
    SPREAD,
    absent_peers, absent_waits, against_best_static, dots, drawable, loop_rows, share_x, verdict,
)
from report.lines import Dataset
from report.model import Figure
from report.select import is_neighbour, scenario_words, threads_words

TITLE = "A busy neighbour"
QUESTION = (
    "Another process computes on the same cores: who collapses, and does the default stay near its "
    "best fixed wait?"
)
NAME = "neighbour"


def build(data: Dataset) -> Figure:
    found, notes = drawable(loop_rows(data, scenario=is_neighbour))
    if not found:
        return Figure(
            NAME, TITLE, QUESTION, [], [], ["Not measured: no result with a scenario neighbour."]
        )
    panels, captions = [], []
    cells = sorted(
        {(row["threads"], row["scenario"]) for row in found},
        key=lambda c: (c[1] != "neighbour_one", c[1], c[0]),
    )
    for threads, scenario in cells:
        cell = [row for row in found if (row["threads"], row["scenario"]) == (threads, scenario)]
        title = f"{threads_words(threads)}, {scenario_words(scenario)}"
        panels.append(dots(title, cell, f"time per episode: {SPREAD}"))
        captions.append(" ".join([verdict(cell, title), *against_best_static(cell)]))
    return Figure(
        NAME, TITLE, QUESTION, share_x(panels), captions,
        notes + absent_peers(data, found) + absent_waits(found),
    )
