# SPDX-License-Identifier: Apache-2.0
"""Plausible lines of regions, reductions and workloads, with the keys that the programs write.
Never shown as measured.
"""

from __future__ import annotations

import random
from typing import Any

CORES = 2
PAPER_BARRIERS = "flags flags_padded recursive recursive_padded atomic mutex".split()
PAPER_SUMS = [f"{barrier}_plain" for barrier in PAPER_BARRIERS] + [
    "flags", "flags_padded", "default_fan_2",
]
REGION_PEERS = [
    ("libgomp", "default", 546), ("libgomp", "active", 550), ("libgomp", "passive", 21000),
    ("libomp", "default", 393),
    ("tbb", "parallel_for", 1300), ("forkunion", "yields", 640), ("forkunion", "spins", 210),
    ("eigen", "thread pool", 300),
    ("rayon", "inside", 980), ("rayon", "outside", 12500),
    ("pthread", "pthread_barrier pool", 15000), ("mutex_condvar", "mutex+condvar pool", 17000),
    ("std_thread", "std::thread", 40000),
]
REDUCE_PEERS = [
    ("libgomp", "default", 317), ("libomp", "default", 390), ("openmpi", "default", 201),
    ("pthread", "pthread_barrier", 14500),
    ("std", "std::barrier", 640),
]
TEAMS = [("default", 60), ("flags", 75), ("recursive", 78)]


def _spread(median: float) -> dict[str, Any]:
    return {
        "unit": "ns", "min": median * 0.9, "p25": median * 0.96, "median": median,
        "p75": median * 1.05, "p99": median * 1.6,
    }


def _runtime(
    benchmark: str, kind: str, provider: str, name: str, shape: tuple[int, int], median: float,
    ratios: tuple[float, float | None]
) -> dict[str, Any]:
    threads, ranks = shape
    floor = 27.4 if threads <= CORES else 900.0 * threads
    over_default, over_barrier = ratios
    return {
        "type": "result", "benchmark": benchmark, "kind": kind, "provider": provider, "name": name,
        "wait": "adaptive" if provider == "tutti" else "", "threads": threads, "ranks": ranks,
        "cores": CORES, "pinned": True,
        "pin": "core", "scenario": "free", "metric": "loop", "samples": 40, "rounds": 5,
        "rounds_flagged": 0,
        "floor": "line_one_way" if threads <= CORES else "yield_rotation", "floor_median": floor,
        "ratio_median": median / floor,
        "over_default_median": over_default, "over_barrier_median": over_barrier,
    } | _spread(median)


def runtimes(rng: random.Random) -> list[dict[str, Any]]:
    made = []
    for benchmark, kinds, peers in (
        ("region", ("empty", "reduce2"), REGION_PEERS),
        ("reduce", ("barrier", "reduce1", "reduce2", "reduce8"), REDUCE_PEERS),
    ):
        plain = kinds[0]
        for shape in ((2, 2), (4, 4), (8, 8), (2, 8), (2, 64)):
            crowded = 1.0 if shape[0] <= CORES else 40.0 * shape[0]
            fibers = shape[1] / shape[0] if shape[1] > shape[0] else 1.0
            contenders = [("tutti", name, base) for name, base in TEAMS] + (
                [] if shape[1] > shape[0] else peers
            )
            for kind in kinds:
                for provider, name, base in contenders:
                    dearer = 1.0 if kind == plain else 1.15
                    median = (
                        base
                        * crowded
                        * (1 + 0.3 * fibers if fibers > 1 else 1)
                        * dearer
                        * rng.uniform(0.98, 1.02)
                    )
                    over_barrier = None if benchmark == "region" or kind == plain else dearer
                    made.append(
                        _runtime(
                            benchmark, kind, provider, name, shape, median,
                            (base / TEAMS[0][1], over_barrier),
                        )
                    )
    made.append(
        {
            "type": "skipped", "benchmark": "reduce", "provider": "mpich",
            "reason": "built with another MPI",
        }
    )
    return made


def tables_1_and_2(rng: random.Random) -> list[dict[str, Any]]:
    made = []
    contenders = [("tutti", "default", 58)] + [
        ("tutti", name, 70 + 8 * i) for i, name in enumerate(PAPER_BARRIERS)
    ]
    contenders += [
        ("libgomp", "default", 540), ("tbb", "parallel_for", 1250),
        ("std_thread", "std::thread", 41000),
    ]
    for length, work, regions in ((0, 0, 10_000_000), (10000, 9000, 100_000)):
        for provider, name, base in contenders:
            made.append(
                {
                    "type": "result", "benchmark": "synthetic", "provider": provider, "name": name,
                    "wait": "adaptive" if provider == "tutti" else "", "threads": 2, "cores": CORES,
                    "pinned": True,
                    "pin": "core", "scenario": "free", "metric": "region", "samples": 40,
                    "rounds": 5, "rounds_flagged": 0,
                    "length": length, "regions": regions,
                } | _spread((base + work) * rng.uniform(0.98, 1.02))
            )
    return made


def walks() -> list[dict[str, Any]]:
    """tutti-synthetic --set: every barrier after work on each level of the caches."""
    made = []
    for access, more in (("stream", 1.0), ("random", 1.1)):
        for level, size in enumerate(("64", "l1", "l2", "l3", "memory")):
            for place, name in enumerate(("default", *PAPER_BARRIERS)):
                median = (200 + 20 * level) * more * (1 + 0.1 * place)
                made.append(
                    {
                        "type": "result", "benchmark": "synthetic", "provider": "tutti",
                        "name": name, "wait": "adaptive", "threads": 2, "cores": CORES,
                        "pinned": True, "pin": "core", "scenario": f"{access}_{size}",
                        "length": 0, "set_bytes": 64 << (4 * level), "metric": "overhead",
                        "samples": 40, "rounds": 5, "rounds_flagged": 0, "floor": "line_one_way",
                        "floor_median": 27.4, "ratio_median": median / 27.4,
                        "over_default_median": 1 + 0.1 * place, "verified": "each_round",
                    }
                    | _spread(median)
                    | {"p25": median * 0.99, "p75": median * 1.01}
                )
    return made


def sums() -> list[dict[str, Any]]:
    """bench/exact_cost by report.sums: ns a value."""
    made = []
    for name, short, long in (
        ("plain_loop", 0.4, 0.8), ("pairwise", 0.4, 0.4), ("fold", 0.9, 0.1),
        ("exact_span", 8.0, 0.4), ("exact_each", 9.0, 3.2),
    ):
        for kind, median in (("32", short), ("10000", long)):
            made += [
                {
                    "type": "result", "benchmark": "sums", "provider": "tutti", "name": name,
                    "kind": kind, "threads": 1, "metric": "value", "unit": "ns", "samples": 1,
                    "min": median * more, "median": median * more, "p99": median * more,
                }
                for more in (0.9, 1.0, 1.1)
            ]
    return made


def counts() -> list[dict[str, Any]]:
    """tutti-phylo optimize --regions separate until convergence."""
    made = []
    for taxa, patterns, barriers, reductions in (
        (404, 7429, 23584, 12313), (1481, 1241, 86341, 44914),
    ):
        made.append(
            {
                "type": "result", "benchmark": "phylo", "provider": "tutti", "name": "default",
                "wait": "adaptive", "threads": 2, "ranks": 2, "metric": "wall", "samples": 1,
                "taxa": taxa, "patterns": patterns, "steps": "separate", "cycles": 7,
                "converged": True, "regions": barriers, "reductions": reductions,
                "barriers": barriers,
            }
            | _spread(4e9)
        )
    return made


def pairs_of_cpus() -> list[dict[str, Any]]:
    """tutti-synthetic --pin, for two pairs of CPUs."""
    return [
        {
            "type": "result", "benchmark": "synthetic", "provider": "tutti",
            "name": "flags_padded", "wait": "spin", "threads": 2, "cores": CORES, "pinned": True,
            "pin": pin, "scenario": "free", "length": 0, "metric": "region", "samples": 40,
            "rounds": 5,
        }
        | _spread(median)
        for pin, median in (("0,1", 100.0), ("0,8", 250.0))
    ]


def tables_3_and_4(rng: random.Random) -> list[dict[str, Any]]:
    made = []
    for taxa, patterns, base, regions in ((404, 7429, 8.0e8, 8666), (1481, 1241, 6.0e8, 31564)):
        for turn in range(3):
            for i, name in enumerate(["default", *PAPER_SUMS]):
                median = base * (1 + 0.02 * i) * rng.uniform(0.99, 1.01)
                made.append(
                    {
                        "type": "result", "benchmark": "phylo", "provider": "tutti", "name": name,
                        "wait": "adaptive",
                        "threads": 2, "ranks": 2, "metric": "wall", "unit": "ns", "min": median,
                        "median": median,
                        "max": median, "samples": 1, "values": [median], "taxa": taxa,
                        "sites": patterns + 80,
                        "patterns": patterns, "cycles": 3, "converged": True, "regions": regions,
                        "reductions": regions,
                        "barriers": regions, "log_likelihood": -1144658.63 + turn * 0,
                    }
                )
    return made


def comparison() -> list[dict[str, Any]]:
    made = []
    for scenario, slower in (("free", 1.0), ("neighbour", 1.8)):
        for threads in (1, 2):
            for provider, name, base, value in (
                ("raxml", "PTHREADS-AVX", 3.6e7, -21246.307851),
                ("tutti", "default", 7.6e6, -21246.308125179),
                ("libpll", "pthread", 1.7e7, -21246.308125179),
                ("libpll", "tutti", 1.6e7, -21246.308125179),
            ):
                median = base * slower / (1 if provider == "raxml" else threads**0.8)
                made.append(
                    {
                        "type": "result", "benchmark": "phylo", "provider": provider, "name": name,
                        "data": "example",
                        "threads": threads, "scenario": scenario, "metric": "wall", "unit": "ns",
                        "min": median * 0.97,
                        "median": median, "max": median * 1.1, "samples": 5,
                        "log_likelihood": value,
                    }
                )
    return made


def streamcluster(rng: random.Random) -> list[dict[str, Any]]:
    made = []
    barriers = [
        ("tutti", name, "adaptive") for name in ["default", "central", "mcs", *PAPER_BARRIERS]
    ]
    barriers += [("pthread", "pthread", ""), ("std", "std", "")]
    for threads in (1, 2, 4, 8):
        for i, (provider, name, wait) in enumerate(barriers):
            crowded = 1.0 if threads <= CORES else 1.5 * threads / CORES
            foreign = 15.0 if provider != "tutti" and threads > 1 else 1.0
            median = (
                4e7
                / min(threads, CORES)
                * crowded
                * foreign
                * (1 + 0.05 * i)
                * rng.uniform(0.97, 1.03)
            )
            made.append(
                {
                    "type": "result", "benchmark": "streamcluster", "provider": provider,
                    "name": name, "wait": wait,
                    "threads": threads, "ranks": threads, "cores": CORES, "pinned": True,
                    "scenario": "free", "metric": "wall",
                    "samples": 3, "input": "simsmall", "seed": 1, "points": 4096, "dimensions": 32,
                    "regions": 2,
                    "barriers": 5452, "reductions": 1083, "centres": 10, "cost": 10002.8,
                    "fingerprint": "2e41cc5da6fedcc8",
                } | _spread(median)
            )
    return made


def lines(rng: random.Random) -> list[dict[str, Any]]:
    return [
        *runtimes(rng), *tables_1_and_2(rng), *walks(), *sums(), *counts(), *pairs_of_cpus(),
        *tables_3_and_4(rng), *comparison(),
        *streamcluster(rng),
    ]
