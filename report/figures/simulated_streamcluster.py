# SPDX-License-Identifier: Apache-2.0
"""StreamCluster on the machines of Hetland et al. 2019: computed from simulated barriers, and from
what one thread takes for the paper's input and how often the threads meet, measured once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from report import simulated
from report.figures.common import time_axis
from report.lines import Dataset, read_file
from report.model import Axis, Figure, Panel, Point, Series
from report.plan_simulated import HETLAND
from report.simulated import BARRIER_LOOKS, Line, paper_name
from report.statistics import format_ratio, format_time

HEAD = (
    "sim_streamcluster",
    "Computed from simulated barriers: StreamCluster (figures 2 and 6 b of Hetland et al. 2019)",
    "If the work of one thread is divided among n, and each synchronisation takes what the barrier "
    "takes on the simulated machine: how long does the program take?",
)
# What the paper draws: its program cannot have the others' barriers.
BARRIERS = ("pthread_barrier", "counting", "pool", "ticket")
UNITS = ("harp_counting", "harp_counting_line_vl0")
# One run of one thread, with the machine that ran it: `tutti-streamcluster --input native
# --threads 1 --json`.
KEPT = Path(__file__).resolve().parents[2] / "sim" / "measured" / "streamcluster_native.jsonl"


@dataclass(frozen=True)
class Work:
    input: str
    # ns of one thread, and how often the threads meet.
    alone: float
    barriers: int
    cpu: str


@cache
def work() -> Work:
    lines = read_file(KEPT)
    machine = next(line for line in lines if line["type"] == "machine")
    run = next(line for line in lines if line["type"] == "result")
    barriers = run["barriers"] + run["reductions"]
    return Work(run["input"], run["median"], barriers, machine["cpu"])


def time(of: Work, line: Line) -> float:
    return of.alone / line["threads"] + of.barriers * line["median"]


def last_gain(of: Work, lines: list[Line]) -> int:
    """The number of threads beyond which the program becomes slower."""
    return min(lines, key=lambda line: time(of, line))["threads"]


def ratio(of: Work, slower: list[Line], faster: list[Line]) -> float:
    """How many times as long the slower barrier's program takes with the most threads."""
    return time(of, slower[-1]) / time(of, faster[-1])


def build(data: Dataset) -> Figure:
    panels, captions = [], []
    for title, machine in HETLAND.items():
        found = simulated.barriers(data, machine)
        if not {"default", *BARRIERS} <= found.keys():
            continue
        panels.append(_panel(title, found))
        captions.append(_words(title, found))
    if panels:
        captions += [
            f"One thread takes {format_time(work().alone)} for the paper's input {work().input} "
            f"({work().cpu}), and the threads meet {work().barriers:,} times. The paper's program "
            "meets more often and computes more; a machine whose cores are slower has more work "
            "between two barriers, so that its ratios are smaller.",
            "The paper prints that counting is up to 123 times as fast as pthread's barrier on "
            "NUMA-8 and 7 times on the Xeon Phi, and that the program stops to scale at 32 threads "
            "with pthread's. HARP's panel is figure 6 (b).",
        ]
    return simulated.figure(HEAD, data, simulated.BARRIERS, panels, captions)


def _panel(title: str, found: dict[str, list[Line]]) -> Panel:
    series = []
    for name in ("default", *BARRIERS, *UNITS):
        if name not in found:
            continue
        look = BARRIER_LOOKS[name]
        points = []
        for line in found[name]:
            ns = time(work(), line)
            text = f"{look.label}, {line['threads']} threads: {format_time(ns)}"
            points.append(Point(line["threads"], ns, text=text))
        series.append(
            Series(look.label, look.color, points, emphasis=look.emphasis, dash=look.dash,
                   marker=look.marker)
        )
    counts = sorted({line["threads"] for line in found["default"]})
    ticks = [(n, str(n)) for n in counts if n not in (14, 24, 48)]
    return Panel(
        f"{title}, computed", Axis("threads", log=True, ticks=ticks),
        time_axis("time of the whole clustering"), series, height=480,
    )


def _words(title: str, found: dict[str, list[Line]]) -> str:
    slow, fast = found["pthread_barrier"], found["counting"]
    alone = slow[-1]["median"] / fast[-1]["median"]
    order = sorted(BARRIERS, key=lambda name: time(work(), found[name][-1]))
    return (
        f"{title}, {slow[-1]['threads']} threads: counting is "
        f"{format_ratio(ratio(work(), slow, fast))} as fast as pthread's barrier (the barriers "
        f"alone {format_ratio(alone)}). The program {_scaling(slow)} with pthread's, and "
        f"{_scaling(fast)} with counting. From fast to slow: "
        f"{', '.join(paper_name(name) for name in order)}."
    )


def _scaling(lines: list[Line]) -> str:
    threads = last_gain(work(), lines)
    if threads == lines[-1]["threads"]:
        return f"scales to all {threads} threads"
    return f"becomes slower beyond {threads} threads"
