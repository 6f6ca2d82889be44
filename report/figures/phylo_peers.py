# SPDX-License-Identifier: Apache-2.0
"""Branch lengths of one alignment optimised by tutti-phylo, RAxML and libpll: time, and whether
they agree.
"""

from __future__ import annotations

from report import style
from report.figures.common import (
    absent_peers, dots, drawable, share_x, verdict, without_result,
)
from report.lines import Dataset
from report.model import Figure
from report.select import Row, default_of, is_neighbour, rows, scenario_words, threads_words

NAME = "phylo_peers"
TITLE = "Branch lengths beside RAxML and libpll"
QUESTION = (
    "The same alignment, tree and model, every branch length found again from 0.1: how long does "
    "one optimisation take? RAxML "
    "has its own rule to stop; tutti-phylo and libpll follow the same procedure."
)
WORDS = {"example": "the alignment that IQ-TREE ships (17 taxa x 1,998 sites)"}


def is_compared(row: Row) -> bool:
    """From the comparison, not from tables III and IV, whose lines say how many patterns there are.
    """
    return " x " not in row["what"]


def disagreement(found: list[Row]) -> dict[str, float]:
    """The largest relative difference of another program's log-likelihood from tutti's."""
    ours = default_of(found)
    if ours is None or not ours["log_likelihood"]:
        return {}
    worst: dict[str, float] = {}
    for row in found:
        if not style.is_tutti(row["provider"]) and row["log_likelihood"]:
            apart = abs(row["log_likelihood"] / ours["log_likelihood"] - 1)
            worst[row["provider"]] = max(worst.get(row["provider"], 0.0), apart)
    return worst


def apart_words(apart: float) -> str:
    return f"{apart:.1e} apart" if apart > 0 else "equal to the last digit printed"


def build(data: Dataset) -> Figure:
    found, notes = drawable(row for row in rows(data, benchmark="phylo") if is_compared(row))
    if not found:
        return without_result(
            data, NAME, "the comparison workloads/phylo/compare.py", NAME, TITLE, QUESTION
        )
    panels, captions = [], []
    cells = sorted(
        {
            (is_neighbour(row["scenario"]), row["scenario"], row["what"], row["threads"])
            for row in found
        }
    )
    for _, scenario, what, threads in cells:
        cell = [
            row
            for row in found
            if (row["scenario"], row["what"], row["threads"]) == (scenario, what, threads)
        ]
        title = f"{threads_words(threads)}, {scenario_words(scenario)}"
        panels.append(dots(title, cell, "time of one optimisation: median, min to max"))
        captions.append(verdict(cell, title))
    for what in sorted({row["what"] for row in found}):
        captions.append(_agreement([row for row in found if row["what"] == what], what))
    return Figure(
        NAME, TITLE, QUESTION, share_x(panels), captions, notes + absent_peers(data, found)
    )


def _agreement(found: list[Row], what: str) -> str:
    input_words = WORDS.get(
        what, f"a simulated alignment ({what} taxa)" if what.isdigit() else what
    )
    ours = default_of(found)
    if ours is None or not ours["log_likelihood"]:
        return f"Input: {input_words}."
    parts = [
        f"{style.PEER_LABELS.get(who, who)} {apart_words(apart)}"
        for who, apart in sorted(disagreement(found).items())
    ]
    others = f"; the others', relatively: {', '.join(parts)}" if parts else ""
    return f"Input: {input_words}. tutti's log-likelihood is {ours['log_likelihood']:.6f}{others}."
