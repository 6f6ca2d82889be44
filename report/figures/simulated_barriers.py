# SPDX-License-Identifier: Apache-2.0
"""The figures of Hetland et al. 2019 on simulated machines: barriers in software, an instruction of
the vector machine, the unit in HARP's FPGA, and the structures in the sockets.
"""

from __future__ import annotations

from typing import Callable, Iterable

from report import simulated
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.papers import HETLAND_1, HETLAND_3, HETLAND_CLOCKS, HETLAND_UNIT
from report.plan_simulated import FOUR_LINKS, HETLAND, MOST, NEAR, NO_LIMIT
from report.simulated import BARRIER_LOOKS, PAPERS_BARRIERS, Line, Machine, count, paper_name
from report.statistics import format_count

SOFTWARE = (
    "sim_barriers",
    "Simulated: barriers in software (figure 1 of Hetland et al. 2019)",
    "How many cycles does a back-to-back barrier take on the paper's four machines, by algorithm "
    "and number of threads, and where are the values that the paper prints?",
)
INSTRUCTION = (
    "sim_instruction",
    "Simulated: an instruction that does nothing (figure 3 of Hetland et al. 2019)",
    "All threads interpret a program of the vector machine and meet in a barrier after each "
    "instruction: how many cycles does an instruction take that does nothing itself?",
)
HARP = (
    "sim_harp",
    "Simulated: the barrier unit in HARP's FPGA (figures 6 a and 7 of Hetland et al. 2019)",
    "How long does a barrier take by each path to the unit and back, beside software, and if the "
    "link were as fast as the last-level cache and had no limit?",
)
OTHERS = (
    "sim_machines",
    "Simulated: barriers in software on the other machines",
    "The same on all machines that tutti can simulate: which barrier for how many threads?",
)
STRUCTURES = (
    "sim_structures",
    "Simulated: structures in the sockets (section 4 of Hetland et al. 2019)",
    "All hardware threads of a machine arrive together at the Hardware Barrier Structures: how far "
    "is the time from the paper's estimate for the last arrival alone, and from software?",
)
LOOK = (
    "The algorithms named counting, pool, ticket and dissemination are tutti's templates of the "
    "paper's; the tournament with one word releases all threads by one word, as the paper's is "
    "taken to do, and tutti's own tournament releases them along its tree."
)
MINIMA = (
    "Points are medians of back-to-back barriers, with a line from the least to the largest. The "
    "paper takes the least; its printed values are the crosses, in the colour of their algorithm."
)
SPAN = "median; line: min to max; cross: printed"
HARP_PATHS = tuple(
    name for name in BARRIER_LOOKS if name.startswith("harp_") and not name.endswith("_message")
)
# Section 4.2: the paper's estimates for whole machines.
ESTIMATES = {"harp": 38, "knl": 48, "numa4": 390, "numa8": 480}
ROW = 44


def _axes(counts: Iterable[int], y: str) -> tuple[Axis, Axis]:
    counts = sorted(set(counts))
    shown = [n for n in counts if n not in (24, 14, 48)]
    return (
        Axis("threads", log=True, ticks=[(n, str(n)) for n in shown]),
        Axis(y, log=True, counts=True),
    )


def _series(
    name: str, lines: list[Line], cycles_of: Callable[[Line, str], float | None]
) -> Series:
    look = BARRIER_LOOKS[name]
    points = []
    for line in lines:
        median = cycles_of(line, "median")
        text = f"{look.label}, {line['threads']} threads: {median:,.0f} cycles"
        points.append(
            Point(line["threads"], median, cycles_of(line, "min"), cycles_of(line, "max"), text)
        )
    return Series(
        look.label, look.color, points, emphasis=look.emphasis, dash=look.dash, marker=look.marker
    )


def _of_clock(machine: Machine) -> Callable[[Line, str], float | None]:
    return lambda line, key: line[key] * machine.clock_ghz if key in line else None


def _drawn(found: dict[str, list[Line]], names: Iterable[str], machine: Machine) -> list[Series]:
    return [_series(name, found[name], _of_clock(machine)) for name in names if name in found]


def printed_of(machine: str) -> tuple[int, str, int]:
    """(threads, name in the lines, cycles) of the best barrier of a machine, as printed."""
    _, threads, barrier, cycles = next(
        values for values in HETLAND_1 if HETLAND[values[0]] == machine
    )
    return threads, "tournament_one_word" if barrier == "tournament" else barrier, cycles


def _cross(machine: str) -> Series:
    threads, name, cycles = printed_of(machine)
    text = f"printed: {paper_name(name)}, {threads} threads: {cycles:,} cycles"
    point = Point(threads, cycles, text=text)
    label = f"printed {format_count(cycles)}"
    return Series(label, BARRIER_LOOKS[name].color, [point], True, line=False, marker="x")


def ranking(data: Dataset, machine: str, threads: int) -> list[tuple[float, str]]:
    """The paper's algorithms by their simulated cycles, the fastest first."""
    found = [
        (simulated.cycles(data, machine, name, threads), name) for name in PAPERS_BARRIERS
    ]
    return sorted((cycles, name) for cycles, name in found if cycles is not None)


def crossings(data: Dataset, machine: str, one: str, other: str) -> list[tuple[int, int, str]]:
    """(threads before, threads after, who is faster after) wherever two barriers change places."""
    found = simulated.barriers(data, machine)
    times = [
        {line["threads"]: line["median"] for line in found.get(name, [])} for name in (one, other)
    ]
    made, before = [], None
    for threads in sorted(times[0].keys() & times[1].keys()):
        faster = one if times[0][threads] <= times[1][threads] else other
        if before is not None and before[1] != faster:
            made.append((before[0], threads, faster))
        before = (threads, faster)
    return made


def _software_panel(
    title: str, machine: Machine, found: dict[str, list[Line]], more: list[Series]
) -> Panel:
    names = [each for each in BARRIER_LOOKS if not each.startswith("harp_")]
    series = [*_drawn(found, names, machine), *more]
    counts = [line["threads"] for lines in found.values() for line in lines]
    return Panel(title, *_axes(counts, "cycles an episode"), series, height=520)


def build_software(data: Dataset) -> Figure:
    known, panels, captions = simulated.machines(data), [], []
    for title, name in HETLAND.items():
        found = simulated.barriers(data, name)
        if name not in known or "default" not in found:
            continue
        heading = f"{title}, simulated; {SPAN}"
        panels.append(_software_panel(heading, known[name], found, [_cross(name)]))
        captions.append(_order_words(data, title, name))
    return simulated.figure(
        SOFTWARE, data, simulated.BARRIERS, panels, [*captions, LOOK, MINIMA] if panels else []
    )


def build_others(data: Dataset) -> Figure:
    """Only a long report simulates them."""
    known, panels, captions = simulated.machines(data), [], []
    for name, machine in known.items():
        found = simulated.barriers(data, name)
        if name in HETLAND.values() or "default" not in found:
            continue
        panels.append(_software_panel(f"{name}, simulated", machine, found, []))
        last = {each: lines[-1] for each, lines in found.items()}
        best = min(last, key=lambda each: last[each]["median"])
        captions.append(
            f"{name} ({machine.description}), {last[best]['threads']} threads: "
            f"{best.replace('_', ' ')} is the best of all, "
            f"{count(last[best]['median'] * machine.clock_ghz)} cycles; tutti's default takes "
            f"{last['default']['median'] / last[best]['median']:.2f} times as long."
        )
    if not panels:
        return Figure(*OTHERS, [], [], ["Not simulated: a report made with --long has them."])
    return simulated.figure(OTHERS, data, simulated.BARRIERS, panels, captions)


def _order_words(data: Dataset, title: str, machine: str) -> str:
    threads, best, printed = printed_of(machine)
    ranked = ranking(data, machine, threads)
    order = ", ".join(f"{paper_name(name)} {count(cycles)}" for cycles, name in ranked)
    own = simulated.cycles(data, machine, "default", threads)
    cycles = simulated.cycles(data, machine, best, threads)
    if not ranked or cycles is None or own is None:
        return f"{title}: not simulated with {threads} threads."
    verdict = (
        "that is the best one here, too"
        if ranked[0][1] == best
        else f"the order is wrong: here {paper_name(ranked[0][1])} is the best"
    )
    changes = crossings(data, machine, "libgomp", "tournament_one_word")
    crossing = "; ".join(
        f"{paper_name(faster)} passes the other between {before} and {after} threads"
        for before, after, faster in changes
    ) or "OMP and the tournament do not cross"
    apart = simulated.percent(cycles, printed)
    return (
        f"{title}, {threads} threads, cycles: {order}; tutti's default {count(own)}. The paper "
        f"prints {paper_name(best)} as the best with {printed:,} ({apart} simulated): {verdict}. "
        f"{crossing[:1].upper()}{crossing[1:]}."
    )


def instruction_cycles(line: Line, machine: Machine) -> float:
    return line["median"] * machine.clock_ghz / line["instructions"]


def ideal_cycles(line: Line, machine: Machine) -> float:
    """What is left of an instruction without the time in barriers."""
    return instruction_cycles(line, machine) * (1 - line["in_barriers"])


def instructions(data: Dataset, machine: str) -> dict[str, list[Line]]:
    made: dict[str, list[Line]] = {}
    for line in simulated.results(data, "sim_vcode", machine, program="nothing"):
        made.setdefault(line["name"], []).append(line)
    return made


def build_instruction(data: Dataset) -> Figure:
    known, panels, captions = simulated.machines(data), [], []
    for title, name in HETLAND.items():
        found = instructions(data, name)
        if name not in known or "default" not in found:
            continue
        panels.append(_instruction_panel(title, known[name], found))
        captions.append(_instruction_words(title, known[name], found))
    captions.append(
        "The paper prints orders of magnitude: some 100 cycles without barriers, and 10,000 with "
        "the best barrier in software, the tournament, on each of the machines. Its interpreter "
        "needs several barriers an instruction, this one needs one; 20 ns of interpreting are "
        "assumed. HARP's panel has the unit in the FPGA too, which is figure 6 (c)."
    )
    return simulated.figure(
        INSTRUCTION, data, simulated.VCODE, panels, captions if panels else []
    )


def _instruction_panel(title: str, machine: Machine, found: dict[str, list[Line]]) -> Panel:
    def cycles_of(line: Line, key: str) -> float | None:
        return instruction_cycles(line, machine) if key == "median" else None

    series = [_series(name, found[name], cycles_of) for name in BARRIER_LOOKS if name in found]
    ideal = [
        Point(line["threads"], ideal_cycles(line, machine),
              text=f"without barriers: {ideal_cycles(line, machine):,.0f} cycles")
        for line in found["default"]
    ]
    series.append(Series("no barriers", "color:floor", ideal, dash="dot", marker="x"))
    counts = [line["threads"] for lines in found.values() for line in lines]
    rules = [
        Rule(cycles, f"printed, {words}: O({cycles:,})", False)
        for words, _, cycles in HETLAND_3
    ]
    axes = _axes(counts, "cycles of an instruction")
    return Panel(f"{title}, simulated", *axes, series, rules, height=520)


def fastest_instruction(found: dict[str, list[Line]]) -> Line | None:
    """With the most threads, among the barriers that the paper draws: no OMP. None without any."""
    return min(
        (found[name][-1] for name in PAPERS_BARRIERS if name in found and name != "libgomp"),
        key=lambda line: line["median"], default=None,
    )


def _instruction_words(title: str, machine: Machine, found: dict[str, list[Line]]) -> str:
    own, best = found["default"][-1], fastest_instruction(found)
    cycles = instruction_cycles(own, machine)
    right = best is not None and best["name"] == "tournament_one_word"
    words = (
        f"{title}, {own['threads']} threads: {count(cycles)} cycles with tutti's default, "
        f"{cycles / ideal_cycles(own, machine):,.0f} times those without barriers. "
    )
    if best is None:
        return words + "The paper's barriers were not measured."
    return words + (
        f"{paper_name(best['name'])} is the best of the paper's barriers "
        f"({count(instruction_cycles(best, machine))}), "
        + ("as in the paper." if right else "where the paper has the tournament.")
    )


def build_harp(data: Dataset) -> Figure:
    known = simulated.machines(data)
    found = simulated.barriers(data, "harp")
    if "harp" not in known or "harp_counting" not in found:
        return simulated.figure(HARP, data, simulated.BARRIERS, [], [])
    machine = known["harp"]
    counts = [line["threads"] for line in found["harp_counting"]]
    axes = _axes(counts, "cycles an episode")
    paths = [
        *_drawn(found, (*HARP_PATHS, "libgomp", "counting"), machine), _cross("harp"),
    ]
    near = simulated.barriers(data, "harp", NEAR).get("harp_counting", [])
    software = ["default", *(n for n in PAPERS_BARRIERS if n not in ("dissemination",))]
    beside = _drawn(found, [*software, "harp_counting"], machine)
    if near:
        points = [
            Point(line["threads"], line["median"] * machine.clock_ghz,
                  text=f"projected, {line['threads']} threads: "
                  f"{line['median'] * machine.clock_ghz:,.0f} cycles")
            for line in near
        ]
        beside.append(Series("unit, near (figure 7)", "color:bad", points, marker="diamond"))
    threads, unit = HETLAND_UNIT
    rule = Rule(unit * HETLAND_CLOCKS, f"unit alone, {threads}: {unit * HETLAND_CLOCKS}", False)
    panels = [
        Panel(f"figure 6 (a), simulated: each path; {SPAN}", *axes, paths, [rule], height=560),
        Panel("figure 7, simulated: the unit near the cores", *_axes(counts, "cycles an episode"),
              beside, [rule], height=560),
    ]
    return simulated.figure(HARP, data, simulated.BARRIERS, panels, _harp_words(data))


def best_path(data: Dataset) -> tuple[float, str]:
    """The fastest path with all threads of HARP."""
    most = MOST["harp"]
    return min(
        (cycles, name)
        for name in HARP_PATHS
        if (cycles := simulated.cycles(data, "harp", name, most)) is not None
    )


def worst_path(data: Dataset) -> tuple[float, str]:
    most = MOST["harp"]
    return max(
        (cycles, name)
        for name in HARP_PATHS
        if (cycles := simulated.cycles(data, "harp", name, most)) is not None
    )


def _harp_words(data: Dataset) -> list[str]:
    most = MOST["harp"]
    (low, best), (high, worst) = best_path(data), worst_path(data)
    omp = simulated.cycles(data, "harp", "libgomp", most)
    made = []
    if omp is not None:
        made.append(
            f"With {most} threads the paths take {count(low)} cycles "
            f"({BARRIER_LOOKS[best].label}) to {count(high)} ({BARRIER_LOOKS[worst].label}), OMP "
            f"{count(omp)}: the best path is {omp / low:.2f} times as fast as OMP. The paper finds "
            "none that beats OMP and the counting barrier significantly, because communication "
            "takes more than 3,000 cycles."
        )
    free = simulated.cycles(data, "harp", "harp_counting", most, NO_LIMIT)
    near = simulated.cycles(data, "harp", "harp_counting", most, NEAR)
    registers = simulated.cycles(data, "harp", "harp_counting", most)
    if free is not None and registers is not None:
        made.append(
            f"The link takes 8 requests at a time. Without that limit, registers both ways take "
            f"{count(free)} cycles instead of {count(registers)}: {1 - free / registers:.0%} of "
            "the time is queueing."
        )
    if near is not None and omp is not None:
        made.append(
            f"With a link as fast as the cache and without the limit they take {count(near)}, and "
            f"OMP {omp / near:.1f} times as long; the paper projects over 3 times."
        )
    return made


def build_structures(data: Dataset) -> Figure:
    series, ticks, captions = [], [], []
    for name, printed in reversed(ESTIMATES.items()):
        threads = MOST[name]
        cycles = simulated.cycles(data, name, "hbs", threads)
        ranked = ranking(data, name, threads)
        if cycles is None or not ranked:
            continue
        title = next(title for title, each in HETLAND.items() if each == name)
        label = f"{title}, {threads} threads"
        software, best = ranked[0]
        note = f"{printed}, {count(cycles)}, {count(software)}"
        place = len(series)
        points = [
            Point(printed, place, text=f"{label}: {printed} cycles, the paper's estimate"),
            Point(cycles, place, text=f"{label}: {cycles:,.0f} cycles by the structures"),
        ]
        series.append(Series(label, "color:tutti", points, note=note))
        ticks.append((place, label))
        captions.insert(
            0,
            f"{label}: {paper_name(best)}, the best of the paper's barriers, takes "
            f"{software / cycles:,.0f} times as long as the structures.",
        )
    if not series:
        return simulated.figure(STRUCTURES, data, simulated.BARRIERS, [], [])
    farther = simulated.cycles(data, "numa4", "hbs", MOST["numa4"], FOUR_LINKS)
    if farther is not None:
        captions.append(
            "The paper's estimates for several sockets count a round of four links; here the "
            "farthest socket is two links away. With four links, NUMA-4 takes "
            f"{count(farther)} cycles."
        )
    captions.append(
        "A structure takes one message in a cycle, so that the threads of a socket queue, which "
        "the paper's estimates leave out. The paper expects two orders of magnitude. Its 480 "
        "cycles are for four sockets of Xeons; NUMA-8 has eight."
    )
    axis_x = Axis("cycles an episode", log=True, counts=True, lowest=25, highest=700)
    axis_x.ticks = [(n, str(n)) for n in (30, 50, 100, 200, 500)]
    axis_y = Axis("", ticks=ticks, lowest=-0.7, highest=len(series) - 0.3)
    title = "simulated; hollow: estimate; filled: structures; right: both, best software"
    panel = Panel(title, axis_x, axis_y, series, [], "pairs", 110 + ROW * len(series))
    return simulated.figure(STRUCTURES, data, simulated.BARRIERS, [panel], captions)
