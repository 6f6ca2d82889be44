# SPDX-License-Identifier: Apache-2.0
"""Runs about messages, the refutable barrier and events: in one process, and between processes of
each MPI.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

from report.runs import Absent, Command, Programs, Run, bench, joined

PROCESSES = 2
BENCHMARKS = ("idle", "message")
# Each MPI's launcher, and how it starts two processes with a core each where there are two; Open
# MPI does that by itself.
LAUNCHERS: dict[str, Command] = {
    "openmpi": ("mpirun.openmpi", "--oversubscribe"),
    "mpich": ("mpirun.mpich", "-bind-to", "core"),
}


def runs(quick: bool, programs: Programs) -> list[Run]:
    few, many = [2, 4, 8], [16, 32, 64]
    threads = bench(
        programs, quick, "idle", "episodes of idle(), every detector, and hops of a token", 14,
        "idle", "--threads", joined(few), "--detectors", "all",
    )
    calls, seconds = threads.calls, threads.seconds
    if not quick:
        # By itself: a round of 64 threads is as long as twenty of two, and few rounds would be left
        # for all.
        wide = bench(
            programs, quick, "idle", "", 12, "idle", "--threads", joined(many), "--detectors", "all"
        )
        calls, seconds = calls + wide.calls, seconds + wide.seconds
    participants = few if quick else few + many
    fibers = bench(
        programs, quick, "idle", "", 4, "idle", "--fibers", joined(participants[1:]), "--detectors",
        "default",
    )
    return [
        replace(threads, seconds=seconds + fibers.seconds, calls=calls + fibers.calls),
        bench(
            programs, quick, "message", "small messages between threads", 8, "message", "--threads",
            joined(few),
        ),
        bench(
            # Long enough for 1,000 notifications of each kind.
            programs, quick, "event", "notifications of one thread and of eight",
            25 if quick else 72, "event",
            "--receivers", "1,8", "--waits", "adaptive,spin,park",
        ),
        # A quick report has no time for enough sweeps.
        *([] if quick else [_event_bounds(programs)]),
        Run(
            "pool", "tasks for a pool of idle threads", 0.5 if quick else 1,
            programs.workload("pool"),
            ((str(programs.workload("pool")), "3", "300" if quick else "1000"),),
        ),
        _processes(quick, programs),
    ]


def _event_bounds(programs: Programs) -> Run:
    seconds = 14
    call = (str(programs.tutti), "bench", "event", "--bounds", "--time", str(seconds), "--json")
    return Run(
        "event_bounds", "what events may take at most on two cores", seconds, programs.tutti,
        (call,),
    )


def _processes(quick: bool, programs: Programs) -> Run:
    calls: list[Command] = []
    absent: list[Absent] = []
    rounds = "5" if quick else "15"
    for family, launcher in LAUNCHERS.items():
        if shutil.which(launcher[0]) is None:
            absent += [
                Absent(name, family, f"{launcher[0]} is not installed") for name in BENCHMARKS
            ]
            continue
        start = (*launcher, *_as_root(family), "-n", str(PROCESSES), str(programs.tutti))
        calls += [(*start, "bench", name, "--rounds", rounds, "--json") for name in BENCHMARKS]
    seconds = (0.7 if quick else 1.5) * max(len(calls), 1)
    return Run(
        "processes", "the same between processes, beside MPI's own", seconds, programs.tutti,
        tuple(calls), absent=tuple(absent)
    )


def _as_root(family: str) -> Command:
    """Open MPI does not start anything for root unless told to; containers have nobody else."""
    return ("--allow-run-as-root",) if family == "openmpi" and os.geteuid() == 0 else ()
