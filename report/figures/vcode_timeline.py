# SPDX-License-Identifier: Apache-2.0
"""What the threads of each engine of the vector machine do when, drawn from traces:

    build/tutti vcode FILE --threads 2 --engine spmd --trace 2>spmd.trace
    .venv/bin/python -m report.figures.vcode_timeline OUT.png spmd=spmd.trace lazy=lazy.trace
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)

from report import style  # noqa: E402
from report.errors import ReportError  # noqa: E402


@dataclass
class Trace:
    """A run with --trace. Times are microseconds since it began."""

    steps: list[tuple[float, str]] = field(
        default_factory=list
    )  # when an instruction began, and its name
    spans: dict[int, list[tuple[str, float, float]]] = field(
        default_factory=dict
    )  # by rank: phase or barrier, from, to


STEP = re.compile(r"([0-9.]+) [uµ]s  [0-9]+: (\S+)")
SPAN = re.compile(r"rank ([0-9]+): (phase|barrier) ([0-9.]+) ([0-9.]+)$")


def read_trace(path: Path) -> Trace:
    made = Trace()
    for text in path.read_text(encoding="utf-8").splitlines():
        if step := STEP.match(text):
            made.steps.append((float(step[1]), step[2]))
        elif span := SPAN.match(text):
            made.spans.setdefault(int(span[1]), []).append(
                (span[2], float(span[3]), float(span[4]))
            )
    if not made.steps or not made.spans:
        raise ReportError(
            f"{path}: not a trace of several threads: run `tutti vcode --threads 2 --trace` and "
            "keep standard error."
        )
    return made


def last_call(trace: Trace) -> Trace:
    """What happened since the last CALL, from 0 on: calls before it had to wait for the memory that
    it finds.
    """
    begin = max((at for at, name in trace.steps if name == "CALL"), default=0.0)
    steps = [(at - begin, name) for at, name in trace.steps if at >= begin]
    spans = {
        rank: [(kind, start - begin, end - begin) for kind, start, end in each if start >= begin]
        for rank, each in trace.spans.items()
    }
    return Trace(steps, spans)


def working(trace: Trace, rank: int) -> list[tuple[float, float]]:
    """When a rank worked on elements or interpreted together with the others. Between barriers, in
    engine spmd.
    """
    spans = trace.spans.get(rank, [])
    if any(kind == "phase" for kind, _, _ in spans):
        return [(start, end) for kind, start, end in spans if kind == "phase"]
    ends = [0.0, *(end for _, _, end in spans)]
    return [(end, start) for end, (_, start, _) in zip(ends, spans)]


def draw_timelines(traces: dict[str, Trace], out: Path) -> None:
    """A panel for each engine, a lane for each rank, all on the same scale."""
    color = lambda name: style.LIGHT[name]  # noqa: E731
    page, axes = plt.subplots(
        len(traces), 1, figsize=(11, 1.55 * len(traces) + 0.5), sharex=True, squeeze=False
    )
    for panel, (name, trace) in zip(axes[:, 0], traces.items()):
        end = max(stop for spans in trace.spans.values() for _, _, stop in spans)
        for lane, rank in enumerate(sorted(trace.spans)):
            panel.broken_barh([(0, end)], (lane - 0.36, 0.72), color=color("grid"))
            if rank == 0 and any(kind == "phase" for kind, _, _ in trace.spans[rank]):
                panel.broken_barh([(0, end)], (lane - 0.36, 0.72), color=color("std"))
                others = [
                    (start, stop - start)
                    for other in trace.spans
                    if other != 0
                    for start, stop in working(trace, other)
                ]
                panel.broken_barh(others, (lane - 0.36, 0.72), color=color("grid"))
            bars = [(start, stop - start) for start, stop in working(trace, rank)]
            panel.broken_barh(bars, (lane - 0.36, 0.72), color=color("tutti"))
        for (start, step), (stop, _) in zip(trace.steps, [*trace.steps[1:], (end, "")]):
            if stop - start > 0.0:
                panel.axvline(start, ymax=0.86, color=color("ground"), linewidth=0.4)
        _name_steps(panel, trace, end)
        panel.set_ylim(len(trace.spans) - 0.5, -1.0)
        panel.set_yticks(
            range(len(trace.spans)), [f"rank {rank}" for rank in sorted(trace.spans)], fontsize=8.5
        )
        panel.set_title(f"{name}: {end:.0f} µs", fontsize=10, loc="left", color=color("text"))
        for side in ("top", "right", "left"):
            panel.spines[side].set_visible(False)
    panel.set_xlabel("microseconds", fontsize=9)
    legend = [("tutti", "works on elements"), ("std", "one rank interprets"), ("grid", "waits")]
    page.legend(
        [plt.Rectangle((0, 0), 1, 1, color=color(tone)) for tone, _ in legend],
        [words for _, words in legend],
        loc="upper right", ncols=3, fontsize=8.5, frameon=False,
    )
    page.tight_layout()
    page.savefig(out, dpi=110, facecolor=color("ground"))
    plt.close(page)


def _name_steps(panel, trace: Trace, end: float) -> None:
    """The instructions that take long enough to be named."""
    left, right = panel.get_xlim()
    for (start, step), (stop, _) in zip(trace.steps, [*trace.steps[1:], (end, "")]):
        if stop - start > 0.035 * (right - left):
            panel.annotate(
                step, ((start + stop) / 2, -0.42), ha="center", va="bottom", fontsize=7.5,
                color=style.LIGHT["text"],
            )


def main(arguments: list[str]) -> int:
    try:
        if len(arguments) < 2 or any("=" not in each for each in arguments[1:]):
            raise ReportError(
                "usage: python -m report.figures.vcode_timeline OUT.png ENGINE=TRACE..."
            )
        named = [each.split("=", 1) for each in arguments[1:]]
        draw_timelines(
            {name: last_call(read_trace(Path(path))) for name, path in named}, Path(arguments[0])
        )
    except (ReportError, OSError) as error:
        print(f"report: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
