# SPDX-License-Identifier: Apache-2.0
"""Plausible lines for the tests only: a two-core machine with two regimes of line latency. Never
shown as measured.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from report import kernel
from report.tests import synthetic_messages, synthetic_simulated, synthetic_workloads

ALGORITHMS = (
    "default default_rankless counting central ticket pool flags flags_padded recursive "
    "recursive_padded atomic mutex "
    "combining mcs dissemination dissemination_4 tournament hierarchical"
).split()
WAITS = "adaptive spin yield park monitor".split()
PEERS = [
    ("pthread", "pthread_barrier", 14000), ("std", "std_barrier", 610), ("boost", "barrier", 15500),
    ("libgomp", "default", 246), ("libgomp", "active", 249), ("libgomp", "passive", 20000),
    ("libomp", "hyper", 149),
    ("libomp", "linear", 155), ("libomp", "tree", 144), ("libomp", "hierarchical", 230),
    ("libomp", "dist", 190),
    ("absl", "barrier", 29000),
]
CORES = 2


def machine() -> dict[str, Any]:
    return {
        "type": "machine", "cpu": "Synthetic CPU", "cores": CORES, "smt": 1, "kernel": "6.1",
        "compiler": "g++ 12.2",
        "commit": "0000000", "load": 0.1, "ns_per_tick": 0.5, "time": "2026-01-01T00:00:00Z",
    }


def floors(rng: random.Random) -> list[dict[str, Any]]:
    values = [rng.gauss(27, 1) if (i // 12) % 3 else rng.gauss(163, 3) for i in range(120)]
    line = {"type": "floor", "unit": "ns", "samples": 120}
    return [
        line
        | {"quantity": "line_one_way", "min": 24.6, "median": 27.4, "p99": 170.0, "values": values},
        line | {"quantity": "context_switch", "min": 1200.0, "median": 1313.0, "p99": 1600.0},
    ]


def result(
    rng: random.Random, provider: str, name: str, wait: str, threads: int, median: float,
    **more: Any,
) -> dict[str, Any]:
    median *= rng.uniform(0.9, 1.1)
    return {
        "type": "result", "benchmark": "barrier", "provider": provider, "name": name, "wait": wait,
        "threads": threads,
        "cores": CORES, "pinned": True, "scenario": "free", "metric": "loop", "unit": "ns",
        "min": median * 0.9,
        "p25": median * 0.95, "median": median, "p75": median * 1.1,
        "p99": median * rng.choice([1.3, 2, 6]),
        "samples": 60, "floor_median": 27.4, "ratio_median": median / 27.4,
    } | more


def _cost(threads: int, base: float, oversubscribed: float) -> float:
    if threads == 1:
        return base * 0.2
    return base if threads <= CORES else oversubscribed * threads


def lines(seed: int = 1) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    made = [machine(), *floors(rng)]
    for n in (1, 2, 4, 8, 16, 32, 64):
        for i, name in enumerate(ALGORITHMS):
            made.append(
                result(rng, "tutti", name, "adaptive", n, _cost(n, 34 + 4 * i, 700 + 60 * i))
            )
        for provider, name, base in PEERS:
            made.append(result(rng, provider, name, "", n, _cost(n, base, 800 + base / 5)))
        for wait, factor in zip(WAITS[1:], (3000, 1.05, 4, 2.5)):
            if n > CORES:
                made.append(result(rng, "tutti", "ticket", wait, n, _cost(n, 34, 700 * factor)))
    contenders = [("tutti", "default", "adaptive", 35.0)]
    contenders += [("tutti", "ticket", w, 36.0 + 5 * i) for i, w in enumerate(WAITS)]
    contenders += [("tutti", "dissemination", "adaptive", 40.0)] + [
        (p, n, "", b) for p, n, b in PEERS
    ]
    for provider, name, wait, base in contenders:
        for scenario in ("skew_500ns", "skew_10us"):
            made.append(
                result(
                    rng, provider, name, wait, 2, base + 20, scenario=scenario,
                    metric="last_in_last_out",
                )
            )
        for scenario, factor in (("neighbour_one", 40), ("neighbour_all", 90)):
            made.append(result(rng, provider, name, wait, 2, base * factor, scenario=scenario))
        made.append(result(rng, provider, name, wait, 2, base * 1.4, pinned=False))
        for scenario, late in (("imbalance_10us", 1e4), ("imbalance_1ms", 1e6)):
            burned = late if wait == "spin" else late / 12
            made.append(
                result(
                    rng, provider, name, wait, 2, base + 3000, scenario=scenario,
                    metric="last_in_last_out",
                )
            )
            made.append(
                result(rng, provider, name, wait, 2, burned, scenario=scenario, metric="cpu_time")
            )
            # Four threads on two cores.
            for metric, figure in (
                ("last_in_last_out", base + 4000), ("episode", base + 1e3 + late),
                ("cpu_time", burned / 3),
            ):
                made.append(
                    result(
                        rng, provider, name, wait, 4, figure, scenario=scenario, metric=metric
                    )
                )
    made += situations(rng)
    made.append(
        {"type": "skipped", "provider": "tbb", "reason": "it has no barrier for user threads"}
    )
    made += (
        synthetic_workloads.lines(rng)
        + synthetic_messages.in_one_process()
        + notifications(rng)
        + synthetic_messages.between_processes(machine())
    )
    # What each run wrote stands in a file of its own; a machine line says where the next begins.
    for part in (
        synthetic_messages.ceilings(),
        synthetic_messages.instructions() + synthetic_messages.vector_programs(),
        synthetic_messages.granularity(),
    ):
        made += [machine(), *part]
    return made


def notifications(rng: random.Random) -> list[dict[str, Any]]:
    """Events and two mechanisms of the system, to one receiver and to eight."""
    made = []
    contenders = [
        ("tutti", "event", "adaptive", 90), ("tutti", "event", "park", 12e3),
        ("pthread", "pthread_cond", "", 15e3), ("futex", "futex", "", 12e3),
    ]
    metrics = {2: ("unicast",), 9: ("broadcast", "broadcast_last", "broadcast_sigma")}
    for provider, name, wait, median in contenders:
        for scenario in ("gap_5us", "gap_1ms"):
            for threads, names in metrics.items():
                for metric in names:
                    line = result(
                        rng, provider, name, wait, threads, median * threads, benchmark="event",
                        scenario=scenario, metric=metric, mean=median, sigma=median / 5,
                    )
                    keys = (
                        "benchmark", "provider", "name", "wait", "threads", "scenario", "metric",
                        "unit",
                    )
                    counts = [[line["min"], 10], [line["median"], 80], [line["p99"], 10]]
                    spread = {"type": "distribution"} | {key: line[key] for key in keys}
                    made += [line, spread | {"counts": counts}]
    return [*made, event_bound("one receiver that sleeps", 0.95)]


def event_bound(
    what: str, share: float, sweeps: int = 9, floor_of: str = ""
) -> dict[str, Any]:
    return {
        "type": "bound", "benchmark": "event", "what": what, "limit": "twice a futex", "unit": "ns",
        "median": 40e3 * share, "limit_median": 40e3, "share": share, "kept": 0 < share <= 1,
        "sweeps": sweeps, "floor_of": floor_of,
    }


LENGTHS = {"20us": 2e4, "60us": 6e4, "200us": 2e5, "2ms": 2e6}
# Latency and burnt share of a wait of (default, one that spins, one that sleeps).
WAITERS = [
    ("tutti", "default", "adaptive", 300, 1.0), ("libgomp", "default", "", 450, 1.0),
    ("pthread", "pthread_barrier", "", 20000, 0.1),
]


def situations(rng: random.Random) -> list[dict[str, Any]]:
    """Waits and gaps of every length, background, a quota that could not be made, and what a change
    leaves behind.
    """
    made = []
    for text, length in LENGTHS.items():
        for provider, name, wait, latency, share in WAITERS:
            gives_back = provider == "tutti" and length > 2e5
            latency, share = (12000, 0.08) if gives_back else (latency, share)
            for benchmark, kind, scenario, metric in (
                ("barrier", None, f"imbalance_{text}", "last_in_last_out"),
                ("region", "empty", f"gap_{text}", "latency"),
            ):
                more = {"benchmark": benchmark, "scenario": scenario} | (
                    {"kind": kind, "ranks": 2} if kind else {}
                )
                name = "pthread_barrier pool" if kind and provider == "pthread" else name
                made.append(result(rng, provider, name, wait, 2, latency, metric=metric, **more))
                made.append(
                    result(rng, provider, name, wait, 2, length * share, metric="cpu_time", **more)
                )
    for provider, name, wait, _, _ in WAITERS:
        for session in ("same", "own"):
            made.append(
                result(
                    rng, provider, name, wait, 4, 5000, scenario="background_light", session=session
                )
            )
            more = {
                "scenario": "recover_background_heavy", "metric": "recover", "session": session,
                "unrecovered": 0,
            }
            made.append(
                result(
                    rng, provider, name, wait, 4, 0 if provider == "pthread" else 2e6, rounds=3,
                    **more,
                )
            )
    made.append(
        {
            "type": "skipped", "benchmark": "barrier", "threads": 2, "scenario": "quota_1.5",
            "session": None,
            "reason": "a cgroup with a quota of processor time cannot be made",
        }
    )
    return made


def recorded(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def network() -> list[dict[str, Any]]:
    """Lines of `tutti network testbed --nodes N --calls 1500 --json`, and of the same with --udp
    and with --mpi, on two processors, N = 2, 4, 8.
    """
    return recorded(Path(__file__).parent / "network.jsonl")


def write_runs(folder: Path) -> list[Path]:
    """The files of a whole report: runs whose name matters have files of their own."""
    files = {
        "stored": lines(), "graphs": [machine(), *synthetic_messages.graphs(random.Random(2))],
        "detectors": [machine(), *synthetic_messages.detectors()],
        "worst_case": [machine(), *synthetic_messages.worst_case()],
        "hardware": synthetic_messages.hardware(),
        "kernel": recorded(kernel.KEPT), "network": network(),
        "simulated": synthetic_simulated.lines(),
    }
    return [write(folder / f"{name}.jsonl", made) for name, made in files.items()]


def few() -> list[dict[str, Any]]:
    """Enough for a page, with little to draw."""
    kept = ("machine", "floor")
    return [
        line
        for line in lines()
        if line["type"] in kept or (line.get("threads") == 2 and line.get("pinned") is False)
    ]


def write(path: Path, made: list[dict[str, Any]] | None = None) -> Path:
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in (lines() if made is None else made)),
        encoding="utf-8",
    )
    return path
