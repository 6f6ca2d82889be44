# SPDX-License-Identifier: Apache-2.0
"""Events in tutti's kernel: from the lines that are kept with the sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from report import kernel
from report.figures import FIGURES
from report.lines import Dataset, load
from report.model import Panel
from report.plotly_render import render
from report.png_render import write
from report.sections import CHAPTERS
from report.style import MECHANISMS
from report.tables import TABLES
from report.tests import synthetic


def labels(panel: Panel) -> list[str]:
    return [series.label for series in panel.series]


@pytest.mark.parametrize(
    "name", ["kernel_unicast", "kernel_broadcast", "kernel_sigma", "kernel_paths"]
)
def test_axes_say_instructions_and_nowhere_a_time(data: Dataset, name: str) -> None:
    figure = FIGURES[name](data)
    assert "Hale and Dinda 2018" in figure.title
    for panel in figure.panels:
        assert "instructions under QEMU's icount" in panel.x.title
        assert not panel.x.time and not panel.y.time
    assert any("not a time" in caption for caption in figure.captions)


def test_the_cheapest_mechanism_is_at_the_top(data: Dataset) -> None:
    panel = FIGURES["kernel_unicast"](data).panels[0]
    order = "polling event_shortcut interrupt event condition_kick condition".split()
    assert labels(panel)[::-1] == [MECHANISMS[name][0] for name in order]
    medians = [series.points[0].x for series in panel.series]
    assert medians == sorted(medians, reverse=True)


def test_a_cdf_rises_from_zero_to_one(data: Dataset, tmp_path: Path) -> None:
    figure = FIGURES["kernel_unicast"](data)
    panel = next(panel for panel in figure.panels if panel.kind == "cdf")
    assert panel.x.log and len(panel.series) == len(MECHANISMS)
    for series in panel.series:
        shares = [point.y for point in series.points]
        assert shares[0] == 0 and shares[-1] == 1 and shares == sorted(shares)
    # The line and its distribution have the same number of samples.
    line = next(line for line in kernel.results(data, "unicast", "instructions"))
    counts = kernel.distribution(data, line["name"], "unicast", "instructions")
    assert sum(count for _, count in counts) == line["samples"]
    assert all(trace["line"]["shape"] == "hv" for trace in render(panel)["data"])
    write(figure, tmp_path / "cdf.png")
    assert (tmp_path / "cdf.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_parts_stand_beside_those_of_the_paper(data: Dataset) -> None:
    rows = [[cell.text for cell in row] for row in TABLES["kernel_parts"](data).rows]
    parts = next(line for line in data.kernel if line["type"] == "parts")
    assert rows[0] == ["at the source", "43", str(parts["source"])]
    assert rows[3] == ["the whole interrupt", "1,150", str(parts["interrupt"])]
    assert rows[5][1] == "no number"


def test_an_interrupt_to_each_core_stands_beside_polling(data: Dataset) -> None:
    each, beside = FIGURES["kernel_paths"](data).panels
    assert labels(each) == ["to core 1", "to core 2", "to core 3"]
    assert labels(beside)[:2] == [MECHANISMS["polling"][0], MECHANISMS["interrupt"][0]]
    # The projection takes the handling of the interrupt off, and adds a system call.
    parts = next(line for line in data.kernel if line["type"] == "parts")
    assert beside.series[2].points[0].x == parts["interrupt_as_system_call"]


def test_the_pool_has_a_row_for_each_way_to_tell_it(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in kernel.KEPT.read_text(encoding="utf-8").splitlines()]
    user = {
        "type": "pool", "name": "tutti_event", "processors": 3, "tasks": 100, "unit": "ns",
        "median": 900, "p95": 30000, "lost_races": 150,
    }
    data = load([synthetic.write(tmp_path / "k.jsonl", [*lines, user, *synthetic.few()])])
    rows = [[cell.text for cell in row] for row in TABLES["pool"](data).rows]
    assert rows[0][:3] == ["user space, Linux", "tutti::event, broadcast", "3"]
    assert rows[0][5] == "1.50"
    assert [row[0] for row in rows[1:]] == ["kernel, instructions under QEMU's icount"] * 4


def test_cycles_of_a_machine_have_panels_of_their_own(tmp_path: Path) -> None:
    text = kernel.KEPT.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    lines += [line | {"unit": "cycles"} for line in lines if line.get("unit")]
    lines += [line | {"unit": "emulated_ticks"} for line in lines if line.get("unit")]
    data = load([synthetic.write(tmp_path / "k.jsonl", [*lines, *synthetic.few()])])
    assert data.hardware == []
    titles = [panel.x.title for panel in FIGURES["kernel_unicast"](data).panels]
    assert len(titles) == 4 and titles[2] == "cycles of the time stamp counter"
    assert len(TABLES["kernel_parts"](data).heads) == 4


def test_without_lines_of_the_kernel_it_says_how_to_get_them(tmp_path: Path) -> None:
    data = load([synthetic.write(tmp_path / "few.jsonl", synthetic.few())])
    for name in CHAPTERS["Events in a kernel"]:
        section = {**FIGURES, **TABLES}[name](data)
        assert section.empty and "tutti kernel run" in section.missing[0]
