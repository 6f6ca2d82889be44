# SPDX-License-Identifier: Apache-2.0
"""Picks rows out of a data set and puts situations into words."""

from __future__ import annotations

import re
from typing import Any, Iterable

import polars as pl

from report import style
from report.lines import Dataset

Row = dict[str, Any]


def rows(data: Dataset, **wanted: Any) -> list[Row]:
    """Result rows whose columns have the wanted values; a callable is a predicate on the column's
    value.
    """
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
    """A busy neighbour and nothing else."""
    return scenario in ("neighbour", "neighbour_one", "neighbour_all")


def is_imbalance(scenario: str) -> bool:
    """One participant is late, and nothing else."""
    return scenario.startswith("imbalance_") and "+" not in scenario


def is_gap(scenario: str) -> bool:
    """Serial code of the caller before each region, and nothing else."""
    return scenario.startswith("gap_") and "+" not in scenario


def is_recover(scenario: str) -> bool:
    return scenario.startswith("recover_")


def is_disturbed(scenario: str) -> bool:
    """Other processes, or a quota, take the processors for milliseconds at a time."""
    parts = scenario.split("+")
    return not is_recover(scenario) and any(
        part.startswith(("neighbour", "background", "quota")) for part in parts
    )


def has_waits(scenario: str) -> bool:
    """Somebody is late before each episode, works, or runs serial code."""
    return not is_recover(scenario) and any(
        part.startswith(("imbalance", "work", "gap")) for part in scenario.split("+")
    )


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


# Nine waits of a tenth and one of the whole.
SHARE_ALTERNATING = 0.19
_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def duration_of(scenario: str) -> float | None:
    """The nanoseconds in a scenario's name: imbalance_1ms is 1e6, skew_0.5us is 500; None without a
    number.
    """
    found = re.search(r"(\d+(?:[.p]\d+)?)(ns|us|ms|s)\b", scenario.replace("_", " "))
    return float(found[1].replace("p", ".")) * _UNITS[found[2]] if found else None


def wait_of(scenario: str) -> float:
    """The nanoseconds that a participant is expected to wait in a scenario; 0 without a number. Of
    random work that is a third of its range, for two participants; for more it is up to a half.
    """
    part = next((each for each in scenario.split("+") if duration_of(each) is not None), "")
    length = duration_of(part) or 0.0
    if part.startswith("work_"):
        most = duration_of(part.rpartition("_")[2])
        return (most - length) / 3 if most else length
    return length * SHARE_ALTERNATING if part.endswith("_alternating") else length


def _time_words(text: str) -> str:
    found = re.search(r"(\d+(?:[.p]\d+)?)(ns|us|ms|s)\b", text.replace("_", " "))
    return f"{found[1].replace('p', '.')} {found[2].replace('us', 'µs')}" if found else ""


COURSES = {
    "uniform": "evenly spread around {}", "alternating": "nine times a tenth of {}, then all of it",
}


def _course_words(part: str) -> str:
    time = _time_words(part)
    return next(
        (words.format(time) for suffix, words in COURSES.items() if f"_{suffix}" in part), time
    )


def _neighbour_words(part: str) -> str:
    found = re.fullmatch(r"(neighbour|background)_(\w+?)(?:_x(\d+))?", part)
    if not found:
        return "a busy neighbour"
    count = f"{found[3]} on each: " if found[3] else ""
    words = {
        ("neighbour", "one"): "a busy neighbour on one core",
        ("neighbour", "all"): "a busy neighbour on every core",
        ("background", "light"): "light background load",
        ("background", "heavy"): "heavy background load",
    }
    return count + words.get((found[1], found[2]), f"a busy neighbour {found[2]}")


def _part_words(part: str) -> str:
    if part.startswith("imbalance_"):
        who = "another participant in turn" if "_rotating" in part else "one participant"
        return f"{who} {_course_words(part)} late"
    if part.startswith("skew"):
        return f"arrivals up to {_time_words(part)} apart"
    if part.startswith("work_"):
        low, high = part.removeprefix("work_").split("_")[:2]
        return f"random work of {_time_words(low)} to {_time_words(high)}"
    if part.startswith("gap_"):
        return f"after {_course_words(part)} of serial code"
    if part.startswith("quota_"):
        return f"a quota of {part.removeprefix('quota_')} CPUs"
    if part.startswith(("neighbour", "background")):
        return _neighbour_words(part)
    return part.replace("_", " ")


def _recover_words(what: str) -> str:
    if what.startswith("to_imbalance"):
        return f"waits of {_time_words(what)} begin"
    if what.startswith("imbalance"):
        return f"waits of {_time_words(what)} have ended"
    return f"{_neighbour_words(what)} has ended"


def scenario_words(scenario: str, session: str = "") -> str:
    """A scenario as a reader would say it; in which session neighbours are, where that is another
    one.
    """
    if is_free(scenario):
        return "nothing else runs"
    if is_recover(scenario):
        words = _recover_words(scenario.removeprefix("recover_"))
    else:
        words = ", ".join(_part_words(part) for part in scenario.split("+"))
    return f"{words}, in sessions of its own" if session == "own" else words


def threads_words(threads: int) -> str:
    return f"{threads} thread" if threads == 1 else f"{threads} threads"


def ranks_words(threads: int, ranks: int, cores: int | None) -> str:
    """A team as a reader would say it: ranks beyond the threads are fibers."""
    if ranks > threads:
        return f"{ranks} virtual ranks on {threads_words(threads)}"
    return (
        f"{threads_words(threads)} on {cores} cores"
        if cores and threads > cores
        else threads_words(threads)
    )
