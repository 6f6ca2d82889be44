# SPDX-License-Identifier: Apache-2.0
"""Tables I to IV of Berger and Stamatakis 2010: this machine's times, and as ratios to the best
form both here and on the paper's systems.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from report import papers, style
from report.lines import UNOPTIMISED, Dataset
from report.model import Cell, Table
from report.papers import PaperTable
from report.plan import SHORT_EPSILON, TABLE_3, TABLE_4
from report.select import Row, is_free, ranks_words, rows, threads_words
from report.statistics import format_ratio, format_time, overlap

DASH = Cell("–", kind="muted")
# Cycles after which an optimisation with SHORT_EPSILON ends.
SHORT_CYCLES = 3
# With fewer samples than this nothing is said about who is ahead.
FEW_SAMPLES = 3
HOW = (
    "Each number is a row's time over the best of the paper's forms in its column, so that the "
    "shapes can be compared where "
    "seconds cannot: the systems are of 2008 to 2010, their numbers of threads stand in brackets. "
    "Below each of the paper's ratios are its seconds."
)


@dataclass(frozen=True)
class _Kind:
    """One table: where its lines are, what the paper printed, and what was cut."""

    name: str
    title: str
    question: str
    benchmark: str
    run: str
    what: str
    paper: PaperTable
    # Regions of the paper's run, to which a time per region is scaled; 0: the row's whole time is
    # shown.
    regions: int = 0


def _time(row: Row, kind: _Kind) -> float:
    """What is compared: the time of one region of a loop, or of the whole run."""
    if kind.regions and row["metric"] == "wall" and row["regions"]:
        return row["median"] / row["regions"]
    return row["median"]


def _is_form(row: Row, name: str) -> bool:
    return (
        style.is_tutti(row["provider"])
        and row["name"] == name
        and row["wait"] in ("", style.USUAL_WAIT)
    )


def _build(data: Dataset, kind: _Kind) -> Table:
    found = rows(
        data.of(kind.benchmark), what=kind.what, scenario=is_free, steps=_fused, pin=_by_cores
    )
    made = Table(kind.name, kind.title, kind.question, [], [], [])
    if not found:
        missing = data.why_failed(kind.run) or [
            f"no result of benchmark {kind.benchmark}, {kind.what}."
        ]
        made.missing = [f"Not measured: {text}" for text in missing]
        return made
    shapes = sorted({(row["ranks"], row["threads"]) for row in found})
    columns = [
        [row for row in found if (row["ranks"], row["threads"]) == shape] for shape in shapes
    ]
    unoptimised = rows(
        data.of(kind.benchmark), what=f"{kind.what}{UNOPTIMISED}", scenario=is_free, pin=_by_cores
    )
    if unoptimised:
        columns.append(unoptimised)
    made.heads = ["barrier"]
    for column in columns:
        words = ranks_words(column[0]["threads"], column[0]["ranks"], data.cores)
        compiled = UNOPTIMISED if column is unoptimised else ""
        made.groups.append((f"here: {words}{compiled}", 3 if kind.regions else 2))
        made.heads += (["a region", f"{kind.regions:,} regions"] if kind.regions else ["time"]) + [
            "ratio"
        ]
    theirs = "Berger and Stamatakis 2010: ratio to the best of its column"
    made.groups = [("", 1), *made.groups, (theirs, len(kind.paper.systems))]
    made.heads += list(kind.paper.systems)
    made.rows = _paper_rows(columns, kind) + _other_rows(columns, kind)
    made.captions = [HOW, *_shape_words(columns[0], kind), *_extent(columns[0], kind)]
    made.missing = (
        _absent(columns[0], kind)
        + _skipped(data, kind)
        + [f"Not measured: {t}" for t in data.why_failed(kind.run)]
    )
    return made


def _fused(steps: str | None) -> bool:
    """The counts of section V have a region for each step, the tables have not."""
    return steps != "separate"


def _by_cores(pin: str | None) -> bool:
    """Pairs of CPUs have a table of their own."""
    return not pin or not pin[0].isdigit()


def _best(column: list[Row], kind: _Kind) -> float | None:
    """The best of the paper's forms, the base of the ratios."""
    forms = [
        _time(row, kind) for _, name, _ in kind.paper.rows for row in column if _is_form(row, name)
    ]
    return min(forms, default=None)


def _here(row: Row | None, best: float | None, kind: _Kind) -> list[Cell]:
    if row is None:
        return [DASH] * (3 if kind.regions else 2)
    time = _time(row, kind)
    scale = time / row["median"] if row["median"] > 0 else 1
    extent = ""
    if row["min"] is not None and row["p99"] is not None and row["samples"] != 1:
        extent = f"{format_time(row['min'] * scale)} to {format_time(row['p99'] * scale)}"
    cells = [Cell(format_time(time), extent)]
    if kind.regions:
        cells.append(Cell(format_time(time * kind.regions)))
    ratio = time / best if best else None
    return [*cells, Cell(format_ratio(ratio), tint=ratio) if ratio else DASH]


def _paper_rows(columns: list[list[Row]], kind: _Kind) -> list[list[Cell]]:
    made = []
    for (title, name, seconds), ratios in zip(kind.paper.rows, kind.paper.ratios()):
        cells = [Cell(title, style.label({"provider": "tutti", "name": name, "wait": ""}))]
        for column in columns:
            row = next((row for row in column if _is_form(row, name)), None)
            cells += _here(row, _best(column, kind), kind)
        made.append(
            cells
            + [
                Cell(format_ratio(ratio), f"{printed} s", tint=ratio)
                for ratio, printed in zip(ratios, seconds)
            ]
        )
    return made


def _other_rows(columns: list[list[Row]], kind: _Kind) -> list[list[Cell]]:
    """What the paper has not: tutti's default first, then everybody else, the fastest first."""
    names = {name for _, name, _ in kind.paper.rows}
    others: dict[str, Row] = {}
    for column in columns:
        for row in column:
            if not any(_is_form(row, name) for name in names):
                others.setdefault(style.label(row), row)
    order = sorted(
        others, key=lambda label: (not style.is_default(others[label]), _time(others[label], kind))
    )
    made = []
    for label in order:
        cells = [Cell(label, kind="ours" if style.is_default(others[label]) else "")]
        for column in columns:
            row = next((row for row in column if style.label(row) == label), None)
            cells += _here(row, _best(column, kind), kind)
        made.append(cells + [DASH] * len(kind.paper.systems))
    return made


def _shape_words(column: list[Row], kind: _Kind) -> list[str]:
    """Who is first and last of the paper's forms, here and there."""
    forms = {
        title: row for title, name, _ in kind.paper.rows for row in column if _is_form(row, name)
    }
    if len(forms) < 2:
        return []
    measured = [(title, _time(row, kind)) for title, row in forms.items()]
    first, last = min(measured, key=lambda pair: pair[1]), max(measured, key=lambda pair: pair[1])
    doubt = ""
    if min(row["samples"] or 1 for row in forms.values()) < FEW_SAMPLES:
        doubt = " (too few runs to tell that from noise)"
    elif overlap(forms[first[0]], forms[last[0]]):
        doubt = " (within noise)"
    text = (
        f"Here, with {threads_words(column[0]['threads'])}, the fastest of the paper's forms is "
        f"{first[0]} and the slowest "
        f"{last[0]}, {format_ratio(last[1] / first[1])} as long{doubt}."
    )
    ours = next((row for row in column if style.is_default(row)), None)
    if ours is not None:
        text += (
            f" tutti's own choice takes {format_ratio(_time(ours, kind) / first[1])} the time of "
            "the fastest form."
        )
    return [text, _there_words(column[0]["threads"], kind)]


def _there_words(threads: int, kind: _Kind) -> str:
    """The same of the paper's systems, and of the one that is nearest to this machine."""
    ratios = list(zip(*kind.paper.ratios()))
    slowest = Counter(kind.paper.rows[column.index(max(column))][0] for column in ratios)
    name, times = slowest.most_common(1)[0]
    spans = [max(column) for column in ratios]
    sizes = [int(system.split("(")[1].rstrip(")")) for system in kind.paper.systems]
    nearest = min(range(len(sizes)), key=lambda i: abs(math.log(sizes[i] / threads)))
    return (
        f"In the paper, the slowest is {name} on {times} of {len(spans)} systems; the slowest "
        f"takes {format_ratio(min(spans))} to "
        f"{format_ratio(max(spans))} the time of the fastest, and {format_ratio(spans[nearest])} "
        "on the "
        f"{kind.paper.systems[nearest]}, the nearest to this machine in threads."
    )


def _extent(column: list[Row], kind: _Kind) -> list[str]:
    row = column[0]
    if kind.regions:
        rounds = (
            f"{row['rounds']} rounds of some milliseconds, interleaved,"
            if row["rounds"]
            else "some rounds"
        )
        return [
            f"Cut for a short report: {rounds} instead of the paper's {kind.regions:,} regions in "
            "a row; the second column scales "
            "to those. The paper compiled without optimisation (-O0); "
            "`make report REPORT_OPTIONS=--long` adds a column of programs compiled so."
        ]
    done = (
        f"{row['cycles']} cycles, {row['regions']:,} regions"
        if row["cycles"] and row["regions"]
        else "a few cycles"
    )
    ends = (
        f"until convergence ({done}), {_runs(row)}, as the paper's RAxML did five times."
        if row["converged"] and row["cycles"] != SHORT_CYCLES
        else "cut for a short report: one optimisation ends when a cycle gains less than "
        f"{SHORT_EPSILON} in log-likelihood ({done}), {_runs(row)}; the paper's RAxML ran until "
        "convergence, five times. `make report REPORT_OPTIONS=--long` does so."
    )
    return [
        "The alignment has the paper's numbers of taxa and patterns, but is simulated; the runs "
        f"are {ends}",
        "With a barrier chosen by name the master adds up the partial sums after it, by vector "
        "instructions in the -SSE3 forms; "
        "tutti's own choice carries them on the lines of the arrivals, as the paper's -Red does.",
    ]


def _runs(row: Row) -> str:
    return (
        f"median of {row['samples']}, interleaved"
        if row["samples"] and row["samples"] > 1
        else "one run of each"
    )


def _absent(column: list[Row], kind: _Kind) -> list[str]:
    names = [name for _, name, _ in kind.paper.rows]
    return [
        f"{name}: not measured." for name in names if not any(_is_form(row, name) for row in column)
    ]


def _skipped(data: Dataset, kind: _Kind) -> list[str]:
    if kind.benchmark == "phylo":
        return []
    notes = []
    for line in data.of(kind.benchmark).skipped:
        row = {
            "provider": str(line.get("provider")), "name": line.get("name") or "",
            "wait": line.get("wait") or "",
        }
        notes.append(f"{style.label(row)}: not measured: {line.get('reason')}.")
    return sorted(set(notes))


def build_1(data: Dataset) -> Table:
    return _build(
        data,
        _Kind(
            "table_1", "Table I of Berger and Stamatakis 2010: regions that do nothing",
            "What does a parallel region cost by itself?",
            "synthetic", "synthetic", "length 0", papers.TABLE_1, papers.REGIONS_1,
        ),
    )


def build_2(data: Dataset) -> Table:
    return _build(
        data,
        _Kind(
            "table_2", "Table II of Berger and Stamatakis 2010: regions that compute",
            "What is left of that when each thread multiplies 10,000 pairs of doubles in each "
            "region?",
            "synthetic", "synthetic", "length 10000", papers.TABLE_2, papers.REGIONS_2,
        ),
    )


def _phylo_kind(
    number: str, name: str, run: str, shape: tuple[int, int], printed: PaperTable
) -> _Kind:
    taxa, patterns = shape
    return _Kind(
        name, f"Table {number} of Berger and Stamatakis 2010: branch lengths of {taxa:,} taxa",
        f"{patterns:,} different columns: how much of the optimisation of a tree's branch lengths, "
        "a reduction after every "
        "few microseconds of work, does the barrier decide?",
        "phylo", run, f"{taxa} x {patterns}", printed,
    )


def build_3(data: Dataset) -> Table:
    return _build(data, _phylo_kind("III", "table_3", "phylo_404", TABLE_3, papers.TABLE_3))


def build_4(data: Dataset) -> Table:
    return _build(data, _phylo_kind("IV", "table_4", "phylo_1481", TABLE_4, papers.TABLE_4))
