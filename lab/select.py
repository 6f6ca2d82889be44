# SPDX-License-Identifier: Apache-2.0
"""Picks rows out of a data set and puts situations into words."""

from __future__ import annotations

import re
from typing import Any, Iterable

import polars as pl

from lab import style
from lab.lines import Dataset

Row = dict[str, Any]


def rows(data: Dataset, **wanted: Any) -> list[Row]:
    """Result rows whose columns have the wanted values; a callable is a predicate on the column's value."""
    frame = data.results
    predicates = {}
    for column, value in wanted.items():
        if callable(value):
            predicates[column] = value
        else:
            frame = frame.filter(pl.col(column) == value)
    found = frame.to_dicts()
    return [row for row in found if all(test(row[column]) for column, test in predicates.items())]


def is_free(scenario: str) -> bool:
    return scenario == "free"


def is_neighbour(scenario: str) -> bool:
    return scenario.startswith("neighbour")


def is_imbalance(scenario: str) -> bool:
    return scenario.startswith("imbalance")


def usual_wait(row: Row) -> bool:
    """tutti with its default wait policy, or any peer."""
    return not style.is_tutti(row["provider"]) or row["wait"] in ("", style.USUAL_WAIT)


def fixed_wait(row: Row) -> bool:
    """tutti with a wait policy that does not adapt."""
    return style.is_tutti(row["provider"]) and row["wait"] not in ("", style.USUAL_WAIT)


def default_of(found: Iterable[Row]) -> Row | None:
    return next((row for row in found if style.is_default(row)), None)


def best(found: Iterable[Row]) -> Row | None:
    return min(found, key=lambda row: row["median"], default=None)


def peers_of(found: Iterable[Row]) -> list[Row]:
    return [row for row in found if not style.is_tutti(row["provider"])]


def tutti_of(found: Iterable[Row]) -> list[Row]:
    return [row for row in found if style.is_tutti(row["provider"])]


_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def duration_of(scenario: str) -> float | None:
    """The nanoseconds in a scenario's name: imbalance_1ms is 1e6, skew_0.5us is 500; None without a number."""
    found = re.search(r"(\d+(?:[.p]\d+)?)(ns|us|ms|s)\b", scenario.replace("_", " "))
    return float(found[1].replace("p", ".")) * _UNITS[found[2]] if found else None


def _duration_words(scenario: str) -> str:
    found = re.search(r"(\d+(?:[.p]\d+)?)(ns|us|ms|s)\b", scenario.replace("_", " "))
    return f"{found[1].replace('p', '.')} {found[2].replace('us', 'µs')}" if found else ""


def scenario_words(scenario: str) -> str:
    """A scenario as a reader would say it."""
    if is_free(scenario):
        return "nothing else runs"
    if is_neighbour(scenario):
        where = scenario.removeprefix("neighbour").strip("_")
        return {"one": "a busy neighbour on one core", "all": "a busy neighbour on every core"}.get(
            where, f"a busy neighbour {where}".strip()
        )
    if is_imbalance(scenario):
        return f"one participant {_duration_words(scenario)} late"
    if scenario.startswith("skew"):
        return f"arrivals up to {_duration_words(scenario)} apart"
    return scenario.replace("_", " ")


def threads_words(threads: int) -> str:
    return f"{threads} thread" if threads == 1 else f"{threads} threads"


def ranks_words(threads: int, ranks: int, cores: int | None) -> str:
    """A team as a reader would say it: ranks beyond the threads are fibers."""
    if ranks > threads:
        return f"{ranks} virtual ranks on {threads_words(threads)}"
    return f"{threads_words(threads)} on {cores} cores" if cores and threads > cores else threads_words(threads)
