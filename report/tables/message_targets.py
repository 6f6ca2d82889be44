# SPDX-License-Identifier: Apache-2.0
"""What messages and the refutable barrier are meant to reach."""

from __future__ import annotations

from typing import Iterable

from report.lines import Dataset
from report.select import Row, default_of, is_free, ranks_words, rows
from report.statistics import format_count, format_time
from report.tables.verdict import Verdict, unknown

EMPTY_NS, HOP_NS, CROWDED_NS, RATE = 350.0, 200.0, 15000.0, 140e6


def _default(data: Dataset, benchmark: str, metric: str, threads: int) -> Row | None:
    found = rows(
        data, benchmark=benchmark, metric=metric, threads=threads, scenario=is_free,
        processes=lambda n: n is None
    )
    return default_of(row for row in found if row["median"] > 0)


def _time(target: str, row: Row | None, limit: float) -> Verdict:
    if row is None:
        return unknown(target)
    return Verdict(target, format_time(row["median"]), row["median"] <= limit)


def _rate(row: Row) -> float:
    return 1e9 / row["median"]


def verdicts(data: Dataset) -> Iterable[Verdict]:
    two = _default(data, "message", "others_8_bytes", 2)
    target = (
        f"2 threads: at least {format_count(RATE)} messages of 8 bytes a second in all, to random "
        "others"
    )
    yield (
        Verdict(target, f"{format_count(_rate(two), '/s')}", _rate(two) >= RATE)
        if two
        else unknown(target)
    )
    hop = _default(data, "hop", "hop", 2)
    yield _time(f"2 threads: a hop of one token at most {format_time(HOP_NS)}", hop, HOP_NS)
    empty = "an empty episode of idle() at most"
    yield _time(
        f"2 threads: {empty} {format_time(EMPTY_NS)}", _default(data, "idle", "empty_episode", 2),
        EMPTY_NS,
    )
    for n in (4, 8):
        where = ranks_words(n, n, data.cores)
        yield _time(
            f"{where}: {empty} {format_time(CROWDED_NS)}",
            _default(data, "idle", "empty_episode", n), CROWDED_NS,
        )
        many = _default(data, "message", "others_8_bytes", n)
        target = f"{where}: at least half the messages a second of 2 threads"
        if many is None or two is None:
            yield unknown(target)
        else:
            share = _rate(many) / _rate(two)
            yield Verdict(target, f"{share:.2f}: {format_count(_rate(many), '/s')}", share >= 0.5)
