# SPDX-License-Identifier: Apache-2.0
"""The chapter about simulated machines: what it asks for, what it draws, and that it says so where
the simulation and a paper do not agree.
"""

from __future__ import annotations

import csv
import re
import tomllib
from pathlib import Path
from typing import Any, Callable

import pytest

from report import plan_simulated, simulated
from report.figures import FIGURES, simulated_barriers, simulated_boards, simulated_events
from report.figures import simulated_streamcluster
from report.lines import Dataset, assemble
from report.page import build
from report.papers import HETLAND_1
from report.registry import SIMULATED_MACHINES
from report.runs import Programs
from report.sections import CHAPTERS, build_all
from report.tables import TABLES
from report.tables.simulated import CLAIMS
from report.tests import synthetic, synthetic_simulated

CHAPTER = CHAPTERS["Simulated machines"]
ROOT = Path(__file__).resolve().parent.parent.parent
SIM = ROOT / "sim"
HERE = Programs(Path("build/tutti"), Path("/scratch"))
Line = dict[str, Any]


def of(lines: list[Line]) -> Dataset:
    return assemble([(Path("simulated.jsonl"), lines)])


def changed(change: Callable[[Line], Line]) -> Dataset:
    return of([change(dict(line)) for line in synthetic_simulated.lines()])


def faster(name: str, machine: str, factor: float) -> Callable[[Line], Line]:
    """Makes one contender on one machine so many times as fast."""

    def change(line: Line) -> Line:
        if line.get("name") == name and line.get("machine") == machine:
            line |= {key: line[key] / factor for key in ("min", "median", "max")}
        return line

    return change


def verdicts(data: Dataset) -> dict[str, str]:
    return {row[1].text: row[3].text for row in TABLES["sim_agreement"](data).rows}


def test_every_section_says_that_it_is_simulated(data: Dataset) -> None:
    sections = [section for section in build_all(data) if section.name in CHAPTER]
    # The other machines are in long reports.
    assert [s.name for s in sections] == [name for name in CHAPTER if name != "sim_machines"]
    for section in sections:
        assert section.question.startswith(simulated.WARNING), section.name
        assert "imulated" in section.title and section.captions[-1] == simulated.MODEL
    for figure in (section for section in sections if section.name in FIGURES):
        for panel in figure.panels:
            assert "simulated" in panel.title or "computed" in panel.title, panel.title


def test_what_was_simulated_is_never_among_what_was_measured(data: Dataset) -> None:
    assert data.simulated
    assert not any(name.startswith("sim_") for name in data.results["benchmark"])
    assert ">sim_barrier<" not in build(data, build_all(data))


def test_a_page_can_be_made_of_simulated_lines_alone() -> None:
    data = of(synthetic_simulated.lines(quick=True))
    assert "Simulated: barriers in software" in build(data, build_all(data))


def test_without_lines_the_chapter_says_so_once(tmp_path: Path) -> None:
    data = assemble([(tmp_path / "few.jsonl", synthetic.few())])
    left = [section for section in build_all(data) if section.name in CHAPTER]
    assert [section.name for section in left] == [CHAPTER[-1]]
    assert "tutti sim" in left[0].missing[0]


def test_the_page_has_the_values_that_the_simulation_is_compared_with() -> None:
    """sim/published has the same values in ns."""
    with (SIM / "published" / "hetland_2019.csv").open(encoding="utf-8") as file:
        found = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert len(found) == len(HETLAND_1)
    for row in found:
        threads, name, cycles = simulated_barriers.printed_of(row["machine"])
        description = tomllib.loads((SIM / "machines" / f"{row['machine']}.toml").read_text())
        assert (threads, name) == (int(row["threads"]), row["algorithm"])
        assert cycles == pytest.approx(float(row["ns"]) * description["clock_ghz"], rel=1e-3)


@pytest.mark.parametrize("quick, long", [(False, False), (True, False), (False, True)])
def test_the_plan_fits_the_machines(quick: bool, long: bool) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in SIM.glob("*.cpp"))
    sources += (ROOT / "include" / "tutti" / "registry.hpp").read_text(encoding="utf-8")
    names = set(re.findall(r'"(\w+)"', sources)) | {"all", "papers", "hardware"}
    seconds = 0.0
    for run in plan_simulated.runs(quick, HERE, long):
        assert run.name in simulated.RUNS
        seconds += run.seconds
        for call in run.calls:
            assert call[1] == "sim" and call[-1] == "--json"
            if "--machine" not in call:
                continue
            machine = call[call.index("--machine") + 1]
            for option in ("--threads", "--receivers"):
                if option in call:
                    counts = [int(n) for n in call[call.index(option) + 1].split(",")]
                    assert counts == sorted(set(counts))
                    assert counts[-1] <= SIMULATED_MACHINES[machine]
            if "--algorithms" in call:
                assert set(call[call.index("--algorithms") + 1].split(",")) <= names
    assert seconds <= (20 if quick else 120 if not long else 600)


def test_all_machines_are_advised_and_a_long_report_simulates_all() -> None:
    def machines(run: str, long: bool) -> set[str]:
        calls = next(r for r in plan_simulated.runs(False, HERE, long) if r.name == run).calls
        return {call[call.index("--machine") + 1] for call in calls if "--machine" in call}

    others = SIMULATED_MACHINES.keys() - {plan_simulated.LOCAL}
    assert machines(simulated.CHOICES, False) == others - {"terapool"}
    assert machines(simulated.CHOICES, True) == others
    assert machines(simulated.BARRIERS, True) == others
    assert machines(simulated.BARRIERS, False) == set(plan_simulated.HETLAND.values())


def test_a_long_report_has_a_panel_for_each_other_machine() -> None:
    figure = FIGURES["sim_machines"](of(synthetic_simulated.lines(long=True)))
    assert len(figure.panels) == len(SIMULATED_MACHINES) - 1 - len(plan_simulated.HETLAND)


def test_printed_values_are_crosses_in_the_colour_of_their_barrier(data: Dataset) -> None:
    for title, panel in zip(plan_simulated.HETLAND, FIGURES["sim_barriers"](data).panels):
        machine = plan_simulated.HETLAND[title]
        threads, name, cycles = simulated_barriers.printed_of(machine)
        cross = next(series for series in panel.series if series.marker == "x" and not series.line)
        assert (cross.points[0].x, cross.points[0].y) == (threads, cycles)
        drawn = next(s for s in panel.series if s.color == cross.color and s.line)
        assert drawn.label == simulated.BARRIER_LOOKS[name].label
        line = next(
            line for line in simulated.barriers(data, machine)[name] if line["threads"] == threads
        )
        ghz = simulated.machines(data)[machine].clock_ghz
        assert drawn.points[-1].y == pytest.approx(line["median"] * ghz)


def test_a_wrong_order_is_said_below_the_figure_and_in_the_table() -> None:
    right = changed(faster("libgomp", "numa8", 1000))
    wrong = changed(faster("libgomp", "numa8", 0.001))
    statement = "OMP is the best on NUMA-8 with 384 threads"
    assert verdicts(right)[statement] == "agrees"
    assert verdicts(wrong)[statement] == "does not agree"
    assert "best one here, too" in FIGURES["sim_barriers"](right).captions[0]
    assert "the order is wrong" in FIGURES["sim_barriers"](wrong).captions[0]


def test_where_lines_cross_is_said() -> None:
    def change(line: Line) -> Line:
        if line.get("name") == "libgomp" and line.get("machine") == "numa4":
            line["median"] *= 0.01 if line["threads"] < 16 else 1
        return line

    data = changed(change)
    places = simulated_barriers.crossings(data, "numa4", "libgomp", "tournament_one_word")
    assert places == [(8, 16, "tournament_one_word")]
    caption = FIGURES["sim_barriers"](data).captions[1]
    assert "ournament passes the other between 8 and 16 threads" in caption


def test_replaced_numbers_of_a_machine_are_another_line(data: Dataset) -> None:
    usual = simulated.cycles(data, "harp", "harp_counting", 28)
    near = simulated.cycles(data, "harp", "harp_counting", 28, plan_simulated.NEAR)
    assert near == pytest.approx(usual / 5)
    assert any(f"they take {near:,.0f}" in text for text in FIGURES["sim_harp"](data).captions)


def test_an_instruction_without_barriers_is_what_its_share_leaves(data: Dataset) -> None:
    machine = simulated.machines(data)["harp"]
    for lines in simulated_barriers.instructions(data, "harp").values():
        for line in lines:
            assert simulated_barriers.ideal_cycles(line, machine) == pytest.approx(
                20 * machine.clock_ghz
            )


def test_the_knees_are_at_the_distances(data: Dataset) -> None:
    line = simulated.notifications(data, "opteron64", "unicast")["interrupt", ""]
    levels = simulated_events.knees(line, 1.0)
    assert [share for _, share in levels][-1] == 1.0
    assert len(levels) == 8
    # CPU 8, the receiver with the number 7, is the first of the other die.
    assert [simulated_events.distance(cpu) for cpu in (1, 7, 8, 15, 16, 63)] == [0, 0, 1, 1, 2, 2]
    apart = simulated_events.by_distance(
        {"receivers": [6, 7, 15, 6], "values": [1.0, 2.0, 3.0, 5.0]}, 2.0
    )
    assert apart == {0: [2.0, 10.0], 1: [4.0], 2: [6.0]}


def test_a_deviation_of_zero_is_drawn_and_a_claim_about_it_has_a_bound(data: Dataset) -> None:
    panel = FIGURES["sim_sigma"](data).panels[0]
    interrupt = next(series for series in panel.series if series.label == "interrupt (IPI)")
    assert {point.x for point in interrupt.points} == {1}
    row = next(
        row for row in TABLES["sim_agreement"](data).rows
        if row[0].text == "Hale and Dinda, figure 5"
    )
    assert row[2].text.startswith("over ")


def test_ratios_of_the_boards(data: Dataset) -> None:
    found = simulated_boards.trips(data)
    assert list(found) == [1, 2, 4, 8, 16]
    assert [simulated_boards.estimate(line) for line in found[4]] == [900, 1800, 2700, 3900]
    assert "exactly" in FIGURES["sim_trips"](data).captions[2]
    gains = simulated_boards.gains(data, plan_simulated.BOARDS_OF_4)
    assert list(gains) == list(plan_simulated.GAIN_FAN_OUTS) and simulated_boards.falls(gains)
    gains[4][0] = (1, 0.5, 1.0)
    assert not simulated_boards.falls(gains)
    applications = simulated_boards.applications(data)
    assert list(applications) == list(plan_simulated.APPLICATIONS)
    assert all(
        len(lines) == plan_simulated.SEEDS
        for modes in applications.values() for lines in modes.values()
    )


def test_streamcluster_is_work_divided_and_barriers_added(data: Dataset) -> None:
    work = simulated_streamcluster.work()
    assert work.input == "native" and work.barriers > 1000 and work.alone > 1e9
    line = simulated.barriers(data, "numa8")["counting"][-1]
    assert simulated_streamcluster.time(work, line) == pytest.approx(
        work.alone / 384 + work.barriers * line["median"]
    )
    lines = [{"threads": n, "median": 100.0 * n} for n in (2, 4, 8, 16)]
    small = simulated_streamcluster.Work("native", 6400.0, 1, "a processor")
    assert simulated_streamcluster.last_gain(small, lines) == 8


def test_every_claim_is_checked_and_none_says_anything_without_lines(data: Dataset) -> None:
    table = TABLES["sim_agreement"](data)
    assert len(table.rows) == len(CLAIMS) == len({(c.place, c.says) for c in CLAIMS})
    assert {row[3].kind for row in table.rows} == {"good", "bad"}
    nothing = of([{"type": "sim_machine", "name": "x", "clock_ghz": 1, "cpus": 2,
                   "description": "x"}])
    assert not [claim.says for claim in CLAIMS if claim.check(nothing) is not None]
    assert TABLES["sim_agreement"](nothing).empty


def test_the_choices_name_the_best_and_what_the_default_takes(data: Dataset) -> None:
    table = TABLES["sim_choices"](data)
    assert [row[0].text for row in table.rows][-1] == "numa8"
    assert len(table.rows) == len(SIMULATED_MACHINES) - 2
    harp = next(row for row in table.rows if row[0].text == "harp")
    assert [cell.text for cell in harp[1:]] == ["dissemination 4"] * 2 + ["–"] * 2 + [
        "dissemination 4"
    ]
    assert harp[1].tint == pytest.approx(1.5) and "1.50x" in harp[1].note


def test_a_run_that_failed_is_named(data: Dataset) -> None:
    data.failed = [f"{simulated.EVENTS}: it was stopped."]
    expected = f"Not simulated: {simulated.EVENTS}: it was stopped."
    assert expected in FIGURES["sim_unicast"](data).missing
    assert expected in TABLES["sim_agreement"](data).missing


def test_figures_without_what_they_compare_say_so() -> None:
    lines = synthetic_simulated.lines()
    papers = set(simulated_barriers.PAPERS_BARRIERS)
    few = of([
        line for line in lines
        if line["type"] != "sim_graph" or "detours" not in line["graph"]
        or (line["mode"] == "sync") == ("components=4" in line["graph"])
    ])
    assert any("No number of components" in each for each in FIGURES["sim_paths"](few).captions)
    default = of([line for line in lines if line.get("name") not in papers])
    captions = FIGURES["sim_instruction"](default).captions
    assert any("were not measured" in each for each in captions)
