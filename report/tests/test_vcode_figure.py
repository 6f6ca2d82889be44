# SPDX-License-Identifier: Apache-2.0
"""The cost of an instruction as a figure."""

from __future__ import annotations

from pathlib import Path

from report import granularity
from report.figures import FIGURES, vcode
from report.lines import Dataset, load
from report.tables import TABLES
from report.tests import synthetic, synthetic_messages


def lines() -> list[dict]:
    made = [synthetic.machine()]
    for threads in (2, 4):
        for provider, name, wait, ns in (
            ("ideal", "no barrier", "", 8), ("tutti", "default", "adaptive", 80),
            ("tutti", "ticket", "adaptive", 90),
            ("pthread", "pthread_barrier", "", 8000), ("libgomp", "active", "", 200),
        ):
            for metric in ("stack", "vector"):
                ns += 20 if metric == "vector" else 0
                made.append({
                    "type": "result", "benchmark": "instruction", "provider": provider,
                    "name": name, "wait": wait,
                    "threads": threads, "pinned": True, "scenario": "free", "metric": metric,
                    "unit": "ns", "min": ns * 0.9,
                    "median": ns, "p99": ns * 1.5, "samples": 15,
                })
    return made


def dataset(tmp_path: Path, made: list[dict]) -> Dataset:
    return load([synthetic.write(tmp_path / "instruction.jsonl", made)])


def test_a_panel_for_each_kind_with_the_ideal(tmp_path: Path):
    figure = vcode.build(dataset(tmp_path, lines()))
    assert [panel.title for panel in figure.panels] == list(vcode.KINDS.values())
    for panel in figure.panels:
        names = [series.label for series in panel.series]
        # The paper prints numbers for the instruction that does nothing only.
        of_paper = ["the paper, no barriers", "the paper, tournament"]
        assert names[4:] == ["ideal: no barrier", *(of_paper if panel is figure.panels[0] else [])]
        assert all(len(series.points) == 2 for series in panel.series[:5])
        # A cycle takes half a nanosecond.
        assert panel.series[4].points[0].y == (16 if panel is figure.panels[0] else 56)
        assert "cycles" in panel.y.title


def test_times_stand_where_the_length_of_a_cycle_is_not_known(tmp_path: Path):
    made = lines()
    del made[0]["ns_per_tick"]
    panel = vcode.build(dataset(tmp_path, made)).panels[0]
    assert panel.y.time and len(panel.series) == 5


def test_granularity_without_a_common_number_of_elements(tmp_path: Path):
    made = [
        line
        for line in synthetic_messages.granularity()
        if (line["threads"] == 1) == (line["program"] == "double_64")
    ]
    figure = FIGURES["granularity"](dataset(tmp_path, [synthetic.machine(), *made]))
    assert "no number of elements was measured with both" in figure.captions[0]


def test_captions_hold_the_default_against_peers(tmp_path: Path):
    caption = vcode.build(dataset(tmp_path, lines())).captions[0]
    assert "80.0 ns with tutti's default" in caption and "8.00 ns without any barrier" in caption
    assert (
        "pthread_barrier 100x as long" in caption
        and "ideal" not in caption.split("without any barrier")[1]
    )


def test_nothing_measured_is_said(tmp_path: Path):
    other = {**lines()[1], "benchmark": "barrier"}
    figure = vcode.build(dataset(tmp_path, [synthetic.machine(), other]))
    assert not figure.panels and figure.missing[0].startswith("Not measured")


def test_from_how_many_elements_on_two_threads_pay(tmp_path: Path):
    data = dataset(tmp_path, [synthetic.machine(), *synthetic_messages.granularity()])
    figure = FIGURES["granularity"](data)
    spmd, lazy = figure.panels
    assert [series.label for series in spmd.series] == ["1 thread", "2 threads"]
    assert [point.y for point in spmd.series[0].points] == [16, 1024, 16384]
    assert [point.y for point in spmd.series[1].points] == [408, 912, 8592]
    assert "2 threads pay from 4,096 elements on (1.02 µs" in figure.captions[0]
    assert "2 threads pay from 64 elements on" in figure.captions[1]
    slow = [
        line | {"median": line.get("median", 0) * 9} if line.get("threads") == 2 else line
        for line in synthetic_messages.granularity()
    ]
    slowed = FIGURES["granularity"](dataset(tmp_path, [synthetic.machine(), *slow]))
    assert "are not faster with any of these numbers" in slowed.captions[0]


def test_vectors_of_each_length_are_not_in_the_table_of_programs(tmp_path: Path):
    programs = synthetic_messages.vector_programs()
    alone = dataset(tmp_path, [synthetic.machine(), *programs])
    table = TABLES["vcode"](alone)
    both = dataset(tmp_path, [synthetic.machine(), *programs, *synthetic_messages.granularity()])
    assert TABLES["vcode"](both).rows == table.rows


def test_a_program_doubles_a_vector_as_often_as_it_says():
    text = granularity.program(64)
    assert text.count("+ INT") == granularity.A_TURN and "CONST INT 64\n" in text
    assert granularity.additions(64) == granularity.A_TURN * granularity.MOST
    assert granularity.turns(1 << 24) == granularity.LEAST
