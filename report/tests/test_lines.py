# SPDX-License-Identifier: Apache-2.0
"""Reading: what is malformed is refused with file and line, what is merely unknown is tolerated."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from report.errors import ReportError
from report.lines import load
from report.tests import synthetic

GOOD = synthetic.result(random.Random(1), "tutti", "default", "adaptive", 2, 34.0)


def write(path: Path, *lines) -> Path:
    path.write_text(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    )
    return path


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not a JSON line"),
        ('{"type":"result","median":NaN}', "NaN is not a number"),
        ("[1]", "expected a JSON object, found list"),
        ({"no": "type"}, '"type" is missing'),
        ({k: v for k, v in GOOD.items() if k != "metric"}, 'without the key "metric"'),
        (GOOD | {"median": "fast"}, "'fast'"),
        (GOOD | {"threads": 0}, "expected at least 1"),
        (GOOD | {"threads": True}, "expected int"),
        (GOOD | {"p99": "late"}, "'late'"),
        (GOOD | {"ranks": "two"}, "expected a count"),
        (GOOD | {"regions": -1}, "expected a count"),
        (GOOD | {"max": "long"}, "expected a number"),
        ({"type": "floor", "median": 3}, 'without the key "quantity"'),
        ({"type": "floor", "quantity": "line_one_way"}, '"median" is not a number'),
        ({"type": "skipped", "threads": "2"}, "expected int"),
    ],
)
def test_malformed_line_is_named(tmp_path: Path, line, reason: str):
    path = write(tmp_path / "bad.jsonl", GOOD, line)
    with pytest.raises(ReportError) as error:
        load([path])
    assert str(error.value).startswith(f"{path}:2: ")
    assert reason in str(error.value)


def test_empty_file(tmp_path: Path):
    with pytest.raises(ReportError, match="no lines"):
        load([write(tmp_path / "empty.jsonl")])


def test_missing_file(tmp_path: Path):
    with pytest.raises(ReportError, match="cannot be read"):
        load([tmp_path / "nowhere.jsonl"])


def test_binary_file(tmp_path: Path):
    path = tmp_path / "binary.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReportError, match="not a text file"):
        load([path])


def test_no_result(tmp_path: Path):
    with pytest.raises(ReportError, match="no line of type result"):
        load([write(tmp_path / "machine.jsonl", synthetic.machine())])


def test_unknown_keys_types_and_blank_lines_are_tolerated(tmp_path: Path):
    data = load([write(tmp_path / "new.jsonl", GOOD | {"colour": "blue"}, {"type": "weather"}, "")])
    assert len(data.results) == 1 and data.machine == {}


def test_defaults_of_a_sparse_result(tmp_path: Path):
    sparse = {
        "type": "result", "provider": "std", "name": "std::barrier", "metric": "loop", "threads": 2,
        "median": 600,
    }
    row = load([write(tmp_path / "sparse.jsonl", sparse)]).results.to_dicts()[0]
    assert row["scenario"] == "free" and row["pinned"] is True and row["min"] is None


def test_the_same_measurement_in_two_files_is_pooled(tmp_path: Path):
    first = write(tmp_path / "a.jsonl", GOOD | {"median": 30.0, "samples": 10})
    second = write(tmp_path / "b.jsonl", GOOD | {"median": 40.0, "samples": 20})
    row = load([first, second]).results.to_dicts()[0]
    assert row["median"] == 35.0 and row["samples"] == 30


@pytest.mark.parametrize(
    "more",
    [
        {"kind": "empty"}, {"ranks": 8}, {"benchmark": "region"}, {"length": 0},
        {"taxa": 4, "patterns": 9}, {"input": "simsmall"},
        {"data": "example"},
    ],
)
def test_what_is_measured_keeps_lines_apart(tmp_path: Path, more: dict):
    data = load([write(tmp_path / "a.jsonl", GOOD, GOOD | more | {"median": 40.0})])
    assert sorted(data.results["median"].to_list()) == [GOOD["median"], 40.0]


def test_without_ranks_there_are_as_many_as_threads_and_the_longest_stands_for_p99(tmp_path: Path):
    line = {key: value for key, value in GOOD.items() if key != "p99"} | {"max": 99.0}
    row = load([write(tmp_path / "a.jsonl", line)]).results.to_dicts()[0]
    assert row["ranks"] == row["threads"] == 2 and row["p99"] == 99.0


def test_the_part_of_a_benchmark(tmp_path: Path):
    skipped = {"type": "skipped", "benchmark": "region", "provider": "tbb", "reason": "absent"}
    data = load(
        [
            write(
                tmp_path / "a.jsonl", GOOD, GOOD | {"benchmark": "region"}, skipped,
                synthetic.machine(),
            )
        ]
    )
    assert (
        data.of("barrier").results["benchmark"].to_list() == ["barrier"]
        and not data.of("barrier").skipped
    )
    assert (
        data.of("region").why_missing("tbb") == "absent"
        and data.of("region").machine == data.machine
    )


def test_cores_without_a_machine_line(tmp_path: Path):
    assert load([write(tmp_path / "a.jsonl", GOOD)]).cores == 2
