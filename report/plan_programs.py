# SPDX-License-Identifier: Apache-2.0
"""Runs of the two execution models: graph applications, and the vector machine."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from report import granularity, registry
from report.papers import VECTOR_PROGRAMS
from report.runs import Command, Programs, Run, joined

PROGRAMS = Path(__file__).parent.parent / "vcode" / "tests" / "programs" / "nesl-compiled"

# Figure 8's applications and how long each runs.
APPLICATIONS: dict[str, Command] = {
    "pagerank": ("--iterations", "20"), "heat": ("--iterations", "20"), "mssp": ("--sources", "64"),
    "spiking": ("--iterations", "100"), "sssp": (),
}
# Versions of each graph, by seeds; as many as in the paper.
SEEDS = 5
MODES = ("sequential", "sync", "async")
FIGURE_8 = "geometric:vertices=20000,degree=20"
WEIGHTED = ("sssp",)
# Figure 7's application with every detector, on graphs of so many vertices.
FIGURE_7 = ("heat", "sync")
SIZES = (64, 1024, 16384)
# Vertices times steps, so that each run takes about as long.
WORK = 1 << 20
# The default is the counter, unless there are many threads.
DETECTORS = ("default", *(name for name in registry.DETECTORS if name != "counter"))
# Section V.F: the chain of components on which shortest paths are exponential with the newest news
# first, and the usual graphs; in both orders, and in steps.
COMPONENTS = (4, 8, 12, 16, 20)
AVERAGE_SIZES = (250, 500, 1000, 2000, 4000)
AVERAGE_GRAPH = "geometric:vertices={},degree=20,weights=integer"
ORDERS = (("async", "fifo"), ("async", "lifo"), ("sync", "fifo"))
# 10^8 edges, each in both directions; some 10 GB.
LARGE_GRAPH = "kron:scale=22,degree=24"
CEILING_GRAPHS = ("kron:scale=16,degree=16", "geometric:vertices=100000,degree=20")
# Barriers of figure 3: the default, one of each family, and the mutex.
INSTRUCTION_BARRIERS = "default,counting,ticket,flags,combining,mcs,dissemination,tournament,mutex"


def runs(cores: int, quick: bool, programs: Programs, long: bool = False) -> list[Run]:
    threads = max(2, cores)
    return [
        _graphs(threads, quick, programs), _detectors(threads, quick, programs),
        _worst_case(quick, programs), _ceiling(threads, quick, programs),
        *([_large_graph(threads, programs)] if long else []),
        _instruction(cores, quick, programs), _granularity(quick, programs),
        _vcode(quick, programs),
    ]


def _shuffled(calls: list[Command], seeds: int) -> tuple[Command, ...]:
    """Each call once for each version of its graph, in another order each time."""
    order, made = random.Random(1), []
    for seed in range(1, seeds + 1):
        order.shuffle(calls)
        made += [_with_seed(call, seed) for call in calls]
    return tuple(made)


def _with_seed(call: Command, seed: int) -> Command:
    """The graph is the fourth word of a call."""
    return (*call[:3], f"{call[3]},seed={seed}", *call[4:])


def _graph(
    programs: Programs, application: str, graph: str, threads: int, mode: str, *options: str
) -> Command:
    return (
        str(programs.tutti), "graph", application, graph, "--threads", str(threads), "--mode", mode,
        *options, "--json",
    )


def _graphs(threads: int, quick: bool, programs: Programs) -> Run:
    graph = FIGURE_8.replace("20000", "5000") if quick else FIGURE_8
    calls = [
        _graph(
            programs, application, graph + (",weights=integer" if application in WEIGHTED else ""),
            threads, mode, *options,
        )
        for application, options in APPLICATIONS.items()
        for mode in MODES
    ]
    question = "graph applications: synchronous, asynchronous, a plain loop"
    return Run(
        "graphs", question, 2 if quick else 10, programs.tutti,
        _shuffled(calls, 1 if quick else SEEDS),
    )


def _detectors(threads: int, quick: bool, programs: Programs) -> Run:
    application, mode = FIGURE_7
    calls: list[Command] = []
    for size in SIZES:
        steps = ("--iterations", str(WORK // size))
        graph = f"geometric:vertices={size},degree=20"
        for detector in DETECTORS:
            chosen = () if detector == "default" else ("--detector", detector)
            calls.append(_graph(programs, application, graph, threads, mode, *steps, *chosen))
    question = "an application with every detector"
    return Run(
        "detectors", question, 2 if quick else 10, programs.tutti,
        _shuffled(calls, 1 if quick else SEEDS),
    )


def _worst_case(quick: bool, programs: Programs) -> Run:
    """On one thread, where the messages of each order are the same in every run."""
    largest = AVERAGE_SIZES[:3] if quick else AVERAGE_SIZES
    average = [
        _graph(programs, "sssp", AVERAGE_GRAPH.format(size), 1, mode, "--order", order)
        for size in largest
        for mode, order in ORDERS
    ]
    worst = tuple(
        _graph(programs, "sssp", f"detours:components={n}", 1, mode, "--order", order)
        for n in (COMPONENTS[:3] if quick else COMPONENTS)
        for mode, order in ORDERS
    )
    question = "shortest paths, newest or oldest news first: the worst case and the average"
    return Run(
        "worst_case", question, 0.3 if quick else 20, programs.tutti,
        (*worst, *_shuffled(average, 1 if quick else SEEDS)),
    )


def _ceiling(threads: int, quick: bool, programs: Programs) -> Run:
    program, rounds = programs.workload("graph-compare"), "1" if quick else "5"
    graphs = CEILING_GRAPHS[:1] if quick else CEILING_GRAPHS
    calls = tuple(_compared(program, graph, threads, "10", rounds) for graph in graphs)
    return Run(
        "graph_ceiling", "PageRank and shortest paths beside shared memory", 1 if quick else 8,
        program, calls,
    )


def _compared(program: Path, graph: str, threads: int, iterations: str, rounds: str) -> Command:
    return (
        str(program), graph, "--threads", str(threads), "--iterations", iterations, "--rounds",
        rounds,
    )


def _large_graph(threads: int, programs: Programs) -> Run:
    program = programs.workload("graph-compare")
    call = _compared(program, LARGE_GRAPH, threads, "5", "1")
    return Run(
        "graph_large", "PageRank and shortest paths on 10^8 edges", 150, program, (call,)
    )


def _instruction(cores: int, quick: bool, programs: Programs) -> Run:
    free = sorted({2, cores})
    crowded = sorted({2 * cores} if quick else {2 * cores, 4 * cores})
    calls = [
        (
            str(programs.tutti), "bench", "instruction", "--threads", joined(threads),
            "--algorithms", INSTRUCTION_BARRIERS,
            "--rounds", "2" if quick else rounds, "--count", count, "--json",
        )
        # Where threads outnumber cores, some barriers take a hundred times as long.
        for threads, rounds, count in ((free, "5", "4000"), (crowded, "3", "500"))
    ]
    question = "an instruction of the vector machine with every barrier"
    return Run("instruction", question, 4 if quick else 12, programs.tutti, tuple(calls))


def _granularity(quick: bool, programs: Programs) -> Run:
    folder = programs.scratch / "granularity"
    made = (sys.executable, "-m", "report.granularity", str(folder))
    call = (
        str(programs.tutti), "bench", "vcode", *map(str, granularity.files(folder)), "--threads",
        "1,2", "--engines", "spmd,lazy", "--memory", "kept", "--rounds", "1" if quick else "7",
        "--json",
    )
    question = "vector instructions on few and on many elements"
    return Run(
        "granularity", question, 0.1 if quick else 6, programs.tutti, (call,), (made,)
    )


def _vcode(quick: bool, programs: Programs) -> Run:
    files = tuple(str(PROGRAMS / f"{name}.vcode") for name in VECTOR_PROGRAMS)
    call = (
        str(programs.tutti), "bench", "vcode", *files, "--threads", "1,2", "--engines", "lazy",
        "--memory", "fresh,kept",
        "--rounds", "1" if quick else "3", "--json",
    )
    return Run(
        "vcode", "programs for the vector machine", 4 if quick else 11, programs.tutti, (call,)
    )
