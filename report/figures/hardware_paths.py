# SPDX-License-Identifier: Apache-2.0
"""Barriers beside the cores, in cycles of the simulations: the Hardware Barrier Structure beside
the paper's estimates, and the barrier instruction beside software on the same simulated cores."""

from __future__ import annotations

from typing import Any

from report import hardware, style
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Series
from report.papers import HETLAND_HBS

Line = dict[str, Any]

HBS_NAME = "hardware_hbs"
HBS_TITLE = "The Hardware Barrier Structure (section 4 of Hetland et al. 2019)"
HBS_QUESTION = (
    "From the last arrival to the last departure: how many cycles pass in simulation, and how many "
    "did the paper estimate?"
)
ISA_NAME = "hardware_isa"
ISA_TITLE = "The barrier instruction beside software (section 4 of Hetland et al. 2019)"
ISA_QUESTION = (
    "2 to 16 simulated RISC-V cores, 20 cycles from their shared memory: what does an episode cost "
    "by barwait and by the best software?"
)
ISA_LATENCY = 20
ROW = 40


def build_hbs(data: Dataset) -> Figure:
    found = [line for line in hardware.cycles(data) if {"l3_cycles", "last"} <= line.keys()]
    if not found:
        return Figure(HBS_NAME, HBS_TITLE, HBS_QUESTION, [], [], hardware.missing(data))
    series, ticks = [], []
    for place, (label, setting, paper) in enumerate(reversed(HETLAND_HBS)):
        line = next((line for line in found if setting.items() <= line.items()), None)
        if line is None:
            continue
        note = f"{paper}, {line['last']}; together {line['last_together']}"
        points = [Point(paper, place, text=f"{label}: {paper} cycles, the paper's estimate"),
                  Point(line["last"], place, text=f"{label}: {line['last']} cycles simulated")]
        series.append(Series(label, "color:tutti", points, note=note))
        ticks.append((place, label))
    axis_x = Axis("cycles from the last arrival to the last departure", log=True,
                  ticks=[(n, str(n)) for n in (20, 50, 100, 200, 500)], lowest=15, highest=650)
    axis_y = Axis("", ticks=ticks, lowest=-0.7, highest=len(HETLAND_HBS) - 0.3)
    title = "hollow: the paper's estimate; filled: simulated; numbers: both"
    panel = Panel(title, axis_x, axis_y, series, [], "pairs", 100 + ROW * len(series))
    captions = [
        "One thread arrives long after all others. The structure itself takes one cycle in a "
        "socket and two across sockets; the rest is the way to it and back, which the simulation "
        "takes from the paper.",
        "If all threads of a socket arrive in the same cycle, the structure takes one message a "
        "cycle, and the last departure comes later: the third number. The Xeon Phi has 28 threads "
        "here, as the other socket has.",
    ]
    return Figure(HBS_NAME, HBS_TITLE, HBS_QUESTION, [panel], captions)


def _isa_label(line: Line) -> str:
    if line["name"] == "barwait":
        return "barwait, near" if line["unit_distance"] == 0 else "barwait, as far as memory"
    return line["name"]


def build_isa(data: Dataset) -> Figure:
    found = [
        line for line in data.hardware
        if line["type"] == "result" and line.get("memory_latency") == ISA_LATENCY
        and line.get("metric") == "loop" and line.get("scenario") == "near_banks"
        and line["name"] != "none"
    ]
    if not found:
        return Figure(ISA_NAME, ISA_TITLE, ISA_QUESTION, [], [], hardware.missing(data))
    groups: dict[str, list[Line]] = {}
    for line in sorted(found, key=lambda line: line["threads"]):
        groups.setdefault(_isa_label(line), []).append(line)
    series = []
    for turn, (label, lines) in enumerate(groups.items()):
        points = [
            Point(line["threads"], line["median"],
                  text=f"{label}, {line['threads']} cores: {line['median']:g} cycles")
            for line in lines
        ]
        ours = label.startswith("barwait")
        color = "color:tutti" if ours else ("color:libgomp", "color:pthread", "color:std")[turn % 3]
        series.append(Series(label, color, points, emphasis=label == "barwait, near",
                             dash="dash" if ours and "far" in label else "solid",
                             marker=style.MARKERS[turn % 7]))
    counts = sorted({line["threads"] for line in found})
    panel = Panel("back to back", Axis("cores", log=True, ticks=[(n, str(n)) for n in counts]),
                  Axis("cycles an episode", log=True, counts=True), series, height=460)
    most = {label: lines[-1]["median"] for label, lines in groups.items()}
    software = {name: cycles for name, cycles in most.items() if not name.startswith("barwait")}
    captions = []
    if software and "barwait, near" in most:
        best = min(software, key=lambda name: software[name])
        captions.append(
            f"With {counts[-1]} cores {best}, the best in software, takes {software[best]:g} "
            f"cycles: {software[best] / most['barwait, near']:.1f} times as many as barwait beside "
            "the cores."
        )
    captions.append(
        "These cores have no caches. The paper expects two orders of magnitude, on machines whose "
        "episodes move cache lines between tens of cores."
    )
    return Figure(ISA_NAME, ISA_TITLE, ISA_QUESTION, [panel], captions)
