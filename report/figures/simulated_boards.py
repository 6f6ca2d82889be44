# SPDX-License-Identifier: Apache-2.0
"""The figures of Naylor et al. 2020 on the simulated boards: round trips of detection, what
hardware gains an application, five applications with and without steps, and shortest paths in the
worst case and on average.
"""

from __future__ import annotations

import re
from statistics import mean

from report import simulated, style
from report.figures.common import DOT_FRAME, time_axis
from report.figures.graphs import WORDS
from report.layout import bounds
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.plan_simulated import APPLICATIONS, BOARDS_OF_4, COMPONENTS, GAIN_THREADS
from report.simulated import Line
from report.statistics import format_count, format_ratio, format_time

TRIPS = (
    "sim_trips",
    "Simulated: round trips of detection (figure 6 of Naylor et al. 2020)",
    "How many round trips a second does termination detection make by hardware, and by trees of "
    "threads with so many children each, on meshes of boards of 1,024 threads?",
)
GAIN = (
    "sim_gain",
    "Simulated: what detection in hardware gains (figure 7 of Naylor et al. 2020)",
    "Heat transfer in steps, by the paper's arithmetic t - 3n rtt_h + 3n rtt_s: how many times as "
    "long does it take with the clock tree, by vertices a thread and fan-out of the graph?",
)
MODES = (
    "sim_modes",
    "Simulated: applications with and without steps (figure 8 of Naylor et al. 2020)",
    "Five applications on 2 x 2 boards: how long do they take, and how many messages, if all "
    "vertices go from step to step together, and if each goes on when it can?",
)
PATHS = (
    "sim_paths",
    "Simulated: shortest paths, worst case and average (section V.F of Naylor et al. 2020)",
    "How many messages do shortest paths take without steps on the graph of the exponential worst "
    "case, and on graphs in the plane?",
)
# By which fan and where the cycles of a message were fitted.
FITTED_FAN = 4
FAN_COLORS = {
    1: "color:pthread", 2: "color:std", 4: "color:libgomp", 8: "color:boost", 16: "color:libomp",
}
# The paper's range of the ratio of hardware to the tree.
PRINTED_RANGE = (6, 13)
ROW = 34
VERTICES = re.compile(r"vertices=\d+")
# The worst order of arrivals costs so many messages with N components.
WORST = {n: 3 * (2**n - 1) for n in COMPONENTS}


def trips(data: Dataset) -> dict[int, list[Line]]:
    """The lines of each fan, by the size of the mesh."""
    made: dict[int, list[Line]] = {}
    for line in sorted(simulated.of_type(data, "sim_idle"), key=lambda line: line["threads"]):
        made.setdefault(line["fan"], []).append(line)
    return dict(sorted(made.items()))


def _rate(line: Line, cycles: float) -> float:
    return line["clock_mhz"] * 1e6 / cycles


def estimate(line: Line) -> float:
    """Cycles of a round trip by the paper's formula."""
    return 2 * line["link"] * (line["columns"] + line["rows"] - 1)


def build_trips(data: Dataset) -> Figure:
    found = trips(data)
    if FITTED_FAN not in found:
        return simulated.figure(TRIPS, data, simulated.BOARDS, [], [])
    meshes = found[FITTED_FAN]
    ticks = [(line["columns"] * line["rows"], f"{line['columns']} x {line['rows']}")
             for line in meshes]

    def series(label: str, color: str, lines: list[Line], cycles: list[float], **more) -> Series:
        points = [
            Point(
                line["columns"] * line["rows"], _rate(line, each),
                text=f"{label}, {line['columns']} x {line['rows']}: {each:,.0f} cycles, "
                f"{format_count(_rate(line, each))} a second",
            )
            for line, each in zip(lines, cycles)
        ]
        return Series(label, color, points, **more)

    drawn = [
        series("hardware", "color:tutti", meshes, [line["hardware_cycles"] for line in meshes],
               emphasis=True),
        series("the paper's formula", "color:floor", meshes, [estimate(line) for line in meshes],
               dash="dot", marker="x"),
        *(
            series(
                f"tree of {fan}" if fan > 1 else "a chain",
                FAN_COLORS.get(fan, "color:other"), lines,
                [line["tree_cycles"] for line in lines], dash="dash",
                marker=style.MARKERS[place % 7],
            )
            for place, (fan, lines) in enumerate(found.items())
        ),
    ]
    panel = Panel(
        "240 MHz, links of 150 cycles, simulated", Axis("boards", log=True, ticks=ticks),
        Axis("round trips a second", log=True, counts=True), drawn, height=520,
    )
    return simulated.figure(TRIPS, data, simulated.BOARDS, [panel], _trip_words(found))


def ratios(lines: list[Line]) -> list[float]:
    return [line["tree_cycles"] / line["hardware_cycles"] for line in lines]


def _trip_words(found: dict[int, list[Line]]) -> list[str]:
    low, high = PRINTED_RANGE
    first, last = found[FITTED_FAN][0], found[FITTED_FAN][-1]
    made = [
        f"The paper prints that hardware is {low} to {high} times as fast as its tree, and neither "
        f"its fan nor a value of a chain. So one number was fitted: a message takes "
        f"{last['handler']:.0f} cycles of a thread, so that a tree of fan {FITTED_FAN} takes {low} "
        f"times as long on {last['columns']} x {last['rows']} boards. All else is predicted.",
        f"{first['columns']} x {first['rows']} to {last['columns']} x {last['rows']} boards, times "
        "as long as hardware: " + "; ".join(
            f"{'a chain' if fan == 1 else f'fan {fan}'} {ratios(lines)[0]:,.1f} to "
            f"{ratios(lines)[-1]:,.1f}"
            for fan, lines in found.items()
        ) + ".",
    ]
    errors = [line["hardware_cycles"] / estimate(line) - 1 for line in found[FITTED_FAN]]
    worst = max(errors, key=abs)
    made.append(
        "Hardware takes the cycles of the paper's formula 2 L (x + y - 1), "
        + ("exactly." if worst == 0 else f"within {abs(worst):.1%}.")
    )
    return made


def gains(data: Dataset, boards: tuple[str, ...]) -> dict[int, list[tuple[int, float, float]]]:
    """(vertices a thread, ratio, seconds) for each fan-out, means over the seeds."""
    cells: dict[tuple[int, int], list[Line]] = {}
    for line in simulated.graphs(data, "heat", mode="sync"):
        if sorted(line.get("set", [])) != sorted(boards) or "low=" in line["graph"]:
            continue
        fan_out = int(line["graph"].split("degree=")[1].split(",")[0])
        cells.setdefault((fan_out, line["vertices"] // line["threads"]), []).append(line)
    made: dict[int, list[tuple[int, float, float]]] = {}
    for (fan_out, vertices), lines in sorted(cells.items()):
        ratio = mean(line["seconds_with_clock_tree"] / line["seconds"] for line in lines)
        seconds = mean(line["seconds"] for line in lines)
        made.setdefault(fan_out, []).append((vertices, ratio, seconds))
    return made


def build_gain(data: Dataset) -> Figure:
    panels, captions = [], []
    for boards, threads in GAIN_THREADS.items():
        found = gains(data, boards)
        if not found:
            continue
        mesh = "2 x 2 boards" if boards else "6 x 8 boards, all of the machine"
        series = []
        for place, (fan_out, cells) in enumerate(found.items()):
            label = f"fan-out {fan_out}"
            points = [
                Point(vertices, ratio, text=f"{label}, {vertices} vertices a thread: "
                      f"{format_ratio(ratio)}, {format_time(seconds * 1e9)} by hardware")
                for vertices, ratio, seconds in cells
            ]
            series.append(
                Series(label, style.tutti_shade(place), points, dash=style.DASHES[place],
                       marker=style.MARKERS[place])
            )
        counts = sorted({vertices for cells in found.values() for vertices, _, _ in cells})
        axis_x = Axis("vertices a thread", log=True, ticks=[(n, str(n)) for n in counts])
        axis_y = Axis("time with a clock tree over that with hardware", log=True)
        panels.append(
            Panel(f"{mesh}: {threads:,} threads, simulated", axis_x, axis_y, series,
                  [Rule(1, "no difference", False)])
        )
        captions.append(_gain_words(mesh, found))
    if len(panels) > 1:
        spans = [bounds(panel, False) for panel in panels]
        for panel in panels:
            panel.y.lowest, panel.y.highest = min(s[0] for s in spans), max(s[1] for s in spans)
    captions.append(
        "The paper prints no number: the gain is significant for small graphs and falls with more "
        "vertices a thread and with a higher fan-out."
    )
    return simulated.figure(GAIN, data, simulated.BOARDS, panels, captions if panels else [])


def falls(found: dict[int, list[tuple[int, float, float]]]) -> bool:
    """Whether the gain falls with vertices a thread, and with the fan-out."""
    by_vertices = all(
        before[1] > after[1]
        for cells in found.values() for before, after in zip(cells, cells[1:])
    )
    lists = list(found.values())
    by_fan_out = all(
        mine[1] > other[1]
        for before, after in zip(lists, lists[1:]) for mine, other in zip(before, after)
    )
    return by_vertices and by_fan_out


def _gain_words(mesh: str, found: dict[int, list[tuple[int, float, float]]]) -> str:
    first, last = list(found)[0], list(found)[-1]
    return (
        f"{mesh}: {format_ratio(found[first][0][1])} with {found[first][0][0]} vertex a thread and "
        f"fan-out {first}, {format_ratio(found[last][-1][1])} with {found[last][-1][0]} and "
        f"fan-out {last}; the gain "
        + ("falls throughout, as in the paper." if falls(found) else "does not fall throughout.")
    )


def applications(data: Dataset) -> dict[str, dict[str, list[Line]]]:
    """The lines of both modes of each application of figure 8, a line for each seed."""
    made = {}
    for name, (graph, boards, _) in APPLICATIONS.items():
        found = [
            line for line in simulated.graphs(data, name)
            if sorted(line.get("set", [])) == sorted(boards)
            and VERTICES.sub("", line["graph"]) == VERTICES.sub("", graph)
        ]
        # Shortest paths are on smaller graphs, too.
        largest = max((line["vertices"] for line in found), default=0)
        modes = {
            mode: [
                line for line in found if line["mode"] == mode and line["vertices"] == largest
            ]
            for mode in ("sync", "async")
        }
        if all(modes.values()):
            made[name] = modes
    return made


def average(lines: list[Line], key: str) -> float:
    return mean(line[key] for line in lines)


def _pairs(
    title: str, found: dict[str, dict[str, list[Line]]], key: str, scale: float, axis: Axis, words
) -> Panel:
    series, ticks = [], []
    for place, (name, modes) in enumerate(reversed(found.items())):
        points = []
        for mode, lines in modes.items():
            value = average(lines, key) * scale
            points.append(Point(value, place, text=f"{WORDS[name]}, {mode}: {words(value)}"))
        note = " → ".join(words(point.x) for point in points)
        series.append(Series(WORDS[name], "color:tutti", points, line=False, note=note))
        ticks.append((place, WORDS[name]))
    axis_y = Axis("", ticks=ticks, lowest=-0.7, highest=len(series) - 0.3)
    return Panel(title, axis, axis_y, series, [], "pairs", DOT_FRAME + ROW * len(series))


def build_modes(data: Dataset) -> Figure:
    found = applications(data)
    if not found:
        return simulated.figure(MODES, data, simulated.BOARDS, [], [])
    seeds = len(next(iter(found.values()))["sync"])
    panels = [
        _pairs("figure 8 (a), simulated time", found, "seconds", 1e9,
               time_axis("time: ○ in steps, ● without"), format_time),
        _pairs("figure 8 (b), simulated messages", found, "messages", 1,
               Axis("messages: ○ in steps, ● without", log=True, counts=True), format_count),
    ]
    parts = []
    for name, modes in found.items():
        time = average(modes["async"], "seconds") / average(modes["sync"], "seconds")
        messages = average(modes["async"], "messages") / average(modes["sync"], "messages")
        parts.append(f"{WORDS[name]} {time:.2f} times the time, {messages:.2f} times the messages")
    captions = [
        f"Without steps ({'mean of ' + str(seeds) + ' graphs' if seeds > 1 else 'one graph'}): "
        + "; ".join(parts) + ".",
        "The paper prints no number: PageRank and heat need the same messages and are slightly "
        "slower without steps, because of a further buffer, whose cost the model does not have; "
        "shortest paths are faster without; paths from 64 vertices and spiking neurons need far "
        "more messages. It has 6 million vertices on 49,152 threads; here "
        + "; ".join(
            f"{WORDS[name]} has {modes['sync'][0]['vertices']:,} on {modes['sync'][0]['threads']:,}"
            for name, modes in found.items()
        ) + ".",
    ]
    return simulated.figure(MODES, data, simulated.BOARDS, panels, captions)


def worst(data: Dataset, mode: str) -> dict[int, Line]:
    return {
        int(line["graph"].split("components=")[1]): line
        for line in simulated.graphs(data, "sssp", mode=mode)
        if line["graph"].startswith("detours") and sorted(line["set"]) == sorted(BOARDS_OF_4)
    }


def on_planes(data: Dataset, mode: str) -> dict[int, list[Line]]:
    made: dict[int, list[Line]] = {}
    for line in simulated.graphs(data, "sssp", mode=mode):
        if line["graph"].startswith("geometric"):
            made.setdefault(line["vertices"], []).append(line)
    return dict(sorted(made.items()))


def _each(lines: list[Line]) -> float:
    return mean(line["messages"] / line["edges"] for line in lines)


def build_paths(data: Dataset) -> Figure:
    detours = {mode: worst(data, mode) for mode in ("async", "sync")}
    planes = {mode: on_planes(data, mode) for mode in ("async", "sync")}
    panels, captions = [], []
    looks = {"async": ("without steps", "color:tutti"), "sync": ("in steps", "color:floor")}
    if all(detours.values()):
        series = []
        for mode, found in detours.items():
            label, color = looks[mode]
            points = [
                Point(n, line["messages"],
                      text=f"{label}, {n} components: {line['messages']:,} messages")
                for n, line in sorted(found.items())
            ]
            series.append(Series(label, color, points, emphasis=mode == "async"))
        bound = [Point(n, value, text=f"{n} components: {value:,}") for n, value in WORST.items()]
        series.append(Series("worst order", "color:pthread", bound, dash="dash", marker="square"))
        ticks = [(n, str(n)) for n in sorted(detours["async"])]
        panels.append(
            Panel("the graph of the worst case, simulated", Axis("components", ticks=ticks),
                  Axis("messages", log=True, counts=True), series)
        )
        last = max(set(WORST).intersection(*detours.values()), default=None)
        captions.append(
            "No number of components was measured both without steps and in steps."
            if last is None
            else f"With {last} components an order of arrival exists that takes 3 (2^N - 1) = "
            f"{WORST[last]:,} messages; on the boards it takes {detours['async'][last]['messages']}"
            f" without steps and {detours['sync'][last]['messages']} in steps: near vertices hear "
            "of each other first, as the paper says."
        )
    if all(planes.values()):
        series = []
        for mode, by_size in planes.items():
            label, color = looks[mode]
            points = [
                Point(vertices, _each(lines),
                      text=f"{label}, {vertices:,} vertices: {_each(lines):,.1f} messages an edge")
                for vertices, lines in by_size.items()
            ]
            series.append(Series(label, color, points, emphasis=mode == "async"))
        sizes = list(planes["async"])
        panels.append(
            Panel(
                "graphs in the plane, simulated",
                Axis("vertices", log=True, ticks=[(n, f"{n:,}") for n in sizes]),
                Axis("messages an edge", log=True, counts=True), series,
            )
        )
        captions.append(_plane_words(planes["async"]))
    return simulated.figure(PATHS, data, simulated.BOARDS, panels, captions)


def spread_of_seeds(lines: list[Line]) -> tuple[float, float, float]:
    """The least, the mean and the largest number of messages an edge over the seeds."""
    values = [line["messages"] / line["edges"] for line in lines]
    return min(values), mean(values), max(values)


def _plane_words(found: dict[int, list[Line]]) -> str:
    first, last = list(found)[0], list(found)[-1]
    low, middle, high = spread_of_seeds(found[last])
    seeds = len(found[last])
    return (
        f"On graphs in the plane the messages an edge go from {_each(found[first]):.1f} with "
        f"{first:,} vertices to {middle:.1f} with {last:,}"
        + (f" ({low:.1f} to {high:.1f} over {seeds} seeds)" if seeds > 1 else "")
        + ". The paper calls the average polynomial and prints no number."
    )
