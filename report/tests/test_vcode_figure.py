# SPDX-License-Identifier: Apache-2.0
"""The cost of an instruction as a figure."""

from __future__ import annotations

from pathlib import Path

from report.figures import vcode
from report.lines import Dataset, load
from report.tests import synthetic


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
        assert names[4:] == ["ideal: no barrier", "the paper, no barriers", "the paper, tournament"]
        assert all(len(series.points) == 2 for series in panel.series[:5])
        # A cycle takes half a nanosecond.
        assert panel.series[4].points[0].y == (16 if panel is figure.panels[0] else 56)
        assert "cycles" in panel.y.title


def test_times_stand_where_the_length_of_a_cycle_is_not_known(tmp_path: Path):
    made = lines()
    del made[0]["ns_per_tick"]
    panel = vcode.build(dataset(tmp_path, made)).panels[0]
    assert panel.y.time and len(panel.series) == 5


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
