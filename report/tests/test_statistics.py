# SPDX-License-Identifier: Apache-2.0
"""The arithmetic on inputs whose answers are known."""

from __future__ import annotations

import math

import pytest

from report.statistics import (
    compare, format_ratio, format_time, overlap, pool, regimes, safe_ratio, spread,
)


def line(median: float, low: float, high: float, **more) -> dict:
    return {"median": median, "min": low, "p99": high} | more


def test_pool_keeps_the_extremes_and_the_median_of_medians():
    pooled = pool(
        [line(10, 8, 30, samples=5), line(14, 9, 20, samples=6), line(12, 10, 25, samples=7)]
    )
    assert (pooled["min"], pooled["median"], pooled["p99"], pooled["samples"]) == (8, 12, 30, 18)


def test_pool_of_one_is_that_one():
    assert pool([line(10, 8, 30)]) == line(10, 8, 30)


def test_pool_joins_raw_values():
    assert pool([line(1, 1, 1, values=[1, 2]), line(1, 1, 1, values=[3])])["values"] == [1, 2, 3]


def test_spread_prefers_the_quartiles():
    assert spread(line(10, 1, 99, p25=8, p75=12)) == (8, 12)
    assert spread(line(10, 1, 99)) == (1, 99)
    assert spread({"median": 10}) == (10, 10)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (line(10, 9, 12), line(11, 10, 13), True),
        (line(10, 9, 11), line(20, 19, 22), False),
        # A long tail over the other's median is not yet noise: that other lies far below this one's
        # samples.
        (line(100, 90, 120), line(10, 8, 500), False),
    ],
)
def test_overlap(a: dict, b: dict, same: bool):
    assert overlap(a, b) is same
    assert overlap(b, a) is same


def test_compare_uses_the_ratios_of_the_same_rounds():
    # By medians ours would lose, but it was measured in the slow regime.
    ours = line(160, 150, 170, ratio_median=1.0)
    theirs = line(120, 110, 130, ratio_median=4.0)
    assert compare(ours, theirs).ratio == 4.0


def test_compare_does_not_hold_a_sleep_against_the_line_latency():
    assert (
        compare(
            line(100, 90, 110, ratio_median=1.0), line(15000, 14000, 16000, ratio_median=400.0)
        ).ratio
        == 150
    )


def test_compare_in_words():
    assert compare(line(10, 9, 11), line(50, 45, 60)).text() == "5.00x faster"
    assert compare(line(50, 45, 60), line(10, 9, 11)).text() == "5.00x slower"
    assert compare(line(10, 8, 12), line(11, 8, 13)).text() == "within noise (1.10x)"


def test_compare_with_zero_does_not_divide_by_it():
    assert safe_ratio(5, 0) == math.inf
    assert safe_ratio(0, 0) == 1
    assert compare(line(0, 0, 0), line(5, 4, 6)).text() == "∞x faster"


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0.00 ns"), (1.234, "1.23 ns"), (34.56, "34.6 ns"), (999.4, "999 ns"),
        (999.6, "1.00 µs"), (15500, "15.5 µs"),
        (1e6, "1.00 ms"), (2.5e9, "2.50 s"), (-12.3, "-12.3 ns"), (None, "–"),
    ],
)
def test_format_time(nanoseconds: float | None, text: str):
    assert format_time(nanoseconds) == text


def test_format_ratio():
    assert [format_ratio(r) for r in (1.234, 12.34, 123.4)] == ["1.23x", "12.3x", "123x"]


def test_one_regime():
    found = regimes([25, 26, 27, 28, 29, 30, 26, 27])
    assert found.count == 1 and found.medians == [27]


def test_two_regimes_with_their_shares():
    found = regimes([27] * 30 + [163] * 10)
    assert found.medians == [27, 163] and found.shares == [0.75, 0.25]


def test_one_outlier_is_no_regime():
    assert regimes([27] * 50 + [900]).count == 1


def test_no_samples_no_regime():
    assert regimes([]).count == 0
