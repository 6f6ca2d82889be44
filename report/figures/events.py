# SPDX-License-Identifier: Apache-2.0
"""Notifications in tutti's kernel: the cost by mechanism to one core and to all, and how far the
receivers of a broadcast are apart."""

from __future__ import annotations

from report import kernel
from report.figures.common import DOT_FRAME, ROW_HEIGHT, SPREAD, share_x
from report.kernel import Line
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Series
from report.statistics import format_count
from report.style import DASHES, MECHANISMS, tutti_shade

UNICAST = (
    "kernel_unicast",
    "Notifying one core (figures 3, 8 and 15 of Hale and Dinda 2018)",
    "From the instant before the notification to the first instruction of what it wakes or runs: "
    "what does each mechanism of a kernel cost, and how does it vary?",
)
BROADCAST = (
    "kernel_broadcast",
    "Notifying all cores (figures 4, 10 and 16 of Hale and Dinda 2018)",
    "A core notifies all others: what does each mechanism cost until the last one is reached?",
)
SIGMA = (
    "kernel_sigma",
    "Synchrony of a broadcast (figures 5, 12 and 17 of Hale and Dinda 2018)",
    "How far apart are the receivers of one broadcast: the standard deviation over their arrivals?",
)
PATHS = (
    "kernel_paths",
    "An interrupt beside a line that another core writes (figures 7, 18 and 20 of Hale and Dinda "
    "2018)",
    "Does an interrupt take longer to some cores than to others, and how far is it from a receiver "
    "that spins on a line of memory? What would it take if a core handled it like a system call?",
)
NO_TIME = (
    "An emulator counted instructions: this is the length of the code, not a time. Caches, the "
    "interrupt controller and the processor's own part of an interrupt, hundreds of cycles in the "
    "paper, count for nothing or for one instruction."
)
TURN_DECIDES = (
    "A condition variable without kick waits for the yield of the thread that has the core: "
    "the length of that thread's turn decides its cost and its spread."
)
CPUS_IN_TURN = (
    "Under icount the emulated CPUs run in turn, so the last receiver's count includes what "
    "the other CPUs executed meanwhile."
)
SAME_DEVIATION = (
    "Under icount nearly every broadcast has the same deviation, which comes from the turns of "
    "the emulated CPUs. The paper's spread comes from caches, interconnect and scheduling: "
    "only a real machine shows it."
)
PAPER = {
    "kernel_unicast": "In the paper, in cycles: figure 3, an IPI takes 16 times less than "
    "condition variables of user space on x64; figure 8, a condition variable of the kernel over "
    "four times less; figure 15, an event is some 100 cycles above the IPI on x64, and 40 on the "
    "Xeon Phi.",
    "kernel_broadcast": "In the paper, in cycles: figure 4, broadcast IPIs take 78 times less than "
    "condition variables of user space on x64; figure 10, condition variables of the kernel 10 "
    "times less; figure 16, events are within tens of cycles of the IPIs.",
    "kernel_paths": "In the paper, in cycles: figure 7, knees where interrupts leave a part of the "
    "chip, without numbers; figure 18, interrupts are roughly 1,000 cycles dearer than the "
    "coherence network, until either leaves the chip; figure 20, an interrupt handled like a "
    "system call would lie in the range of the coherence network.",
    "kernel_sigma": "In the paper, in cycles: figure 5, IPIs are three orders of magnitude better "
    "than user space on x64; figure 12, condition variables of the kernel 10 times better; figure "
    "17, events are nearly identical to IPIs.",
}
SIGMA_UNIT = "standard deviation in {}"


def _dots(title: str, found: list[Line], axis: str) -> Panel:
    """A row for each mechanism, the cheapest at the top."""
    series, ticks = [], []
    for place, line in enumerate(sorted(found, key=lambda line: -line["median"])):
        label, color = MECHANISMS[line["name"]]
        text = (
            f"{label}: median {format_count(line['median'])} (mean {line['mean']:.0f}, sigma "
            f"{line['sigma']:.0f}, {line['samples']} samples)"
        )
        box = (line["p25"], line["p75"])
        point = Point(line["median"], place, line["min"], line["p99"], text, box)
        series.append(Series(label, color, [point], line=False))
        ticks.append((place, label))
    axis_y = Axis("", ticks=ticks, lowest=-0.7, highest=len(series) - 0.3)
    height = DOT_FRAME + ROW_HEIGHT * len(series)
    return Panel(title, Axis(axis, log=True, counts=True), axis_y, series, [], "dots", height)


def _cdf(data: Dataset, title: str, metric: str, unit: str, axis: str) -> Panel | None:
    found = {
        name: kernel.distribution(data, name, metric, unit) for name in MECHANISMS
    }
    return _shares(title, axis, [(*MECHANISMS[name], counts) for name, counts in found.items()])


def _shares(title: str, axis: str, lines: list[tuple[str, str, kernel.Counts]]) -> Panel | None:
    """The share of the samples that are no greater than a value, for each label, colour, and
    values with how often they occur."""
    series = []
    for label, color, found in lines:
        # A logarithmic axis has no place for zero.
        counts = [(max(v, 1), n) for v, n in found]
        if not counts:
            continue
        total, reached, points = sum(n for _, n in counts), 0, [Point(counts[0][0], 0.0)]
        for value, count in counts:
            reached += count
            text = f"{label}: {reached / total:.0%} within {format_count(value)}"
            points.append(Point(value, reached / total, text=text))
        series.append(Series(label, color, points))
    if not series:
        return None
    share = Axis("share of the samples", lowest=0, highest=1.02)
    return Panel(title, Axis(axis, log=True, counts=True), share, series, [], "cdf", 380)


def _figure(
    head: tuple[str, str, str], data: Dataset, panels: list[Panel | None], captions: list[str]
) -> Figure:
    drawn = [panel for panel in panels if panel is not None]
    if not drawn:
        return Figure(*head, [], [], kernel.missing(data))
    return Figure(*head, drawn, [*captions, PAPER[head[0]], NO_TIME])


def build_unicast(data: Dataset) -> Figure:
    panels: list[Panel | None] = []
    captions = []
    for unit, words in kernel.UNITS.items():
        found = kernel.results(data, "unicast", unit)
        if not found:
            continue
        panels.append(_dots(f"one receiver; {SPREAD}", found, words))
        panels.append(_cdf(data, "one receiver, all samples", "unicast", unit, words))
        order = ", ".join(
            f"{MECHANISMS[line['name']][0]} {format_count(line['median'])}"
            for line in sorted(found, key=lambda line: line["median"])
        )
        captions.append(f"Medians in {words}: {order}.")
    return _figure(UNICAST, data, panels, [*captions, TURN_DECIDES])


def build_broadcast(data: Dataset) -> Figure:
    panels: list[Panel | None] = []
    for unit, words in kernel.UNITS.items():
        pair = []
        for metric, which in (("broadcast_first", "first"), ("broadcast_last", "last")):
            if found := kernel.results(data, metric, unit):
                receivers = found[0]["threads"] - 1
                title = f"until the {which} of {receivers} receivers; {SPREAD}"
                pair.append(_dots(title, found, words))
        panels += share_x(pair) if pair else []
    return _figure(BROADCAST, data, panels, [CPUS_IN_TURN])


def build_sigma(data: Dataset) -> Figure:
    panels: list[Panel | None] = []
    for unit, words in kernel.UNITS.items():
        if found := kernel.results(data, "broadcast_sigma", unit):
            axis = SIGMA_UNIT.format(words)
            panels.append(_dots(f"each broadcast; {SPREAD}", found, axis))
            panels.append(_cdf(data, "each broadcast, all samples", "broadcast_sigma", unit, axis))
    return _figure(SIGMA, data, panels, [SAME_DEVIATION])


def _to_each_core(data: Dataset, unit: str, axis: str) -> Panel | None:
    found = kernel.distributions_to_cores(data, "interrupt", unit)
    lines = [
        (f"to core {core}", tutti_shade(place), counts)
        for place, (core, counts) in enumerate(found.items())
    ]
    panel = _shares("an interrupt to each core, all samples", axis, lines)
    # Where all cores are as far, one line covers the other.
    for place, series in enumerate(panel.series if panel else []):
        series.dash = DASHES[place % 4]
    return panel


def _beside_polling(data: Dataset, unit: str, axis: str) -> Panel | None:
    interrupt = kernel.distribution(data, "interrupt", "unicast", unit)
    lines = [
        (*MECHANISMS["polling"], kernel.distribution(data, "polling", "unicast", unit)),
        (*MECHANISMS["interrupt"], interrupt),
    ]
    for part in kernel.parts(data, unit):
        saved = part["interrupt"] - part["interrupt_as_system_call"]
        projected = [(max(value - saved, 1), count) for value, count in interrupt]
        lines.append(("projected: interrupt as a system call", "color:libgomp", projected))
    return _shares("one receiver, all samples", axis, lines)


def build_paths(data: Dataset) -> Figure:
    panels = []
    for unit, words in kernel.UNITS.items():
        panels += [_to_each_core(data, unit, words), _beside_polling(data, unit, words)]
    note = (
        "Under icount every core is as far as any other. The projection takes the handling of the "
        "interrupt off each sample and adds a system call."
    )
    return _figure(PATHS, data, panels, [note])
