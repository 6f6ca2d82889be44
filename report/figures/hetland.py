# SPDX-License-Identifier: Apache-2.0
"""Software barriers in processor cycles, beside the values that Hetland et al. 2019 print for their
figure 1."""

from __future__ import annotations

from report import hardware, style
from report.figures.common import loop_rows, one_way
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.papers import HETLAND_1, HETLAND_CLOCKS
from report.select import Row, best, is_free, usual_wait
from report.statistics import format_count, format_ratio

NAME = "cycles"
TITLE = "Cost of a barrier in cycles (figure 1 of Hetland et al. 2019)"
QUESTION = (
    "How many cycles of the processor does a software barrier take, and where do the best ones of "
    "the paper's four machines stand?"
)
# Beside tutti's default: the barriers that the paper measures too.
PROVIDERS = ("libgomp", "pthread", "std")
ALGORITHMS = ("counting", "dissemination", "tournament")

# A unit that needs a cycle more for each answer.
RESPONSE = "RegisterResponse"

PROJECTION_NAME = "projection"
PROJECTION_TITLE = "Projection of a nearer barrier unit (figure 7 of Hetland et al. 2019)"
PROJECTION_QUESTION = (
    "How long would a barrier take, if the unit's registers could be reached in the time of one "
    "cache line from core to core?"
)


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
        "The paper takes the least time of back-to-back barriers, the lines here are medians. "
        "Right of the dashed line several threads share a CPU, where an episode takes context "
        "switches; in the paper each thread has a hardware thread of its own.",
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


def _unit(data: Dataset) -> dict[int, int]:
    """Cycles of the counting unit by its registers, for each number of threads."""
    lines = [line for line in hardware.cycles(data) if line.get("unit") == "counting"]
    return {
        line["participants"]: line["cycles"]
        for line in lines
        if line.get("arrival") == line.get("departure") == "csr" and not line.get(RESPONSE)
    }


def build_projection(data: Dataset) -> Figure:
    clock, line, unit = data.machine.get("ns_per_tick"), one_way(data), _unit(data)
    if not unit:
        return Figure(
            PROJECTION_NAME, PROJECTION_TITLE, PROJECTION_QUESTION, [], [], hardware.missing(data)
        )
    if not clock or not line:
        missing = ["Not drawn: it needs the length of a cycle and the transfer of a line."]
        return Figure(PROJECTION_NAME, PROJECTION_TITLE, PROJECTION_QUESTION, [], [], missing)
    there_and_back = 2 * line / clock
    shown = {n for n in unit if n > 1 and n & (n - 1) == 0} | {HETLAND_1[-1][1]} & set(unit)
    projected = {n: unit[n] * HETLAND_CLOCKS + there_and_back for n in shown}
    measured = _best_software(data, clock)
    series = [
        Series(
            "the unit, projected", "color:tutti",
            [
                Point(n, cycles, text=f"{n} threads: {cycles:,.0f} cycles, projected")
                for n, cycles in sorted(projected.items())
            ],
            emphasis=True, dash="dash",
        )
    ]
    if measured:
        points = [
            Point(n, cycles, text=f"{n} threads: {cycles:,.0f} cycles, {label}")
            for n, (label, cycles) in measured.items()
        ]
        series.append(Series("best software here", "color:pthread", points, marker="square"))
    machine, threads, barrier, cycles = HETLAND_1[-1]
    text = f"{machine}, {threads} threads, {barrier}: {cycles:,} cycles (Hetland et al. 2019)"
    series.append(
        Series(
            f"{machine}, {barrier}: {cycles:,}", "color:floor",
            [Point(threads, cycles, text=text)], line=False, marker="x",
        )
    )
    counts = sorted({int(point.x) for each in series for point in each.points})
    ticks = [(n, str(n)) for n in counts if n != 32]
    panel = Panel(
        "cycles of the processor", Axis("threads", log=True, ticks=ticks),
        Axis("cycles an episode", log=True, counts=True), series, height=480,
    )
    captions = [
        f"A projection: {HETLAND_CLOCKS} cycles of the processor, the paper's ratio of clocks, for "
        "each simulated cycle of the unit by its registers (exact), and twice the line transfer "
        f"measured here ({line / clock:,.0f} cycles). Nothing was measured on an FPGA."
    ]
    captions += _gains(measured, projected)
    if threads in projected:
        gain = format_ratio(cycles / projected[threads])
        captions.append(
            f"With {threads} threads the paper's best software barrier takes {cycles:,} cycles, "
            f"{gain} the projection's {projected[threads]:,.0f}; the paper projects more than "
            "three times."
        )
    return Figure(PROJECTION_NAME, PROJECTION_TITLE, PROJECTION_QUESTION, [panel], captions)


def _best_software(data: Dataset, clock: float) -> dict[int, tuple[str, float]]:
    """The label and the cycles of the best barrier for each number of threads with cores."""
    found = [
        row for row in loop_rows(data.of("barrier"), scenario=is_free, pinned=True)
        if row["median"] > 0 and 1 < row["threads"] <= (data.cores or 0)
    ]
    made = {}
    for n in sorted({row["threads"] for row in found}):
        first = best(row for row in found if row["threads"] == n)
        made[n] = (style.label(first), first["median"] / clock)
    return made


def _gains(measured: dict[int, tuple[str, float]], projected: dict[int, float]) -> list[str]:
    both = [n for n in measured if n in projected]
    if not both:
        return ["No number of threads has both a measured barrier and a simulated unit."]
    label, cycles = measured[both[-1]]
    ratio = cycles / projected[both[-1]]
    words = (
        f"{format_ratio(ratio)} as long as" if ratio >= 1
        else f"{format_ratio(1 / ratio)} faster than"
    )
    return [
        f"Here, with {both[-1]} threads, the best software barrier ({label}, {cycles:,.0f} cycles) "
        f"is {words} the projection ({projected[both[-1]]:,.0f})."
    ]
