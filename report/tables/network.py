# SPDX-License-Identifier: Apache-2.0
"""What a step of each topology costs beside the values of Arap et al., and the time of one packet
in one node.
"""

from __future__ import annotations

from statistics import linear_regression
from typing import Callable

from report import hardware, network
from report.lines import Dataset
from report.model import Cell, Table
from report.network import PACKET_PATH
from report.papers import ARAP_GROWTH, ARAP_PASSAGE_OF_LEAST_US, ARAP_PASSAGE_US
from report.select import Row

NAME = "network_growth"
TITLE = "Growth of a barrier, and a packet in a node (figures 5 to 7 of Arap et al.)"
QUESTION = (
    "How much more does a call take for a node more in the ring, a level more in the tree, a "
    "doubling of the butterfly, and how long does one packet take through one node (p)?"
)
NONE = Cell("–", kind="muted")
HEADS = [
    "microseconds", "the paper, average", "here, average", "here, median", "the paper, least",
    "here, least",
]


def _steps(topology: str, hosts: int) -> int | None:
    """How many steps a topology has; a butterfly of other numbers has folded hosts."""
    if topology == "ring":
        return hosts
    level = hosts.bit_length() - 1
    return None if topology == "butterfly" and hosts != 1 << level else level


def _slope(found: list[Row], topology: str, value: str) -> float | None:
    places = [(_steps(topology, row["threads"]), row[value]) for row in found]
    points = [(steps, ns / 1000) for steps, ns in places if steps is not None]
    if len({steps for steps, _ in points}) < 2:
        return None
    return linear_regression(*zip(*points)).slope


def _cell(value: float | None, note: str = "") -> Cell:
    return NONE if value is None else Cell(f"{value:.2f}", note)


def _passage(data: Dataset) -> list[Cell] | None:
    """By the method of figure 7: half the time of the last host's node in a ring of two."""
    ring = network.results(data, PACKET_PATH, "last_in").get("ring", [])
    two = next((row for row in ring if row["threads"] == 2), None)
    if two is None:
        return None
    half: Callable[[str], float] = lambda key: two[key] / 2000
    return [
        Cell("a packet through a node: p"), _cell(ARAP_PASSAGE_US, "figure 7"),
        _cell(half("mean")), _cell(half("median")), _cell(ARAP_PASSAGE_OF_LEAST_US, "section 4.1"),
        _cell(half("min")),
    ]


def build(data: Dataset) -> Table:
    made = Table(NAME, TITLE, QUESTION, [], HEADS, [])
    calls = network.results(data, PACKET_PATH, "latency")
    for topology, step, average, least in ARAP_GROWTH:
        here = [_slope(calls.get(topology, []), topology, key) for key in ("mean", "median", "min")]
        if here[0] is not None:
            made.rows.append(
                [Cell(f"a {step} more, {topology}"), _cell(average), *map(_cell, here[:2]),
                 _cell(least), _cell(here[2])]
            )
    if passage := _passage(data):
        made.rows.append(passage)
    if made.empty:
        made.missing = network.missing(data)
        return made
    made.captions = [
        "Growth: lines by least squares through the calls of the figures above, against the number "
        "of hosts, the levels of the tree, the doublings of the butterfly. `tutti network testbed "
        "--growth` measures these three by themselves.",
        "p: half the time between call and release in the node of the host that comes last in a "
        "ring of two.",
        *(
            f"The engine in RTL takes {line['p_cycles']:g} cycles, {line['p_us']:g} µs at 125 MHz, "
            "by the same method, in simulation."
            for line in hardware.cycles(data)
            if line.get("measure") == "as_in_the_paper" and line.get("gigabit")
        ),
    ]
    made.missing = data.not_measured(network.NAME)
    return made
