# SPDX-License-Identifier: Apache-2.0
"""What papers say of machines that are not here beside what the simulation says, and which barrier
is the best on which simulated machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from report import simulated
from report.figures import simulated_barriers as of_barriers
from report.figures import simulated_boards as of_boards
from report.figures import simulated_events as of_events
from report.figures import simulated_streamcluster as of_programs
from report.lines import Dataset
from report.model import Cell, Table
from report.plan_simulated import HALE, HETLAND, MOST, NEAR, NO_LIMIT
from report.simulated import NOTIFIER_LOOKS, Who, count, paper_name, percent
from report.statistics import format_ratio, format_time

AGREEMENT = (
    "sim_agreement",
    "Simulated: what agrees with the papers, and what does not",
    "Each statement of the papers about order, ratio or value, beside the simulation.",
)
CHOICES = (
    "sim_choices",
    "Simulated: which barrier on which machine, for how many threads",
    "The fastest of tutti's barriers where each thread has a CPU of its own, and how many times as "
    "long tutti::barrier takes, which needs no name.",
)
# A value counts as right up to this factor, and a ratio up to this one.
VALUE, RATIO = 1.35, 2.0
# tutti::barrier this many times as slow as the best is a loss.
LOSS = 1.25


@dataclass(frozen=True)
class Claim:
    """What a paper says, and what the simulation says of it: (words, whether it agrees)."""

    place: str
    says: str
    check: Callable[[Dataset], tuple[str, bool] | None]


def within(simulated_value: float, printed: float, factor: float) -> bool:
    return printed / factor <= simulated_value <= printed * factor


def _best(title: str) -> Claim:
    machine = HETLAND[title]
    threads, name, printed = of_barriers.printed_of(machine)

    def check(data: Dataset) -> tuple[str, bool] | None:
        ranked = of_barriers.ranking(data, machine, threads)
        if not ranked:
            return None
        order = " < ".join(paper_name(each) for _, each in ranked)
        return order, ranked[0][1] == name

    says = f"{paper_name(name)} is the best on {title} with {threads} threads"
    return Claim("Hetland et al., figure 1", says, check)


def _value(title: str) -> Claim:
    machine = HETLAND[title]
    threads, name, printed = of_barriers.printed_of(machine)

    def check(data: Dataset) -> tuple[str, bool] | None:
        cycles = simulated.cycles(data, machine, name, threads)
        if cycles is None:
            return None
        return f"{count(cycles)} ({percent(cycles, printed)})", within(cycles, printed, VALUE)

    says = f"{paper_name(name)} takes {printed:,} cycles on {title} with {threads} threads"
    return Claim("Hetland et al., figure 1", says, check)


def _close_behind(data: Dataset) -> tuple[str, bool] | None:
    threads = MOST["harp"]
    times = [
        simulated.cycles(data, "harp", name, threads)
        for name in ("libgomp", "tournament_one_word", "counting")
    ]
    if None in times:
        return None
    omp, tournament, counting = times
    words = f"OMP {count(omp)}, tournament {count(tournament)}, counting {count(counting)}"
    return words, all(1 <= other / omp <= VALUE for other in (tournament, counting))


def _pthread_on_phi(data: Dataset) -> tuple[str, bool] | None:
    threads = MOST["knl"]
    slow, fast = (
        simulated.cycles(data, "knl", name, threads) for name in ("pthread_barrier", "counting")
    )
    if slow is None or fast is None:
        return None
    return f"{slow / fast:.0f} times", within(slow / fast, 59, RATIO)


def _counting_first(data: Dataset) -> tuple[str, bool] | None:
    wrong, seen = [], False
    for title, machine in HETLAND.items():
        found = simulated.barriers(data, machine)
        if not set(of_programs.BARRIERS) <= found.keys():
            continue
        seen = True
        first = min(of_programs.BARRIERS, key=lambda name: found[name][-1]["median"])
        if first != "counting":
            wrong.append(f"{paper_name(first)} on {title}")
    if not seen:
        return None
    return ("counting on all four", True) if not wrong else ("but " + ", ".join(wrong), False)


def _streamcluster(title: str, printed: int) -> Claim:
    def check(data: Dataset) -> tuple[str, bool] | None:
        found = simulated.barriers(data, HETLAND[title])
        if not {"pthread_barrier", "counting"} <= found.keys():
            return None
        work = of_programs.work()
        ratio = of_programs.ratio(work, found["pthread_barrier"], found["counting"])
        return f"{format_ratio(ratio)}, computed", within(ratio, printed, RATIO)

    says = f"StreamCluster is {printed} times as fast with counting as with pthread on {title}"
    return Claim("Hetland et al., figure 2", says, check)


def _scaling_stops(data: Dataset) -> tuple[str, bool] | None:
    found = simulated.barriers(data, "numa8")
    if "pthread_barrier" not in found:
        return None
    threads = of_programs.last_gain(of_programs.work(), found["pthread_barrier"])
    return f"it becomes slower beyond {threads}, computed", within(threads, 32, RATIO)


def _tournament_in_vcode(data: Dataset) -> tuple[str, bool] | None:
    firsts = {}
    for title, machine in HETLAND.items():
        found = of_barriers.instructions(data, machine)
        if "pthread_barrier" in found:
            firsts[title] = of_barriers.fastest_instruction(found)["name"]
    if not firsts:
        return None
    wrong = [f"{paper_name(name)} on {title}" for title, name in firsts.items()
             if name != "tournament_one_word"]
    return ("on all", True) if not wrong else ("but " + ", ".join(wrong), False)


def _two_orders(data: Dataset) -> tuple[str, bool] | None:
    known, ratios = simulated.machines(data), {}
    for title, name in HETLAND.items():
        found = of_barriers.instructions(data, name)
        if name in known and "pthread_barrier" in found:
            line = of_barriers.fastest_instruction(found)
            ratios[title] = of_barriers.instruction_cycles(line, known[name]) / (
                of_barriers.ideal_cycles(line, known[name])
            )
    if not ratios:
        return None
    words = ", ".join(f"{title} {ratio:.0f}" for title, ratio in ratios.items())
    return f"times: {words}", all(10**1.5 <= ratio <= 10**2.5 for ratio in ratios.values())


def _no_path_wins(data: Dataset) -> tuple[str, bool] | None:
    omp = simulated.cycles(data, "harp", "libgomp", MOST["harp"])
    if omp is None or not simulated.barriers(data, "harp").keys() & set(of_barriers.HARP_PATHS):
        return None
    cycles, name = of_barriers.best_path(data)
    label = simulated.BARRIER_LOOKS[name].label
    return f"{label}: {omp / cycles:.2f} times as fast as OMP", omp / cycles < VALUE


def _communication(data: Dataset) -> tuple[str, bool] | None:
    cycles = simulated.cycles(data, "harp", "harp_counting", MOST["harp"])
    if cycles is None:
        return None
    return f"registers both ways take {count(cycles)} in all, 336 in the unit", cycles - 336 > 3000


def _queues(data: Dataset) -> tuple[str, bool] | None:
    free = simulated.cycles(data, "harp", "harp_counting", MOST["harp"], NO_LIMIT)
    usual = simulated.cycles(data, "harp", "harp_counting", MOST["harp"])
    if free is None or usual is None:
        return None
    return f"{usual / free:.1f} times as fast without the limit", usual / free > 1.5


def _projection(data: Dataset) -> tuple[str, bool] | None:
    near = simulated.cycles(data, "harp", "harp_counting", MOST["harp"], NEAR)
    ranked = of_barriers.ranking(data, "harp", MOST["harp"])
    if near is None or not ranked:
        return None
    cycles, name = ranked[0]
    omp = simulated.cycles(data, "harp", "libgomp", MOST["harp"]) or cycles
    words = f"{cycles / near:.1f} times as fast as {paper_name(name)}, {omp / near:.1f} as OMP"
    return words, cycles / near > 3


def _structures(machine: str) -> Claim:
    printed = of_barriers.ESTIMATES[machine]
    title = next(title for title, name in HETLAND.items() if name == machine)

    def check(data: Dataset) -> tuple[str, bool] | None:
        cycles = simulated.cycles(data, machine, "hbs", MOST[machine])
        if cycles is None:
            return None
        return f"{count(cycles)}, all threads together", within(cycles, printed, RATIO)

    return Claim("Hetland et al., section 4.2", f"an HBS takes {printed} cycles on {title}", check)


def _two_orders_of_structures(data: Dataset) -> tuple[str, bool] | None:
    cycles = simulated.cycles(data, "numa4", "hbs", MOST["numa4"])
    ranked = of_barriers.ranking(data, "numa4", MOST["numa4"])
    if cycles is None or not ranked:
        return None
    return f"{ranked[0][0] / cycles:.0f} times", within(ranked[0][0] / cycles, 100, RATIO)


IPI, CONDITION, FUTEX = ("interrupt", ""), ("condition_variable", ""), ("futex", "")
KERNELS, KICKED = ("kernel_condition", ""), ("kernel_condition_kick", "")
ACTION, POLLED, REMOTE = ("action", ""), ("event", "spin"), ("remote_call", "")


def _ratio(
    place: str, machine: str, metric: str, slow: Who, fast: Who, printed: float,
    factor: float = RATIO,
) -> Claim:
    def check(data: Dataset) -> tuple[str, bool] | None:
        found = simulated.notifications(data, HALE[machine], metric)
        if slow not in found or fast not in found or not found[fast]["median"]:
            return None
        ratio = found[slow]["median"] / found[fast]["median"]
        return f"{ratio:,.1f} times", within(ratio, printed, factor)

    what = "one thread" if metric == "unicast" else "all threads"
    says = (
        f"waking {what}, {machine}: {NOTIFIER_LOOKS[slow].label} {printed:,g} times as long as "
        f"{NOTIFIER_LOOKS[fast].label}"
    )
    return Claim(f"Hale and Dinda, {place}", says, check)


def _order_of_mechanisms(machine: str, metric: str, place: str) -> Claim:
    wanted = (IPI, ACTION, KICKED, KERNELS, CONDITION)

    def check(data: Dataset) -> tuple[str, bool] | None:
        found = simulated.notifications(data, HALE[machine], metric)
        if not set(wanted) <= found.keys():
            return None
        ordered = sorted(wanted, key=lambda who: found[who]["median"])
        words = " < ".join(NOTIFIER_LOOKS[who].label for who in ordered)
        return words, ordered == list(wanted)

    what = "one thread" if metric == "unicast" else "all threads"
    says = (
        f"waking {what}, {machine}: IPI, action, kernel condition variable + IPI, without IPI, "
        "and of programs, in this order"
    )
    return Claim(f"Hale and Dinda, {place}", says, check)


def _sigma(place: str, machine: str, slow: Who, fast: Who, orders: int) -> Claim:
    def check(data: Dataset) -> tuple[str, bool] | None:
        found = simulated.notifications(data, HALE[machine], "broadcast_sigma")
        clock = simulated.machines(data).get(HALE[machine])
        if slow not in found or fast not in found or clock is None:
            return None
        # Below a cycle nothing can be told.
        least = 1 / clock.clock_ghz
        ratio = max(found[slow]["median"], least) / max(found[fast]["median"], least)
        bound = "over " if found[fast]["median"] < least else ""
        return f"{bound}{ratio:,.0f} times", 10 ** (orders - 0.5) <= ratio

    says = (
        f"sigma of {NOTIFIER_LOOKS[fast].label} is {10**orders:,} times smaller than that of "
        f"{NOTIFIER_LOOKS[slow].label}, {machine}"
    )
    return Claim(f"Hale and Dinda, {place}", says, check)


def _knees(data: Dataset) -> tuple[str, bool] | None:
    found = simulated.notifications(data, HALE["x64"], "unicast").get(IPI)
    machine = simulated.machines(data).get(HALE["x64"])
    if found is None or machine is None:
        return None
    places = list(of_events.by_distance(found, machine.clock_ghz).values())
    rise = all(max(near) <= min(far) for near, far in zip(places, places[1:]))
    levels = len(of_events.knees(found, machine.clock_ghz))
    return f"{levels} levels, by assumption", rise and levels > 1


def _dearer_than_polling(data: Dataset) -> tuple[str, bool] | None:
    found = simulated.notifications(data, HALE["x64"], "unicast")
    machine = simulated.machines(data).get(HALE["x64"])
    if machine is None or not {IPI, POLLED} <= found.keys():
        return None
    more = (found[IPI]["median"] - found[POLLED]["median"]) * machine.clock_ghz
    return f"{more:,.0f} more in the median", within(max(more, 1), 1000, RATIO)


def _trips_range(data: Dataset) -> tuple[str, bool] | None:
    found = of_boards.trips(data)
    if of_boards.FITTED_FAN not in found:
        return None
    low, high = of_boards.PRINTED_RANGE
    ratios = of_boards.ratios(found[of_boards.FITTED_FAN])
    words = f"{min(ratios):.1f} (fitted) to {max(ratios):.1f} (predicted)"
    return words, within(max(ratios), high, 1.1) and within(min(ratios), low, 1.1)


def _formula(data: Dataset) -> tuple[str, bool] | None:
    found = of_boards.trips(data)
    if of_boards.FITTED_FAN not in found:
        return None
    errors = [
        abs(line["hardware_cycles"] / of_boards.estimate(line) - 1)
        for line in found[of_boards.FITTED_FAN]
    ]
    return f"within {max(errors):.1%}", max(errors) < 0.01


def _gain_falls(data: Dataset) -> tuple[str, bool] | None:
    found = [gains for boards in of_boards.GAIN_THREADS if (gains := of_boards.gains(data, boards))]
    if not found:
        return None
    values = [ratio for gains in found for cells in gains.values() for _, ratio, _ in cells]
    return (
        f"{max(values):.2f} to {min(values):.2f} times", all(of_boards.falls(g) for g in found)
    )


def _modes(name: str, says: str, key: str, agrees: Callable[[float], bool]) -> Claim:
    def check(data: Dataset) -> tuple[str, bool] | None:
        found = of_boards.applications(data).get(name)
        if found is None:
            return None
        ratio = of_boards.average(found["async"], key) / of_boards.average(found["sync"], key)
        return f"{ratio:.2f} times without steps", agrees(ratio)

    return Claim("Naylor et al., figure 8", f"{name}: {says}", check)


def _average_case(data: Dataset) -> tuple[str, bool] | None:
    found = of_boards.worst(data, "async")
    if not found:
        return None
    last = max(found)
    messages, bound = found[last]["messages"], of_boards.WORST[last]
    return f"{messages:,} messages of up to {bound:,}, {last} components", messages * 10 < bound


CLAIMS = (
    *(_best(title) for title in HETLAND),
    *(_value(title) for title in HETLAND),
    Claim("Hetland et al., section 2", "on HARP tournament and counting follow OMP closely",
          _close_behind),
    Claim("Hetland et al., section 2", "pthread takes 59 times as long as counting on the Xeon Phi",
          _pthread_on_phi),
    Claim("Hetland et al., figure 2", "counting is the best of pthread, counting, pool and ticket",
          _counting_first),
    _streamcluster("NUMA-8", 123), _streamcluster("Xeon Phi", 7),
    Claim("Hetland et al., figure 2", "with pthread, StreamCluster stops to scale at 32 threads on "
          "NUMA-8", _scaling_stops),
    Claim("Hetland et al., figure 3", "the tournament is the best for VCODE on all machines",
          _tournament_in_vcode),
    Claim("Hetland et al., figure 3", "an instruction takes two orders of magnitude more with the "
          "best barrier than without", _two_orders),
    Claim("Hetland et al., figure 6 (a)", "no path to the unit beats OMP significantly",
          _no_path_wins),
    Claim("Hetland et al., section 3.3", "communication takes more than 3,000 cycles",
          _communication),
    Claim("Hetland et al., section 3.3", "the limit of the link's parallelism compounds the "
          "latency", _queues),
    Claim("Hetland et al., figure 7", "with a near unit, over 3 times as fast as the best software",
          _projection),
    *(_structures(machine) for machine in of_barriers.ESTIMATES),
    Claim("Hetland et al., section 4.2", "an HBS is two orders of magnitude faster than software "
          "on NUMA-4", _two_orders_of_structures),
    _order_of_mechanisms("x64", "unicast", "figures 3, 8, 15"),
    _order_of_mechanisms("Xeon Phi", "unicast", "figures 3, 9"),
    _order_of_mechanisms("x64", "broadcast_last", "figures 4, 10, 16"),
    _order_of_mechanisms("Xeon Phi", "broadcast_last", "figures 4, 11"),
    _ratio("figure 3", "x64", "unicast", CONDITION, IPI, 16),
    _ratio("figure 3", "x64", "unicast", FUTEX, IPI, 16),
    _ratio("figure 3", "Xeon Phi", "unicast", CONDITION, IPI, 32),
    _ratio("figure 3", "Xeon Phi", "unicast", FUTEX, IPI, 16),
    _ratio("figure 4", "x64", "broadcast_last", CONDITION, IPI, 78),
    _ratio("figure 4", "x64", "broadcast_last", FUTEX, IPI, 30),
    _ratio("figure 4", "Xeon Phi", "broadcast_last", CONDITION, IPI, 4000),
    _ratio("figure 4", "Xeon Phi", "broadcast_last", FUTEX, IPI, 2000),
    _sigma("figure 5", "x64", CONDITION, IPI, 3),
    _sigma("figure 6", "Xeon Phi", CONDITION, IPI, 5),
    _ratio("figure 8", "x64", "unicast", CONDITION, KERNELS, 2, 1.35),
    _ratio("figure 8", "x64", "unicast", CONDITION, KICKED, 4),
    _ratio("figure 9", "Xeon Phi", "unicast", CONDITION, KERNELS, 2, 1.35),
    _ratio("figure 9", "Xeon Phi", "unicast", CONDITION, KICKED, 4),
    _ratio("figure 10", "x64", "broadcast_last", CONDITION, KICKED, 10),
    _ratio("figure 11", "Xeon Phi", "broadcast_last", CONDITION, KICKED, 16),
    _sigma("figure 12", "x64", CONDITION, KICKED, 1),
    _sigma("figure 13", "Xeon Phi", CONDITION, KICKED, 1),
    Claim("Hale and Dinda, figure 7", "an interrupt has knees at the distances in the chip, x64",
          _knees),
    _ratio("figure 15", "x64", "unicast", ACTION, IPI, 1.05, 1.1),
    _ratio("figure 16", "x64", "broadcast_last", ACTION, IPI, 1, 1.1),
    Claim("Hale and Dinda, figure 18", "an interrupt takes roughly 1,000 cycles more than a polled "
          "line, x64", _dearer_than_polling),
    _ratio("figure 20", "x64", "unicast", REMOTE, POLLED, 1),
    Claim("Naylor et al., figure 6", "hardware is 6 to 13 times as fast as the clock tree",
          _trips_range),
    Claim("Naylor et al., section V.B", "a round trip takes 2 L (x + y - 1) cycles", _formula),
    Claim("Naylor et al., figure 7", "the gain falls with vertices a thread and with fan-out",
          _gain_falls),
    _modes("pagerank", "the same messages either way", "messages", lambda r: abs(r - 1) < 0.001),
    _modes("heat", "the same messages either way", "messages", lambda r: abs(r - 1) < 0.001),
    _modes("pagerank", "slightly slower without steps", "seconds", lambda r: 1 < r < VALUE),
    _modes("heat", "slightly slower without steps", "seconds", lambda r: 1 < r < VALUE),
    _modes("sssp", "faster without steps", "seconds", lambda r: r < 1),
    _modes("mssp", "far more messages without steps", "messages", lambda r: r > 3),
    _modes("spiking", "far more messages without steps", "messages", lambda r: r > 3),
    Claim("Naylor et al., section V.F", "the order of arrival is not the worst one",
          _average_case),
)


def build_agreement(data: Dataset) -> Table:
    body, right = [], 0
    for claim in CLAIMS:
        checked = claim.check(data)
        if checked is None:
            continue
        words, agrees = checked
        right += agrees
        mark = Cell("agrees", kind="good") if agrees else Cell("does not agree", kind="bad")
        body.append([Cell(claim.place), Cell(claim.says), Cell(words), mark])
    heads = ["paper", "it says", "simulated", "verdict"]
    made = Table("", "", "", [], heads, body)
    if body:
        made.captions = [
            f"{right} of {len(body)} statements agree. A value agrees within a factor of {VALUE}, "
            f"a ratio within {RATIO:g} unless it is close to 1, a sigma from a third of the "
            "difference on, an order only if it is the same throughout.",
            "Nothing was fitted to the values of Hetland et al.; to those of Hale and Dinda only "
            "how far apart the background thread of a kernel's CPU yields, and to those of Naylor "
            "et al. the cycles of a message. Inputs from the papers are the limit of HARP's link, "
            "the ways to the structures, the parts of an interrupt, and the links between boards.",
        ]
        missing = len(CLAIMS) - len(body)
        if missing:
            made.missing = [f"{missing} statements need runs that these lines do not have."]
    return simulated.table(AGREEMENT, data, simulated.RUNS, made)


def build_choices(data: Dataset) -> Table:
    known = simulated.machines(data)
    advice = {
        (line["machine"], line["threads"]): line
        for line in simulated.of_type(data, "sim_advice")
        if line["machine"] in known
    }
    names = sorted({name for name, _ in advice}, key=lambda name: (known[name].cpus, name))
    usual = sorted({n for name, n in advice if n < known[name].cpus})
    heads = ["machine", *(f"{n} threads" for n in usual), "all CPUs"]
    body = []
    for name in names:
        machine = known[name]
        cells = [Cell(name, note=f"{machine.cpus} CPUs")]
        for threads in [*usual, machine.cpus]:
            line = advice.get((name, threads))
            if line is None or (threads != machine.cpus and threads >= machine.cpus):
                cells.append(Cell("–", kind="muted"))
                continue
            ratio = line["default_ns"] / line["ns"]
            note = f"{format_time(line['ns'])}; tutti::barrier {format_ratio(ratio)}"
            cells.append(
                Cell(line["barrier"].replace("_", " "), note=note, tint=max(ratio, 1.0))
            )
        body.append(cells)
    made = Table("", "", "", [], heads, body)
    if body:
        slow = sum(1 for line in advice.values() if line["default_ns"] > LOSS * line["ns"])
        made.captions = [
            f"tutti::barrier takes over {LOSS:g} times as long as the best in {slow} of "
            f"{len(advice)} cells; the darker, the longer. Algorithms such as dissemination, flags "
            "and trees need ranks, which tutti::barrier does without. docs/simulated-choices.md "
            "has more numbers of threads, reductions and teams.",
        ]
    return simulated.table(CHOICES, data, (simulated.CHOICES,), made)
