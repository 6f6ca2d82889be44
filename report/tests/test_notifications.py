# SPDX-License-Identifier: Apache-2.0
"""Notifications between threads: panels for each gap and number of receivers."""

from __future__ import annotations

from pathlib import Path

from report.figures import FIGURES
from report.lines import Dataset, load
from report.sections import CHAPTERS
from report.tables import event_targets
from report.tests import synthetic


def test_each_gap_has_dots_and_a_distribution(data: Dataset) -> None:
    for name, receivers in (("event_unicast", "one receiver"), ("event_broadcast", "8 receivers")):
        figure = FIGURES[name](data)
        assert "Hale and Dinda 2018" in figure.title
        assert [panel.kind for panel in figure.panels] == ["dots", "cdf"] * 2
        assert all(panel.x.log and panel.x.time for panel in figure.panels)
        assert all(receivers in panel.title for panel in figure.panels)


def test_the_fastest_is_at_the_top_with_mean_and_sigma(data: Dataset) -> None:
    panel = FIGURES["event_unicast"](data).panels[0]
    medians = [series.points[0].x for series in panel.series]
    assert medians == sorted(medians, reverse=True)
    assert all("mean" in series.points[0].text for series in panel.series)


def test_a_distribution_rises_from_zero_to_one(data: Dataset) -> None:
    panel = FIGURES["event_sigma"](data).panels[1]
    for series in panel.series:
        shares = [point.y for point in series.points]
        assert shares[0] == 0 and shares[-1] == 1 and shares == sorted(shares)


def test_without_its_lines_it_says_how_to_get_them(tmp_path: Path) -> None:
    data = load([synthetic.write(tmp_path / "few.jsonl", synthetic.few())])
    for name in CHAPTERS["Events"]:
        figure = FIGURES[name](data)
        assert figure.empty and "tutti bench event" in figure.missing[0]


def test_the_bounds_of_events_are_targets(tmp_path: Path) -> None:
    bounds = [
        synthetic.event_bound("one that sleeps", 1.25), synthetic.event_bound("8", 0.5),
        synthetic.event_bound("64", 0, sweeps=0),
        synthetic.event_bound("a bare word", 1.02, floor_of="one that sleeps"),
    ]
    data = load([synthetic.write(tmp_path / "bounds.jsonl", [*bounds, *synthetic.few()])])
    found = {verdict.target: verdict for verdict in event_targets.verdicts(data)}
    missed = found["Event, one that sleeps: at most twice a futex"]
    assert missed.met is False
    assert missed.measured == (
        "1.25 of the limit: 50.0 µs against 40.0 µs; a bare word that is polled without tutti: 1.02"
    )
    assert len(found) == 3
    assert found["Event, 8: at most twice a futex"].met
    assert found["Event, 64: at most twice a futex"].met is None
    none = load([synthetic.write(tmp_path / "none.jsonl", synthetic.few())])
    assert [verdict.met for verdict in event_targets.verdicts(none)] == [None]
