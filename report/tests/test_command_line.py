# SPDX-License-Identifier: Apache-2.0
"""The command line as a user meets it: files, exit status, one sentence on errors, nothing
half-written.
"""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest
from plotly.offline import get_plotlyjs

from report import facts, hardware, measure, plan, plan_messages
from report.cli import main
from report.figures import FIGURES
from report.lines import Dataset, load
from report.page import build
from report.sections import build_all
from report.tests import synthetic, synthetic_messages


def error_of(capsys) -> str:
    text = capsys.readouterr().err
    last = text.strip().splitlines()[-1]
    assert last.startswith("report: ") and last.endswith(".")
    return last


def fake_tutti(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def make_quickly(tutti: Path, out: Path) -> int:
    """Makes a quick report with this `tutti`; returns the exit status."""
    return main(["make", "--tutti", str(tutti), "--out", str(out), "--quick"])


def test_report_from_stored_lines(all_stored: list[Path], tmp_path: Path, capsys):
    out = tmp_path / "report"
    assert main(["make", "--from", *map(str, all_stored), "--out", str(out)]) == 0
    names = {path.name for path in out.iterdir()}
    assert names == {"index.html"} | {path.name for path in all_stored} | {
        # A long report draws the other simulated machines.
        f"{name}.png" for name in FIGURES if name != "sim_machines"
    }
    assert capsys.readouterr().out.strip() == str(out / "index.html")


def test_page_is_self_contained(data: Dataset):
    page = build(data, build_all(data))
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=.https?:", page)
    assert page.count(get_plotlyjs()) == 1
    assert "http" not in page.replace(get_plotlyjs(), "")


def test_report_is_repeatable_and_reads_lines_of_its_own_folder(tmp_path: Path):
    stored = synthetic.write(tmp_path / "threads.jsonl", synthetic.few())
    before = stored.read_text()
    for _ in range(2):
        assert main(["make", "--from", str(stored), "--out", str(tmp_path)]) == 0
    assert stored.read_text() == before


def test_malformed_lines_leave_nothing_behind(tmp_path: Path, capsys):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"type":"result"}\n')
    out = tmp_path / "report"
    assert main(["make", "--from", str(bad), "--out", str(out)]) == 2
    assert f"{bad}:1:" in error_of(capsys)
    assert not out.exists()


def test_two_files_of_one_name(tmp_path: Path, capsys):
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(str(synthetic.write(tmp_path / folder / "x.jsonl")))
    assert main(["make", "--from", *paths, "--out", str(tmp_path / "report")]) == 2
    assert "different file names" in error_of(capsys)


def test_plot_one_figure(stored: Path, tmp_path: Path):
    out = tmp_path / "img" / "threads.png"
    assert main(["plot", "--from", str(stored), "--figure", "threads", "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in out.parent.iterdir()] == ["threads.png"]


def test_plot_without_the_data(tmp_path: Path, capsys):
    lines = [line for line in synthetic.lines() if line.get("metric") != "cpu_time"]
    stored = synthetic.write(tmp_path / "part.jsonl", lines)
    assert (
        main(
            [
                "plot", "--from", str(stored), "--figure", "imbalance", "--out",
                str(tmp_path / "x.png"),
            ]
        )
        == 2
    )
    assert "Not measured" in error_of(capsys)
    assert not (tmp_path / "x.png").exists()


def test_lines_of_another_version_are_an_error_that_names_the_section(tmp_path: Path, capsys):
    machine = {"type": "sim_machine"}
    stored = synthetic.write(tmp_path / "other.jsonl", [*synthetic.lines(), machine])
    assert main(["make", "--from", str(stored), "--out", str(tmp_path / "out")]) == 2
    error = error_of(capsys)
    assert "section sim_" in error and 'lacks the key "name"' in error and str(stored) in error
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_file(stored: Path, capsys):
    assert main(["make", "--from", str(stored), "--out", str(stored)]) == 2
    assert f"{stored}: --out takes a folder" in error_of(capsys)


def test_lines_of_two_machines_are_told(stored: Path, tmp_path: Path):
    other = {"type": "machine", "cpu": "Another CPU", "cores": 2, "commit": "1111111"}
    second = synthetic.write(tmp_path / "second.jsonl", [other])
    alone, both = load([stored]), load([stored, second])
    assert facts.mixture(alone) is None
    assert "2 processors (Synthetic CPU, Another CPU) and 2 commits" in facts.mixture(both)
    assert facts.machine_words(alone) == "2 cores of Synthetic CPU; commit 0000000"


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["dance"], ["plot", "--from", "x"],
        ["plot", "--from", "x", "--figure", "nope", "--out", "y"], ["make", "--fast"],
    ],
)
def test_wrong_arguments(arguments: list[str], capsys):
    assert main(arguments) == 2
    error_of(capsys)


def test_only_some_runs_are_measured_and_the_others_are_read(tmp_path: Path, capsys):
    out = tmp_path / "report"
    out.mkdir()
    stored = synthetic.write(out / "threads.jsonl", synthetic.few())
    before = stored.read_text()
    asked = tmp_path / "asked"
    line = json.dumps(synthetic.few()[-1])
    tutti = fake_tutti(tmp_path / "tutti", f"echo \"$@\" >> {asked}; echo '{line}'")
    words = ["make", "--tutti", str(tutti), "--out", str(out), "--quick", "--only"]
    assert main([*words, "latency"]) == 0
    assert len(asked.read_text().splitlines()) == 1
    assert stored.read_text() == before and (out / "latency.jsonl").is_file()
    assert {path.name for path in out.glob("*.jsonl")} >= {"threads.jsonl", "latency.jsonl"}
    assert main([*words, "nonsense"]) == 2
    assert "no run is called nonsense" in error_of(capsys)
    assert main([*words, "latency", "--from", str(stored)]) == 2
    assert "--only measures" in error_of(capsys)
    assert main(["make", "--from", str(stored), "--long"]) == 2
    assert "--quick and --long measure" in error_of(capsys)
    assert main([*words, "list"]) == 0
    assert "latency " in capsys.readouterr().out


def test_no_such_program(tmp_path: Path, capsys):
    assert (
        main(["make", "--tutti", str(tmp_path / "tutti"), "--out", str(tmp_path / "report")]) == 2
    )
    assert "make build" in error_of(capsys)


def test_unwritable_output(stored: Path, tmp_path: Path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["make", "--from", str(stored), "--out", str(tmp_path / "file" / "report")]) == 2
    assert "cannot be written" in error_of(capsys)


@pytest.fixture(autouse=True)
def launchers(tmp_path_factory, monkeypatch) -> None:
    """Launchers of MPI that start one process."""
    script = 'while [ "$1" != -n ]; do shift; done; shift 2; exec "$@"'
    launcher = fake_tutti(tmp_path_factory.mktemp("mpi") / "launch", script)
    monkeypatch.setattr(
        plan_messages, "LAUNCHERS", {"openmpi": (str(launcher),), "mpich": (str(launcher),)}
    )


def programs(folder: Path, script: str, monkeypatch) -> Path:
    """All that a report calls, each doing the same; returns the command `tutti`."""
    for name in ("synthetic", "phylo", "streamcluster", "graph-compare", "pool"):
        fake_tutti(folder / f"tutti-{name}", script)
    compare = folder / "compare.py"
    compare.write_text(
        f"import subprocess, sys\nsys.exit(subprocess.call(['sh', '-c', {script!r}]))\n"
    )
    monkeypatch.setattr(plan, "COMPARE", compare)
    (folder / "bench").mkdir()
    monkeypatch.setattr(plan, "SUMS", (str(fake_tutti(folder / "bench" / "exact_cost", script)),))
    return fake_tutti(folder / "tutti", script)


def test_measuring_keeps_the_raw_lines(tmp_path: Path, capsys, monkeypatch):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    tutti = programs(tmp_path, f"cat {stored}", monkeypatch)
    out = tmp_path / "report"
    assert make_quickly(tutti, out) == 0
    for run in plan.plan(2, True, plan.Programs(tutti, tmp_path)):
        assert (out / f"{run.name}.jsonl").read_text() == stored.read_text() * len(run.calls)
    said = capsys.readouterr().err
    assert "left in all" in said and "not measured" not in said


def test_a_missing_workload_is_told_and_stands_in_the_page(tmp_path: Path, capsys):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    out = tmp_path / "report"
    assert make_quickly(fake_tutti(tmp_path / "tutti", f"cat {stored}"), out) == 0
    assert "tutti-streamcluster: no such program" in capsys.readouterr().err
    page = (out / "index.html").read_text()
    for section in ("table_1", "table_3", "phylo_peers", "streamcluster"):
        part = page[page.index(f'<section id="{section}">') :].split("</section>")[0]
        assert "Not measured" in part and "no such program" in part


def test_one_call_of_several_that_fails_is_told_and_the_others_are_kept(
    tmp_path: Path, capsys, monkeypatch
):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    script = (
        f'case "$*" in *recursive_padded*) echo "tutti-phylo: no such barrier" >&2; '
        f'exit 1;; esac; cat {stored}'
    )
    tutti = programs(tmp_path, f"cat {stored}", monkeypatch)
    fake_tutti(tmp_path / "tutti-phylo", script)
    out = tmp_path / "report"
    assert make_quickly(tutti, out) == 0
    assert "status 1: tutti-phylo: no such barrier" in capsys.readouterr().err
    assert (out / "phylo_404.jsonl").read_text() == stored.read_text() * 9


def test_programs_that_the_comparison_lacks_stand_in_the_lines(tmp_path: Path, monkeypatch):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    tutti = programs(tmp_path, f"cat {stored}", monkeypatch)
    (tmp_path / "compare.py").write_text(
        "import sys\nprint('compare.py: RAxML is left out: it is not installed', file=sys.stderr)\n"
        f"print(open({str(stored)!r}).read())"
    )
    out = tmp_path / "report"
    assert make_quickly(tutti, out) == 0
    last = (out / "phylo_peers.jsonl").read_text().splitlines()[-1]
    assert json.loads(last) == {
        "type": "skipped", "benchmark": "phylo", "provider": "raxml",
        "reason": "it is not installed",
    }


def test_a_failed_run_is_told_and_left_out(tmp_path: Path, capsys):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    script = (
        f'case "$*" in *neighbour*) echo "tutti: no neighbour today" >&2; '
        f'exit 1;; esac; cat {stored}'
    )
    out = tmp_path / "report"
    assert make_quickly(fake_tutti(tmp_path / "tutti", script), out) == 0
    assert "no neighbour today" in capsys.readouterr().err
    assert not (out / "neighbour.jsonl").exists()


def test_contenders_that_failed_are_told_but_the_lines_are_kept(tmp_path: Path, capsys):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    script = f'echo "tutti: libgomp with 64 threads was not measured" >&2; cat {stored}; exit 1'
    out = tmp_path / "report"
    assert make_quickly(fake_tutti(tmp_path / "tutti", script), out) == 0
    assert "libgomp with 64 threads" in capsys.readouterr().err
    assert (out / "threads.jsonl").exists()


def test_when_every_run_fails(tmp_path: Path, capsys):
    tutti = fake_tutti(tmp_path / "tutti", 'echo "tutti: broken" >&2; exit 3')
    assert make_quickly(tutti, tmp_path / "report") == 2
    assert "status 3: tutti: broken" in error_of(capsys)


def test_results_of_the_hardware_are_brought_in(tmp_path: Path, capsys, monkeypatch):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    tutti = programs(tmp_path, f"cat {stored}", monkeypatch)
    results = hardware.results_beside(tutti)
    results.parent.mkdir()
    synthetic.write(
        results, [line for line in synthetic_messages.hardware() if line["type"] != "hardware_run"]
    )
    out = tmp_path / "report"
    assert make_quickly(tutti, out) == 0
    assert '"type": "hardware_run"' in (out / "hardware.jsonl").read_text().splitlines()[0]
    assert "Unit counting" in (out / "index.html").read_text()


def test_without_results_of_the_hardware_the_kept_cycles_are_shown(
    tmp_path: Path, capsys, monkeypatch
):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    out = tmp_path / "report"
    tutti = programs(tmp_path, f"cat {stored}", monkeypatch)
    assert make_quickly(tutti, out) == 0
    assert "`make hardware`" in capsys.readouterr().err
    assert hardware.WITH_SOURCES in (out / "hardware.jsonl").read_text().splitlines()[0]
    page = (out / "index.html").read_text()
    assert "4 Xeon sockets" in page
    part = page[page.index('<section id="hardware_checks">') :].split("</section>")[0]
    assert "Not made" in part and "`make hardware`" in part


def test_broken_results_of_the_hardware_are_told(tmp_path: Path, capsys, monkeypatch):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    tutti = programs(tmp_path, f"cat {stored}", monkeypatch)
    results = hardware.results_beside(tutti)
    results.parent.mkdir()
    results.write_text("{broken\n")
    out = tmp_path / "report"
    assert make_quickly(tutti, out) == 0
    assert "not a JSON line" in capsys.readouterr().err and not (out / "hardware.jsonl").exists()
    page = (out / "index.html").read_text()
    part = page[page.index('<section id="hardware_checks">') :].split("</section>")[0]
    assert "Not made" in part and "not a JSON line" in part


def test_an_mpi_that_is_not_there_stands_in_the_page(tmp_path: Path, monkeypatch):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    tutti = programs(tmp_path, f"cat {stored}", monkeypatch)
    monkeypatch.setattr(plan_messages, "LAUNCHERS", {"mpich": ("no-such-launcher",)})
    out = tmp_path / "report"
    assert make_quickly(tutti, out) == 0
    page = (out / "index.html").read_text()
    part = page[page.index('<section id="processes">') :].split("</section>")[0]
    assert "MPICH: not measured: no-such-launcher is not installed." in part


def test_calls_beyond_the_time_of_their_run_are_left_out_in_one_sentence(
    tmp_path: Path, capsys, monkeypatch
):
    stored = synthetic.write(tmp_path / "lines", synthetic.few())
    tutti = programs(tmp_path, f"cat {stored}", monkeypatch)
    monkeypatch.setattr(measure, "PATIENCE", -1)
    monkeypatch.setattr(measure, "GRACE", 0)
    assert make_quickly(tutti, tmp_path / "report") == 2
    said = capsys.readouterr().err
    assert (
        said.count("not measured: an application with every detector") == 1
        and "18 of 18 calls were left out" in said
    )
