# SPDX-License-Identifier: Apache-2.0
"""The paper's tables and the targets: right where the data are there, and saying so where they are
not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest

from report import papers
from report.lines import Dataset, load
from report.model import Table
from report.page import build
from report.sections import build_all
from report.tables import TABLES
from report.tables.targets import verdicts
from report.tests import synthetic

Line = dict[str, Any]


def changed(tmp_path: Path, change: Callable[[Line], Line | None]) -> Dataset:
    """The synthetic lines, each as `change` returns it; None drops it."""
    made = [new for line in synthetic.lines() if (new := change(line)) is not None]
    return load([synthetic.write(tmp_path / "changed.jsonl", made)])


def row_of(table: Table, title: str) -> list[str]:
    return next([cell.text for cell in row] for row in table.rows if row[0].text == title)


@pytest.mark.parametrize("table", [papers.TABLE_1, papers.TABLE_2, papers.TABLE_3, papers.TABLE_4])
def test_the_papers_ratios(table: papers.PaperTable):
    ratios = table.ratios()
    for column in range(len(table.systems)):
        assert min(row[column] for row in ratios) == 1
    assert all(len(seconds) == len(table.systems) for _, _, seconds in table.rows)


def test_some_of_the_papers_ratios_by_hand():
    mutex = papers.TABLE_1.ratios()[-1]
    assert mutex[-1] == pytest.approx(1413.045 / 104.804)
    assert papers.TABLE_4.ratios()[-1][0] == pytest.approx(126.252 / 11.486)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_filled_and_captioned_from_full_data(data: Dataset, name: str):
    table = TABLES[name](data)
    assert table.rows and table.captions
    assert all(len(row) == len(table.heads) for row in table.rows)
    assert not table.groups or sum(width for _, width in table.groups) == len(table.heads)


def test_ratios_here_are_to_the_best_of_the_papers_forms(tmp_path: Path):
    medians = {"flags": 100.0, "mutex": 250.0, "default": 80.0}

    def change(line: Line) -> Line | None:
        if line.get("benchmark") != "synthetic":
            return line
        median = medians.get(line["name"], 120.0)
        return (
            line | {"min": median, "median": median, "p99": median}
            if line["provider"] == "tutti"
            else line
        )

    table = TABLES["table_1"](changed(tmp_path, change))
    assert row_of(table, "Lock-Free")[1:5] == ["100 ns", "1.00 s", "1.00x", "1.00x"]
    assert row_of(table, "Mutex-Inc-Add")[1:4] == ["250 ns", "2.50 s", "2.50x"]
    assert row_of(table, "tutti default")[1:5] == ["80.0 ns", "800 ms", "0.80x", "–"]
    assert (
        "the fastest of the paper's forms is Lock-Free and the slowest Mutex-Inc-Add, 2.50x as "
        "long."
        in table.captions[1]
    )
    assert (
        "Mutex-Inc-Add on 7 of 7 systems" in table.captions[2]
        and "1.32x on the Core 2 Duo (2)" in table.captions[2]
    )


def test_a_program_that_was_not_optimised_has_a_column_of_its_own(tmp_path: Path):
    made = synthetic.lines()
    made += [
        line | {"optimised": False, "min": 700.0, "median": 700.0, "p99": 700.0}
        for line in made
        if line.get("benchmark") == "synthetic" and line["length"] == 0
    ]
    table = TABLES["table_1"](load([synthetic.write(tmp_path / "both.jsonl", made)]))
    titles = [title for title, _ in table.groups]
    assert titles[2] == f"{titles[1]}, compiled by -O0"
    assert row_of(table, "Lock-Free")[4:6] == ["700 ns", "7.00 s"]
    assert row_of(table, "Lock-Free")[1] != "700 ns"
    usual = TABLES["table_2"](load([synthetic.write(tmp_path / "table_2.jsonl", made)]))
    assert not any("-O0" in title for title, _ in usual.groups)


def test_a_whole_run_is_divided_by_its_regions(tmp_path: Path):
    def change(line: Line) -> Line:
        if line.get("benchmark") == "synthetic" and line["name"] == "flags":
            return line | {"metric": "wall", "regions": 1000, "min": 5e4, "median": 5e4, "p99": 5e4}
        return line

    assert row_of(TABLES["table_1"](changed(tmp_path, change)), "Lock-Free")[1] == "50.0 ns"


def test_forms_within_noise_are_not_ranked(tmp_path: Path):
    def change(line: Line) -> Line:
        return (
            line | {"min": 50.0, "median": 100.0, "p99": 200.0, "p25": 60.0, "p75": 150.0}
            if "length" in line
            else line
        )

    assert "within noise" in TABLES["table_1"](changed(tmp_path, change)).captions[1]


def test_one_run_of_each_is_not_enough_to_tell(tmp_path: Path):
    table = TABLES["table_4"](
        changed(tmp_path, lambda line: line | {"samples": 0} if "patterns" in line else line)
    )
    assert "too few runs" in table.captions[1] and any(
        "one run of each" in caption for caption in table.captions
    )


def test_repeated_runs_are_pooled(data: Dataset):
    assert any(
        "median of 3, interleaved" in caption for caption in TABLES["table_3"](data).captions
    )


def test_a_barrier_that_was_not_measured_is_named(tmp_path: Path):
    table = TABLES["table_3"](
        changed(tmp_path, lambda line: None if line.get("name") == "mutex_plain" else line)
    )
    assert "mutex_plain: not measured." in table.missing
    assert row_of(table, "Mutex-Inc-Add")[1:3] == ["–", "–"]


@pytest.mark.parametrize(
    ("name", "benchmark", "run"),
    [
        ("table_1", "synthetic", "synthetic"), ("table_2", "synthetic", "synthetic"),
        ("table_3", "phylo", "phylo_404"),
    ],
)
def test_a_table_without_lines_says_why(tmp_path: Path, name: str, benchmark: str, run: str):
    data = changed(tmp_path, lambda line: None if line.get("benchmark") == benchmark else line)
    assert (
        TABLES[name](data)
        .missing[0]
        .startswith(f"Not measured: no result of benchmark {benchmark}")
    )
    data.failed = [f"{run}: build/tutti-{benchmark}: no such program."]
    table = TABLES[name](data)
    assert table.empty and table.missing == [
        f"Not measured: {run}: build/tutti-{benchmark}: no such program."
    ]


def met(data: Dataset, words: str) -> list[bool | None]:
    found = [verdict.met for verdict in verdicts(data) if words in verdict.target]
    assert found, words
    return found


def test_targets_are_met_in_the_full_data(data: Dataset):
    assert {verdict.met for verdict in verdicts(data)} == {True}


def is_default(line: Line, benchmark: str, kind: str) -> bool:
    return (line.get("benchmark"), line.get("kind"), line.get("name")) == (
        benchmark, kind, "default",
    )


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (
            "empty region: at most 3x",
            lambda l: l | {"ratio_median": 3.2} if is_default(l, "region", "empty") else l,
        ),
        (
            "doubles: at most 4x",
            lambda l: l | {"ratio_median": 4.2} if is_default(l, "region", "reduce2") else l,
        ),
        (
            "4x faster than libgomp",
            lambda l: l | {"over_default_median": 3.9} if l.get("provider") == "libgomp" else l,
        ),
        (
            "8x faster than oneTBB",
            lambda l: l | {"over_default_median": 7.0} if l.get("provider") == "tbb" else l,
        ),
        (
            "faster than each peer",
            lambda l: (
                l | {"median": 100.0}
                if l.get("provider") == "libomp" and l.get("ranks") == 4
                else l
            ),
        ),
        (
            "8 virtual ranks",
            lambda l: (
                l | {"median": 260.0} if l.get("ranks") == 8 and l.get("kind") == "barrier" else l
            ),
        ),
        (
            "64 virtual ranks",
            lambda l: (
                l | {"median": 1010.0} if l.get("ranks") == 64 and l.get("kind") == "barrier" else l
            ),
        ),
        (
            "1.25x the same barrier",
            lambda l: l | {"over_barrier_median": 1.3} if is_default(l, "reduce", "reduce2") else l,
        ),
        (
            "same result",
            lambda l: (
                l | {"fingerprint": "0"} if l.get("name") == "mcs" and "fingerprint" in l else l
            ),
        ),
        (
            "agrees with RAxML",
            lambda l: l | {"log_likelihood": -21247.0} if l.get("provider") == "raxml" else l,
        ),
    ],
)
def test_a_missed_target_is_seen_and_stands_first(
    tmp_path: Path, words: str, change: Callable[[Line], Line]
):
    data = changed(tmp_path, change)
    assert False in met(data, words)
    first = TABLES["targets"](data).rows[0]
    assert first[2].text == "no"


def test_a_target_without_lines_is_neither_met_nor_missed(tmp_path: Path):
    data = changed(tmp_path, lambda line: None if line.get("benchmark") == "reduce" else line)
    assert met(data, "1.25x") == [None] and met(data, "8 virtual ranks") == [None]
    assert any(cell.text == "not measured" for row in TABLES["targets"](data).rows for cell in row)


def test_no_target_at_all(tmp_path: Path):
    data = changed(
        tmp_path, lambda line: line if line.get("benchmark", "barrier") == "barrier" else None
    )
    assert TABLES["targets"](data).missing[0].startswith("Not measured")


def test_tables_stand_in_the_page(data: Dataset):
    page = build(data, build_all(data))
    for name, table in ((name, TABLES[name](data)) for name in TABLES):
        part = page[page.index(f'<section id="{name}">') :].split("</section>")[0]
        assert part.count("<tr") >= len(table.rows)
