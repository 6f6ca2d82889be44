# SPDX-License-Identifier: Apache-2.0
"""What was beside or between the episodes has ended: how long until they cost what they did before?
"""

from __future__ import annotations

from report import style
from report.choice import RECOVERY_GRACE
from report.figures.common import SPREAD, absent_peers, dots, share_x
from report.lines import Dataset
from report.model import Figure
from report.select import Row, best, default_of, is_recover, rows, scenario_words, threads_words
from report.statistics import format_time

TITLE = "After a change"
QUESTION = (
    "Neighbours end, long waits become short or short ones long: how long until the rolling median "
    "of the episodes is within 1.1 "
    "times of the undisturbed one?"
)
NAME = "recover"
# What a logarithmic axis shows of a barrier that was calm at once.
AT_ONCE = 1000.0


def _caption(cell: list[Row], title: str) -> str:
    ours, first = default_of(cell), best(row for row in cell if not style.is_default(row))
    if ours is None:
        return f"{title}: tutti's default was not measured."
    text = f"{title}: tutti's default takes {format_time(ours['median'])}"
    if first is not None:
        text += f", {style.label(first)} {format_time(first['median'])}"
    never = ours["unrecovered"] or 0
    of_all = f" of {ours['rounds']}" if ours["rounds"] else ""
    return f"{text}; {never}{of_all} rounds ended before it was calm." if never else f"{text}."


def build(data: Dataset) -> Figure:
    found = rows(data, metric="recover", scenario=is_recover)
    if not found:
        return Figure(
            NAME, TITLE, QUESTION, [], [], ["Not measured: no result with metric recover."]
        )
    panels, captions = [], []
    for scenario, session, threads in sorted(
        {(row["scenario"], row["session"], row["threads"]) for row in found}
    ):
        cell = [
            row
            for row in found
            if (row["scenario"], row["session"], row["threads"]) == (scenario, session, threads)
        ]
        title = f"{threads_words(threads)}, {scenario_words(scenario, session)}"
        panels.append(
            dots(title, cell, f"time to recover: {SPREAD}", at_least=AT_ONCE)
        )
        captions.append(_caption(cell, title))
    captions.append(
        f"At most {format_time(RECOVERY_GRACE)} more than the first count as the same: the "
        "scheduler's slices are milliseconds. "
        f"Less than {format_time(AT_ONCE)} is drawn as that."
    )
    return Figure(NAME, TITLE, QUESTION, share_x(panels), captions, absent_peers(data, found))
