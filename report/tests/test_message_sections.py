# SPDX-License-Identifier: Apache-2.0
"""Messages, processes, graphs, the vector machine and the hardware: figures and tables, and what
they say when they lose.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable

import pytest

from report import hardware, style
from report.figures import FIGURES
from report.figures.common import loop_rows
from report.lines import Dataset, load
from report.model import Table
from report.tables import TABLES
from report.tables.targets import verdicts
from report.tests import synthetic
from report.tests import synthetic_messages as messages

Line = dict[str, Any]


def changed(
    tmp_path: Path, made: list[Line], change: Callable[[Line], Line | None], name: str = "stored"
) -> Dataset:
    kept = [line for line in map(change, made) if line is not None]
    return load([synthetic.write(tmp_path / f"{name}.jsonl", [synthetic.machine(), *kept])])


def to(median: float, **wanted: Any) -> Callable[[Line], Line]:
    """Changes the time of the lines that have these values."""
    return lambda line: (
        line | messages.spread(median)
        if all(line.get(key) == value for key, value in wanted.items())
        else line
    )


def cells(table: Table, name: str) -> list[str]:
    return next([cell.text for cell in row] for row in table.rows if row[0].text == name)


def test_a_panel_for_two_four_and_eight_with_barriers_as_the_floor(data: Dataset):
    figure = FIGURES["idle"](data)
    assert [panel.title for panel in figure.panels] == [
        "2 threads", "4 threads on 2 cores", "8 threads on 2 cores",
    ]
    default = next(series for series in figure.panels[0].series if series.emphasis)
    assert default.note == "5.11x → 15.3x" and len(default.points) == 2
    assert {series.label for series in figure.panels[0].series if len(series.points) == 1} >= {
        "std::barrier", "pthread_barrier",
    }
    crowded = next(series for series in figure.panels[1].series if series.emphasis)
    assert crowded.note == "3.36 µs → 10.1 µs" and not figure.panels[1].rules


def test_a_faster_detector_is_told(tmp_path: Path):
    def change(line: Line) -> Line:
        return (
            line | messages.spread(50.0) | {"ratio_median": 50.0 / messages.FLOOR}
            if line["name"] == "tree"
            else line
        )

    captions = FIGURES["idle"](changed(tmp_path, messages.in_one_process(), change)).captions
    assert "detector tree is faster: 50.0 ns" in captions[0]


def test_processes_do_not_leak_into_the_figures_of_threads(data: Dataset, tmp_path: Path):
    alone = changed(tmp_path, messages.in_one_process(), lambda line: line)
    for name in ("idle", "detectors"):
        assert [panel.series for panel in FIGURES[name](data).panels] == [
            panel.series for panel in FIGURES[name](alone).panels
        ]


def test_episodes_a_second_against_the_clock_tree(data: Dataset, tmp_path: Path):
    figure = FIGURES["detectors"](data)
    default = next(series for series in figure.panels[0].series if series.emphasis)
    assert [point.x for point in default.points] == [2, 4, 8, 16, 32, 64]
    assert default.points[0].y == pytest.approx(1e9 / 140)
    assert any("sampled again and again: 6.43x with 2" in caption for caption in figure.captions)
    assert any("a detection needs two): 3.00x with 2" in caption for caption in figure.captions)
    labels = {series.label for series in figure.panels[0].series}
    assert {
        "tutti default", "tutti default, virtual ranks", "clock tree", "sampled sums",
        "sampled sums, virtual ranks",
    } <= labels
    without = changed(
        tmp_path, messages.in_one_process(),
        lambda line: None if line["provider"] == "clock_tree" else line,
    )
    assert any(
        "clock tree in software was not measured" in caption
        for caption in FIGURES["detectors"](without).captions
    )


def test_messages_a_second_and_who_loses(data: Dataset, tmp_path: Path):
    table = TABLES["message"](data)
    assert cells(table, "tutti default")[1:4] == ["233", "47.6", "180 ns"]
    assert cells(table, "tutti, to oneself too")[1:3] == ["185", "–"]
    assert cells(table, "boost::lockfree::spsc_queue")[1] == "20"
    assert "11.6x faster than boost::lockfree::spsc_queue" in table.captions[0]
    slow = changed(tmp_path, messages.in_one_process(), to(500.0, provider="tutti"))
    assert "10.0x slower than boost::lockfree::spsc_queue" in TABLES["message"](slow).captions[0]


def test_each_mpi_beside_its_own_run(data: Dataset):
    table = TABLES["processes"](data)
    assert [words for words, _ in table.groups] == [
        "", "Open MPI, 2 processes", "MPICH, 2 processes",
    ]
    assert cells(table, "tutti, shared memory")[1:5] == ["230 ns", "640 ns", "125", "180 ns"]
    assert cells(table, "MPI_Barrier")[1:6] == ["340 ns", "–", "–", "–", "442 ns"]
    assert (
        "empty episode 1.48x faster through shared memory than by MPI_Barrier" in table.captions[0]
    )


def test_figure_7_is_computed_from_cycles_and_checked_on_this_machine(data: Dataset):
    cycles = [json.loads(line) for line in hardware.KEPT.read_text(encoding="utf-8").splitlines()]
    figure = FIGURES["prediction"](replace(data, hardware=cycles))
    computed, beside = figure.panels
    for series in computed.series:
        ratios = [point.y for point in series.points]
        assert ratios == sorted(ratios, reverse=True) and ratios[-1] > 1
    assert [series.points[0].y for series in computed.series] == sorted(
        (series.points[0].y for series in computed.series), reverse=True
    )
    # Every detector but the default on each of three graphs.
    assert len(beside.series) == 3 * (len(messages.DETECTORS) - 2)
    assert "t - 3n rtt_h + 3n rtt_s" in figure.question


def test_the_projection_is_six_cycles_for_each_of_the_unit_and_two_lines(data: Dataset):
    cycles = [json.loads(line) for line in hardware.KEPT.read_text(encoding="utf-8").splitlines()]
    figure = FIGURES["projection"](replace(data, hardware=cycles))
    assert [words for _, words in figure.panels[0].x.ticks][-3:] == ["16", "28", "64"]
    unit = figure.panels[0].series[0]
    line = data.floor("line_one_way")["median"] / data.machine["ns_per_tick"]
    by_threads = {point.x: point.y for point in unit.points}
    assert by_threads[28] == pytest.approx(56 * 6 + 2 * line)
    assert figure.captions[0].startswith("A projection") and "(exact)" in figure.captions[0]
    assert "3,300 cycles" in figure.captions[-1]


def test_the_prediction_replaces_the_episodes_of_each_step(tmp_path: Path):
    made = [
        messages.graph_run("heat", "sync", seconds, 100, 64, name) | {"detections": 1000}
        for name, seconds in (("default", 1e-3), ("ring", 2.5e-3))
    ]
    made += [
        messages.result("idle", "tutti", name, "empty_episode", 2, episode)
        for name, episode in (("default", 100.0), ("ring", 1100.0))
    ]
    path = synthetic.write(tmp_path / "detectors.jsonl", [synthetic.machine(), *made])
    (row,) = FIGURES["prediction"](load([path])).panels[0].series
    assert [point.x for point in row.points] == pytest.approx([2.0, 2.5])


def test_the_worst_case_and_the_average_of_shortest_paths(data: Dataset):
    figure = FIGURES["worst_case"](data)
    worst, average = figure.panels
    assert {series.label: [point.y for point in series.points] for series in worst.series} == {
        "newest first": [45, 765, 3145725], "oldest first": [12, 24, 60], "in steps": [12, 24, 60],
    }
    newest = next(series for series in average.series if series.label == "newest first")
    assert [(point.x, point.y) for point in newest.points] == [(250, 20.0), (4000, 320.0)]
    assert "3,145,725 messages, 3 (2^N - 1), which is 2^k updates" in figure.captions[0]
    assert "mean of 5 graphs of each size" in figure.captions[1]
    assert "to the power 1.0" in figure.captions[1]


def test_the_average_of_one_size_has_no_growth(tmp_path: Path):
    made = [line for line in messages.worst_case() if line["vertices"] == 250]
    path = synthetic.write(tmp_path / "worst_case.jsonl", [synthetic.machine(), *made])
    assert "only graphs of 250 vertices" in FIGURES["worst_case"](load([path])).captions[0]


def test_versions_of_a_graph_are_averaged(tmp_path: Path):
    made = [line for line in messages.worst_case() if line["vertices"] == 250]
    path = synthetic.write(tmp_path / "worst_case.jsonl", [synthetic.machine(), *made])
    found = load([path]).results.to_dicts()
    assert [(row["order"], row["samples"], row["messages"]) for row in found] == [
        ("fifo", 5, 15000), ("lifo", 5, 100000), ("fifo", 5, 15000),
    ]


def test_figure_8_tells_times_and_messages(data: Dataset):
    figure = FIGURES["graphs"](data)
    time, sent = figure.panels
    assert [series.label for series in time.series][::-1] == [
        "PageRank", "heat transfer", "paths from 64 vertices", "spiking neurons", "shortest paths",
    ]
    assert [series.note for series in sent.series] == ["0.57x", "217x", "12.7x", "1.00x", "1.00x"]
    assert (
        "sends as many messages" in figure.captions[0]
        and "synchronous form is" in figure.captions[0]
    )
    assert (
        "the asynchronous form is" in figure.captions[4]
        and "faster than the plain loop" in figure.captions[4]
    )


def test_a_graph_application_without_one_form_is_left_out(tmp_path: Path):
    made = messages.graphs(random.Random(1))
    gone = ("heat", "async")
    data = changed(
        tmp_path, made, lambda line: None if (line["application"], line["mode"]) == gone else line,
        "graphs",
    )
    assert "heat transfer" not in [
        series.label for series in FIGURES["graphs"](data).panels[0].series
    ]


def test_gain_of_a_detector_falls_with_the_size(data: Dataset):
    figure = FIGURES["detector_speedup"](data)
    ring = next(series for series in figure.panels[0].series if series.label == "ring")
    heights = [point.y for point in ring.points]
    assert heights == sorted(heights, reverse=True) and heights[-1] > 1
    assert "with ring" in figure.captions[0]


def test_share_of_the_ceiling(data: Dataset):
    table = TABLES["graph_ceiling"](data)
    assert [cell.note for cell in table.rows[0][3:]] == [
        "0.58 of the ceiling", "0.07 of the ceiling", "0.35 of the ceiling",
    ]
    assert "0.58 on kron of 2.10 M edges, 0.58 on geometric of " in table.captions[1]


def test_programs_with_one_and_two_threads(data: Dataset):
    table = TABLES["vcode"](data)
    assert cells(table, "quicksort_1e6")[1:7] == [
        "340 ms", "189 ms", "1.80x", "340 ms", "189 ms", "1.80x",
    ]
    assert cells(table, "bh_det")[7:] == ["–", "–"] and len(table.captions) == 2


def test_a_program_that_two_threads_slow_down_is_named(tmp_path: Path):
    def change(line: Line) -> Line:
        return (
            line | messages.spread(line["median"] * 4)
            if (line["program"], line["threads"]) == ("spmv_loop", 2)
            else line
        )

    table = TABLES["vcode"](changed(tmp_path, messages.vector_programs(), change))
    assert "spmv_loop (0.45x)" in table.captions[2]
    assert next(row for row in table.rows if row[0].text == "spmv_loop")[3].kind == "bad"


def test_cycles_of_the_largest_size_and_each_way(data: Dataset):
    figure = FIGURES["hardware_cycles"](data)
    *ways, paper = figure.panels[0].series
    assert len(ways) == 4 and paper.points[0].y == 56
    assert [point.x for point in figure.panels[0].series[0].points] == [1, 2, 4, 8, 16, 28]
    assert figure.captions[0] == "Unit counting (Threads 28): 56 cycles with 28 participants."


def test_hardware_jobs_and_area(data: Dataset, tmp_path: Path):
    assert cells(TABLES["hardware_checks"](data), "counting")[1] == "1 of 1"
    assert cells(TABLES["hardware_area"](data), "tutti_counting_unit")[3:] == [
        "100 + 9.0 n", "50 + 3.0 n",
    ]
    failed = messages.hardware()
    next(line for line in failed if line.get("stage") == "prove")["status"] = "failed"
    part = load(
        [
            synthetic.write(tmp_path / "h.jsonl", failed),
            synthetic.write(tmp_path / "few.jsonl", synthetic.few()),
        ]
    )
    table = TABLES["hardware_checks"](part)
    assert (
        table.captions[0] == "FAILED: counting: counting prove." and table.rows[0][4].kind == "bad"
    )


def test_round_trips_beside_the_estimate_and_the_clock_tree(data: Dataset):
    table = TABLES["hardware_detection"](data)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["2 x 2", "origin", "900", "930", "990", "7,440", "9,300"],
        ["6 x 8", "origin", "3,900", "4,030", "4,290", "32,240", "40,300"],
    ]
    assert [cell.note for cell in table.rows[0][5:]] == ["8.00x", "10.0x"]


def test_round_trips_a_second_of_hardware_and_of_the_clock_tree(data: Dataset):
    panel = FIGURES["hardware_detection_rate"](data).panels[0]
    assert [series.label for series in panel.series] == [
        "hardware, master at the origin", "clock tree, 16 cycles a message",
        "clock tree, 80 cycles a message",
    ]
    assert [(point.x, point.y) for point in panel.series[0].points] == [
        (4, pytest.approx(240e6 / 930)), (48, pytest.approx(240e6 / 4030)),
    ]


def test_cycles_in_the_network_beside_the_papers_growth(data: Dataset):
    figure = FIGURES["hardware_network_cycles"](data)
    ring = next(series for series in figure.panels[0].series if series.label == "ring")
    grown = next(series for series in figure.panels[0].series if "growth" in series.label)
    assert [(point.x, point.y) for point in ring.points] == [(2, 50), (8, 200)]
    assert [(point.x, point.y) for point in grown.points] == [(2, 50), (8, 50 + 6 * 165)]
    assert "takes 90 cycles here and 165 in the paper" in figure.captions[0]


def test_barriers_in_the_network(data: Dataset):
    table = TABLES["hardware_network"](data)
    assert [words for words, _ in table.groups] == ["", "links that pass whole frames"]
    assert cells(table, "ring") == ["ring", "50", "200"]
    assert table.rows[1][2].note == "last out 240, together 160"
    assert "90 cycles, 0.72 µs" in table.captions[1] and "165 cycles" in table.captions[1]


def test_the_barrier_structure_beside_the_papers_estimates(data: Dataset):
    panel = FIGURES["hardware_hbs"](data).panels[0]
    assert [series.label for series in panel.series] == [
        "4 Xeon sockets", "4 Opteron sockets", "Opteron 6272, one socket",
    ]
    assert [point.x for point in panel.series[0].points] == [480, 481]
    assert panel.series[0].note == "480, 481; together 496"


def test_the_barrier_instruction_beside_software(data: Dataset):
    figure = FIGURES["hardware_isa"](data)
    assert {series.label for series in figure.panels[0].series} == {
        "barwait, near", "barwait, as far as memory", "central",
    }
    assert "8.0 times as many as barwait" in figure.captions[0]


def test_barriers_in_hardware_beside_software_on_one_machine(data: Dataset):
    figure = FIGURES["hardware_machine"](data)
    assert [panel.title for panel in figure.panels] == [
        "1 socket, one thread late", "1 socket, all together",
    ]
    late = {series.label: series for series in figure.panels[0].series}
    assert [point.y for point in late["best software barrier"].points] == [154, 166]
    assert [point.y for point in late["structure (HBS)"].points] == [34, 46]
    assert "Opteron 6272, one socket: 20, 46." in figure.captions[2]
    assert "23 of these cycles" in figure.captions[2]


def test_cycles_stand_beside_those_of_the_paper(data: Dataset):
    figure = FIGURES["cycles"](data)
    papers = [series for series in figure.panels[0].series if not series.line]
    assert [series.points[0].y for series in papers] == [37000, 24000, 12000, 3300]
    ours = next(series for series in figure.panels[0].series if series.emphasis)
    default = next(
        row for row in loop_rows(data, benchmark="barrier", scenario="free", threads=2)
        if style.is_default(row) and row["pinned"]
    )
    assert ours.points[0].y == pytest.approx(default["median"] / 0.5)
    assert "not measured here" in figure.captions[0]


def test_cycles_are_never_taken_for_nanoseconds(tmp_path: Path):
    line = messages.result("barrier", "tutti", "central", "loop", 2, 40.0) | {"unit": "cycles"}
    data = load([synthetic.write(tmp_path / "isa.jsonl", [line, *synthetic.few()])])
    assert data.hardware == [line] and "central" not in data.results["name"].to_list()


@pytest.mark.parametrize(
    "name",
    [
        "hardware_cycles", "hardware_hbs", "hardware_isa", "hardware_machine", "hardware_checks",
        "hardware_detection", "hardware_detection_rate", "hardware_network",
        "hardware_network_cycles", "hardware_area",
    ],
)
def test_without_hardware_results_it_says_how_to_get_them(tmp_path: Path, name: str):
    data = load([synthetic.write(tmp_path / "few.jsonl", synthetic.few())])
    section = {**FIGURES, **TABLES}[name](data)
    assert section.empty and "make hardware" in section.missing[0]


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("idle", "idle"), ("detectors", "idle"), ("message", "message"), ("processes", "processes"),
        ("graphs", "graphs"),
        ("detector_speedup", "detectors"), ("graph_ceiling", "graph_ceiling"),
        ("worst_case", "worst_case"),
        ("instruction", "instruction"), ("vcode", "vcode"),
    ],
)
def test_missing_lines_are_said_to_be_missing_with_the_reason(tmp_path: Path, name: str, run: str):
    data = load([synthetic.write(tmp_path / "few.jsonl", synthetic.few())])
    build = {**FIGURES, **TABLES}[name]
    assert build(data).empty and "not measured" in build(data).missing[0].lower()
    data.failed = [f"{run}: it was not built"]
    assert build(data).missing[0] == f"Not measured: {run}: it was not built"


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("processes", "processes"), ("graphs", "graphs"), ("detector_speedup", "detectors"),
        ("graph_ceiling", "graph_ceiling"),
        ("instruction", "instruction"),
    ],
)
def test_one_call_of_several_that_failed_is_named_beside_the_rest(
    data: Dataset, name: str, run: str
):
    data.failed = [f"{run}: one call failed"]
    section = {**FIGURES, **TABLES}[name](data)
    assert not section.empty and f"Not measured: {run}: one call failed" in section.missing


@pytest.mark.parametrize(
    ("words", "part", "change"),
    [
        ("140 M messages", messages.in_one_process, to(8.0, metric="others_8_bytes", threads=2)),
        ("a hop of one token", messages.in_one_process, to(210.0, metric="hop")),
        ("2 threads: an empty episode", messages.in_one_process, to(360.0, metric="empty_episode")),
        (
            "8 threads on 2 cores: an empty", messages.in_one_process,
            to(16000.0, metric="empty_episode"),
        ),
        (
            "4 threads on 2 cores: at least half", messages.in_one_process,
            to(9.0, metric="others_8_bytes", threads=4),
        ),
        (
            "PageRank by messages", messages.ceilings,
            lambda l: l | {"median": 0.015e9} if l.get("name") == "sync" else l,
        ),
        ("at most 250 cycles", messages.instructions, lambda l: l | {"cycles_median": 260.0}),
        ("1.6x as fast as 1", messages.vector_programs, to(1e8)),
        (
            "never more than 3 %", messages.vector_programs,
            lambda l: l | messages.spread(l["median"] * l["threads"]),
        ),
    ],
)
def test_a_missed_target_is_seen(
    tmp_path: Path, words: str, part: Callable[[], list[Line]], change: Callable[[Line], Line]
):
    made = part()
    for how, expected in ((lambda line: line, True), (change, False)):
        found = [
            verdict.met
            for verdict in verdicts(changed(tmp_path, made, how))
            if words in verdict.target
        ]
        assert found == [expected], words
