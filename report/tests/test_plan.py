# SPDX-License-Identifier: Apache-2.0
"""The plan: it fits the machine and the time, and asks for what the page shows."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from report import plan, plan_messages, plan_programs, situations
from report.choice import LOSS, choices
from report.lines import assemble, load, parse_lines, replaced
from report.papers import TABLE_1, TABLE_3, TABLE_4, VECTOR_PROGRAMS
from report.tests import synthetic

HERE = plan.Programs(Path("build/tutti"), Path("/scratch"))


@pytest.mark.parametrize("cores", [1, 2, 6, 64, 192])
def test_plan_fits_the_machine(cores: int):
    assert cores in plan.thread_counts(cores)
    assert max(plan.thread_counts(cores)) > cores
    full, quick = (
        {run.name: run.seconds for run in plan.plan(cores, quick, HERE)} for quick in (False, True)
    )
    # Setting up hosts takes longer than what is measured with them, and has a limit of its own.
    assert full.pop("network") <= 110 and quick.pop("network") <= 20
    # Two minutes of them are simulations.
    assert 240 <= sum(full.values()) <= 1920
    assert sum(quick.values()) <= 110


def options_of(call: tuple[str, ...], option: str, otherwise: str) -> list[str]:
    return (call[call.index(option) + 1] if option in call else otherwise).split(",")


@pytest.mark.parametrize(
    ("benchmark", "name"), [("barrier", "situations"), ("region", "situations_regions")]
)
def test_every_situation_of_the_product_is_asked_for(benchmark: str, name: str):
    asked = set()
    for call in run_named(name).calls:
        assert "--product" in call
        waits = (
            [("imbalance", each) for each in options_of(call, "--imbalance", "none")]
            if benchmark == "barrier"
            else []
        )
        waits += (
            [("work", each.replace("-", "_")) for each in situations.WORK]
            if benchmark == "barrier"
            else []
        )
        waits += (
            [("gap", each) for each in options_of(call, "--gap", "none")]
            if benchmark == "region"
            else []
        )
        for kind, wait in waits:
            for background in options_of(call, "--background", "none"):
                for quota in options_of(call, "--quota", "none"):
                    parts = ((kind, wait), ("background", background), ("quota", quota))
                    scenario = (
                        "+".join(f"{what}_{each}" for what, each in parts if each != "none")
                        or "free"
                    )
                    sessions = (
                        options_of(call, "--session", "same") if background != "none" else [""]
                    )
                    asked |= {
                        (scenario, call[call.index("--threads") + 1], session)
                        for session in sessions
                    }
    for threads in situations.THREADS:
        for scenario in situations.names(benchmark):
            sessions = {
                session
                for found, count, session in asked
                if found == scenario and count == str(threads)
            }
            beside = "background" in scenario and "quota" not in scenario
            assert sessions >= (
                {"same", "own"} if beside else {"same"} if "background" in scenario else {""}
            ), scenario


def test_runs_have_names_of_their_own():
    names = [run.name for run in plan.plan(2, False, HERE)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["phylo_404", "phylo_1481"])
def test_every_barrier_of_the_paper_is_asked_for_equally_often(name: str):
    run = next(run for run in plan.plan(2, False, HERE) if run.name == name)
    for options in plan.PAPER_SUMS.values():
        assert sum(call[-len(options) :] == options for call in run.calls) == 3
    assert len(run.calls) == 3 + 3 * len(plan.PAPER_SUMS)
    assert run.prepare[0][1] == "simulate" and str(HERE.scratch) in run.prepare[0][-1]


def test_the_papers_names_are_those_of_the_plan():
    assert {name for _, name, _ in TABLE_1.rows} == set(plan.PAPER_BARRIERS)
    for table in (TABLE_3, TABLE_4):
        assert {name for _, name, _ in table.rows} <= set(plan.PAPER_SUMS)


def test_workloads_lie_beside_the_command():
    needed = {run.needs.name for run in plan.plan(2, False, HERE)}
    assert needed == {
        "tutti", "tutti-synthetic", "tutti-phylo", "tutti-streamcluster", "tutti-graph-compare",
        "exact_cost", "tutti-pool",
    }


def test_without_raxml_the_comparison_takes_a_simulated_alignment(monkeypatch):
    monkeypatch.setattr(plan, "RAXML", ())
    run = next(run for run in plan.plan(2, False, HERE) if run.name == "phylo_peers")
    assert run.calls[0][run.calls[0].index("--data") + 1] == "150"


def run_named(name: str) -> plan.Run:
    return next(run for run in plan.plan(2, False, HERE) if run.name == name)


def test_an_mpi_that_is_not_installed_is_left_out_with_the_reason(monkeypatch, tmp_path: Path):
    launcher = tmp_path / "launch"
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    monkeypatch.setattr(
        plan_messages, "LAUNCHERS", {"openmpi": (str(launcher),), "mpich": ("no-such-launcher",)}
    )
    run = run_named("processes")
    assert [call[0] for call in run.calls] == [str(launcher)] * 2
    assert {(each.benchmark, each.provider) for each in run.absent} == {
        ("idle", "mpich"), ("message", "mpich"),
    }
    assert run.absent[0].reason == "no-such-launcher is not installed"


def test_every_application_is_asked_for_in_every_mode_equally_often():
    calls = run_named("graphs").calls
    for application in plan_programs.APPLICATIONS:
        for mode in plan_programs.MODES:
            made = [
                call
                for call in calls
                if call[2] == application and call[call.index("--mode") + 1] == mode
            ]
            assert len(made) == plan_programs.SEEDS


def test_detectors_differ_in_nothing_else():
    calls = run_named("detectors").calls
    without = {
        tuple(word for word in call if word not in ("--detector", *plan_programs.DETECTORS))
        for call in calls
    }
    graphs = len(plan_programs.SIZES) * plan_programs.SEEDS
    assert len(without) == graphs
    assert len(set(calls)) == graphs * len(plan_programs.DETECTORS)


def test_graphs_have_as_many_versions_as_in_the_paper():
    for name in ("graphs", "detectors"):
        seeds = {call[3].split("seed=")[1] for call in run_named(name).calls}
        assert seeds == {"1", "2", "3", "4", "5"}


def test_the_worst_case_is_asked_for_in_both_orders_on_one_thread():
    calls = run_named("worst_case").calls
    assert {call[call.index("--threads") + 1] for call in calls} == {"1"}
    for n in plan_programs.COMPONENTS:
        mine = [call for call in calls if call[3] == f"detours:components={n}"]
        assert {call[call.index("--order") + 1] for call in mine} == {"fifo", "lifo"}


@pytest.mark.parametrize("name", VECTOR_PROGRAMS)
def test_programs_of_the_vector_machine_are_in_the_tree(name: str):
    assert (plan_programs.PROGRAMS / f"{name}.vcode").is_file()


def test_the_long_plan_runs_the_papers_optimisations_until_convergence():
    runs = {run.name: run for run in plan.plan(2, False, HERE, long=True)}
    usual = {run.name: run for run in plan.plan(2, False, HERE)}
    assert set(runs) - set(usual) == {
        "streamcluster_native", "synthetic_unoptimised", "graph_large",
    }
    for name in ("phylo_404", "phylo_1481"):
        assert not any("--epsilon" in call for call in runs[name].calls)
        assert all("--epsilon" in call for call in usual[name].calls)
        for options in plan.PAPER_SUMS.values():
            assert sum(call[-len(options) :] == options for call in runs[name].calls) == 5


def test_the_counts_are_those_of_separate_regions_until_convergence():
    calls = run_named("phylo_counts").calls
    assert len(calls) == 2
    for call in calls:
        assert "--epsilon" not in call and call[-2:] == ("--regions", "separate")


def episode(provider: str, threads: int, median: float, **more: Any) -> dict[str, Any]:
    return {
        "type": "result", "benchmark": "barrier", "provider": provider, "name": "default",
        "wait": "adaptive" if provider == "tutti" else "", "threads": threads, "cores": 2,
        "metric": "loop", "median": median, "min": median, "p99": median, "samples": 1,
    } | more


def test_situations_where_a_contender_got_no_round_are_asked_for_again(tmp_path: Path):
    none = {
        "type": "skipped", "benchmark": "barrier", "provider": "std", "name": "default", "wait": "",
        "threads": 4, "reason": situations.NO_ROUND,
    }
    heavy = {"scenario": "background_heavy", "session": "own"}
    stored = synthetic.write(
        tmp_path / "situations.jsonl",
        [
            synthetic.machine(),
            episode("tutti", 4, 2e6, **heavy), none | heavy,
            episode("tutti", 4, 2e6, scenario="work_1us_100us"),
            none | {"scenario": "work_1us_100us"},
            episode("tutti", 8, 2e6), episode("std", 8, 1e6),
        ],
    )
    asked = run_named("situations").again(load([stored]))
    assert [
        [option for word in ("--scenario", "--session") for option in options_of(each, word, "")]
        for each in asked
    ] == [["work_1us_100us", ""], ["background_heavy", "own"]]
    assert {each[each.index("--threads") + 1] for each in asked} == {"4"}


def test_of_two_identical_contenders_each_wins_as_often(tmp_path: Path):
    """Every measurement is chance alone, the first and what is asked for again."""
    chance = random.Random(1)

    def measured(count: str, scenario: str) -> list[dict[str, Any]]:
        return [
            episode(each, int(count), 1e6 * chance.lognormvariate(0, 0.06), scenario=scenario)
            for each in ("tutti", "std")
        ]

    places = [(str(n), f"background_heavy_x{x}") for n in range(2, 18) for x in range(1, 65)]
    text = "".join(
        json.dumps(line) + "\n" for place in places for line in measured(*place)
    )
    first = assemble([(Path("situations"), parse_lines(text, ""))])
    newer = "".join(
        json.dumps(line) + "\n"
        for call in run_named("situations").again(first)
        for scenario in options_of(call, "--scenario", "")
        for line in measured(call[call.index("--threads") + 1], scenario)
    )
    found = choices(assemble([(Path("situations"), parse_lines(replaced(text, newer), ""))]))
    losses = sum(choice.loses for choice in found)
    wins = sum(choice.against_best.ratio > LOSS for choice in found)
    assert min(losses, wins) > len(found) / 8
    assert abs(losses - wins) < 3 * (losses + wins) ** 0.5


def test_what_is_measured_again_replaces_what_was_measured(tmp_path: Path):
    first = synthetic.few()
    result = next(line for line in first if line["type"] == "result")
    older, newer = (
        synthetic.write(tmp_path / name, lines).read_text()
        for name, lines in (("first", first), ("again", [result | {"samples": 77}]))
    )
    kept = [
        each for line, each in zip(first, older.splitlines(keepends=True)) if line is not result
    ]
    assert replaced(older, newer) == "".join(kept) + newer


def test_what_is_measured_the_second_time_is_skipped_no_more():
    none = {
        "type": "skipped", "benchmark": "barrier", "provider": "std", "name": "default", "wait": "",
        "threads": 4, "scenario": "free", "reason": situations.NO_ROUND,
    }
    other = none | {"threads": 8}
    older = "".join(json.dumps(line) + "\n" for line in (none, other))
    newer = json.dumps(episode("std", 4, 1e6)) + "\n"
    assert replaced(older, newer) == json.dumps(other) + "\n" + newer
