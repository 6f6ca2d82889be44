# SPDX-License-Identifier: Apache-2.0
"""What a report measures: one run for each of its questions, each a few commands that print JSON
lines.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from pathlib import Path

from report import (
    plan_messages, plan_network, plan_programs, plan_simulated, situations, topology,
)
from report.runs import Command, Programs, Run, bench, joined

# The barriers of Berger and Stamatakis 2010, by tutti's names.
PAPER_BARRIERS = ("flags", "flags_padded", "recursive", "recursive_padded", "atomic", "mutex")
# Options of the likelihood program for each form of tables III and IV, by the name that it writes
# for them.
PAPER_SUMS = {
    **{f"{barrier}_plain": ("--barrier", barrier, "--sums", "plain") for barrier in PAPER_BARRIERS},
    "flags": ("--barrier", "flags"),
    "flags_padded": ("--barrier", "flags_padded"),
    "default_fan_2": ("--fan", "2"),
}
# The future work of Berger and Stamatakis: sets of cache lines, the first of one line, and how many
# lines a thread touches in a region.
ACCESS_SETS = ("64", "l1", "l2", "l3", "memory")
ACCESS_LINES = 1024
# Taxa and patterns of the paper's two alignments.
TABLE_3, TABLE_4 = (404, 7429), (1481, 1241)
SIMULATED_MODEL = "GTR{1,2.5,1,1,2.5,1}+F{0.3,0.2,0.2,0.3}+G4{0.7}"
# A cycle that gains less ends an optimisation: three cycles of the simulated alignments, where 1e-3
# would take seven.
SHORT_EPSILON = 1000
# Reads the output of bench/exact_cost.
SUMS = (sys.executable, "-m", "report.sums")
COMPARE = Path(__file__).parent.parent / "workloads" / "phylo" / "compare.py"
REAL_ALIGNMENT = Path("/usr/share/doc/iqtree/examples/example.phy")
RAXML = (
    "raxmlHPC-PTHREADS-AVX2", "raxmlHPC-PTHREADS-AVX", "raxmlHPC-PTHREADS-SSE3",
    "raxmlHPC-PTHREADS",
)


def thread_counts(cores: int) -> list[int]:
    """1, the powers of two, the number of cores, and beyond it up to 64 or four times the cores."""
    highest = max(64, 4 * cores)
    powers = {2**k for k in range(highest.bit_length()) if 2**k <= highest}
    return sorted(powers | {cores})


def plan(cores: int, quick: bool, programs: Programs, long: bool = False) -> list[Run]:
    """Half an hour of measuring, or less than two when quick; when long, half an hour more."""
    return [
        *_barriers(cores, quick, programs), *_runtimes(quick, programs),
        *situations.runs(cores, quick, programs), _synthetic(cores, quick, programs),
        _access(cores, quick, programs),
        _pinning(quick, programs),
        _phylo("phylo_404", TABLE_3, 250 if long else 20, cores, quick, programs, long),
        _phylo("phylo_1481", TABLE_4, 420 if long else 20, cores, quick, programs, long),
        *([] if quick else [_counts(cores, programs)]), _sums(quick, programs),
        _comparison(quick, programs), _streamcluster(cores, quick, programs),
        *([_native(cores, programs), _unoptimised(cores, programs)] if long else []),
        *plan_messages.runs(quick, programs), *plan_programs.runs(cores, quick, programs, long),
        plan_network.run(quick, programs), *plan_simulated.runs(quick, programs, long),
    ]


def _barriers(cores: int, quick: bool, programs: Programs) -> list[Run]:
    counts = thread_counts(cores)
    free = [n for n in counts if 1 < n <= cores] or [2]
    crowded = [n for n in (4, 8, 16, 64) if n > cores] or [2 * cores, 4 * cores]
    if quick:
        counts, crowded = [n for n in counts if n <= 4 * cores], crowded[:2]
    loop = ("--metric", "loop")
    # The defaults always wait adaptively; the fixed waits are shown on the simplest algorithm.
    waits = ("--algorithms", "default,default_rankless,ticket", "--wait", "all")
    two = ("--threads", "2", *waits)
    late = ("--scenario", "free,skew_500ns,skew_10us", "--metric", "last_in_last_out")

    def run(name: str, question: str, seconds: float, *options: str) -> Run:
        return bench(programs, quick, name, question, seconds, "barrier", *options)

    return [
        run(
            "threads",
            "cost against the number of threads",
            40,
            "--threads",
            joined(counts),
            "--algorithms",
            "all",
            *loop,
        ),
        run(
            "latency",
            "last-in to last-out under random skew",
            18,
            "--threads",
            joined(sorted({2, free[-1]})),
            "--algorithms",
            "all",
            *late,
        ),
        run(
            "oversubscription", "more threads than cores, every wait policy", 22, "--threads",
            joined(crowded), *waits, *loop,
        ),
        run(
            "neighbour", "a busy neighbour on one core, and on every core", 28, "--threads", "2,4",
            *waits, "--neighbour", "one,all", *loop,
        ),
        run(
            "imbalance", "one participant late by 10 µs and by 1 ms", 12, *two, "--imbalance",
            "10us,1ms",
        ),
        run("unpinned", "threads that are not pinned", 7, *two, "--pin", "none", *loop),
    ]


def _runtimes(quick: bool, programs: Programs) -> list[Run]:
    # Numbers of threads and of ranks are the command's own: multiples of the cores.
    algorithms = ("--algorithms", "default,flags,recursive")
    shown = ("--kind", "barrier,reduce2")
    return [
        bench(
            programs, quick, "regions", "parallel regions, empty and with a sum of two doubles", 26,
            "team", *algorithms,
        ),
        bench(
            programs, quick, "reductions", "sums inside a region, beside the barrier alone", 20,
            "reduce", *algorithms, *shown,
        ),
    ]


def _synthetic(cores: int, quick: bool, programs: Programs) -> Run:
    program, seconds = programs.workload("synthetic"), 0.8 if quick else 7.0
    calls = [
        (
            str(program), "--length", length, "--threads", str(max(2, cores)), "--seconds",
            f"{seconds:g}", "--json",
        )
        for length in ("0", "10000")
    ]
    return Run(
        "synthetic", "the synthetic workload of Berger and Stamatakis 2010", seconds * len(calls),
        program, tuple(calls),
    )


def _unoptimised(cores: int, programs: Programs) -> Run:
    """As the paper compiled its programs; `make unoptimised` makes this one."""
    program = programs.tutti.parent / "unoptimised" / "tutti-synthetic"
    call = (
        str(program), "--length", "0", "--threads", str(max(2, cores)), "--peers", "none",
        "--seconds", "7", "--json",
    )
    return Run(
        "synthetic_unoptimised", "regions without work, compiled by -O0", 7, program, (call,)
    )


def _access(cores: int, quick: bool, programs: Programs) -> Run:
    program, seconds = programs.workload("synthetic"), 1.0 if quick else 20.0
    call = (
        str(program), "--set", ",".join(ACCESS_SETS), "--lines", str(ACCESS_LINES), "--threads",
        str(max(2, cores)), "--peers", "none", "--seconds", f"{seconds:g}", "--json",
    )
    question = "regions after work on each level of the caches"
    return Run("access", question, seconds, program, (call,))


def _phylo(
    name: str, shape: tuple[int, int], seconds: float, cores: int, quick: bool, programs: Programs,
    long: bool = False,
) -> Run:
    """As in the paper, five times until convergence, when long."""
    taxa, patterns = shape
    made, optimise = _optimisation(name, shape, cores, programs)
    if not long:
        optimise = (*optimise, "--epsilon", str(SHORT_EPSILON))
    calls: list[Command] = []
    order = random.Random(1)
    for _ in range(1 if quick else 5 if long else 3):
        forms: list[tuple[str, ...]] = [(), *PAPER_SUMS.values()]
        order.shuffle(forms)
        calls += [(*optimise, *form) for form in forms]
    question = (
        f"branch lengths of {taxa} taxa x {patterns} patterns, every barrier of Berger and "
        "Stamatakis 2010"
    )
    return Run(
        name, question, seconds / (3 if quick else 1), programs.workload("phylo"), tuple(calls),
        (made,),
    )


def _optimisation(
    name: str, shape: tuple[int, int], cores: int, programs: Programs
) -> tuple[Command, Command]:
    """What makes the alignment and the tree, and one optimisation until convergence."""
    program, data = str(programs.workload("phylo")), str(programs.scratch / name)
    taxa, patterns = (str(value) for value in shape)
    made = (
        program, "simulate", "--taxa", taxa, "--patterns", patterns, "--seed", "1", "--model",
        SIMULATED_MODEL, "--output", data,
    )
    optimise = (
        program, "optimize", "--alignment", f"{data}.phy", "--tree", f"{data}.nwk", "--model",
        SIMULATED_MODEL, "--threads", str(max(2, cores)), "--repeat", "1", "--json",
    )
    return made, optimise


def _counts(cores: int, programs: Programs) -> Run:
    """A region for each step until convergence, once: the counts are the same each time."""
    shapes = {"counts_404": TABLE_3, "counts_1481": TABLE_4}
    both = [_optimisation(name, shape, cores, programs) for name, shape in shapes.items()]
    return Run(
        "phylo_counts", "barriers of an optimisation until convergence", 15,
        programs.workload("phylo"),
        tuple((*optimise, "--regions", "separate") for _, optimise in both),
        tuple(made for made, _ in both),
    )


def _pinning(quick: bool, programs: Programs) -> Run:
    program, seconds = programs.workload("synthetic"), 0.6 if quick else 3.0
    found = topology.pairs(sorted(os.sched_getaffinity(0))) or [(0, 0)]
    calls = tuple(
        (
            str(program), "--threads", "2", "--barrier", "flags_padded", "--wait", "spin",
            "--peers", "none", "--pin", f"{first},{second}", "--seconds", f"{seconds:g}", "--json",
        )
        for first, second in found
    )
    return Run("pinning", "two threads near and far", seconds * len(calls), program, calls)


def _sums(quick: bool, programs: Programs) -> Run:
    program = programs.tutti.parent / "bench" / "exact_cost"
    call = (*SUMS, str(program))
    question = "sums in any order, beside plain ones"
    return Run("sums", question, 0.5 if quick else 8, program, (call,))


def _native(cores: int, programs: Programs) -> Run:
    program = programs.workload("streamcluster")
    call = (
        str(program), "--input", "native", "--threads", str(max(2, cores)), "--barrier",
        "default,counting,pthread", "--repeat", "1", "--json",
    )
    return Run("streamcluster_native", "StreamCluster with its native input", 600, program, (call,))


def real_alignment() -> bool:
    """Whether the comparison can use the real alignment: RAxML finds its tree and model."""
    return REAL_ALIGNMENT.is_file() and any(shutil.which(name) for name in RAXML)


def _comparison(quick: bool, programs: Programs) -> Run:
    data = "example" if real_alignment() else "150"
    call = [sys.executable, str(COMPARE), "--build", str(programs.tutti.parent), "--data", data]
    call += ["--threads", "2"] if quick else ["--threads", "1,2", "--neighbour"]
    call += ["--rounds", "1", "--repeat", "5"]
    question = "branch lengths beside RAxML and libpll"
    return Run(
        "phylo_peers", question, 8 if quick else 20, programs.workload("phylo"), (tuple(call),)
    )


def _streamcluster(cores: int, quick: bool, programs: Programs) -> Run:
    program = programs.workload("streamcluster")
    counts = sorted({1, 2, cores, 2 * cores, 4 * cores})
    barriers, repeat = ("default,central,pthread,std", "1") if quick else ("all", "3")
    call = (
        str(program), "--input", "simsmall", "--threads", joined(counts), "--barrier", barriers,
        "--repeat", repeat, "--json",
    )
    return Run(
        "streamcluster", "StreamCluster with every barrier", 3 if quick else 20, program, (call,)
    )
