# SPDX-License-Identifier: Apache-2.0
"""What an exact sum costs a value, beside the plain loop, a pairwise sum and tutti's fold."""

from __future__ import annotations

from report.lines import Dataset
from report.model import Cell, Table
from report.select import Row, rows
from report.statistics import format_ratio
from report.sums import BENCHMARK

NAME = "sums"
TITLE = "Sums that do not depend on the order"
QUESTION = (
    "An exact sum has the same bits for any division of the values among ranks. How many "
    "nanoseconds a double does it take on one thread, beside the usual sums?"
)
FORMS = {
    "plain_loop": ("for (x : v) sum += x", "one order, error grows with the values"),
    "pairwise": ("pairwise, blocks of 32", "one order, error grows with their logarithm"),
    "fold": ("tutti::fold", "one order, by vectors"),
    "exact_span": ("exact_sum, whole arrays", "any order, exact"),
    "exact_each": ("exact_sum, one by one", "any order, exact"),
}
DASH = Cell("–", kind="muted")


def build(data: Dataset) -> Table:
    found = rows(data, benchmark=BENCHMARK)
    made = Table(NAME, TITLE, QUESTION, [], [], [], [], data.not_measured(NAME))
    if not found:
        made.missing = data.not_measured(NAME, "no result of bench/exact_cost.")
        return made
    counts = sorted({int(row["what"]) for row in found})
    cells = {(row["name"], int(row["what"])): row for row in found}
    made.groups = [("", 1), ("ns a value, of so many doubles", len(counts))]
    made.heads = ["sum", *(f"{count:,}" for count in counts)]
    best = {
        count: min(row["median"] for (_, n), row in cells.items() if n == count)
        for count in counts
    }
    for name, (words, note) in FORMS.items():
        row = [_cell(cells.get((name, count)), best[count]) for count in counts]
        made.rows.append([Cell(words, note), *row])
    made.captions = [_words(cells, counts)]
    return made


def _cell(row: Row | None, best: float) -> Cell:
    if row is None:
        return DASH
    extent = f"{row['min']:.2f} to {row['p99']:.2f}"
    return Cell(f"{row['median']:.2f}", extent, tint=row["median"] / best)


def _words(cells: dict[tuple[str, int], Row], counts: list[int]) -> str:
    parts = []
    for count in counts:
        exact = cells.get(("exact_span", count))
        others = [cells.get((name, count)) for name in ("plain_loop", "pairwise")]
        if exact and all(others):
            ratios = [format_ratio(exact["median"] / row["median"]) for row in others]
            parts.append(f"{ratios[0]} and {ratios[1]} with {count:,}")
    return (
        "The exact sum of an array takes, beside the plain loop and the pairwise sum, "
        f"{'; '.join(parts)}. Medians of five interleaved repetitions; the values are uniform in "
        "-1 .. 1, and the processor's time is counted."
    )
