# SPDX-License-Identifier: Apache-2.0
"""Barriers between hosts in namespaces, against the number of hosts, after Arap et al.: the time of
a call on average and at least, and the time in the nodes.
"""

from __future__ import annotations

from report import network
from report.figures.common import time_axis
from report.lines import Dataset
from report.layout import bounds
from report.model import Axis, Figure, Panel, Point, Series
from report.network import PACKET_PATH, USER_SPACE
from report.select import Row
from report.statistics import format_ratio, format_time
from report.style import TOPOLOGIES

AVERAGE = (
    "network_average",
    "Barriers between hosts, average (figures 4 and 5 of Arap et al.)",
    "Hosts in namespaces call a barrier again and again: how long does a call take on average, by "
    "topology and number of hosts, if the kernel's packet path executes the barrier, and if the "
    "processes do it over UDP?",
)
LEAST = (
    "network_least",
    "Barriers between hosts, least (figure 6 of Arap et al.)",
    "The same calls: how long does the shortest one take?",
)
NODES = (
    "network_nodes",
    "Time in the nodes of the network (figures 8 and 9 of Arap et al.)",
    "From the host's packet at its node to the release there: how long on average over all hosts, "
    "and how long for the host that comes last while all others wait, which is what the packets "
    "need by themselves?",
)
PAPER = {
    "mean": "In the paper, NetFPGAs are significantly better than Open MPI over the same network, "
    "and the average grows by about 2 µs for a node of the ring and by 3.5 µs for a level of the "
    "tree and for a doubling of the butterfly.",
    "min": "In the paper, the least time grows by 1.46 µs for a node of the ring, by 2.95 µs for a "
    "level of the tree, and not at all for a doubling of the butterfly.",
}
LAST_BY_CHANCE = (
    "A host that comes last finds messages of the others there; in a butterfly or dissemination it "
    "can find them all. So the least time of a call says little about the length of the way."
)
WHO_IS_LAST = (
    "A tree's average is of its leaves, as in the paper. The last host of a butterfly or "
    "dissemination of 2, 4 or 8 finds all messages there: its node releases it at once."
)
HEIGHT = 430


def _series(by_name: dict[str, list[Row]], value: str, what: str) -> list[Series]:
    made = []
    for name, found in by_name.items():
        points = [
            Point(
                row["threads"], row[value],
                text=f"{name}, {row['threads']} hosts: {what} {format_time(row[value])} (least "
                f"{format_time(row['min'])}, median {format_time(row['median'])}, p99 "
                f"{format_time(row['p99'])}, {row['samples']} samples)",
            )
            # A logarithmic axis has no place for zero.
            for row in found if row[value]
        ]
        color, marker = TOPOLOGIES[name]
        if points:
            made.append(Series(name, color, points, marker=marker))
    return made


def _panel(title: str, axis: str, series: list[Series]) -> Panel | None:
    if not series:
        return None
    hosts = sorted({int(point.x) for each in series for point in each.points})
    axis_x = Axis("hosts", ticks=[(n, str(n)) for n in hosts])
    return Panel(title, axis_x, time_axis(axis), series, height=HEIGHT)


def _drawn(*panels: Panel | None) -> list[Panel]:
    """The panels that have something to show, each with the same hosts."""
    return _alike([panel for panel in panels if panel is not None], (True,))


def _alike(made: list[Panel], directions: tuple[bool, ...]) -> list[Panel]:
    """The same axes in all panels, so that they can be compared by eye."""
    for along_x in directions:
        spans = [bounds(panel, along_x) for panel in made]
        for panel in made:
            axis = panel.x if along_x else panel.y
            axis.lowest, axis.highest = min(s[0] for s in spans), max(s[1] for s in spans)
    return made


def _beside(data: Dataset, value: str) -> list[str]:
    """What the fastest topology takes in both, with the fewest and the most hosts that both have.
    """
    both = [network.results(data, who, "latency") for who in (PACKET_PATH, USER_SPACE)]
    at = [
        {row["threads"]: row for row in sorted(
            (row for found in by_name.values() for row in found), key=lambda row: -row[value]
        )}
        for by_name in both
    ]
    shared = set(at[0]) & set(at[1])
    sentences = []
    for hosts in sorted({min(shared), max(shared)} if shared else set()):
        ours, theirs = at[0][hosts], at[1][hosts]
        if not ours[value]:
            continue
        sentences.append(
            f"{hosts} hosts: the fastest topology in the packet path is {ours['name']} with "
            f"{format_time(ours[value])}; in user space over UDP {theirs['name']} with "
            f"{format_time(theirs[value])}, {format_ratio(theirs[value] / ours[value])} as long."
        )
    return sentences


def _sharing(data: Dataset) -> str:
    cores = data.cores
    where = "the processors of one machine" if cores is None else f"{cores} cores of one machine"
    return (
        f"All hosts share {where}, and in the packet path all hops of a packet run on its "
        "caller's core: these are lengths of code and wake-ups, not of wires."
    )


def _calls(head: tuple[str, str, str], data: Dataset, value: str, what: str) -> Figure:
    panels = _alike(
        _drawn(*(
            _panel(words, f"{what} time of a call",
                   _series(network.results(data, provider, "latency"), value, what))
            for provider, words in (
                (PACKET_PATH, "in the kernel's packet path (XDP)"),
                (USER_SPACE, "in user space, over UDP"),
            )
        )),
        (False,),
    )
    if not panels:
        return Figure(*head, [], [], network.missing(data))
    # A least time that came about by chance says nothing about who is ahead.
    captions = [LAST_BY_CHANCE] if value == "min" else [*_beside(data, value), _sharing(data)]
    captions.append(PAPER[value])
    return Figure(*head, panels, captions, data.not_measured(network.NAME))


def build_average(data: Dataset) -> Figure:
    return _calls(AVERAGE, data, "mean", "average")


def build_least(data: Dataset) -> Figure:
    return _calls(LEAST, data, "min", "least")


def build_nodes(data: Dataset) -> Figure:
    after = _series(network.results(data, PACKET_PATH, "after_offload"), "mean", "average")
    last = _series(network.results(data, PACKET_PATH, "last_in"), "median", "median")
    panels = _drawn(
        _panel("figure 9: average over all hosts", "average in the node", after),
        _panel("figure 8: the host that comes last, median", "median in the node", last),
    )
    if not panels:
        return Figure(*NODES, [], [], network.missing(data))
    return Figure(*NODES, panels, [WHO_IS_LAST], data.not_measured(network.NAME))
