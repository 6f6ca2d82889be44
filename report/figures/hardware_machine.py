# SPDX-License-Identifier: Apache-2.0
"""Barriers on the simulated machine of RISC-V cores with coherent caches: software beside the
counting unit, the mask unit, the Hardware Barrier Structure and the barrier instruction."""

from __future__ import annotations

from typing import Any

from report import hardware
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Series
from report.papers import HETLAND_HBS

Line = dict[str, Any]

NAME = "hardware_machine"
TITLE = "Barriers in hardware and in software on one machine (section 4 of Hetland et al. 2019)"
QUESTION = (
    "2 to 64 simulated cores with coherent caches, in 1, 2 and 4 sockets: how many cycles pass "
    "from the last arrival to the last departure?"
)
# Cycles from a core to the unit of its socket, and between two sockets: an access of the
# third-level cache of an Opteron 6272 takes 20 cycles there and back; a message of the memory takes
# the same 54 between two sockets of this machine.
DISTANCE, LINK = 10, 54
UNITS = {
    "counting_unit": ("counting unit, polled", "color:std", "diamond"),
    "mask": ("mask unit", "color:boost", "triangle-up"),
    "structure": ("structure (HBS)", "color:tutti", "square"),
    "barwait": ("barwait, a unit for each socket", "color:tutti3", "circle"),
}
SCENARIOS = {"one_late": "one thread late", "together": "all together"}


def lines(data: Dataset) -> list[Line]:
    return [line for line in data.hardware if line.get("benchmark") == "machine_barrier"]


def cores_of(found: list[Line], sockets: int) -> list[int]:
    return sorted({line["cores"] for line in found if line["sockets"] == sockets})


def _best(found: list[Line]) -> list[Line]:
    """The fastest software barrier for each number of cores."""
    best: dict[int, Line] = {}
    for line in found:
        if line["provider"] != "tutti" or line["name"] == "default":
            continue
        if line["cores"] not in best or line["median"] < best[line["cores"]]["median"]:
            best[line["cores"]] = line
    return [best[cores] for cores in sorted(best)]


def _points(label: str, found: list[Line]) -> list[Point]:
    return [
        Point(line["cores"], line["median"], low=line["min"], high=line["max"],
              text=f"{label}, {line['cores']} cores: {line['median']:g} cycles ({line['name']})")
        for line in sorted(found, key=lambda line: line["cores"])
    ]


def _panel(found: list[Line], sockets: int, metric: str) -> Panel:
    here = [line for line in found if line["sockets"] == sockets and line["metric"] == metric]
    best = "best software barrier"
    series = [Series(best, "color:libgomp", _points(best, _best(here)), marker="cross")]
    central = [line for line in here if line["name"] == "central"]
    series.append(Series("central", "color:pthread", _points("central", central), dash="dot",
                         marker="x"))
    for name, (label, color, marker) in UNITS.items():
        chosen = [
            line for line in here
            if line["name"] == name and line["unit_distance"] == DISTANCE
            and line.get("unit_link", LINK) in (0, LINK)
        ]
        if chosen:
            series.append(Series(label, color, _points(label, chosen), marker=marker,
                                 emphasis=name == "structure"))
    counts = cores_of(found, sockets)
    title = f"{sockets} socket{'s' if sockets > 1 else ''}, {SCENARIOS[metric]}"
    # Not every kind of barrier was measured in every size.
    series = [each for each in series if each.points]
    return Panel(title, Axis("cores", log=True, ticks=[(n, str(n)) for n in counts]),
                 Axis("cycles", log=True, counts=True), series, height=420)


def papers_distances(found: list[Line]) -> list[tuple[str, int, Line]]:
    """(machine of the paper, its estimate, measured): the structure with one thread late, as far
    away as the paper takes it to be, in the largest machine of that number of sockets."""
    made = []
    for label, setting, estimate in HETLAND_HBS:
        sockets = setting["Sockets"]
        links = {0, LINK} if sockets == 1 else {setting["LinkLatency"]}
        near = [
            line for line in found
            if line["name"] == "structure" and line["metric"] == "one_late"
            and line["sockets"] == sockets and 2 * line["unit_distance"] == setting["l3_cycles"]
            and line["unit_link"] in links
        ]
        if near:
            made.append((label, estimate, max(near, key=lambda line: line["cores"])))
    return made


def build(data: Dataset) -> Figure:
    found = lines(data)
    if not found:
        return Figure(NAME, TITLE, QUESTION, [], [], hardware.missing(data))
    panels = [
        _panel(found, sockets, metric)
        for metric in SCENARIOS
        for sockets in sorted({line["sockets"] for line in found})
    ]
    captions = [
        "Everything is simulated as RTL: cores, caches, directories, links and units. The units "
        f"are {DISTANCE} cycles away from the cores of their socket, in each direction, and "
        f"{LINK} from another socket. The counting unit and the mask unit serve all sockets from "
        "the first one.",
        "ticket and striped, whose counters have 64 bits, take a lock here for each arrival, since "
        "the cores have 32 bits; they are measured up to 16 cores.",
    ]
    pairs = papers_distances(found)
    if pairs:
        text = "; ".join(
            f"{label}: {estimate}, {line['median']:g}" for label, estimate, line in pairs
        )
        nothing = [
            line["median"] for line in found
            if line["name"] == "none" and line["metric"] == "one_late"
        ]
        captions.append(
            "The structure as far away as on the paper's machines, one thread late: the paper's "
            f"estimate and what is measured here. {text}."
            + (f" {max(nothing):g} of these cycles are the program's own: they pass without any "
               "barrier, too." if nothing else "")
        )
    return Figure(NAME, TITLE, QUESTION, panels, captions)
