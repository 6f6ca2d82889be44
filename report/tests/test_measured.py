# SPDX-License-Identifier: Apache-2.0
"""The measured parts of Markdown pages: made from the lines, kept, compared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from report import measured, style
from report.choice import choices
from report.cli import main
from report.errors import ReportError
from report.figures import overview
from report.lines import Dataset, load
from report.sections import CHAPTERS
from report.tests import synthetic

PAGE = Path("page.md")


def part(name: str) -> str:
    return f"<!-- measured: {name} -->\n<!-- /measured -->\n"


@pytest.mark.parametrize("name", measured.PARTS)
def test_every_part_is_made_and_made_again_unchanged(data: Dataset, name: str):
    once = measured.filled(f"before\n{part(name)}after\n", data, PAGE)
    assert once.startswith("before\n<!-- measured:") and once.endswith(
        "<!-- /measured -->\nafter\n"
    )
    assert len(once) > len(part(name)) + 40
    assert measured.filled(once, data, PAGE) == once


def test_one_contender_alone_loses_nowhere(tmp_path: Path):
    lines = [line for line in synthetic.few() if line.get("type") != "result"]
    line = {
        "type": "result", "provider": "tutti", "name": "default", "wait": "adaptive", "threads": 2,
        "metric": "loop", "min": 1.0, "median": 1.0, "p99": 1.0, "samples": 1,
    }
    data = load([synthetic.write(tmp_path / "one.jsonl", [*lines, line])])
    assert "Nothing else was measured" in measured.PARTS["losses"](data)


def test_the_fastest_of_a_row_is_bold(data: Dataset):
    row = next(
        line
        for line in measured.filled(part("barriers"), data, PAGE).splitlines()
        if line.startswith("| 2 |")
    )
    assert row.split("|")[2].strip().startswith("**") and row.count("**") == 2


def test_two_figures_of_a_cell_are_of_one_setting(tmp_path: Path):
    lines = [line for line in synthetic.few() if line.get("type") != "result"]
    for name, latency, burned in (("default", 1000.0, 999e3), ("passive", 40000.0, 12000.0)):
        for metric, median in (("last_in_last_out", latency), ("cpu_time", burned)):
            lines.append({
                "type": "result", "provider": "libgomp", "name": name, "wait": "", "threads": 2,
                "scenario": "imbalance_1ms", "metric": metric, "min": median, "median": median,
                "p99": median, "samples": 1,
            })
    data = load([synthetic.write(tmp_path / "late.jsonl", lines)])
    rows = [line.split("|") for line in measured.PARTS["barriers"](data).splitlines()]
    libgomp = [cells[4].strip() for cells in rows[-2:]]
    assert libgomp == ["**1.00 µs**; 999 µs", "40.0 µs; **12.0 µs**"]


def test_the_median_of_an_even_group_lies_between_its_two_in_the_middle(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
):
    made = [choice for choice in choices(data) if choice.against_best][:2]
    made = [replace(choice, group="free cores", metric="loop") for choice in made]
    times = iter((1.0, 2.0))
    monkeypatch.setattr(measured, "choices", lambda _: made)
    monkeypatch.setattr(measured, "_times_the_best", lambda _: next(times))
    assert "| free cores | 2 | " in (table := measured.PARTS["groups"](data))
    assert table.rstrip().endswith("| 1.50 | 2.00 |")


@pytest.mark.parametrize(("text", "says"), [
    (part("nonsense"), "no measured part 'nonsense'"),
    ("<!-- measured: glance -->\n", "has no `<!-- /measured -->`"),
])
def test_a_wrong_part_is_an_error_that_names_the_page(data: Dataset, text: str, says: str):
    with pytest.raises(ReportError, match="page.md") as error:
        measured.filled(text, data, PAGE)
    assert says in str(error.value)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with pages that have every part between them."""
    for page in measured.PAGES:
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / page).write_text("".join(part(name) for name in measured.PARTS))
    (tmp_path / measured.PICTURE).parent.mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_pages_are_written_from_a_report_and_then_agree_with_what_is_kept(
    project: Path, all_stored: list[Path], capsys
):
    assert main(["pages", "--write", "--from", *map(str, all_stored)]) == 0
    assert (project / measured.PICTURE).stat().st_size > 0
    assert main(["pages", "--check"]) == 0
    page = project / measured.PAGES[0]
    page.write_text(page.read_text().replace("**", "", 1))
    assert main(["pages", "--check"]) == 1
    assert str(measured.PAGES[0]) in capsys.readouterr().err


def test_kept_lines_say_the_same_as_the_report(project: Path, all_stored: list[Path]):
    text = "".join(part(name) for name in measured.PARTS)
    # Kept figures have four digits, so the report's get them too.
    everything = Path("everything.jsonl")
    lines = [json.loads(line) for path in all_stored for line in path.read_text().splitlines()]
    lines = [line for line in lines if line["type"] in ("machine", "floor", "result", "skipped")]
    # Cycles of simulations belong to the hardware.
    lines = [line for line in lines if line.get("unit") != "cycles"]
    everything.write_text("".join(json.dumps(measured.shortened(line)) + "\n" for line in lines))
    measured.keep(all_stored)
    kept, reported = load([measured.KEPT]), load([everything])
    assert measured.filled(text, kept, PAGE) == measured.filled(text, reported, PAGE)
    for shown in (overview.barrier_rows, overview.region_rows):
        medians = [sorted(row["median"] for row in shown(data)) for data in (kept, reported)]
        assert medians[0] == medians[1]


def test_only_what_the_pages_show_is_kept(project: Path, all_stored: list[Path]):
    measured.keep(all_stored)
    once = measured.KEPT.read_text()
    few, all_of_them = load([measured.KEPT]), load(all_stored).of("barrier", "region")
    assert len(few.results) < len(all_of_them.results)
    measured.keep([measured.KEPT])
    assert measured.KEPT.read_text() == once


def test_the_kept_lines_of_the_project_are_kept_again_as_they_are():
    assert measured.kept_lines([measured.KEPT]) == measured.KEPT.read_text()


def test_who_is_faster_at_a_higher_price_is_kept(project: Path, all_stored: list[Path]):
    measured.keep(all_stored)
    dearer = [choice.dearer for choice in choices(load(all_stored)) if choice.dearer]
    kept = [choice.dearer for choice in choices(load([measured.KEPT])) if choice.dearer]
    assert dearer and [style.label(row) for row in dearer] == [style.label(row) for row in kept]


def test_cycles_are_not_kept_as_times(project: Path, all_stored: list[Path]):
    measured.keep(all_stored)
    once = measured.KEPT.read_text()
    default = next(line for line in synthetic.few() if line["type"] == "result")
    cycles = synthetic.write(Path("cycles.jsonl"), [default | {"unit": "cycles"}])
    measured.keep([*all_stored, cycles])
    assert measured.KEPT.read_text() == once


def test_lines_that_do_not_tell_their_machine_are_not_kept(
    project: Path, all_stored: list[Path], capsys
):
    measured.keep(all_stored)
    before = measured.KEPT.read_text()
    lines = [line for line in synthetic.few() if line["type"] != "machine"]
    nameless = synthetic.write(Path("nameless.jsonl"), lines)
    assert main(["pages", "--write", "--from", str(nameless)]) == 2
    assert "nameless.jsonl: no line of type machine" in capsys.readouterr().err
    assert measured.KEPT.read_text() == before


def test_check_does_not_take_lines(project: Path, all_stored: list[Path], capsys):
    assert main(["pages", "--check", "--from", str(all_stored[0])]) == 2
    assert "belongs to --write" in capsys.readouterr().err


def test_the_pages_of_the_project_agree_with_what_is_kept():
    assert main(["pages", "--check"]) == 0


def test_the_page_on_measuring_lists_the_chapters_of_the_report():
    page = (Path(__file__).parent.parent.parent / "docs" / "measuring.md").read_text("utf-8")
    after = page.partition("| chapter | measured by |")[2].split("\n\n")[0]
    listed = [row.split("|")[1].strip() for row in after.split("\n")[2:]]
    assert listed == list(CHAPTERS)
