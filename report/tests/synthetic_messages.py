# SPDX-License-Identifier: Apache-2.0
"""Plausible lines of messages, processes, graphs, the vector machine and the hardware flow. Never
shown as measured.
"""

from __future__ import annotations

import random
from typing import Any

from report.granularity import additions
from report.papers import VECTOR_PROGRAMS

CORES = 2
FLOOR = 27.4
DETECTORS = [
    ("default", 1.0), ("counter", 1.0), ("snapshot", 1.6), ("star", 4.0), ("tree", 4.5),
    ("ring", 9.0), ("waves", 7.0),
]
QUEUES = [
    ("boost", "lockfree_spsc", 50.0), ("tbb", "concurrent_queue", 300.0),
    ("std", "mutex_condvar", 90.0),
]
Line = dict[str, Any]


def spread(median: float) -> Line:
    return {
        "unit": "ns", "min": median * 0.9, "p25": median * 0.96, "median": median,
        "p75": median * 1.05, "p99": median * 1.6,
    }


def result(
    benchmark: str, provider: str, name: str, metric: str, threads: int, median: float, **more: Any
) -> Line:
    return {
        "type": "result", "benchmark": benchmark, "provider": provider, "name": name,
        "threads": threads, "cores": CORES,
        "pinned": True, "scenario": "free", "metric": metric, "samples": 11,
    } | spread(median) | more


def in_one_process() -> list[Line]:
    made = []
    for n in (2, 4, 8, 16, 32, 64):
        slower = 1.0 if n <= CORES else 6.0 * n
        of_floor = {"floor": "line_one_way", "floor_median": FLOOR}
        for name, factor in DETECTORS:
            for metric, base in (("empty_episode", 140.0), ("message_each", 420.0)):
                median = base * factor * slower
                made.append(
                    result(
                        "idle", "tutti", name, metric, n, median, **of_floor,
                        ratio_median=median / FLOOR,
                    )
                )
            made.append(
                result(
                    "hop", "tutti", name, "hop", n, 180.0 * (1 if n <= CORES else 20), **of_floor
                )
            )
        for provider, median in (("std", 610.0), ("pthread", 15000.0)):
            made.append(
                result("idle", provider, "barrier", "empty_episode", n, median * slower, **of_floor)
            )
        made.append(
            result("idle", "clock_tree", "sampled", "empty_episode", n, 900.0 * slower, **of_floor)
        )
        made.append(
            result("idle", "clock_tree", "messages", "empty_episode", n, 420.0 * slower, **of_floor)
        )
        for provider, name, median in (
            ("tutti", "default", 90.0), ("clock_tree", "sampled", 300.0),
        ):
            fibers = {"scenario": "fibers", "pinned": False}
            made.append(
                result("idle", provider, name, "empty_episode", n, median * n, **of_floor, **fibers)
            )
        made.append(result("hop", "std", "mutex_condvar", "hop", n, 30000.0, **of_floor))
        if n <= 8:
            for metric, median in (
                ("random_8_bytes", 5.4), ("others_8_bytes", 4.3), ("others_64_bytes", 21.0),
            ):
                made.append(
                    result(
                        "message", "tutti", "default", metric, n, median,
                        messages_per_second=1e9 / median,
                    )
                )
            for provider, name, median in QUEUES:
                for metric in ("others_8_bytes", "others_64_bytes"):
                    made.append(result("message", provider, name, metric, n, median))
    return made


def between_processes(machine: Line) -> list[Line]:
    made = []
    for family, slower in (("openmpi", 1.0), ("mpich", 1.3)):
        made.append(machine | {"mpi": family})
        for name, factor in (("shared", 1.0), ("packets", 4.0)):
            for benchmark, metric, median in (
                ("idle", "empty", 230.0), ("idle", "one_message", 640.0),
                ("message", "random", 8.0), ("hop", "one_way", 180.0),
            ):
                median *= factor
                made.append(
                    result(
                        benchmark, "tutti", name, metric, 1, median, processes=2, mpi=family,
                        wait="adaptive",
                    )
                )
        for benchmark, name, metric, median in (
            ("idle", "MPI_Barrier", "empty", 340.0), ("idle", "MPI_Ibarrier", "empty", 420.0),
            ("idle", "MPI_Allreduce", "empty", 370.0), ("idle", "NBX", "one_message", 1900.0),
            ("message", "MPI_Isend", "next", 57.0), ("hop", "MPI_Send", "one_way", 260.0),
        ):
            made.append(
                result(
                    benchmark, family, name, metric, 1, median * slower, processes=2, mpi=family,
                    wait="own",
                )
            )
    return made


def graph_run(
    application: str, mode: str, seconds: float, messages: int, vertices: int,
    detector: str = "default",
) -> Line:
    alone = mode == "sequential"
    more = {
        "application": application, "graph": f"geometric:vertices={vertices}", "vertices": vertices,
        "edges": 20 * vertices, "mode": mode, "participants": 0 if alone else 2,
        "detector": detector,
        "time_steps": 20, "messages": 0 if alone else messages, "seconds": seconds, "samples": 1,
    }
    time = dict.fromkeys(("min", "median", "p99"), seconds * 1e9)
    return result("graph", "tutti", mode, "wall", 1 if alone else 2, seconds * 1e9, **more) | time


def graphs(rng: random.Random) -> list[Line]:
    made = []
    for _ in range(3):
        for application, sync, other in (
            ("pagerank", 8_000_000, 8_000_000), ("heat", 8_000_000, 8_000_000),
            ("mssp", 3_000_000, 38_000_000),
            ("spiking", 180_000, 39_000_000), ("sssp", 14_000_000, 8_000_000),
        ):
            for mode, seconds, messages in (
                ("sequential", 0.03, 0), ("sync", 0.04, sync),
                ("async", 0.02 if application == "sssp" else 0.2, other),
            ):
                made.append(
                    graph_run(application, mode, seconds * rng.uniform(0.98, 1.02), messages, 20000)
                )
    return made


def detectors() -> list[Line]:
    return [
        graph_run(
            "heat", "sync", (0.01 + vertices * 1e-5) + 0.01 * (factor - 1), 20 * vertices, vertices,
            name,
        )
        for vertices in (64, 1024, 16384)
        for name, factor in DETECTORS
        if name != "counter"
    ]


def worst_case() -> list[Line]:
    """Shortest paths on one thread: the worst case, and five graphs of each size in the plane."""
    made = []
    for mode, order in (("async", "fifo"), ("async", "lifo"), ("sync", "fifo")):
        for n in (4, 8, 20):
            sent = 3 * (2**n - 1) if order == "lifo" else 3 * n
            run = graph_run("sssp", mode, 0.001, sent, 2 * n + 1)
            made.append(run | {"order": order, "graph": f"detours:components={n}", "edges": 3 * n})
        for n in (250, 4000):
            for seed in range(1, 6):
                each = 2 * n / 25 if order == "lifo" else 3
                run = graph_run("sssp", mode, 0.001, round(each * 20 * n) + 100 * (seed - 3), n)
                made.append(run | {"order": order, "graph": f"{run['graph']},seed={seed}"})
    return [line | {"threads": 1, "participants": 1} for line in made]


def ceilings() -> list[Line]:
    made: list[Line] = []
    for graph in ("kron:scale=16,degree=16", "geometric:vertices=100000,degree=20"):
        for benchmark, times in (
            ("pagerank", {"pull": 0.007, "sync": 0.012, "async": 0.1, "sequential": 0.02}),
            ("sssp", {"delta_stepping": 0.012, "sync": 0.012, "async": 0.018, "sequential": 0.026}),
        ):
            for name, seconds in times.items():
                made.append(
                    {
                        "type": "result", "benchmark": benchmark, "name": name, "unit": "ns",
                        "metric": "wall", "threads": 2,
                        "provider": "ceiling" if name in ("pull", "delta_stepping") else "tutti",
                        "graph": graph, "vertices": 65536, "edges": 2096655,
                        "min": seconds * 0.95e9, "median": seconds * 1e9, "max": seconds * 1.2e9,
                        "samples": 5,
                        "edges_per_second": 2e6 / seconds,
                    }
                )
    return made


def granularity() -> list[Line]:
    """Chains of additions: two threads pay from 4,096 elements on, in engine lazy always."""
    made = []
    for elements in (64, 4096, 65536):
        for engine, barrier in (("spmd", 400.0), ("lazy", 0.0)):
            for threads in (1, 2):
                one = elements * 0.25 / threads + (barrier if threads > 1 else 0.0)
                made.append(
                    result(
                        "vcode", "tutti", engine, "run", threads, one * additions(elements),
                        program=f"double_{elements}", samples=3, scenario="kept",
                    )
                )
    return made


def instructions() -> list[Line]:
    made = []
    for threads in (2, 4, 8):
        for provider, name, wait, ns in (
            ("ideal", "no barrier", "", 8), ("tutti", "default", "adaptive", 80),
            ("tutti", "ticket", "adaptive", 90),
            ("pthread", "pthread_barrier", "", 8000), ("libgomp", "active", "", 200),
        ):
            for metric in ("stack", "vector"):
                made.append(
                    result(
                        "instruction", provider, name, metric, threads, ns, wait=wait,
                        cycles_median=ns * 2.6,
                    )
                )
    return made


def vector_programs() -> list[Line]:
    made = []
    for name in VECTOR_PROGRAMS:
        alone = {"quicksort_1e6": 3.4e8, "bh_det": 2e6}.get(name, 1e8)
        two = alone / (1.0 if name in ("bh_det", "batcher_65536") else 1.8)
        for threads, median in ((1, alone), (2, two)):
            for scenario in ("fresh_memory", "kept_memory"):
                made.append(
                    result(
                        "vcode", "tutti", "lazy", "run", threads, median, program=name,
                        instructions=1000, samples=3, scenario=scenario,
                    )
                )
    made.append(result("vcode", "plain", "loop", "run", 1, 1e7, program="dotp_1e7", samples=3))
    return made


def hardware() -> list[Line]:
    made: list[Line] = [{"type": "hardware_run", "made": "2026-01-01 00:00 UTC"}]
    for columns, rows in ((2, 2), (6, 8)):
        made.append(
            {
                "type": "cycles", "unit": "detector", "simulation": "measure", "Columns": columns,
                "Rows": rows, "master": "origin",
                "formula": 300 * (columns + rows - 1), "detect": 310 * (columns + rows - 1),
                "loaded": 330 * (columns + rows - 1),
                "tree_16": 2480 * (columns + rows - 1), "tree_80": 3100 * (columns + rows - 1),
            }
        )
    for topology in ("ring", "tree"):
        for nodes in (2, 8):
            made.append(
                {
                    "type": "cycles", "unit": "innetwork", "simulation": "measure",
                    "measure": "barrier", "gigabit": False,
                    "topology": topology, "nodes": nodes, "late_best": 10, "late_worst": 30 * nodes,
                    "late_own_worst": 25 * nodes, "together": 20 * nodes,
                }
            )
    made.append(
        {
            "type": "cycles", "unit": "innetwork", "simulation": "measure",
            "measure": "as_in_the_paper", "gigabit": True, "p_cycles": 90.0, "p_us": 0.72,
        }
    )
    for sockets, local, link, l3, last in (
        (1, 16, 1, 20, 21), (4, 16, 368, 20, 390), (4, 28, 440, 38, 481),
    ):
        made.append(
            {
                "type": "cycles", "unit": "hbs", "simulation": "measure", "Sockets": sockets,
                "Local": local, "LinkLatency": link, "participants": sockets * local,
                "l3_cycles": l3, "first": last, "last": last, "last_together": last + 15,
            }
        )
    for name, distance, cycles in (("barwait", 0, 16), ("barwait", 9, 34), ("central", 0, 128)):
        for cores in (4, 16):
            made.append(
                {
                    "type": "result", "provider": "isa" if name == "barwait" else "software",
                    "name": name, "threads": cores, "scenario": "near_banks", "metric": "loop",
                    "unit": "cycles", "memory_latency": 20, "unit_distance": distance,
                    "median": cycles,
                }
            )
    for name, cycles in (
        ("none", 7), ("central", 200), ("dissemination", 150), ("structure", 30), ("mask", 29),
        ("counting_unit", 80), ("barwait", 29),
    ):
        for cores, metric in ((4, "one_late"), (16, "one_late"), (16, "together")):
            line = {
                "type": "result", "benchmark": "machine_barrier", "name": name, "metric": metric,
                "provider": "tutti" if name in ("central", "dissemination") else "isa",
                "threads": cores, "cores": cores, "sockets": 1, "unit": "cycles",
                "unit_distance": 10 if cycles < 100 and name != "none" else 0,
                "min": cycles, "median": cycles + cores, "max": cycles + cores, "samples": 8,
            }
            if name in ("structure", "mask", "counting_unit"):
                line["unit_link"] = 0
            made.append(line)
    for unit in ("counting", "mask"):
        for stage in ("lint", "prove", "simulate"):
            made.append(
                {
                    "type": "hardware", "unit": unit, "stage": stage, "name": f"{unit} {stage}",
                    "status": "passed",
                }
            )
        for threads in (4, 16, 28):
            made.append(
                {
                    "type": "hardware", "unit": unit, "stage": "synthesise",
                    "name": f"{unit} {threads}", "status": "passed",
                    "top": f"tutti_{unit}_unit", "target": "ecp5",
                    "parameters": {"Threads": threads}, "luts": 100 + 9 * threads,
                    "flip_flops": 50 + 3 * threads, "carries": 4, "longest_path_cells": 20,
                }
            )
        for size in (4, 28):
            for n in range(1, size + 1):
                for departure in ("csr", "line"):
                    made.append(
                        {
                            "type": "cycles", "unit": unit, "simulation": "measure",
                            "Threads": size, "participants": n,
                            "arrival": "csr", "departure": departure, "cycles": 2 * n,
                            "cycles_again": 2.0 * n,
                        }
                    )
    return made
