# SPDX-License-Identifier: Apache-2.0
"""Regions, reductions, StreamCluster and the comparison with other programs as figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import pytest

from report.figures import FIGURES
from report.lines import Dataset, load
from report.plotly_render import render
from report.sums import lines_of
from report.tables import TABLES
from report.tests import synthetic
from report.topology import pairs

Line = dict[str, Any]


def kept(tmp_path: Path, keep: Callable[[Line], bool]) -> Dataset:
    return load(
        [
            synthetic.write(
                tmp_path / "kept.jsonl", [line for line in synthetic.lines() if keep(line)]
            )
        ]
    )


@pytest.mark.parametrize("name", ["regions", "reductions"])
def test_a_panel_for_each_team_with_two_dots_a_row(data: Dataset, name: str):
    panels = FIGURES[name](data).panels
    assert [panel.title for panel in panels] == [
        "2 threads", "4 threads on 2 cores", "8 threads on 2 cores", "8 virtual ranks on 2 threads",
        "64 virtual ranks on 2 threads",
    ]
    assert all(len(series.points) == 2 for panel in panels for series in panel.series)
    assert all(panel.rules for panel in panels)


def test_regions_are_held_against_the_floor_of_their_rounds(data: Dataset):
    default = next(
        series for series in FIGURES["regions"](data).panels[0].series if series.emphasis
    )
    plain, pair = (point.x / 27.4 for point in default.points)
    assert default.note == f"{plain:.2f}x → {pair:.2f}x"


def test_reductions_are_held_against_the_barrier_alone(data: Dataset):
    default = next(
        series for series in FIGURES["reductions"](data).panels[0].series if series.emphasis
    )
    assert default.note == "1.15x"


def test_one_dot_is_drawn_as_what_it_is(tmp_path: Path):
    data = kept(tmp_path, lambda line: line.get("kind") != "reduce2")
    panel = FIGURES["regions"](data).panels[0]
    assert {series.marker for series in panel.series} == {"circle-open"}
    assert {trace["marker"]["symbol"] for trace in render(panel)["data"]} == {"circle-open"}


def test_virtual_ranks_stand_beside_as_many_kernel_threads(data: Dataset):
    captions = FIGURES["regions"](data).captions
    assert any("only tutti has such ranks" in text for text in captions)
    assert any("needs 8 kernel threads" in text for text in captions)


def test_a_skipped_peer_is_named_only_where_it_belongs(data: Dataset):
    assert any(
        "MPICH: not measured: built with another MPI" in note
        for note in FIGURES["reductions"](data).missing
    )
    assert not any(
        "MPICH" in note for name in ("regions", "threads") for note in FIGURES[name](data).missing
    )


@pytest.mark.parametrize(
    ("name", "benchmark", "run"),
    [
        ("regions", "region", "regions"), ("reductions", "reduce", "reductions"),
        ("streamcluster", "streamcluster", "streamcluster"),
        ("phylo_peers", "phylo", "phylo_peers"),
    ],
)
def test_missing_data_are_said_to_be_missing_with_the_reason(
    tmp_path: Path, name: str, benchmark: str, run: str
):
    data = kept(tmp_path, lambda line: line.get("benchmark") != benchmark)
    assert FIGURES[name](data).empty and FIGURES[name](data).missing[0].startswith("Not measured")
    data.failed = [f"{run}: it was not built"]
    assert FIGURES[name](data).missing == [f"Not measured: {run}: it was not built"]


def test_streamcluster_marks_what_is_oversubscribed(data: Dataset):
    time, speed_up = FIGURES["streamcluster"](data).panels
    for panel in (time, speed_up):
        assert panel.shade.begin == 2 and panel.shade.label == "oversubscribed"
        assert panel.x.title == "threads" and [text for _, text in panel.x.ticks] == [
            "1", "2", "4", "8",
        ]
        texts = [note["text"] for note in render(panel)["layout"]["annotations"]]
        assert "oversubscribed" in texts and "2 cores" in texts


def test_speed_up_is_time_of_one_thread_over_time(data: Dataset):
    time, speed_up = FIGURES["streamcluster"](data).panels
    alone = min(point.y for series in time.series for point in series.points if point.x == 1)
    for slow, fast in zip(time.series, speed_up.series):
        for a, b in zip(slow.points, fast.points):
            assert b.y == pytest.approx(alone / a.y) and b.low <= b.y <= b.high


def test_only_a_smaller_input_than_the_papers_is_called_smaller(tmp_path: Path):
    made = [
        line | ({"input": "native"} if line.get("benchmark") == "streamcluster" else {})
        for line in synthetic.lines()
    ]
    data = load([synthetic.write(tmp_path / "native.jsonl", made)])
    captions = " ".join(FIGURES["streamcluster"](data).captions)
    assert "native, as in the paper" in captions and "smaller than" not in captions


def test_different_results_of_streamcluster_are_shouted(tmp_path: Path):
    made = [
        line | ({"fingerprint": "0"} if line.get("name") == "mcs" else {})
        for line in synthetic.lines()
    ]
    data = load([synthetic.write(tmp_path / "different.jsonl", made)])
    assert any("2 DIFFERENT results" in text for text in FIGURES["streamcluster"](data).captions)
    assert any(
        "identical" in text
        for text in FIGURES["streamcluster"](load([synthetic.write(tmp_path / "x.jsonl")])).captions
    )


def test_the_comparison_has_a_panel_for_each_situation_and_says_who_agrees(data: Dataset):
    figure = FIGURES["phylo_peers"](data)
    assert [panel.title for panel in figure.panels] == [
        "1 thread, nothing else runs", "2 threads, nothing else runs", "1 thread, a busy neighbour",
        "2 threads, a busy neighbour",
    ]
    assert (
        "RAxML 1.3e-08 apart" in figure.captions[-1]
        and "libpll equal to the last digit printed" in figure.captions[-1]
    )


def test_raxml_that_is_not_installed_is_named(tmp_path: Path):
    made = [line for line in synthetic.lines() if line.get("provider") != "raxml"]
    made.append(
        {
            "type": "skipped", "benchmark": "phylo", "provider": "raxml",
            "reason": "it is not installed",
        }
    )
    data = load([synthetic.write(tmp_path / "without.jsonl", made)])
    assert "RAxML: not measured: it is not installed." in FIGURES["phylo_peers"](data).missing


def test_workloads_do_not_leak_into_the_figures_of_barriers(data: Dataset, tmp_path: Path):
    alone = kept(tmp_path, lambda line: line.get("benchmark", "barrier") == "barrier")
    for name in (
        "threads", "multiples", "last_in_last_out", "oversubscription", "neighbour", "imbalance",
        "unpinned",
    ):
        assert FIGURES[name](data) == FIGURES[name](alone)


def test_barriers_after_work_on_the_caches(data: Dataset, tmp_path: Path):
    figure = FIGURES["access"](data)
    assert [panel.title for panel in figure.panels] == ["line by line", "at random places"]
    ours = next(series for series in figure.panels[0].series if series.emphasis)
    assert [point.y for point in ours.points] == pytest.approx([200, 220, 240, 260, 280])
    assert [words for _, words in figure.panels[0].x.ticks] == [
        "one line", "half of L1", "half of L2", "half of L3", "memory",
    ]
    spans = {(panel.y.lowest, panel.y.highest) for panel in figure.panels}
    assert len(spans) == 1
    assert (
        "after one line (220 ns) Lock-Free is best and Mutex-Inc-Add takes 1.45x, tutti's choice "
        "0.91x" in figure.captions[0]
    )
    alone = kept(tmp_path, lambda line: line.get("metric") != "overhead")
    empty = FIGURES["access"](alone)
    assert empty.empty and "Not measured" in empty.missing[0]


@pytest.mark.parametrize(
    ("table", "other"),
    [
        ("table_1", lambda line: line.get("metric") == "overhead"),
        ("table_1", lambda line: line.get("wait") == "spin" and line.get("pin") == "0,8"),
        ("table_3", lambda line: line.get("steps") == "separate"),
    ],
)
def test_other_runs_of_a_program_are_not_in_the_papers_tables(
    data: Dataset, tmp_path: Path, table: str, other: Callable[[Line], bool]
):
    alone = kept(tmp_path, lambda line: not other(line))
    assert TABLES[table](data) == TABLES[table](alone)


def words(table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_exact_sums_beside_plain_ones(data: Dataset):
    table = TABLES["sums"](data)
    assert table.heads == ["sum", "32", "10,000"]
    assert [row[1:] for row in words(table)] == [
        ["0.40", "0.80"], ["0.40", "0.40"], ["0.90", "0.10"], ["8.00", "0.40"], ["9.00", "3.20"],
    ]
    assert "20.0x and 20.0x with 32; 0.50x and 1.00x with 10,000" in table.captions[0]


def test_sums_are_read_from_the_lines_of_google_benchmark():
    def run(name: str, kind: str = "iteration") -> Line:
        return {"run_name": name, "run_type": kind, "cpu_time": 320.0}

    text = json.dumps(
        {
            "benchmarks": [
                run("time_sum/exact_span/values:32/orders:0"),
                run("time_sum/exact_span/values:1000/orders:20"),
                run("time_sum/fold/values:32/orders:0", "aggregate"), run("merge<double>"),
            ]
        }
    )
    (line,) = map(json.loads, lines_of(text))
    assert (line["name"], line["kind"], line["median"]) == ("exact_span", "32", 10.0)


def test_barriers_of_an_optimisation_beside_a_fifth_of_the_papers(data: Dataset):
    first, second = words(TABLES["phylo_counts"](data))
    assert first[:7] == [
        "404 x 7429", "7", "23,584", "12,313", "38,773", "25,907", "0.61x",
    ]
    assert second[4:6] == ["147,767", "100,437"]


def test_pairs_of_cpus_beside_those_of_the_paper(data: Dataset):
    table = TABLES["pinning"](data)
    assert words(table)[0] == ["here: CPUs 0,1", "100 ns", "1.00 s", "1.00x"]
    assert words(table)[1][-1] == "2.50x" and "2.50x" in table.captions[0]
    assert words(table)[3][2:] == ["4.3 s", "2.39x"]


def test_a_pair_of_cpus_for_each_way_of_being_near(tmp_path: Path):
    # Two sockets with two cores of two hyperthreads each.
    for cpu in range(8):
        socket, core = cpu // 4, cpu // 2
        folder = tmp_path / f"cpu{cpu}"
        for name, value in (
            ("topology/thread_siblings_list", core), ("topology/physical_package_id", socket),
            ("cache/index0/shared_cpu_list", core), ("cache/index1/shared_cpu_list", socket),
        ):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"{value}\n")
    assert pairs(list(range(8)), tmp_path) == [(0, 1), (0, 2), (0, 4)]
    assert pairs([3], tmp_path) == []
