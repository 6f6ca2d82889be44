# SPDX-License-Identifier: Apache-2.0
"""Cycles of an episode in the hardware units, against participants, one line for each way in and
out.
"""

from __future__ import annotations

from typing import Any

from report import hardware, style
from report.lines import Dataset
from report.papers import HETLAND_CLOCKS, HETLAND_UNIT
from report.model import Axis, Figure, Panel, Point, Series

NAME = "hardware_cycles"
TITLE = "Barriers in hardware: cycles of an episode (figure 6 a of Hetland et al. 2019)"
QUESTION = (
    "All participants arrive in the same cycle: how many cycles pass until the last one knows that "
    "all are there, by each way "
    "of arriving and of being told?"
)
# Keys of a line that do not make it another series.
MEASURED = {
    "type", "unit", "simulation", "participants", "cycles", "cycles_again", "overlaps",
    "polls_in_vain",
}

# One for each way into a unit; the ways out differ in dash, and all in marker.
COLORS = ("color:tutti", "color:pthread", "color:libgomp", "color:boost", "color:tbb")


def _setting(line: dict[str, Any]) -> tuple:
    return tuple(
        sorted(
            (key, value)
            for key, value in line.items()
            if key not in {*MEASURED, "arrival", "departure"}
        )
    )


def _largest(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The simulated size with the most participants; among several, the plainest."""
    highest = max(line["participants"] for line in lines)
    settings = {_setting(line) for line in lines if line["participants"] == highest}
    chosen = min(settings, key=lambda setting: (len(setting), setting))
    return [line for line in lines if _setting(line) == chosen]


def _words(setting: tuple) -> str:
    return ", ".join(f"{key} {value}" for key, value in setting)


def _series(
    lines: list[dict[str, Any]], label: str, color: str, dash: str, marker: str
) -> Series:
    points = [
        Point(
            line["participants"], line["cycles"],
            text=f"{label}: {line['cycles']:g} cycles with {line['participants']}",
        )
        for line in sorted(lines, key=lambda line: line["participants"])
    ]
    return Series(label, color, points, dash=dash, marker=marker)


def _ways(unit: str, lines: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The lines of each way in and out, at powers of two, the paper's number of threads
    and the most participants.
    """
    ways: dict[str, list[dict[str, Any]]] = {}
    last = max(line["participants"] for line in lines)
    for line in lines:
        n = line["participants"]
        if n & (n - 1) == 0 or n in (last, HETLAND_UNIT[0]):
            ways.setdefault(
                f"{unit}, {line.get('arrival', '?')} in, {line.get('departure', '?')} out", []
            ).append(line)
    return ways


def build(data: Dataset) -> Figure:
    found = [line for line in hardware.cycles(data) if _is_episode(line)]
    if not found:
        return Figure(NAME, TITLE, QUESTION, [], [], hardware.missing(data))
    series, captions = [], []
    colors: dict[tuple[str, str], str] = {}
    for unit in sorted({line["unit"] for line in found}):
        mine = _largest([line for line in found if line["unit"] == unit])
        ways = _ways(unit, mine)
        outs = sorted({str(line.get("departure")) for line in mine})
        for place, (label, lines) in enumerate(sorted(ways.items())):
            way_in = unit, str(lines[0].get("arrival"))
            color = colors.setdefault(way_in, COLORS[len(colors) % len(COLORS)])
            dash = style.DASHES[outs.index(str(lines[0].get("departure"))) % 4]
            series.append(_series(lines, label, color, dash, style.MARKERS[place % 7]))
        ends = {
            label: max(lines, key=lambda line: line["participants"])
            for label, lines in ways.items()
        }
        most = max(line["participants"] for line in ends.values())
        cycles = sorted(line["cycles"] for line in ends.values() if line["participants"] == most)
        extent = f"{cycles[0]:g}" if cycles[0] == cycles[-1] else f"{cycles[0]:g} to {cycles[-1]:g}"
        captions.append(
            f"Unit {unit} ({_words(_setting(mine[0]))}): {extent} cycles with {most} participants."
        )
    threads, cycles = HETLAND_UNIT
    text = f"Hetland et al. 2019, computed: {cycles} cycles with {threads}"
    point = Point(threads, cycles, text=text)
    label = f"the paper's unit: {cycles}"
    series.append(Series(label, "color:floor", [point], line=False, marker="x"))
    counts = sorted({int(point.x) for each in series for point in each.points})
    axis_x = Axis("participants", log=True, ticks=[(n, str(n)) for n in counts if n != 32])
    panel = Panel(
        "all arrive in one cycle", axis_x, Axis("clock cycles", log=True, counts=True), series,
        height=560,
    )
    captions.append(
        f"The paper computes {cycles} cycles of the FPGA for {threads} threads, "
        f"{cycles * HETLAND_CLOCKS} of the processor, and measures more than 3,000 for the "
        "communication with the unit, which this simulation leaves out. By messages up to four "
        "threads arrive: the platform has eight addresses, and two copies of the unit need one for "
        "each thread."
    )
    captions.append(
        "In simulation; first and last cycle are counted. Those of the Hardware Barrier Structure "
        "depend on caches and links: "
        "hardware/hbs/README.md."
    )
    return Figure(NAME, TITLE, QUESTION, [panel], captions)


def _is_episode(line: dict[str, Any]) -> bool:
    return all(
        isinstance(line.get(key), (int, float)) and line[key] > 0
        for key in ("cycles", "participants")
    )
