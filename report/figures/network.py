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
from report.style import MPIS, PEER_LABELS, TOPOLOGIES

AVERAGE = (
    "network_average",
    "Barriers between hosts, average (figures 4 and 5 of Arap et al.)",
    "Hosts in namespaces call a barrier again and again: how long does a call take on average, by "
    "topology and number of hosts, if the kernel's packet path executes the barrier, if the "
    "processes do it over UDP, and in MPI_Barrier over TCP?",
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


def _label(name: str) -> str:
    return PEER_LABELS.get(name, name)


def _series(by_name: dict[str, list[Row]], value: str, what: str) -> list[Series]:
    made = []
    for name, found in by_name.items():
        points = [
            Point(
                row["threads"], row[value],
                text=f"{_label(name)}, {row['threads']} hosts: {what} {format_time(row[value])} "
                f"(least {format_time(row['min'])}, median {format_time(row['median'])}, p99 "
                f"{format_time(row['p99'])}, {row['samples']} samples)",
            )
            # A logarithmic axis has no place for zero.
            for row in found if row[value]
        ]
        color, marker = (TOPOLOGIES | MPIS)[name]
        if points:
            made.append(Series(_label(name), color, points, marker=marker))
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


def _fastest(by_name: dict[str, list[Row]], value: str) -> dict[int, Row]:
    """The fastest of the rows for each number of hosts."""
    found = sorted((row for rows in by_name.values() for row in rows), key=lambda row: -row[value])
    return {row["threads"]: row for row in found if row[value]}


def _beside(data: Dataset, value: str) -> list[str]:
    """What the fastest takes in all ways, with the fewest and the most hosts that two ways have."""
    ours = _fastest(network.results(data, PACKET_PATH, "latency"), value)
    others = {
        "in user space over UDP {name}": _fastest(
            network.results(data, USER_SPACE, "latency"), value
        ),
        "MPI_Barrier of {provider} over TCP": _fastest(network.results_of_mpis(data), value),
    }
    shared = {hosts for theirs in others.values() for hosts in theirs if hosts in ours}
    sentences = []
    for hosts in sorted({min(shared), max(shared)} if shared else set()):
        mine = ours[hosts]
        parts = [
            f"{hosts} hosts: the fastest topology in the packet path is {mine['name']} with "
            f"{format_time(mine[value])}"
        ]
        for words, theirs in others.items():
            if row := theirs.get(hosts):
                who = words.format(name=row["name"], provider=_label(row["provider"]))
                parts.append(
                    f"{who} takes {format_time(row[value])}, "
                    f"{format_ratio(row[value] / mine[value])} as long"
                )
        sentences.append("; ".join(parts) + ".")
    return sentences


def _sharing(data: Dataset) -> str:
    cores = data.cores
    where = "the processors of one machine" if cores is None else f"{cores} cores of one machine"
    return (
        f"All hosts share {where}, and in the packet path all hops of a packet run on its "
        "caller's core: these are lengths of code and wake-ups, not of wires."
    )


def _calls(head: tuple[str, str, str], data: Dataset, value: str, what: str) -> Figure:
    ways = {
        "in the kernel's packet path (XDP)": network.results(data, PACKET_PATH, "latency"),
        "in user space, over UDP": network.results(data, USER_SPACE, "latency"),
        "MPI_Barrier over TCP": network.results_of_mpis(data),
    }
    panels = _alike(
        _drawn(*(
            _panel(words, f"{what} time of a call", _series(by_name, value, what))
            for words, by_name in ways.items()
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
