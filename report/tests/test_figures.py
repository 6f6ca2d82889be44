# SPDX-License-Identifier: Apache-2.0
"""Figures and the table of choices: drawn when the data are there, and saying so when they are not.
"""

from __future__ import annotations

import json
from pathlib import Path

import plotly.graph_objects as go
import pytest

from report import style
from report.choice import choices, missing
from report.figures import FIGURES
from report.layout import beside_points, spread_out
from report.lines import Dataset, load
from report.plotly_render import render
from report.sections import build_all
from report.tests import synthetic


def painted(value):
    if isinstance(value, str):
        return style.resolve(value, style.LIGHT)
    if isinstance(value, dict):
        return {key: painted(item) for key, item in value.items()}
    return [painted(item) for item in value] if isinstance(value, list) else value


def without(tmp_path: Path, drop) -> Dataset:
    return load(
        [
            synthetic.write(
                tmp_path / "part.jsonl", [line for line in synthetic.lines() if not drop(line)]
            )
        ]
    )


def test_every_figure_is_drawn_and_captioned_from_full_data(data: Dataset):
    for section in build_all(data):
        assert not section.empty and section.captions, section.name


@pytest.mark.parametrize("name", FIGURES)
def test_panels_are_valid_plotly(data: Dataset, name: str):
    for panel in FIGURES[name](data).panels:
        made = painted(render(panel))
        go.Figure(data=made["data"], layout=made["layout"])
        json.dumps(made, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "drop"),
    [
        ("last_in_last_out", lambda line: line.get("metric") == "last_in_last_out"),
        ("imbalance", lambda line: line.get("metric") == "cpu_time"),
        ("neighbour", lambda line: str(line.get("scenario")).startswith("neighbour")),
        ("unpinned", lambda line: line.get("pinned") is False),
        ("oversubscription", lambda line: line.get("threads", 0) > 2),
        (
            "line_transfer",
            lambda line: line["type"] == "floor" or line.pop("floor_median", None) is None,
        ),
    ],
)
def test_missing_data_are_said_to_be_missing(tmp_path: Path, name: str, drop):
    figure = FIGURES[name](without(tmp_path, drop))
    assert figure.empty and figure.missing[0].startswith("Not measured")


def test_a_skipped_peer_is_named_with_its_reason(data: Dataset):
    assert any(
        "oneTBB: not measured: it has no barrier" in note
        for note in FIGURES["threads"](data).missing
    )


def test_zero_is_not_drawn_on_a_logarithmic_axis_but_named(tmp_path: Path):
    made = synthetic.lines()
    for line in made:
        if line.get("provider") == "boost" and line.get("metric") == "last_in_last_out":
            line |= {"median": -3.0, "min": -5.0}
    figure = FIGURES["last_in_last_out"](load([synthetic.write(tmp_path / "z.jsonl", made)]))
    assert any("below what the clock resolves" in note for note in figure.missing)


def test_losses_come_first_and_the_worst_is_on_top(tmp_path: Path):
    made = synthetic.lines()
    for line in made:
        if (
            line.get("provider") == "std"
            and line.get("metric") == "loop"
            and line["threads"] in (4, 8)
        ):
            factor = 0.5 if line["threads"] == 4 else 0.25
            ours = next(
                o
                for o in made
                if o.get("name") == "default" and o.get("threads") == line["threads"]
            )
            for key in ("min", "p25", "median", "p75", "p99", "ratio_median"):
                line[key] = ours[key] * factor
    found = choices(load([synthetic.write(tmp_path / "loss.jsonl", made)]))
    assert [choice.loses for choice in found[:2]] == [True, True]
    assert (
        found[0].situation == "8 threads on 2 cores"
        and found[1].situation == "4 threads on 2 cores"
    )
    ratios = [choice.against_best.ratio for choice in found if choice.loses]
    assert ratios == sorted(ratios)


def test_situations_that_were_not_measured_are_named(tmp_path: Path):
    data = without(tmp_path, lambda line: line.get("pinned") is False)
    assert any(note.startswith("not pinned: not measured") for note in missing(choices(data)))


def test_every_provider_has_a_colour_in_both_palettes():
    assert style.LIGHT.keys() == style.DARK.keys()
    assert style.color("somebody_new") == "color:other"
    for provider, name, words in (
        ("forkunion", "yields", "ForkUnion yields"), ("rayon", "outside", "Rayon outside"),
        ("eigen", "thread pool", "Eigen pool"),
    ):
        assert style.color(provider) == f"color:{provider}"
        assert style.label({"provider": provider, "name": name, "wait": ""}) == words


def test_spread_out_keeps_gaps_order_and_stays_inside():
    places = spread_out([0.95, 0.96, 0.97, 0.2], 0.1)
    assert places[3] == 0.2
    assert places[0] < places[1] < places[2] <= 1.0 + 1e-9
    assert all(b - a >= 0.1 - 1e-9 for a, b in zip(sorted(places), sorted(places)[1:]))


def test_names_beside_crowded_points_do_not_overlap():
    points = [(200.0 + i, 200.0 + i, f"name {i}") for i in range(10)]
    offsets = beside_points(points, 500, 400)
    boxes = [
        (x + r, y + u - 7, x + r + 6.4 * len(t), y + u + 7)
        for (x, y, t), (r, u) in zip(points, offsets)
    ]
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])
