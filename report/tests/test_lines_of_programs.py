# SPDX-License-Identifier: Apache-2.0
"""Result lines of `tutti graph`, the graph loops' ceilings, tutti over MPI and VCODE: they are read
without mixing, and bad ones are refused with file and line."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from cli.result_line import result_line
from report.errors import ReportError
from report.lines import load
from report.select import rows
from report.tests import synthetic, synthetic_messages


def loaded(tmp_path: Path, made: list[dict]):
    return load([synthetic.write(tmp_path / "lines.jsonl", made)])


def test_processes_of_two_mpis_are_not_pooled(tmp_path: Path):
    data = loaded(tmp_path, synthetic_messages.between_processes(synthetic.machine()))
    found = rows(data, benchmark="idle", name="shared", metric="empty")
    assert [(row["mpi"], row["processes"], row["samples"]) for row in found] == [
        ("openmpi", 2, 11), ("mpich", 2, 11),
    ]


def test_runs_without_an_mpi_name_none(tmp_path: Path):
    made = [
        *synthetic_messages.between_processes(synthetic.machine()), synthetic.machine(),
        *synthetic_messages.in_one_process(),
    ]
    assert {row["mpi"] for row in rows(loaded(tmp_path, made), benchmark="idle", threads=2)} == {
        None
    }


def test_runs_of_tutti_graph_are_results_in_nanoseconds_and_pooled(tmp_path: Path):
    made = [
        synthetic_messages.graph_run("heat", "sync", seconds, 1000, 20000)
        for seconds in (0.25, 0.75, 0.5)
    ]
    (row,) = rows(loaded(tmp_path, made), benchmark="graph")
    assert (row["what"], row["name"], row["threads"], row["samples"]) == ("heat", "sync", 2, 3)
    assert (row["min"], row["median"], row["p99"]) == (0.25e9, 0.5e9, 0.75e9)


def test_a_loop_without_participants_is_one_thread(tmp_path: Path):
    data = loaded(tmp_path, [synthetic_messages.graph_run("heat", "sequential", 0.25, 0, 20000)])
    assert rows(data, benchmark="graph")[0]["threads"] == 1


def test_the_ceiling_says_its_graph_and_threads(tmp_path: Path):
    data = loaded(tmp_path, synthetic_messages.ceilings())
    pulls = rows(data, benchmark="pagerank", name="pull")
    assert [row["graph"].split(":")[0] for row in pulls] == ["kron", "geometric"]
    assert {(row["provider"], row["threads"], row["median"], row["p99"]) for row in pulls} == {
        ("ceiling", 2, 7e6, 8.4e6)
    }
    assert rows(data, benchmark="pagerank", name="sync")[0]["provider"] == "tutti"


def test_seconds_are_not_taken_for_nanoseconds(tmp_path: Path):
    line = synthetic_messages.result("vcode", "tutti", "lazy", "run", 1, 0.5) | {"unit": "s"}
    with pytest.raises(ReportError, match="expected ns or cycles"):
        loaded(tmp_path, [line])


def test_the_schema_knows_every_key_that_these_tests_use():
    made = [*synthetic.lines(), *synthetic_messages.graphs(random.Random(1))]
    made.append(synthetic_messages.graph_run("heat", "sync", 0.25, 2, 9))
    for line in made:
        if line["type"] == "result" and line.get("unit") == "ns":
            assert result_line(**{key: value for key, value in line.items() if key != "type"})


def test_result_line_refuses_unknown_keys():
    with pytest.raises(ValueError, match='"colour" is not in'):
        result_line(
            provider="tutti", name="default", metric="loop", threads=2, median=1.0, colour="blue"
        )


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            [synthetic_messages.graph_run("heat", "sync", 0.25, 1, 9) | {"median": None}],
            'without the key "median"',
        ),
        ([synthetic_messages.ceilings()[0] | {"provider": None}], 'without the key "provider"'),
        ([synthetic_messages.graph_run("heat", "sync", 0.25, -1, 9)], "expected a count"),
    ],
)
def test_what_is_missing_is_refused_with_its_line(tmp_path: Path, lines: list[dict], reason: str):
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [synthetic.machine(), *lines]))
    with pytest.raises(ReportError) as error:
        load([path])
    assert str(error.value).startswith(f"{path}:2: ") and reason in str(error.value)
