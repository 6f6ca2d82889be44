# SPDX-License-Identifier: Apache-2.0
"""What graph applications and the vector machine are meant to reach."""

from __future__ import annotations

from typing import Iterable

from report.lines import Dataset
from report.select import Row, default_of, rows
from report.statistics import format_ratio
from report.tables import vcode
from report.tables.verdict import Verdict, unknown

CYCLES = 250
# Programs with long vectors, and those whose vectors are short.
LONG = (
    "quicksort_1e6", "jacobi_256_off", "spmv_loop", "sort_rank_1e6", "primes_1e6", "dotp_1e7",
    "muladd_1e7",
)
SHORT = ("bh_det", "batcher_65536")
SPEED_UP, SLOWER = 1.6, 1.03


def verdicts(data: Dataset) -> Iterable[Verdict]:
    yield from _pagerank(data)
    yield _instruction(data)
    programs = vcode.programs(data)
    names = ", ".join(LONG)
    yield _extreme(
        f"Vector machine, 2 threads: at least {SPEED_UP}x as fast as 1 in kept memory ({names})",
        _speed_ups(programs, LONG), SPEED_UP
    )
    yield _extreme(
        f"Vector machine, short vectors ({', '.join(SHORT)}): 2 threads never more than 3 % slower "
        "than 1",
        _speed_ups(programs, SHORT), 1 / SLOWER,
    )


def _speed_ups(programs: dict[str, vcode.Runs], names: tuple[str, ...]) -> dict[str, float]:
    one, two = (vcode.KEPT, 1), (vcode.KEPT, 2)
    both = {name: programs[name] for name in names if {one, two} <= programs.get(name, {}).keys()}
    return {name: runs[one]["median"] / runs[two]["median"] for name, runs in both.items()}


def _extreme(target: str, ratios: dict[str, float], limit: float) -> Verdict:
    """Met if the smallest of the ratios is; the ones that miss are named."""
    if not ratios:
        return unknown(target)
    missed = {
        name: ratio
        for name, ratio in sorted(ratios.items(), key=lambda pair: pair[1])
        if ratio < limit
    }
    if missed:
        return Verdict(
            target, ", ".join(f"{name} {format_ratio(ratio)}" for name, ratio in missed.items()),
            False,
        )
    least = min(ratios, key=ratios.get)
    return Verdict(target, f"at least {format_ratio(ratios[least])} ({least})", True)


def _pagerank(data: Dataset) -> Iterable[Verdict]:
    target = (
        "PageRank by messages, synchronous: at least half the edges a second of the tuned pull "
        "that shares memory"
    )
    found = rows(data, benchmark="pagerank")
    ratios = {}
    for row in found:
        pull = next(
            (
                other
                for other in found
                if other["name"] == "pull" and other["graph"] == row["graph"]
            ),
            None,
        )
        if row["name"] == "sync" and pull:
            ratios[str(row["graph"] or "graph").split(":")[0]] = pull["median"] / row["median"]
    if not ratios:
        yield unknown(target)
    else:
        text = ", ".join(f"{ratio:.2f} on {graph}" for graph, ratio in ratios.items())
        yield Verdict(target, text, min(ratios.values()) >= 0.5)


def _instruction(data: Dataset) -> Verdict:
    target = (
        f"Vector machine, 2 threads, an instruction that does nothing: at most {CYCLES} cycles "
        "with tutti's default barrier"
    )
    row = default_of(rows(data, benchmark="instruction", metric="stack", threads=2))
    if row is None or row["cycles_median"] is None:
        return unknown(target)
    return Verdict(target, f"{row['cycles_median']:.0f} cycles", row["cycles_median"] <= CYCLES)
