# SPDX-License-Identifier: Apache-2.0
"""docs/many-cores.md is what its kept lines say."""

import json
import shutil
from pathlib import Path

import pytest

from report import many_cores

RESULT = {
    "type": "result", "provider": "tutti", "name": "default", "threads": 2, "metric": "loop",
}
ROOT = Path(__file__).parent.parent.parent


def test_the_page_has_what_the_kept_lines_say():
    kept = (many_cores.KEPT, many_cores.CALM)
    lines, calm = (many_cores.read_lines(ROOT / each) for each in kept)
    text = (ROOT / many_cores.PAGE).read_text(encoding="utf-8")
    assert [found[1] for found in many_cores.PART.findall(text)] == list(many_cores.PARTS)
    assert many_cores.filled(text, lines, calm) == text


def test_a_runtime_that_gave_no_times_has_a_dash():
    lines = [
        {"situation": "2", "runtime": each, "us": None if each == "libomp" else {"barrier": 1.0}}
        for each in ("libgomp", "libomp", "tutti")
    ]
    assert "1.00 / 1.00 / –" in many_cores.epcc(lines)


def test_kept_lines_have_one_machine_and_no_floors_that_no_table_shows(tmp_path):
    source = tmp_path / "lines_again.jsonl"
    written = [
        {"type": "machine", "cores": 16, "cpus": [0]}, {"type": "machine", "cores": 2},
        {"type": "floor", "quantity": "timer", "median": 15.0},
        {"type": "floor", "quantity": "line_one_way", "median": 94.132, "values": [1]},
        RESULT | {"median": 1234567.0, "wait": "", "samples": 3},
        {"situation": "2", "runtime": "tutti", "us": {"barrier": 0.123456}},
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in written))
    kept = [json.loads(text) for text in many_cores.kept_lines([source]).splitlines()]
    assert kept == [
        {"type": "machine", "cores": 16},
        {"type": "floor", "median": 94.13, "quantity": "line_one_way"},
        RESULT | {"median": 1235000, "run": "lines"},
        {"situation": "2", "runtime": "tutti", "us": {"barrier": 0.1235}},
    ]


@pytest.fixture
def project(tmp_path: Path, monkeypatch) -> Path:
    """A copy of the page and its kept lines, which a test may spoil."""
    (tmp_path / "docs").mkdir()
    for path in (many_cores.KEPT, many_cores.CALM, many_cores.PAGE):
        shutil.copyfile(ROOT / path, tmp_path / path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_kept_lines_are_kept_again_as_they_are(project: Path):
    files = (many_cores.KEPT, many_cores.CALM, many_cores.PAGE)
    before = [path.read_text() for path in files]
    asked = ["--keep", str(many_cores.KEPT), "--keep-calm", str(many_cores.CALM)]
    assert many_cores.main(["--write", *asked]) == 0
    assert [path.read_text() for path in files] == before


def test_a_comparison_keeps_no_other_lines(project: Path, capsys):
    Path("other.jsonl").write_text('{"type": "machine"}\n', encoding="utf-8")
    before = many_cores.KEPT.read_text()
    with pytest.raises(SystemExit) as ended:
        many_cores.main(["--check", "--keep", "other.jsonl"])
    assert ended.value.code == 2
    assert "belong to --write" in capsys.readouterr().err
    assert many_cores.KEPT.read_text() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "given.jsonl: the file has no lines."),
        (json.dumps(RESULT | {"median": 1.0}) + "\n", "given.jsonl: no line of type machine"),
        ('{"type": "machine"}\n{"type": "res', "given.jsonl:2: not a JSON line"),
        ('{"type": "machine"}\n[1]\n', "given.jsonl:2: expected a JSON object, found list."),
        ('{"type": "machine"}\n{"type": "result"}\n', "given.jsonl:2: a result without the key"),
    ],
)
def test_lines_that_cannot_be_read_replace_nothing(project: Path, text: str, words: str, capsys):
    before = many_cores.KEPT.read_text()
    Path("given.jsonl").write_text(text)
    assert many_cores.main(["--write", "--keep", "given.jsonl"]) == 2
    assert f"report: {words}" in capsys.readouterr().err
    assert many_cores.KEPT.read_text() == before
