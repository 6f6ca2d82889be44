# SPDX-License-Identifier: Apache-2.0
"""What is meant to be reached, and whether it is on this machine: teams, reductions and workloads
here, the rest beside.
"""

from __future__ import annotations

from typing import Iterable

from report import style
from report.figures.phylo_peers import apart_words, disagreement, is_compared
from report.lines import Dataset
from report.model import Cell, Table
from report.select import (
    Row, best, default_of, is_free, is_neighbour, peers_of, ranks_words, rows, threads_words,
    tutti_of,
)
from report.statistics import format_ratio, format_time
from report.tables import event_targets, message_targets, program_targets
from report.tables.verdict import NOT_MEASURED, Verdict, at_most, unknown

NAME = "targets"
TITLE = "Targets"
QUESTION = (
    "What everything is meant to cost, and what it costs here. The targets were set for two free "
    "cores."
)
EMPTY, PAIR, BARRIER = "empty", "reduce2", "barrier"
WORDS = {EMPTY: "empty region", PAIR: "region and the sum of two doubles", BARRIER: "barrier"}
# Ranks on two cores, and what an episode of them may cost, ns.
VIRTUAL = ((8, 250.0), (64, 1000.0))
FASTER_THAN = (("libgomp", 4.0), ("libomp", 4.0), ("tbb", 8.0))
AGREEMENT = 1e-6


def _free(
    data: Dataset, benchmark: str, what: str, threads: int, ranks: int | None = None
) -> list[Row]:
    return rows(
        data, benchmark=benchmark, what=what, threads=threads, ranks=ranks or threads,
        scenario=is_free, pinned=True, metric="loop"
    )


def _multiples(data: Dataset) -> Iterable[Verdict]:
    for what, limit in ((EMPTY, 3.0), (PAIR, 4.0)):
        ours = default_of(_free(data, "region", what, 2))
        ratio = ours["ratio_median"] if ours else None
        note = f" ({format_time(ours['median'])})" if ours else ""
        target = (
            f"2 threads, {WORDS[what]}: at most {limit:g}x the one-way line transfer of the same "
            "rounds"
        )
        yield at_most(target, ratio, limit, note)


def times_slower(peer: Row, ours: Row) -> float | None:
    """How many times slower than tutti's default: in the same sweeps where both follow the line
    latency, or else by medians.

    It compares as statistics.compare does: what switches or sleeps varies from sweep to sweep by
    more than the machine does.
    """
    if peer["over_default_median"] and ours["floor"] != "yield_rotation":
        return peer["over_default_median"]
    return peer["median"] / ours["median"] if ours["median"] > 0 else None


def _faster(
    target: str, found: list[Row], peers: list[Row], factor: float, shown: bool = False
) -> Verdict:
    """tutti's default against the fastest of these peers."""
    ours, peer = default_of(found), best(peers)
    ratio = times_slower(peer, ours) if ours and peer else None
    if ratio is None:
        return unknown(target, shown)
    times = (
        f"{format_time(ours['median'])} against {format_time(peer['median'])} of "
        f"{style.label(peer)}"
    )
    return Verdict(target, f"{format_ratio(ratio)}: {times}", ratio >= factor, shown)


def _against_runtimes(data: Dataset) -> Iterable[Verdict]:
    for what in (EMPTY, PAIR):
        found = _free(data, "region", what, 2)
        for provider, factor in FASTER_THAN:
            name = style.PEER_LABELS[provider]
            target = (
                f"2 threads, {WORDS[what]}: at least {factor:g}x faster than {name} in its fastest "
                "setting"
            )
            yield _faster(
                target, found, [row for row in found if row["provider"] == provider], factor
            )


def _crowded(data: Dataset) -> Iterable[Verdict]:
    for threads in (4, 8):
        for what in (EMPTY, PAIR):
            found = _free(data, "region", what, threads)
            target = (
                f"{ranks_words(threads, threads, data.cores)}, {WORDS[what]}: faster than each peer"
            )
            yield _faster(target, found, peers_of(found), 1.0)


def _virtual(data: Dataset) -> Iterable[Verdict]:
    for ranks, limit in VIRTUAL:
        found = [
            row
            for row in rows(
                data, what=BARRIER, ranks=ranks, scenario=is_free, pinned=True, metric="loop"
            )
            if row["ranks"] > row["threads"] and row["benchmark"] in ("region", "reduce")
        ]
        # Both benchmarks measure it; the target is for each.
        ours = [row for row in found if style.is_default(row)]
        target = f"{ranks} virtual ranks on two cores: an episode at most {format_time(limit)}"
        text = " and ".join(f"{format_time(row['median'])} ({row['run']})" for row in ours)
        yield (
            Verdict(target, text, all(row["median"] <= limit for row in ours))
            if ours
            else unknown(target)
        )


def _fused(data: Dataset) -> Iterable[Verdict]:
    found = _free(data, "reduce", PAIR, 2)
    ours = default_of(found)
    ratio = ours["over_barrier_median"] if ours else None
    alone = default_of(_free(data, "reduce", BARRIER, 2))
    if ratio is None and ours and alone and alone["median"] > 0:
        ratio = ours["median"] / alone["median"]
    beside = [
        best(row for row in found if row["provider"] in family)
        for family in (("libgomp", "libomp"), ("openmpi", "mpich"))
    ]
    others = [f"{style.label(row)} {format_time(row['median'])}" for row in beside if row]
    note = (
        f": {format_time(ours['median'])}; beside it {', '.join(others) or 'no peer'}"
        if ours
        else ""
    )
    yield at_most(
        "2 threads, barrier and the sum of two doubles: at most 1.25x the same barrier alone",
        ratio, 1.25, note,
    )


def _streamcluster(data: Dataset) -> Iterable[Verdict]:
    found = rows(data, benchmark="streamcluster")
    results = {(row["what"], row["fingerprint"]) for row in found if row["fingerprint"]}
    inputs = {what for what, _ in results}
    text = (
        f"{len(results)} result{'s' if len(results) != 1 else ''} in {len(found)} settings"
        if results
        else NOT_MEASURED
    )
    target = "StreamCluster: the same result for every barrier and number of threads"
    yield Verdict(target, text, len(results) == len(inputs) if results else None)
    for threads in (2, 4, 8):
        cell = [row for row in found if row["threads"] == threads]
        target = f"StreamCluster, {threads_words(threads)}: tutti's default against pthread_barrier"
        yield _faster(
            target, cell, [row for row in cell if row["provider"] == "pthread"], 1.0, shown=True
        )


def _phylo(data: Dataset) -> Iterable[Verdict]:
    found = [row for row in rows(data, benchmark="phylo") if is_compared(row)]
    for provider in ("libpll", "raxml"):
        name = style.PEER_LABELS[provider]
        apart = disagreement(found).get(provider)
        real = " on a real alignment" if any(row["what"] == "example" for row in found) else ""
        target = f"Log-likelihood agrees with {name}{real} to a relative {AGREEMENT:g}"
        yield (
            Verdict(target, apart_words(apart), apart <= AGREEMENT)
            if apart is not None
            else unknown(target)
        )
    situations = {(is_neighbour(row["scenario"]), row["threads"]) for row in found} or {
        (False, 1), (False, 2),
    }
    for busy, threads in sorted(situations):
        cell = [
            row
            for row in found
            if (is_neighbour(row["scenario"]), row["threads"]) == (busy, threads)
        ]
        where = "beside a busy neighbour" if busy else "free cores"
        ours = default_of(tutti_of(cell))
        for provider in ("libpll", "raxml"):
            target = (
                f"One optimisation, {threads_words(threads)}, {where}: against "
                f"{style.PEER_LABELS[provider]}"
            )
            peers = [row for row in cell if row["provider"] == provider]
            yield _faster(target, [ours] if ours else [], peers, 1.0, shown=True)


def verdicts(data: Dataset) -> list[Verdict]:
    return [
        verdict
        for part in (
            _multiples, _against_runtimes, _crowded, _virtual, _fused, _streamcluster, _phylo,
            message_targets.verdicts,
            event_targets.verdicts,
            program_targets.verdicts,
        )
        for verdict in part(data)
    ]


def build(data: Dataset) -> Table:
    made = Table(NAME, TITLE, QUESTION, [], ["target", "measured here", "met"], [])
    known = sorted(verdicts(data), key=Verdict.rank)
    if all(verdict.met is None for verdict in known):
        made.missing = ["Not measured: no result of any benchmark that has a target."]
        return made
    for verdict in known:
        measured = Cell(verdict.measured, kind="muted" if verdict.met is None else "")
        made.rows.append([Cell(verdict.target), measured, verdict.state()])
    limits = [verdict for verdict in known if not verdict.shown]
    counts = [sum(1 for verdict in limits if verdict.met is met) for met in (True, False, None)]
    made.captions = [
        f"{counts[0]} met, {counts[1]} missed, {counts[2]} not measured here. The rows below them "
        "have no limit: they show who is "
        "the faster.",
        "With a core for each thread, ratios are medians of the sweeps' own ratios, and can differ "
        "from the quotient of the two "
        "medians shown.",
        "Shown by tests instead of this page: the bits of reductions over 10,000 runs with random "
        "delays, for every algorithm and "
        "1 to 17 participants; adversarial sums; data races (ThreadSanitizer); deadlines that name "
        "the missing rank.",
    ]
    return made
