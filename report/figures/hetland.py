# SPDX-License-Identifier: Apache-2.0
"""Software barriers in processor cycles, beside the values that Hetland et al. 2019 print for their
figure 1."""

from __future__ import annotations

from report import style
from report.figures.common import loop_rows
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.papers import HETLAND_1
from report.select import Row, is_free, usual_wait
from report.statistics import format_count

NAME = "cycles"
TITLE = "Cost of a barrier in cycles (figure 1 of Hetland et al. 2019)"
QUESTION = (
    "How many cycles of the processor does a software barrier take, and where do the best ones of "
    "the paper's four machines stand?"
)
# Beside tutti's default: the barriers that the paper measures too.
PROVIDERS = ("libgomp", "pthread", "std")
ALGORITHMS = ("counting", "dissemination", "tournament")


def build(data: Dataset) -> Figure:
    clock = data.machine.get("ns_per_tick")
    found = [
        row for row in loop_rows(data, scenario=is_free, pinned=True)
        if usual_wait(row) and row["threads"] > 1 and row["median"] > 0 and _is_shown(row)
    ]
    if not found:
        return Figure(NAME, TITLE, QUESTION, [], [], ["Not measured: no result with metric loop."])
    if not clock:
        missing = ["Not drawn: the line of the machine does not tell the length of a cycle."]
        return Figure(NAME, TITLE, QUESTION, [], [], missing)
    series = [_series(label, rows, clock) for label, rows in _by_label(found).items()]
    series += [_of_paper(*values) for values in HETLAND_1]
    counts = sorted({int(point.x) for each in series for point in each.points})
    axis_x = Axis("threads", log=True, ticks=[(n, str(n)) for n in counts if n not in (28, 384)])
    axis_y = Axis("cycles an episode", log=True, counts=True)
    rules = [Rule(data.cores, f"{data.cores} cores", True)] if data.cores else []
    panel = Panel("median; crosses: other machines, as printed in the paper", axis_x, axis_y,
                  series, rules, height=560)
    captions = [
        "Cycles are those of the time stamp counter. The crosses are the best software barrier of "
        "each machine of the paper, and were not measured here: "
        + "; ".join(f"{barrier} with {threads} threads on {machine}: {cycles:,} cycles"
                    for machine, threads, barrier, cycles in HETLAND_1) + ".",
        "Right of the dashed line several threads share a core, which the paper never does: there "
        "an episode takes context switches.",
    ]
    return Figure(NAME, TITLE, QUESTION, [panel], captions)


def _is_shown(row: Row) -> bool:
    if style.is_tutti(row["provider"]):
        return style.is_default(row) or row["name"] in ALGORITHMS
    return row["provider"] in PROVIDERS and row["name"] in ("", "default", *style.PLAIN_NAMES)


def _by_label(found: list[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in sorted(found, key=lambda row: row["threads"]):
        groups.setdefault(style.label(row), []).append(row)
    return groups


def _series(label: str, found: list[Row], clock: float) -> Series:
    points = [
        Point(row["threads"], row["median"] / clock,
              text=f"{label} with {row['threads']} threads: {row['median'] / clock:,.0f} cycles")
        for row in found
    ]
    first = found[0]
    if style.is_default(first):
        return Series(label, "color:tutti", points, emphasis=True)
    if style.is_tutti(first["provider"]):
        shade = ALGORITHMS.index(first["name"])
        return Series(label, style.tutti_shade(shade), points, dash=style.DASHES[shade])
    return Series(label, style.color(first["provider"]), points)


def _of_paper(machine: str, threads: int, barrier: str, cycles: int) -> Series:
    label = f"{machine}: {format_count(cycles)}"
    text = f"{machine}, {threads} threads, {barrier}: {cycles:,} cycles (Hetland et al. 2019)"
    return Series(label, "color:floor", [Point(threads, cycles, text=text)], line=False, marker="x")
