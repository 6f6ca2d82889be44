# SPDX-License-Identifier: Apache-2.0
"""What the head of the page says about the machine and the run."""

from __future__ import annotations

from typing import Any

from report import network
from report.figures.line_transfer import describe, values_of
from report.lines import Dataset
from report.statistics import extent, format_time, spread

# Keys of the machine line in the order of the page; the others follow under their own names.
KNOWN = {
    "cpu": "processor", "cores": "cores", "smt": "several threads a core",
    "virtual_machine": "virtual machine",
    "kernel": "kernel", "compiler": "compiler", "build_type": "build", "tutti": "tutti",
    "commit": "commit", "time": "measured",
}
SHARES = {"foreign_load": "used by other programs", "steal": "stolen by the host"}
# They differ from run to run, or are said elsewhere.
SKIP = {
    "type", "load", "sweeps", "pinning", "seed", "clock_bound_ns", "ns_per_tick", "timer_cost_ns",
    *SHARES,
}
# Beyond this share of the processor used by others, the page opens with a warning.
MUCH_FOREIGN_LOAD = 0.05
FLOOR_WORDS = {
    "context_switch": "context switch",
    "wake_idle_core": "waking a sleeper on an idle core",
    "sched_yield": "sched_yield, nobody else",
    "futex_wake": "futex wake, nobody asleep",
    "timer": "reading the clock",
}


def facts(data: Dataset) -> list[tuple[str, str]]:
    machine = data.machine
    entries = [
        (words, _text(machine[key])) for key, words in KNOWN.items() if machine.get(key) is not None
    ]
    if not machine:
        entries.append(("machine", "not recorded: the lines have no line of type machine"))
    entries.append(("noise", noise(data)))
    entries.append(("floor", describe([v for v in values_of(data) if v > 0])))
    for quantity, words in FLOOR_WORDS.items():
        floor = data.floor(quantity)
        if floor:
            range_words = extent(floor) or "spread not recorded"
            entries.append((words, f"{format_time(floor['median'])} ({range_words})"))
    others = [
        (key.replace("_", " "), _text(v))
        for key, v in machine.items()
        if key not in KNOWN and key not in SKIP
    ]
    return entries + [(key, value) for key, value in others if value]


def machine_words(data: Dataset) -> str:
    """The machine and the commit in a line, for below a picture; nothing if the lines do not tell.
    """
    machine = data.machine
    parts = [f"{data.cores} cores"] if data.cores else []
    parts += [str(machine[key]) for key in ("cpu",) if machine.get(key)]
    where = " of ".join(parts)
    if where and machine.get("virtual_machine"):
        where += ", a virtual machine"
    commit = f"commit {str(machine['commit'])[:8]}" if machine.get("commit") else ""
    return "; ".join(filter(None, (where, commit)))


def warning(data: Dataset) -> str | None:
    """A sentence for the head of the page when the machine was not quiet."""
    busiest = max(
        (float(m["foreign_load"]) for m in data.machines if _is_share(m.get("foreign_load"))),
        default=0.0,
    )
    if busiest < MUCH_FOREIGN_LOAD:
        return None
    return (
        f"Other programs used up to {busiest:.0%} of the processor during these runs: the numbers "
        "are those of a busy machine. "
        "Measure again when it is quiet before you conclude anything from them."
    )


def mixture(data: Dataset) -> str | None:
    """A sentence for the head of the page when not all lines are of one machine and one commit."""
    parts = []
    for key, words in (("cpu", "processors"), ("commit", "commits")):
        values = list(dict.fromkeys(str(m[key]) for m in data.machines if m.get(key) is not None))
        if len(values) > 1:
            parts.append(f"{len(values)} {words} ({', '.join(values)})")
    if not parts:
        return None
    return (
        f"These lines are of {' and '.join(parts)}; below stands what the first of them say of the "
        "machine."
    )


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def noise(data: Dataset) -> str:
    """What others took of the processor, rounds in which the machine changed, and how many results
    have a wide middle.
    """
    parts = []
    for key, words in SHARES.items():
        shares = [float(m[key]) for m in data.machines if _is_share(m.get(key))]
        if shares:
            parts.append(f"{_percent_range(shares)} of the processor time {words}")
    loads = [float(m["load"]) for m in data.machines if _is_share(m.get("load"))]
    if loads and not parts:
        parts.append(f"load {min(loads):.2f} to {max(loads):.2f}")
    # Hosts of a test bed share the processors: their calls spread on the quietest machine.
    rows = [row for row in data.results.to_dicts() if row["benchmark"] != network.NAME]
    rounds, flagged = (sum(row[key] or 0 for row in rows) for key in ("rounds", "rounds_flagged"))
    if rounds:
        parts.append(
            f"the floor changed during {flagged} of {rounds} rounds, which are left out of the "
            "multiples"
        )
    wide = sum(1 for row in rows if row["median"] > 0 and spread(row)[1] > 2 * row["median"])
    parts.append(
        f"{wide} of {len(rows)} results have a spread that reaches beyond twice their median"
    )
    return "; ".join(parts) + "."


def _percent_range(shares: list[float]) -> str:
    low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
    return low if low == high else f"{low} to {high}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return str(value)
