# SPDX-License-Identifier: Apache-2.0
"""Barriers between hosts: from lines that `tutti network testbed --json` has printed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from report import measure, network, plan_network
from report.errors import ReportError
from report.figures import FIGURES
from report.lines import Dataset, load
from report.model import Panel, Table
from report.page import build
from report.papers import ARAP_PASSAGE_US
from report.progress import Display
from report.runs import Programs, Run
from report.sections import CHAPTERS, build_all
from report.style import PEER_LABELS, TOPOLOGIES
from report.tables import TABLES
from report.tests import synthetic
from report.tests.test_command_line import fake_tutti

CHAPTER = CHAPTERS["Barriers in the network"]


def labels(panel: Panel) -> set[str]:
    return {series.label for series in panel.series}


@pytest.mark.parametrize(("name", "key"), [("network_average", "mean"), ("network_least", "min")])
def test_the_packet_path_stands_beside_user_space_and_mpi_on_the_same_axes(
    data: Dataset, name: str, key: str
) -> None:
    figure = FIGURES[name](data)
    assert "Arap et al." in figure.title
    kernel, user, mpi = figure.panels
    assert labels(kernel) == set(TOPOLOGIES)
    assert labels(user) == set(TOPOLOGIES) - {"switch"}
    assert labels(mpi) == {"Open MPI", "MPICH"}
    assert len({(panel.y.lowest, panel.y.highest) for panel in figure.panels}) == 1
    line = next(
        line for line in synthetic.network()
        if (line["provider"], line["name"], line["threads"], line["metric"])
        == ("tutti", "star", 8, "latency")
    )
    star = next(series for series in kernel.series if series.label == "star")
    assert star.points[-1].x == 8 and star.points[-1].y == line[key]


def test_the_fastest_of_both_is_named(data: Dataset) -> None:
    for hosts, caption in zip((2, 8), FIGURES["network_average"](data).captions):
        for providers, key in ((("tutti",), "name"), (("udp",), "name"),
                               (("openmpi", "mpich"), "provider")):
            fastest = min(
                (line for line in synthetic.network() if line.get("metric") == "latency"
                 and line["provider"] in providers and line["threads"] == hosts),
                key=lambda line: line["mean"],
            )
            name = PEER_LABELS.get(fastest[key], fastest[key])
            assert caption.startswith(f"{hosts} hosts") and name in caption
    assert not any("fastest" in caption for caption in FIGURES["network_least"](data).captions)


def test_the_nodes_have_a_panel_for_each_of_both_figures(data: Dataset) -> None:
    nine, eight = FIGURES["network_nodes"](data).panels
    assert nine.title.startswith("figure 9") and eight.title.startswith("figure 8")
    assert labels(nine) == labels(eight) == set(TOPOLOGIES)


def cells(table: Table, row: str) -> list[str]:
    return next([cell.text for cell in cells] for cells in table.rows if row in cells[0].text)


def test_growth_is_a_slope_and_p_half_a_ring_of_two(tmp_path: Path) -> None:
    def line(name: str, hosts: int, us: float, metric: str = "latency") -> dict:
        times = {"min": us * 500, "median": us * 1000, "p99": us * 2000, "mean": us * 1000}
        return {
            "type": "result", "benchmark": "network", "provider": "tutti", "name": name,
            "threads": hosts, "processes": hosts, "metric": metric, "samples": 100, **times,
        }

    lines = [line("ring", hosts, 5 + 2 * hosts) for hosts in range(2, 9)]
    lines += [line("tree", hosts, 10 + 3 * (hosts.bit_length() - 1)) for hosts in range(2, 9)]
    # Folded hosts are no doubling.
    lines += [line("butterfly", hosts, us) for hosts, us in ((2, 4), (3, 99), (4, 8), (8, 12))]
    lines += [line("ring", 2, 14, "last_in")]
    table = TABLES["network_growth"](load([synthetic.write(tmp_path / "n.jsonl", lines)]))
    assert cells(table, "node more") == [
        "a node more, ring", "2.00", "2.00", "2.00", "1.46", "1.00"
    ]
    assert cells(table, "level")[1:] == ["3.50", "3.00", "3.00", "2.95", "1.50"]
    assert cells(table, "doubling")[1:] == ["3.50", "4.00", "4.00", "0.00", "2.00"]
    passage = [cell.text for cell in table.rows[-1]]
    assert passage[1:] == [f"{ARAP_PASSAGE_US}", "7.00", "7.00", "1.46", "3.50"]


def test_one_number_of_hosts_has_no_growth(tmp_path: Path) -> None:
    lines = [line for line in synthetic.network() if line["threads"] == 4]
    data = load([synthetic.write(tmp_path / "n.jsonl", lines)])
    assert TABLES["network_growth"](data).empty
    assert not FIGURES["network_average"](data).empty


def test_the_engine_in_rtl_is_beside_it(data: Dataset) -> None:
    assert any("in RTL" in caption for caption in TABLES["network_growth"](data).captions)


def test_without_lines_the_chapter_says_what_it_needs_once(tmp_path: Path) -> None:
    data = load([synthetic.write(tmp_path / "few.jsonl", synthetic.few())])
    left = [section for section in build_all(data) if section.name in CHAPTER]
    assert [section.name for section in left] == [CHAPTER[-1]]
    assert "tutti network testbed" in left[0].missing[0] and "root" in left[0].missing[1]


def test_hosts_are_no_processes_of_an_mpi(data: Dataset) -> None:
    page = build(data, build_all(data))
    assert "8 processes" in page and "processes, None" not in page


WHY = "tutti: no test bed here: it needs root, for namespaces and programs in the kernel"


def test_where_there_can_be_no_test_bed_one_sentence_says_why(tmp_path: Path) -> None:
    tutti = fake_tutti(tmp_path / "tutti", f'echo "{WHY}" >&2; exit 1')
    run = plan_network.run(False, Programs(tutti, tmp_path))
    with pytest.raises(ReportError, match="status 1: tutti: no test bed here: it needs root"):
        measure._make(run, Display())
    data = load([synthetic.write(tmp_path / "few.jsonl", synthetic.few())])
    data.failed = [f"{network.NAME}: it needs root."]
    assert TABLES[CHAPTER[-1]](data).missing == [
        "Not measured: network: it needs root.", network.NEEDS
    ]


def test_it_ends_at_its_limit_and_keeps_what_it_has(tmp_path: Path) -> None:
    run = plan_network.run(False, Programs(Path("tutti"), tmp_path))
    assert run.seconds <= run.limit == plan_network.LIMIT == 110
    slow = fake_tutti(tmp_path / "slow", f"sleep 0.4; cat {synthetic.write(tmp_path / 'lines')}")
    started = time.monotonic()
    calls = tuple((str(slow),) for _ in range(20))
    text, troubles = measure._make(Run("n", "", 10, slow, calls, limit=1.0), Display())
    assert text and troubles and time.monotonic() - started < 4


def test_a_program_that_crashes_after_some_lines_leaves_them_and_a_trouble(tmp_path: Path) -> None:
    lines = synthetic.write(tmp_path / "lines")
    crash = fake_tutti(tmp_path / "crash", f"cat {lines}; printf '{{\"type\":'; kill -SEGV $$")
    run = Run("n", "", 10, crash, ((str(crash),),))
    text, troubles = measure._make(run, Display())
    assert text == lines.read_text() and len(troubles) == 1 and "status -11" in troubles[0]


@pytest.mark.parametrize("quick", [False, True])
def test_the_plan_asks_for_every_number_of_hosts_twice_and_for_some_of_mpi(quick: bool) -> None:
    run = plan_network.run(quick, Programs(Path("tutti"), Path("/scratch")))
    ways = ("--udp", "--mpi")
    asked = [
        (call[call.index("--nodes") + 1], next((way for way in ways if way in call), ""))
        for call in run.calls
    ]
    hosts = plan_network.FEW_HOSTS if quick else range(2, 9)
    both = [(str(n), way) for n in hosts for way in ("", "--udp")]
    assert sorted(asked) == sorted(both + [(n, "--mpi") for n in ("2" if quick else "248")])
    assert all(call[1:3] == ("network", "testbed") and call[-1] == "--json" for call in run.calls)
