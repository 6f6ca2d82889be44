# SPDX-License-Identifier: Apache-2.0
"""docs/many-cores.md is what its kept lines say."""

import json
from pathlib import Path

from report import many_cores

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
        {"type": "result", "threads": 2, "median": 1234567.0, "wait": "", "samples": 3},
        {"situation": "2", "runtime": "tutti", "us": {"barrier": 0.123456}},
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in written))
    kept = [json.loads(text) for text in many_cores.kept_lines([source]).splitlines()]
    assert kept == [
        {"type": "machine", "cores": 16},
        {"type": "floor", "median": 94.13, "quantity": "line_one_way"},
        {"type": "result", "threads": 2, "median": 1235000, "run": "lines"},
        {"situation": "2", "runtime": "tutti", "us": {"barrier": 0.1235}},
    ]
