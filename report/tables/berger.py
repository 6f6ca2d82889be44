# SPDX-License-Identifier: Apache-2.0
"""What Berger and Stamatakis 2010 tell in numbers beside their tables: barriers of an optimisation,
and the placement of two threads.
"""

from __future__ import annotations

from report.lines import Dataset
from report.model import Cell, Table
from report.papers import BERGER_COUNTS, BERGER_PINNING, REGIONS_1
from report.select import Row, rows, threads_words
from report.statistics import format_ratio, format_time

COUNTS_NAME = "phylo_counts"
COUNTS_TITLE = "Barriers of an optimisation (section V of Berger and Stamatakis 2010)"
COUNTS_QUESTION = (
    "A region for each step and a barrier at its end, until convergence: how many barriers and "
    "reductions does the optimisation of all branch lengths take?"
)
PINNING_NAME = "pinning"
PINNING_TITLE = "Pinning effects (section VI.B of Berger and Stamatakis 2010)"
PINNING_QUESTION = (
    "Two threads, regions without work, barrier Lock-Free-Padded: what does it matter which cores "
    "they run on?"
)
DASH = Cell("–", kind="muted")


def build_counts(data: Dataset) -> Table:
    found = {row["what"]: row for row in rows(data, benchmark="phylo", steps="separate")}
    made = Table(COUNTS_NAME, COUNTS_TITLE, COUNTS_QUESTION, [], [], [])
    made.missing = data.not_measured(
        COUNTS_NAME, None if found else "no result of tutti-phylo --regions separate."
    )
    if not found:
        return made
    made.heads = [
        "alignment", "cycles", "barriers", "of them with a reduction", "the paper: barriers",
        "with a reduction", "ratio", "time here",
    ]
    for what, (barriers, reductions, runs) in BERGER_COUNTS.items():
        if what in found:
            made.rows.append(_counts_row(what, found[what], barriers // runs, reductions // runs))
    made.captions = [
        "The paper counts five optimisations; a fifth of its counts stands here. The counts depend "
        "on the tree, the alignment and the end of convergence, not on the machine: ours are "
        "simulated alignments with the paper's numbers of taxa and columns, and a cycle that gains "
        "less than 0.001 in log-likelihood is the last.",
    ]
    return made


def _counts_row(what: str, row: Row, barriers: int, reductions: int) -> list[Cell]:
    ended = "converged" if row["converged"] else "ended early"
    ratio = row["barriers"] / barriers
    return [
        Cell(what, "taxa x columns"), Cell(str(row["cycles"]), ended),
        Cell(f"{row['barriers']:,}"), Cell(f"{row['reductions']:,}"), Cell(f"{barriers:,}"),
        Cell(f"{reductions:,}"), Cell(format_ratio(ratio)),
        Cell(format_time(row["median"]), threads_words(row["threads"])),
    ]


def build_pinning(data: Dataset) -> Table:
    found = [
        row
        for row in rows(data, benchmark="synthetic", metric="region", name="flags_padded")
        if row["pin"] and row["pin"][0].isdigit()
    ]
    made = Table(PINNING_NAME, PINNING_TITLE, PINNING_QUESTION, [], [], [])
    made.missing = data.not_measured(
        PINNING_NAME, None if found else "no result of tutti-synthetic --pin."
    )
    if not found:
        return made
    found.sort(key=lambda row: row["median"])
    made.heads = ["where", "a region", f"{REGIONS_1:,} regions", "ratio"]
    least = found[0]["median"]
    for row in found:
        extent = f"{format_time(row['min'])} to {format_time(row['p99'])}"
        made.rows.append(
            [
                Cell(f"here: CPUs {row['pin']}"), Cell(format_time(row["median"]), extent),
                Cell(format_time(row["median"] * REGIONS_1)),
                Cell(format_ratio(row["median"] / least), tint=row["median"] / least),
            ]
        )
    for words, seconds, ratio in BERGER_PINNING:
        made.rows.append(
            [
                Cell(f"the paper: {words}", kind="muted"),
                Cell(format_time(seconds * 1e9 / REGIONS_1)), Cell(f"{seconds} s"),
                Cell(format_ratio(ratio), tint=ratio),
            ]
        )
    made.captions = [
        "The report takes a pair of CPUs for each way in which two can be near: threads of a core, "
        "a shared cache, a socket, two sockets. "
        + (
            "This machine has one such way only, so there is nothing to compare."
            if len(found) == 1
            else f"The farthest pair takes {format_ratio(found[-1]['median'] / least)} the time of "
            "the nearest."
        )
    ]
    return made
