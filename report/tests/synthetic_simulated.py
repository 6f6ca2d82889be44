# SPDX-License-Identifier: Apache-2.0
"""Made-up lines of `tutti sim`, by the calls of the plan: whatever it asks for has an answer. Never
shown as simulated.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Iterator

from report import plan_simulated, registry
from report.runs import Command, Programs
from report.simulated import NOTIFIER_LOOKS

Line = dict[str, Any]
CPUS = registry.SIMULATED_MACHINES
# Episodes of a thread, in ns, and by which power they grow.
COSTS = {
    "default": (12, 0.9), "tournament": (14, 0.9), "counting": (45, 1), "pool": (80, 1),
    "ticket": (60, 1), "dissemination": (30, 1), "libgomp": (46, 1), "pthread_barrier": (300, 1.3),
    "tournament_one_word": (25, 1), "hbs": (20, 0.3), "hbs_lines": (30, 0.3),
}
HARP = (
    "harp_counting", "harp_counting_lines", "harp_counting_line", "harp_counting_line_vl0",
    "harp_counting_line_vh0", "harp_counting_memory", "harp_counting_memory_line",
)
UNICAST = {
    ("event", "spin"): 300, ("event", "park"): 6000, ("condition_variable", ""): 5800,
    ("futex", ""): 5700, ("interrupt", ""): 550, ("action", ""): 555, ("action_payload", ""): 700,
    ("remote_call", ""): 310, ("kernel_condition", ""): 3000, ("kernel_condition_kick", ""): 1400,
}


def _option(call: Command, name: str, otherwise: str = "") -> str:
    return call[call.index(name) + 1] if name in call else otherwise


def _numbers(call: Command, name: str) -> list[int]:
    return [int(text) for text in _option(call, name).split(",") if text]


def _set(call: Command) -> dict[str, Any]:
    found = [call[i + 1] for i, word in enumerate(call) if word == "--set"]
    return {"set": found} if found else {}


def _result(call: Command, benchmark: str, name: str, median: float, **more: Any) -> Line:
    return {
        "type": "result", "benchmark": benchmark, "provider": "somebody", "name": name, "wait": "",
        "threads": 2, "metric": "loop", "unit": "ns", "min": median * 0.95, "median": median,
        "max": median * 1.1, "mean": median, "samples": 20, "seed": 1,
        "machine": _option(call, "--machine"),
    } | _set(call) | more


def _cost(name: str, threads: int) -> float:
    base, power = COSTS.get(name, (70 + 5 * len(name), 0.8))
    return 50 + base * threads**power


def _names(call: Command) -> list[str]:
    asked = _option(call, "--algorithms").split(",")
    if "all" in asked:
        return list(COSTS)
    return [each for name in asked for each in (HARP if name == "hardware" else (name,))]


def _machines(call: Command) -> Iterator[Line]:
    for name, cpus in CPUS.items():
        yield {
            "type": "sim_machine", "name": name, "cpus": cpus, "cores": cpus, "nodes": 1,
            "clock_ghz": 2.1, "description": f"{cpus} CPUs that nobody has built",
        }


def _barriers(call: Command) -> Iterator[Line]:
    for threads in _numbers(call, "--threads") or [CPUS[_option(call, "--machine")]]:
        for name in _names(call):
            median = _cost(name, threads) / (5 if "accelerator.request=8" in call else 1)
            yield _result(call, "sim_barrier", name, median, threads=threads)


def _vcode(call: Command) -> Iterator[Line]:
    for threads in _numbers(call, "--threads"):
        for name in _names(call):
            barrier = _cost(name, threads)
            yield _result(
                call, "sim_vcode", name, 101 * (20 + barrier), threads=threads, metric="wall",
                program="nothing", instructions=101, barriers=101,
                in_barriers=barrier / (20 + barrier),
            )


def _events(call: Command) -> Iterator[Line]:
    receivers, episodes = _numbers(call, "--receivers")[0], int(_option(call, "--episodes"))
    whom = [i % receivers for i in range(episodes)]
    for (name, wait), base in UNICAST.items():
        near = [base * (1 + 0.1 * (r // 8)) for r in whom]
        spread = 0.0 if name == "interrupt" else base / 10
        for metric, values in (
            ("unicast", near), ("broadcast_last", [base * receivers / 4 + i for i in whom]),
            ("broadcast_sigma", [spread + i / 10 * (spread > 0) for i in whom]),
        ):
            more = {"receivers": whom} if metric == "unicast" else {}
            ordered = sorted(values)
            yield _result(
                call, "sim_event", name, ordered[len(ordered) // 2], wait=wait, metric=metric,
                threads=receivers + 1, values=values, min=ordered[0], max=ordered[-1], **more,
            )


def _idle(call: Command) -> Iterator[Line]:
    for columns, rows in ((2, 2), (3, 4), (4, 6), (6, 8)):
        for fan in (1, 2, 4, 8, 16):
            hardware = 300 * (columns + rows - 1)
            yield {
                "type": "sim_idle", "columns": columns, "rows": rows, "fan": fan, "handler": 222,
                "threads": 1024 * columns * rows, "link": 150, "clock_mhz": 240,
                "hardware_cycles": hardware,
                "tree_cycles": hardware + (952_000 if fan == 1 else 19_500 + 100 * fan),
            }


def _graph(call: Command) -> Iterator[Line]:
    application, rule = call[3], call[4]
    setting = dict(text.split("=") for text in _set(call).get("set", []))
    boards = int(setting.get("columns", 6)) * int(setting.get("rows", 8))
    threads = boards * int(setting.get("threads", 1024))
    keys = dict(text.split("=") for text in rule.split(":")[1].split(","))
    components = int(keys.get("components", 0))
    vertices = 2 * components + 1 if components else int(keys["vertices"])
    degree = int(keys.get("degree", 3))
    for mode in _option(call, "--mode", "sync,async").split(","):
        for seed in range(1, int(_option(call, "--seeds", "5")) + 1):
            seconds = 1e-5 * (1 + vertices / threads) * degree * (1 + seed / 100)
            many = 2.5 if mode == "async" and application in ("sssp", "mssp", "spiking") else 1
            yield {
                "type": "sim_graph", "application": application, "graph": rule, "mode": mode,
                "seed": seed, "vertices": vertices, "edges": vertices * degree, "threads": threads,
                "seconds": seconds, "seconds_with_clock_tree": seconds + 1e-3,
                "messages": int(vertices * degree * many * math.log2(vertices)), "detections": 4,
            } | _set(call)


def _advice(call: Command) -> Iterator[Line]:
    machine = _option(call, "--machine")
    cpus = CPUS[machine]
    for threads in sorted({n for n in (2, 8, 32, 128) if n < cpus} | {cpus}):
        yield {
            "type": "sim_advice", "machine": machine, "threads": threads,
            "barrier": "dissemination_4", "ns": 20.0 * threads, "default_ns": 30.0 * threads,
        }


ANSWERS = {
    "machines": _machines, "barrier": _barriers, "vcode": _vcode, "event": _events, "idle": _idle,
    "graph": _graph, "advise": _advice,
}


def lines(quick: bool = False, long: bool = False) -> list[Line]:
    runs = plan_simulated.runs(quick, Programs(Path("build/tutti"), Path("/scratch")), long)
    return [line for run in runs for call in run.calls for line in ANSWERS[call[2]](call)]
