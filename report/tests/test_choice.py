# SPDX-License-Identifier: Apache-2.0
"""The table of choices: what counts as a loss, who is held against whom, and that no situation
leaves the list.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from report.choice import LOSS, RECOVERY_GRACE, Choice, choices, in_short
from report.cli import main
from report.lines import load
from report.page import build
from report.select import scenario_words, wait_of
from report.tests import synthetic


def line(provider: str, median: float, **more: Any) -> dict[str, Any]:
    name, wait = ("default", "adaptive") if provider == "tutti" else (provider, "")
    return {
        "type": "result", "benchmark": "barrier", "provider": provider, "name": name, "wait": wait,
        "threads": 2, "cores": 2,
        "metric": "loop", "min": median * 0.99, "p25": median * 0.99, "median": median,
        "p75": median * 1.01,
        "p99": median * 1.01, "samples": 9,
    } | more


def chosen(tmp_path: Path, *lines: dict[str, Any]) -> list[Choice]:
    return choices(load([synthetic.write(tmp_path / "lines.jsonl", [synthetic.machine(), *lines])]))


@pytest.mark.parametrize(("ratio", "loses"), [(LOSS * 0.99, False), (LOSS * 1.01, True)])
def test_a_loss_is_more_than_so_many_times_the_best_row(tmp_path: Path, ratio: float, loses: bool):
    found = chosen(
        tmp_path, line("tutti", 100000 * ratio), line("std", 100000.0), line("pthread", 300000.0)
    )
    assert [choice.loses for choice in found] == [loses]


def test_another_choice_of_tuttis_counts_too(tmp_path: Path):
    other = line("tutti", 50000.0) | {"name": "ticket", "wait": "yield"}
    found = chosen(tmp_path, line("tutti", 60000.0), other, line("std", 90000.0))
    assert found[0].loses and found[0].against_peer.wins


def test_a_loss_to_any_row_is_a_loss(tmp_path: Path):
    """The row with the least median had slower rounds: only against its floor is it behind."""
    found = chosen(
        tmp_path, line("tutti", 120.0, ratio_median=2.9), line("std", 100.0, ratio_median=3.0),
        line("pthread", 101.0, ratio_median=2.0), line("libgomp", 102.0, ratio_median=2.5),
    )
    assert found[0].loses and found[0].ahead["provider"] == "pthread"
    assert found[0].against_best.ratio == pytest.approx(2.0 / 2.9)


def waiter(provider: str, latency: float, burned: float, scenario: str) -> list[dict[str, Any]]:
    return [
        line(provider, latency, scenario=scenario, metric="last_in_last_out"),
        line(provider, burned, scenario=scenario, metric="cpu_time"),
    ]


def by_metric(found: list[Choice]) -> dict[str, Choice]:
    return {choice.metric: choice for choice in found}


def test_who_sleeps_is_not_held_against_who_spins(tmp_path: Path):
    found = by_metric(
        chosen(
            tmp_path, *waiter("tutti", 20000, 20000, "imbalance_1ms"),
            *waiter("libgomp", 400, 1e6, "imbalance_1ms"),
            *waiter("pthread", 20000, 21000, "imbalance_1ms"),
        )
    )
    latency = found["latency"]
    assert (
        not latency.loses
        and latency.best_peer["provider"] == "pthread"
        and latency.dearer["provider"] == "libgomp"
    )
    assert not found["CPU time of a waiter"].loses


@pytest.mark.parametrize(("burned", "loses"), [(140e3, False), (49e3, False), (45e3, True)])
def test_waiters_on_shared_cores_have_less_to_give_back(
    tmp_path: Path, burned: float, loses: bool
):
    """Seven that never sleep share the one core that the eighth leaves: 143 us each."""
    found = by_metric(
        chosen(
            tmp_path,
            *(each | {"threads": 8} for each in waiter("tutti", 87000, 20000, "gap_1ms")),
            *(each | {"threads": 8} for each in waiter("libomp", 18000, burned, "gap_1ms")),
        )
    )
    assert found["latency"].loses == loses


def test_whole_episodes_are_compared_on_shared_cores(tmp_path: Path):
    """The last return is late because another participant works on the core of that thread."""
    scenario = "imbalance_60us"
    found = by_metric(
        chosen(
            tmp_path,
            *(
                each | {"threads": 4}
                for provider, latency, episode, burned in (
                    ("tutti", 62000, 65000, 22000), ("libomp", 3000, 65000, 23000),
                    ("pthread", 30000, 84000, 7000),
                )
                for each in (
                    *waiter(provider, latency, burned, scenario),
                    line(provider, episode, scenario=scenario, metric="episode"),
                )
            ),
        )
    )
    assert set(found) == {"episode, work included", "CPU time of a waiter"}
    assert not any(choice.loses for choice in found.values())


def test_a_short_wait_is_held_against_who_spins(tmp_path: Path):
    found = by_metric(
        chosen(
            tmp_path, *waiter("tutti", 19000, 40000, "imbalance_60us"),
            *waiter("libgomp", 400, 61000, "imbalance_60us"),
        )
    )
    assert found["latency"].loses and found["latency"].best_peer["provider"] == "libgomp"


@pytest.mark.parametrize(
    ("scenario", "wait"),
    [
        ("free", 0), ("imbalance_60us_rotating+quota_1.5", 60e3), ("gap_1ms+background_light", 1e6),
        ("work_1us_100us+background_heavy", 33e3), ("gap_100us_alternating", 19e3),
        ("imbalance_60us_uniform", 60e3),
    ],
)
def test_the_expected_wait_of_a_scenario(scenario: str, wait: float):
    assert wait_of(scenario) == pytest.approx(wait)


def test_random_work_is_held_against_who_spins(tmp_path: Path):
    found = by_metric(
        chosen(
            tmp_path, *waiter("tutti", 3000, 20000, "work_1us_100us"),
            *waiter("libgomp", 500, 23000, "work_1us_100us"),
        )
    )
    assert found["latency"].loses


def test_who_burns_without_being_faster_loses(tmp_path: Path):
    found = by_metric(
        chosen(
            tmp_path, *waiter("tutti", 20000, 60000, "imbalance_1ms"),
            *waiter("pthread", 20000, 6000, "imbalance_1ms"),
        )
    )
    assert found["CPU time of a waiter"].loses and not found["latency"].loses


@pytest.mark.parametrize(
    ("more", "loses"), [(RECOVERY_GRACE * 0.9, False), (RECOVERY_GRACE * 1.2, True)]
)
def test_recovery_has_a_grace(tmp_path: Path, more: float, loses: bool):
    after = {"scenario": "recover_background_heavy", "metric": "recover"}
    found = chosen(tmp_path, line("tutti", 1000 + more, **after), line("std", 1000.0, **after))
    assert [choice.loses for choice in found] == [loses]


def test_sessions_and_regions_are_situations_of_their_own(tmp_path: Path):
    beside = {"scenario": "background_heavy"}
    found = chosen(
        tmp_path, line("tutti", 100.0, **beside, session="same"),
        line("tutti", 300.0, **beside, session="own"),
        line("tutti", 200.0, benchmark="region", kind="empty"),
        line("tutti", 200.0, benchmark="region", kind="reduce2"),
    )
    assert [choice.situation for choice in found] == [
        "2 threads, heavy background load, in sessions of its own",
        "2 threads, heavy background load", "region, 2 threads",
    ]


def test_a_situation_that_could_not_be_measured_stays_with_its_reason(tmp_path: Path):
    skipped = {
        "type": "skipped", "benchmark": "barrier", "threads": 8, "scenario": "quota_1.5",
        "reason": "no cgroup",
    }
    data = load(
        [
            synthetic.write(
                tmp_path / "lines.jsonl", [synthetic.machine(), line("tutti", 100.0), skipped]
            )
        ]
    )
    found = choices(data)
    assert [choice.reason for choice in found] == ["", "no cgroup"]
    assert (
        found[1].situation == "8 threads on 2 cores, a quota of 1.5 CPUs" and not found[1].measured
    )
    assert "1 could not be measured" in in_short(found)
    page = build(data, [])
    assert "no cgroup" in page


def test_the_table_as_markdown(tmp_path: Path, capsys):
    stored = synthetic.write(
        tmp_path / "lines.jsonl",
        [
            synthetic.machine(), line("tutti", 200000.0), line("std", 100000.0),
            line("tutti", 5.0, threads=4), line("std", 9.0, threads=4),
        ],
    )
    assert main(["choices", "--from", str(stored)]) == 0
    text = capsys.readouterr().out
    rows = [row for row in text.splitlines() if row.startswith("| ")]
    assert "in 1 of 2 comparisons, which are of 1 of 2 situations" in text.splitlines()[0]
    assert rows[1] == "| 2 threads | episode | 200 µs | std::barrier 100 µs | – | **2.00x** |"
    assert len(rows) == 3
    assert main(["choices", "--from", str(stored), "--losses"]) == 0
    assert "4 threads" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("imbalance_60us_rotating", "another participant in turn 60 µs late"),
        ("work_1us_100us", "random work of 1 µs to 100 µs"),
        ("gap_1ms+background_light", "after 1 ms of serial code, light background load"),
        (
            "neighbour_all_x3+quota_1.5",
            "3 on each: a busy neighbour on every core, a quota of 1.5 CPUs",
        ),
        ("gap_60us_uniform", "after evenly spread around 60 µs of serial code"),
        ("recover_to_imbalance_1ms", "waits of 1 ms begin"),
        ("recover_neighbour_all", "a busy neighbour on every core has ended"),
    ],
)
def test_scenarios_in_words(scenario: str, words: str):
    assert scenario_words(scenario) == words
