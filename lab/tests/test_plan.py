# SPDX-License-Identifier: Apache-2.0
"""The plan: it fits the machine and the time, and asks for what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import plan
from lab.papers import TABLE_1, TABLE_3, TABLE_4

HERE = plan.Programs(Path("build/tutti"), Path("/scratch"))


@pytest.mark.parametrize("cores", [1, 2, 6, 64, 192])
def test_plan_fits_the_machine(cores: int):
    assert cores in plan.thread_counts(cores)
    assert max(plan.thread_counts(cores)) > cores
    assert 180 <= sum(run.seconds for run in plan.plan(cores, False, HERE)) <= 270
    assert sum(run.seconds for run in plan.plan(cores, True, HERE)) <= 60


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
    assert needed == {"tutti", "tutti-synthetic", "tutti-phylo", "tutti-streamcluster"}


def test_without_raxml_the_comparison_takes_a_simulated_alignment(monkeypatch):
    monkeypatch.setattr(plan, "RAXML", ())
    run = next(run for run in plan.plan(2, False, HERE) if run.name == "phylo_peers")
    assert run.calls[0][run.calls[0].index("--data") + 1] == "150"
