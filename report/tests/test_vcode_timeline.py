# SPDX-License-Identifier: Apache-2.0
"""The picture of what threads do when."""

from __future__ import annotations

from pathlib import Path

from report.figures.vcode_timeline import last_call, main, read_trace, working

WORKERS = """1.000 µs  3: CALL  [1 on the stack, INT x 1 on top]
100.000 µs  3: CALL  [1 on the stack, INT x 1 on top]
110.000 µs  4: INDEX  [1 on the stack, INT x 1 on top]
rank 0: phase 2.000 50.000
rank 0: phase 112.000 140.000
rank 1: phase 3.000 50.000
rank 1: phase 113.000 150.000
"""
SPMD = """0.000 µs  3: CALL  [1 on the stack, INT x 1 on top]
rank 0: barrier 10.000 12.000
rank 0: barrier 30.000 31.000
rank 1: barrier 11.000 12.000
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_last_call_begins_at_zero(tmp_path: Path):
    trace = last_call(read_trace(written(tmp_path / "trace", WORKERS)))
    assert trace.steps == [(0.0, "CALL"), (10.0, "INDEX")]
    assert working(trace, 0) == [(12.0, 40.0)] and working(trace, 1) == [(13.0, 50.0)]


def test_traces_of_before_have_another_unit(tmp_path: Path):
    now, before = (
        read_trace(written(tmp_path / name, text))
        for name, text in (("now", WORKERS), ("before", WORKERS.replace("µs", "us")))
    )
    assert before == now


def test_between_barriers_is_work(tmp_path: Path):
    trace = read_trace(written(tmp_path / "trace", SPMD))
    assert working(trace, 0) == [(0.0, 10.0), (12.0, 30.0)] and working(trace, 1) == [(0.0, 11.0)]


def test_a_picture_is_written(tmp_path: Path):
    out = tmp_path / "out.png"
    traces = [written(tmp_path / "w", WORKERS), written(tmp_path / "s", SPMD)]
    assert main([str(out), f"workers={traces[0]}", f"spmd={traces[1]}"]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")


def test_what_is_no_trace_is_refused(tmp_path: Path, capsys):
    out = tmp_path / "out.png"
    assert main([str(out), f"a={written(tmp_path / 'x', 'nothing')}"]) == 2
    assert "not a trace of several threads" in capsys.readouterr().err
    assert main([str(out)]) == 2 and "usage" in capsys.readouterr().err
    assert main([str(out), f"a={tmp_path / 'missing'}"]) == 2
    assert not out.exists()
