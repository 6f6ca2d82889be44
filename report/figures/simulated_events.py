# SPDX-License-Identifier: Apache-2.0
"""The figures of Hale and Dinda 2018 on their two machines, simulated: notifications of one thread
and of all, how far the receivers are apart, and the knees of an interrupt's latency.
"""

from __future__ import annotations

import math
from typing import Callable

from report import simulated
from report.figures.common import DOT_FRAME, ROW_HEIGHT, share_x
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.plan_simulated import HALE
from report.simulated import NOTIFIER_LOOKS, Line, Machine, Who, count

UNICAST = (
    "sim_unicast",
    "Simulated: waking one thread (figures 3, 8, 9 and 15 of Hale and Dinda 2018)",
    "From the instant before the notification until the receiver runs, over all receivers in turn: "
    "how many cycles does each mechanism take?",
)
BROADCAST = (
    "sim_broadcast",
    "Simulated: waking all threads (figures 4, 10, 11 and 16 of Hale and Dinda 2018)",
    "A thread notifies those of all other CPUs at once: how many cycles pass until the last one "
    "runs?",
)
SIGMA = (
    "sim_sigma",
    "Simulated: synchrony of a broadcast (figures 5, 6, 12, 13 and 17 of Hale and Dinda 2018)",
    "How far apart do the receivers of one broadcast run: the standard deviation over them, for "
    "each of many broadcasts?",
)
KNEES = (
    "sim_knees",
    "Simulated: an interrupt to each core (figures 7, 18 and 20 of Hale and Dinda 2018)",
    "Does an interrupt take longer to some cores than to others, and how far is it from a line "
    "that the receiver polls?",
)
SPREAD = "box: quartiles; line: all"
BESIDE = (("event", "spin"), ("interrupt", ""), ("remote_call", ""))
# Distances in the Opteron of figure 7, by the CPU of the receiver: a die has eight cores, a socket
# two dies.
DIE, SOCKET = 8, 16
# More levels than these are no knees.
MOST_KNEES = 8


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def _dots(title: str, found: dict[Who, Line], machine: Machine, axis: str) -> Panel:
    """A row for each mechanism, the fastest at the top."""
    series, ticks = [], []
    clock = machine.clock_ghz
    ordered = sorted(found.items(), key=lambda item: -item[1]["median"])
    for place, (who, line) in enumerate(ordered):
        look, median = NOTIFIER_LOOKS[who], line["median"] * clock
        text = f"{look.label}: median {count(median)} cycles ({line['median'] / 1000:.2f} µs)"
        box = (quantile(line["values"], 0.25) * clock, quantile(line["values"], 0.75) * clock)
        point = Point(median, place, line["min"] * clock, line["max"] * clock, text, box)
        series.append(Series(look.label, look.color, [point], look.emphasis, line=False))
        ticks.append((place, look.label))
    axis_y = Axis("", ticks=ticks, lowest=-0.7, highest=len(series) - 0.3)
    height = DOT_FRAME + ROW_HEIGHT * len(series)
    return Panel(
        f"{title}; {SPREAD}", Axis(axis, log=True, counts=True), axis_y, series, [], "dots", height
    )


def _steps(values: list[float], floor: float, label: str) -> list[Point]:
    """The share of the values that are no greater than each; none below `floor` on the axis."""
    ordered = sorted(max(value, floor) for value in values)
    points = [Point(ordered[0], 0.0)]
    for place, value in enumerate(ordered, 1):
        share = place / len(ordered)
        text = f"{label}: {share:.0%} within {count(value)} cycles"
        points.append(Point(value, share, text=text))
    return points


def _cdf(title: str, found: dict[Who, Line], machine: Machine, axis: str) -> Panel:
    series = []
    for who, line in found.items():
        look = NOTIFIER_LOOKS[who]
        values = [value * machine.clock_ghz for value in line["values"]]
        # A logarithmic axis has no place for zero: a deviation of less than a cycle is one.
        series.append(
            Series(look.label, look.color, _steps(values, 1, look.label), dash=look.dash)
        )
    share = Axis("share of the samples", lowest=0, highest=1.02)
    return Panel(title, Axis(axis, log=True, counts=True), share, series, [], "cdf", 420)


def _of_both(
    head: tuple[str, str, str], data: Dataset, metric: str,
    draw: Callable[[str, dict[Who, Line], Machine], list[Panel]], paper: str,
) -> Figure:
    known, panels, captions = simulated.machines(data), [], []
    for title, name in HALE.items():
        found = simulated.notifications(data, name, metric)
        if name not in known or not found:
            continue
        receivers = next(iter(found.values()))["threads"] - 1
        panels += draw(f"{title}, {receivers} receivers, simulated", found, known[name])
        order = ", ".join(
            f"{NOTIFIER_LOOKS[who].label} {count(line['median'] * known[name].clock_ghz)}"
            for who, line in sorted(found.items(), key=lambda item: item[1]["median"])
        )
        captions.append(f"{title} ({known[name].description}), medians in cycles: {order}.")
    return simulated.figure(
        head, data, simulated.EVENTS, panels, [*captions, paper] if panels else []
    )


def build_unicast(data: Dataset) -> Figure:
    axis = "cycles until the receiver runs"
    figure = _of_both(
        UNICAST, data, "unicast",
        lambda title, found, machine: [
            _dots(title, found, machine, axis), _cdf(f"{title}: CDF", found, machine, axis),
        ],
        "In the paper an interrupt takes 16 times less than condition variables and futexes on "
        "x64; on the Xeon Phi 32 and 16 times less, 740 cycles in the mean. A condition variable "
        "in the kernel takes about half of the median of user space, and with an interrupt over "
        "four times less; an action is some 100 cycles above the interrupt, 40 on the Xeon Phi.",
    )
    return figure


def build_broadcast(data: Dataset) -> Figure:
    axis = "cycles until the last receiver runs"
    figure = _of_both(
        BROADCAST, data, "broadcast_last",
        lambda title, found, machine: [_dots(title, found, machine, axis)],
        "In the paper a broadcast of interrupts takes 78 times less than condition variables and "
        "30 times less than futexes on x64, on the Xeon Phi over 4,000 and almost 2,000 times "
        "less; condition variables of the kernel are 10 and 16 times faster than those of user "
        "space, and actions lie within tens of cycles of the interrupts.",
    )
    share_x(figure.panels) if figure.panels else None
    return figure


def build_sigma(data: Dataset) -> Figure:
    return _of_both(
        SIGMA, data, "broadcast_sigma",
        lambda title, found, machine: [
            _cdf(title, found, machine, "standard deviation, cycles"),
        ],
        "In the paper the interrupts' synchrony is three orders of magnitude better than that of "
        "condition variables and futexes on x64 and five on the Xeon Phi, that of the kernel's "
        "condition variables ten times better, and that of actions nearly the interrupts'. Here a "
        "deviation below one cycle is drawn as one.",
    )


def distance(receiver: int) -> int:
    """0 to a core of the same die, 1 to the other die of the socket, 2 to another socket."""
    return 0 if receiver < DIE else 1 if receiver < SOCKET else 2


def knees(line: Line, clock: float) -> list[tuple[float, float]]:
    """(cycles, share of the samples up to them) for each level of a latency that has few."""
    values = sorted(round(value * clock) for value in line["values"])
    return [
        (value, sum(1 for each in values if each <= value) / len(values))
        for value in sorted(set(values))
    ]


def by_distance(line: Line, clock: float) -> dict[int, list[float]]:
    """The cycles of all samples by the distance of the receiver, which waits on CPU 1 + receiver.
    """
    made: dict[int, list[float]] = {}
    for receiver, value in zip(line["receivers"], line["values"]):
        made.setdefault(distance(receiver + 1), []).append(value * clock)
    return dict(sorted(made.items()))


def build_knees(data: Dataset) -> Figure:
    known, name = simulated.machines(data), HALE["x64"]
    found = simulated.notifications(data, name, "unicast")
    if name not in known or ("interrupt", "") not in found:
        return simulated.figure(KNEES, data, simulated.EVENTS, [], [])
    machine = known[name]
    interrupt = found["interrupt", ""]
    levels = knees(interrupt, machine.clock_ghz)
    look = NOTIFIER_LOOKS["interrupt", ""]
    values = [value * machine.clock_ghz for value in interrupt["values"]]
    rules = _marks([cycles for cycles, _ in levels])
    series = [Series(look.label, look.color, _steps(values, 1, look.label))]
    share = Axis("share of the samples", lowest=0, highest=1.02)
    seven = Panel(
        "figure 7, x64, simulated; dashed: where a knee begins", Axis("cycles", counts=True),
        share, series, rules, "cdf", 420,
    )
    beside = {who: found[who] for who in BESIDE if who in found}
    eighteen = _cdf("figures 18 and 20, x64, simulated", beside, machine, "cycles")
    return simulated.figure(
        KNEES, data, simulated.EVENTS, [seven, eighteen], _knee_words(machine, found, levels)
    )


def _marks(levels: list[float]) -> list[Rule]:
    """A mark at each level but the last, with its number unless it is too near to the last one
    that has it."""
    made, named = [], -math.inf
    for cycles in levels[:-1] if len(levels) <= MOST_KNEES else []:
        apart = cycles - named > (levels[-1] - levels[0]) / 8
        made.append(Rule(cycles, count(cycles) if apart else "", True))
        named = cycles if apart else named
    return made


def _knee_words(
    machine: Machine, found: dict[Who, Line], levels: list[tuple[float, float]]
) -> list[str]:
    words = ("cores of the same die", "the other die of the socket", "other sockets")
    interrupt = found["interrupt", ""]
    places = "; ".join(
        f"{words[where]}: {min(values):,.0f} to {max(values):,.0f}"
        if min(values) != max(values) else f"{words[where]}: {min(values):,.0f}"
        for where, values in by_distance(interrupt, machine.clock_ghz).items()
    )
    made = [
        f"The interrupt has {len(levels)} levels, in cycles by the place of the receiver: {places}."
        " The paper's curve has knees at the distances in the chip, and prints no number; that the "
        "way of an interrupt grows as that of a line does is assumed here."
    ]
    polled, remote = found.get(("event", "spin")), found.get(("remote_call", ""))
    if polled:
        apart = (interrupt["median"] - polled["median"]) * machine.clock_ghz
        made.append(
            f"Beside a line that the receiver polls, the interrupt's median is {abs(apart):,.0f} "
            f"cycles {'longer' if apart > 0 else 'shorter'}; in the paper interrupts take roughly "
            "1,000 cycles more, until either leaves the chip."
        )
    if polled and remote:
        made.append(
            "The proposed remote system call takes "
            f"{remote['median'] / polled['median']:.2f} times as long as the polled line; the "
            "paper projects that it lies in the range of the coherence network."
        )
    return made
