# SPDX-License-Identifier: Apache-2.0
"""Figures and the table of choices: drawn when the data are there, and saying so when they are not.
"""

from __future__ import annotations

import json
from pathlib import Path

import plotly.graph_objects as go
import pytest

from report import page, style
from report.choice import choices, missing
from report.figures import FIGURES
from report.layout import beside_points, ends_early, small_ticks, spread_out, ticks
from report.lines import Dataset, load
from report.model import Axis, Panel, Point, Series
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


def one_barrier(threads: int, **numbers: float) -> dict:
    return {
        "type": "result", "provider": "tutti", "name": "default", "wait": "adaptive",
        "threads": threads, "metric": "loop", **numbers,
    }


def of_lines(tmp_path: Path, *results: dict) -> Dataset:
    lines = [line for line in synthetic.few() if line.get("type") != "result"]
    return load([synthetic.write(tmp_path / "few.jsonl", [*lines, *results])])


def test_what_is_drawn_at_the_end_of_the_axis_is_told_as_it_is(tmp_path: Path):
    recovered = one_barrier(2, p25=15.0, median=20.0, p75=30.0)
    recovered |= {"metric": "recover", "scenario": "recover_imbalance_1ms"}
    panel, = FIGURES["recover"](of_lines(tmp_path, recovered)).panels
    point = panel.series[0].points[0]
    assert point.x == 1000 and point.box == (1000, 1000) and "20.0 ns" in point.text


def test_rounds_that_never_recovered_are_counted(tmp_path: Path):
    recovered = one_barrier(2, median=20.0, unrecovered=3)
    recovered |= {"metric": "recover", "scenario": "recover_imbalance_1ms"}
    for more, words in (({}, "; 3 rounds ended"), ({"rounds": 9}, "; 3 of 9 rounds ended")):
        assert words in FIGURES["recover"](of_lines(tmp_path, recovered | more)).captions[0]


def test_quartiles_stand_for_a_spread_that_the_lines_do_not_have(tmp_path: Path):
    data = of_lines(tmp_path, one_barrier(4, p25=90.0, median=100.0, p75=120.0))
    point = FIGURES["threads"](data).panels[0].series[0].points[0]
    assert (point.low, point.high) == (90, 120) and "quartiles 90.0 ns to 120 ns" in point.text
    axis = FIGURES["oversubscription"](data).panels[0].x.title
    assert axis == "time per episode: median; box: quartiles"
    assert "– to –" not in page.build(data, build_all(data))


def test_a_plot_of_multiples_shows_what_its_sentence_says(tmp_path: Path):
    data = of_lines(tmp_path, one_barrier(2, median=100.0, floor_median=50.0, ratio_median=1.5))
    figure = FIGURES["multiples"](data)
    assert figure.panels[0].series[0].points[0].y == 1.5
    assert "1.50x with 2" in figure.captions[0]


@pytest.mark.parametrize("span", [(32, 46), (46, 59), (150, 36000), (20, 3000), (0.9, 2.8), (1, 2)])
def test_a_logarithmic_axis_has_ticks_to_read_by(span: tuple[float, float]):
    axis = Axis("", log=True, counts=True)
    found = ticks(axis, span)
    assert 3 <= len(found) <= 12
    assert len({text for _, text in found}) == len(found)
    assert all(span[0] <= place <= span[1] for place, _ in found)
    assert small_ticks(axis, span) and not small_ticks(Axis(""), span)


def test_a_name_far_from_its_line_is_joined_to_it():
    short, whole = (
        Series(f"to {last}", "color:tutti", [Point(1, 1), Point(last, last)]) for last in (4, 64)
    )
    panel = Panel("", Axis("", log=True), Axis("", log=True), [short, whole])
    assert ends_early(panel, short) and not ends_early(panel, whole)
    assert [shape["y0"] for shape in render(panel)["layout"]["shapes"]] == [4]


def test_lines_of_one_panel_look_different(data: Dataset):
    for name in ("detector_speedup", "threads", "hardware_cycles", "granularity"):
        for panel in FIGURES[name](data).panels:
            looks = [(each.color, each.dash, each.marker) for each in panel.series]
            assert len(set(looks)) == len(looks), name


def test_a_topology_has_one_colour_everywhere(data: Dataset):
    for name in ("hardware_network_cycles", "network_average"):
        for panel in FIGURES[name](data).panels:
            for series in panel.series:
                if series.label in style.TOPOLOGIES:
                    assert series.color == style.TOPOLOGIES[series.label][0], name


def test_notifiers_have_one_colour_in_both_panels(data: Dataset):
    panels = FIGURES["event_unicast"](data).panels
    colors = [{each.label: each.color for each in panel.series} for panel in panels]
    for name, color in colors[1].items():
        assert colors[0][name] == color


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
