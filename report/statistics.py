# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of the report: pooling, spreads, regimes of the line latency, and honest
comparisons.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any, Sequence


POOLED_BY_MEDIAN = (
    "p25", "median", "p75", "floor_median", "excess_median", "ratio_median", "ratio_min",
    "ratio_p99", "over_default_median",
    "over_barrier_median", "mean", "cpus_used",
)
# Counts that depend on the version of a graph, and on the turn of events in asynchronous runs.
POOLED_BY_MEAN = ("messages", "edges", "sends", "detections", "time_steps")


def pool(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The same quantity measured several times, as one: extremes of the spread, median of the
    medians.

    The p99 of a union is not known from the parts; the largest is kept, which never hides a tail.
    """
    first = dict(lines[0])
    if len(lines) == 1:
        return first
    for key in ("min", "p1"):
        values = [line[key] for line in lines if line.get(key) is not None]
        first[key] = min(values) if values else None
    values = [line["p99"] for line in lines if line.get("p99") is not None]
    first["p99"] = max(values) if values else None
    for key in POOLED_BY_MEDIAN:
        values = [line[key] for line in lines if line.get(key) is not None]
        if values:
            first[key] = statistics.median(values)
    for key in POOLED_BY_MEAN:
        values = [line[key] for line in lines if line.get(key) is not None]
        if values:
            first[key] = round(statistics.mean(values))
    for key in ("samples", "rounds", "rounds_flagged", "unrecovered"):
        first[key] = sum(line.get(key) or 0 for line in lines)
    values = [value for line in lines for value in line.get("values") or []]
    if values:
        first["values"] = values
    return first


def spread(line: dict[str, Any]) -> tuple[float, float]:
    """Where the middle of the samples lies: the quartiles where they are given, or else min to p99.
    """
    median = line["median"]
    low, high = line.get("p25"), line.get("p75")
    if low is None or high is None:
        low, high = line.get("min"), line.get("p99")
    return (
        median if low is None else min(low, median), median if high is None else max(high, median),
    )


def extent(line: dict[str, Any]) -> str | None:
    """The spread in words: min to p99, the quartiles where the line has only these, or None."""
    for low, high, words in (("min", "p99", ""), ("p25", "p75", "quartiles ")):
        if line.get(low) is not None and line.get(high) is not None:
            return f"{words}{format_time(line[low])} to {format_time(line[high])}"
    return None


# Up to this multiple of the floor a cost is made of line transfers.
FEW_TRANSFERS = 30


@dataclass(frozen=True)
class Comparison:
    """How `ours` stands against `theirs`; ratio > 1 means that ours is the faster."""

    ratio: float
    within_noise: bool

    @property
    def wins(self) -> bool:
        return self.ratio > 1 and not self.within_noise

    @property
    def loses(self) -> bool:
        return self.ratio < 1 and not self.within_noise

    def text(self) -> str:
        if self.within_noise:
            return f"within noise ({format_ratio(self.ratio)})"
        if self.ratio >= 1:
            return f"{format_ratio(self.ratio)} faster"
        if self.ratio == 0:
            return f"{format_ratio(math.inf)} slower"
        return f"{format_ratio(1 / self.ratio)} slower"


def compare(ours: dict[str, Any], theirs: dict[str, Any]) -> Comparison:
    """Compares medians; of two that cost a few line transfers, the ratios to the floor of their own
    rounds.

    The regime of the line latency can change between two rounds, and with it every sub-microsecond
    number by five times; the ratio to a ping-pong of the same round does not change. What sleeps or
    switches does not follow the line latency, and would only take over the noise of the ping-pong.
    """
    a, b = ours.get("ratio_median"), theirs.get("ratio_median")
    by_floor = a and b and max(a, b) < FEW_TRANSFERS
    ratio = b / a if by_floor else safe_ratio(theirs["median"], ours["median"])
    return Comparison(ratio, overlap(ours, theirs))


def overlap(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Within noise: the spreads overlap and each median lies inside the other's spread.

    Overlap of the spreads alone would call everything equal as soon as one of the two has a long
    tail.
    """
    (a_low, a_high), (b_low, b_high) = spread(a), spread(b)
    return b_low <= a["median"] <= b_high and a_low <= b["median"] <= a_high


def safe_ratio(numerator: float, denominator: float) -> float:
    if denominator > 0:
        return numerator / denominator
    return math.inf if numerator > 0 else 1.0


def format_ratio(ratio: float) -> str:
    if math.isinf(ratio):
        return "∞x"
    if ratio >= 99.5:
        return f"{ratio:.0f}x"
    return f"{ratio:.1f}x" if ratio >= 9.95 else f"{ratio:.2f}x"


def format_time(nanoseconds: float | None) -> str:
    """Three significant digits and the unit that reads best."""
    if nanoseconds is None:
        return "–"
    for limit, divisor, unit in (
        (1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms"), (math.inf, 1e9, "s"),
    ):
        if abs(nanoseconds) < limit * 0.9995:
            return f"{_three_digits(nanoseconds / divisor)} {unit}"
    return f"{nanoseconds} ns"


def format_count(value: float | None, unit: str = "") -> str:
    """Three significant digits and thousands, millions, ... of something."""
    if value is None:
        return "–"
    for limit, divisor, prefix in (
        (1e3, 1, ""), (1e6, 1e3, "k"), (1e9, 1e6, "M"), (math.inf, 1e9, "G"),
    ):
        if abs(value) < limit * 0.9995:
            number = (
                f"{value:g}"
                if prefix == "" and value == int(value)
                else _three_digits(value / divisor)
            )
            return f"{number} {prefix}{unit}".rstrip()
    return f"{value}"


def _three_digits(value: float) -> str:
    size = abs(value)
    return f"{value:.0f}" if size >= 99.95 else f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


@dataclass(frozen=True)
class Regimes:
    """One or two levels of the one-way line latency; a share is the part of the samples on that
    level.
    """

    medians: list[float]
    shares: list[float]

    @property
    def count(self) -> int:
        return len(self.medians)


def regimes(values: Sequence[float], gap: float = 1.8, least_share: float = 0.03) -> Regimes:
    """Splits samples at the widest gap (in logarithm) when it separates two real groups.

    `gap` is how many times larger the upper group's median must be: jitter within one regime stays
    well below it, and the two regimes seen in the field are about six times apart.
    """
    positive = sorted(value for value in values if value > 0)
    if not positive:
        return Regimes([], [])
    whole = Regimes([statistics.median(positive)], [1.0])
    least = max(2, math.ceil(least_share * len(positive)))
    best_cut, best_score = 0, 0.0
    for cut in range(least, len(positive) - least + 1):
        score = math.log(positive[cut] / positive[cut - 1])
        if score > best_score:
            best_cut, best_score = cut, score
    if best_cut == 0:
        return whole
    low, high = positive[:best_cut], positive[best_cut:]
    if statistics.median(high) < gap * statistics.median(low):
        return whole
    return Regimes(
        [statistics.median(low), statistics.median(high)],
        [len(low) / len(positive), len(high) / len(positive)]
    )
