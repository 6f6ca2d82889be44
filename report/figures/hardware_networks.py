# SPDX-License-Identifier: Apache-2.0
"""Hardware between boards and between hosts, in cycles of the simulations, against the size of the
network: termination detection on a mesh, and barriers in the packet path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from report import hardware, style
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Series
from report.papers import ARAP_PASSAGE_CYCLES, NAYLOR_CLOCK_HZ

Line = dict[str, Any]

DETECTION_NAME = "hardware_detection_rate"
DETECTION_TITLE = "Round trips of detection on a mesh (figure 6 of Naylor et al. 2020)"
DETECTION_QUESTION = (
    "A master asks every board of a mesh whether it is idle and hears from all: how often a second,"
    " in hardware and by a clock tree in software on the same mesh?"
)
PASSAGES_NAME = "hardware_network_cycles"
PASSAGES_TITLE = "Barriers in the packet path, in simulation (figure 8 of Arap et al.)"
PASSAGES_QUESTION = (
    "From the arrival of the one late host to its own release: how many cycles pass, by topology "
    "and number of hosts?"
)
COLORS = ("color:tutti", "color:pthread", "color:libgomp", "color:boost", "color:tbb")


def build_detection(data: Dataset) -> Figure:
    found = sorted(
        (line for line in hardware.cycles(data) if {"formula", "detect"} <= line.keys()),
        key=lambda line: line["Columns"] * line["Rows"],
    )
    if not found:
        name, title = DETECTION_NAME, DETECTION_TITLE
        return Figure(name, title, DETECTION_QUESTION, [], [], hardware.missing(data))
    series: list[Series] = []

    def add(label: str, lines: list[Line], cycles: Callable[[Line], float], **look: Any) -> None:
        points = [
            Point(
                line["Columns"] * line["Rows"], NAYLOR_CLOCK_HZ / cycles(line),
                text=f"{label}, {line['Columns']} x {line['Rows']} boards: {cycles(line):,g} "
                f"cycles, {NAYLOR_CLOCK_HZ / cycles(line):,.0f} a second",
            )
            for line in lines
        ]
        series.append(
            Series(label, points=points, marker=style.MARKERS[len(series) % 7], **look)
        )

    for master in sorted({line["master"] for line in found}):
        mine = [line for line in found if line["master"] == master]
        at_origin = master == "origin"
        add(
            f"hardware, master at the {master}", mine, lambda line: line["detect"],
            color="color:tutti", emphasis=at_origin, dash="solid" if at_origin else "dash",
        )
        if not at_origin:
            continue
        trees = {key for line in mine for key in line if key.startswith("tree_")}
        for turn, key in enumerate(sorted(trees, key=lambda key: int(key.removeprefix("tree_")))):
            add(
                f"clock tree, {key.removeprefix('tree_')} cycles a message",
                [line for line in mine if line.get(key)], lambda line, key=key: line[key],
                color=COLORS[1 + turn % 4],
            )
    boards = sorted({line["Columns"] * line["Rows"] for line in found})
    ticks = [(n, f"{n}") for n in boards]
    panel = Panel(
        f"at the paper's {NAYLOR_CLOCK_HZ / 1e6:g} MHz",
        Axis("boards", log=True, ticks=ticks),
        Axis("round trips a second", log=True, counts=True), series, height=520,
    )
    captions = [
        "The clock tree is software on the same mesh: a message to each thread and back; its lines "
        "say how many cycles a thread takes to handle one. In the paper, hardware is 6 to 13 times "
        "as fast as the tree in software; its text prints no rates."
    ]
    return Figure(DETECTION_NAME, DETECTION_TITLE, DETECTION_QUESTION, [panel], captions)


def build_passages(data: Dataset) -> Figure:
    found = [
        line for line in hardware.cycles(data) if {"topology", "late_own_worst"} <= line.keys()
    ]
    # The paper's links, where they were simulated.
    gigabit = any(line.get("gigabit") for line in found)
    found = [line for line in found if bool(line.get("gigabit")) == gigabit]
    if not found:
        name, title = PASSAGES_NAME, PASSAGES_TITLE
        return Figure(name, title, PASSAGES_QUESTION, [], [], hardware.missing(data))
    groups: dict[str, dict[int, int]] = {}
    for line in found:
        # A name may go on with the number of nodes.
        topology = line["topology"].split()[0]
        groups.setdefault(topology, {})[line["nodes"]] = line["late_own_worst"]
    series = []
    for turn, (topology, cycles) in enumerate(groups.items()):
        points = [
            Point(nodes, cycles[nodes], text=f"{topology}, {nodes} hosts: {cycles[nodes]:,} cycles")
            for nodes in sorted(cycles)
        ]
        other = COLORS[turn % len(COLORS)], style.MARKERS[turn % 7]
        color, marker = style.TOPOLOGIES.get(topology, other)
        series.append(Series(topology, color, points, marker=marker))
        if topology != "ring":
            continue
        # The paper prints how a ring grows, by one passage a node, and no value to begin with.
        least = min(cycles)
        grown = [
            Point(
                nodes, cycles[least] + (nodes - least) * ARAP_PASSAGE_CYCLES,
                text=f"the paper's {ARAP_PASSAGE_CYCLES} cycles for each of {nodes - least} more",
            )
            for nodes in sorted(cycles)
        ]
        series.append(
            Series("ring, the paper's growth", "color:floor", grown, dash="dash", marker="x")
        )
    counts = sorted({line["nodes"] for line in found})
    panel = Panel(
        hardware.LINKS[gigabit],
        Axis("hosts", ticks=[(n, str(n)) for n in counts]),
        Axis("cycles at 125 MHz", counts=True, lowest=0), series, height=480,
    )
    passages = sorted(
        (line for line in hardware.cycles(data) if line.get("measure") == "as_in_the_paper"),
        key=lambda line: bool(line.get("gigabit")) != gigabit,
    )
    ours = [f"{line['p_cycles']:g} cycles here and " for line in passages]
    captions = [
        f"One passage of a packet through a node takes {''.join(ours[:1])}{ARAP_PASSAGE_CYCLES} in "
        "the paper, whose nodes have PHYs and clock crossings that are not modelled. A node more "
        "in the ring costs one passage, a level more in the tree two. In a butterfly of 2, 4 or 8 "
        "hosts everything that the late host needs is there when it arrives; with other numbers "
        "some hosts take part through a neighbour. The paper only estimates the butterfly."
    ]
    return Figure(PASSAGES_NAME, PASSAGES_TITLE, PASSAGES_QUESTION, [panel], captions)
