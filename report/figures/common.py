# SPDX-License-Identifier: Apache-2.0
"""What several figures share: points with their spread, rows of dots, axes of time, and sentences
about who is ahead.
"""

from __future__ import annotations

from typing import Iterable, Iterator

from report import style
from report.layout import bounds
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.select import Row, best, default_of, fixed_wait, peers_of, rows, threads_words, tutti_of
from report.statistics import compare, extent, format_time

ROW_HEIGHT = 22
# What a row of dots() shows of its samples.
EXTREMES = "; line: min to p99"
SPREAD = f"median; box: quartiles{EXTREMES}"
DOT_FRAME = 90


def hover(row: Row, of: str = "") -> str:
    samples = f"{row['samples']} samples" if row["samples"] else None
    details = ", ".join(filter(None, (extent(row), samples)))
    behind = f" ({details})" if details else ""
    return f"{style.label(row)}{of}: median {format_time(row['median'])}{behind}"


def time_axis(title: str) -> Axis:
    return Axis(title, log=True, time=True)


def drawable(found: Iterable[Row]) -> tuple[list[Row], list[str]]:
    """A logarithmic axis has no place for zero or less: such rows are named instead of drawn."""
    good, bad = [], []
    for row in found:
        (good if row["median"] > 0 else bad).append(row)
    notes = [
        f"{style.label(row)}: {format_time(row['median'])}, below what the clock resolves."
        for row in bad
    ]
    return good, notes


def without_result(data: Dataset, run: str, of: str, *head: str) -> Figure:
    """The figure of this name, title and question where the lines have no result `of` something."""
    return Figure(*head, [], [], data.not_measured(run, f"no result of {of}."))


def ends(row: Row) -> tuple[float | None, float | None]:
    """Where the thin line of a row begins and ends: min and p99, or else the quartiles."""
    has_extremes = row["min"] is not None or row["p99"] is not None
    return (row["min"], row["p99"]) if has_extremes else (row["p25"], row["p75"])


def _dot(row: Row, place: int, at_least: float) -> Point:
    median, low, high, first, third = (
        row[key] if row[key] is None else max(row[key], at_least)
        for key in ("median", "min", "p99", "p25", "p75")
    )
    box = (first, third) if first and third else None
    return Point(median, place, low, high, hover(row), box)


def dots(
    title: str, found: list[Row], axis: str, rules: list[Rule] | None = None, at_least: float = 0.0
) -> Panel:
    """One row for each contender, the fastest at the top: median as a dot, the quartiles as a
    box, min to p99 as a line. Less than `at_least` is drawn as that, and told as it is."""
    if all(row["min"] is None and row["p99"] is None for row in found):
        axis = axis.replace(EXTREMES, "")
    ordered = sorted(found, key=lambda row: row["median"], reverse=True)
    series = [
        Series(
            style.label(row),
            style.color(row["provider"])
            if style.is_default(row) or not style.is_tutti(row["provider"])
            else "color:tutti1",
            [_dot(row, place, at_least)],
            emphasis=style.is_default(row),
            line=False,
        )
        for place, row in enumerate(ordered)
    ]
    ticks = [(place, style.label(row)) for place, row in enumerate(ordered)]
    axis_y = Axis("", ticks=ticks, lowest=-0.7, highest=len(ordered) - 0.3)
    return Panel(
        title, time_axis(axis), axis_y, series, rules or [], "dots",
        DOT_FRAME + ROW_HEIGHT * len(ordered),
    )


def _share(panels: list[Panel], is_x: bool) -> list[Panel]:
    spans = [bounds(panel, is_x) for panel in panels]
    for panel in panels:
        axis = panel.x if is_x else panel.y
        axis.lowest = min(low for low, _ in spans)
        axis.highest = max(high for _, high in spans)
    return panels


def share_x(panels: list[Panel]) -> list[Panel]:
    """The same time axis in all panels, so that they can be compared by eye."""
    return _share(panels, True)


def share_y(panels: list[Panel]) -> list[Panel]:
    """The same vertical axis in all panels."""
    return _share(panels, False)


def verdict(found: list[Row], situation: str) -> str:
    """One sentence: the default against the best peer, from the data."""
    ours, peer = default_of(found), best(peers_of(found))
    if ours is None:
        return f"{situation}: tutti's default was not measured."
    if peer is None:
        return (
            f"{situation}: tutti's default takes {format_time(ours['median'])}; no peer was "
            "measured."
        )
    comparison = compare(ours, peer)
    relation = (
        "cannot be told apart from" if comparison.within_noise else f"is {comparison.text()} than"
    )
    mine, theirs = format_time(ours["median"]), format_time(peer["median"])
    return (
        f"{situation}: tutti's default ({mine}) {relation} the best peer, {style.label(peer)} "
        f"({theirs})."
    )


def against_best_static(found: list[Row]) -> list[str]:
    """A sentence on the adaptive default against the best of tutti's fixed waits; none where one of
    them is missing.
    """
    ours = default_of(found)
    fixed = best(row for row in found if fixed_wait(row))
    if ours is None or fixed is None:
        return []
    text = compare(ours, fixed).text()
    return [
        f"Against tutti's best fixed wait, {style.label(fixed)} ({format_time(fixed['median'])}), "
        f"it is {text}."
    ]


def absent_peers(data: Dataset, found: list[Row]) -> list[str]:
    """What was measured elsewhere or skipped by the command but is not in this figure, with the
    reason.
    """
    present = {row["provider"] for row in found}
    known = {row["provider"] for row in data.results.to_dicts()} | {
        str(line.get("provider")) for line in data.skipped
    }
    notes = []
    for provider in sorted(known - present - {"tutti", "None"}):
        reason = data.why_missing(provider) or "the command wrote no line for it here"
        notes.append(f"{style.PEER_LABELS.get(provider, provider)}: not measured: {reason}.")
    return notes + sorted(set(_failed_cells(data, found)))


def _failed_cells(data: Dataset, found: list[Row]) -> Iterator[str]:
    """A contender that is in the figure, but failed for one number of threads of the figure."""
    contenders = {(row["provider"], row["name"], row["wait"]) for row in found}
    counts = {row["threads"] for row in found}
    scenarios = {row["scenario"] for row in found}
    for line in data.skipped:
        if line.get("scenario", "free") not in scenarios:
            continue
        row = {
            "provider": str(line.get("provider")), "name": line.get("name") or "",
            "wait": line.get("wait") or "",
        }
        if tuple(row.values()) in contenders and line.get("threads") in counts:
            who = f"{style.label(row)} with {threads_words(line['threads'])}"
            yield f"{who}: not measured: {line.get('reason')}."


def absent_waits(found: list[Row]) -> list[str]:
    """Wait policies of the default that a figure about waiting lacks."""
    present = {row["wait"] for row in tutti_of(found)}
    reason = "this machine does not have it, or it was not asked for"
    return [
        f"wait policy {wait}: not measured: {reason}."
        for wait in style.WAITS
        if wait not in present
    ]


def switch_floor(data: Dataset, threads: int) -> float | None:
    """What the kernel needs to run every thread of a core between two episodes: by sched_yield,
    measured, or else counted.

    On each core that is a switch less than it has threads: who arrives last goes on into the next
    episode.
    """
    cores = data.cores
    if not cores or threads <= cores:
        return None
    rotation = data.floor("yield_rotation", threads)
    if rotation is not None:
        return rotation["median"]
    switch = data.floor("context_switch")
    return switch["median"] * switches(threads, cores) if switch else None


def switches(threads: int, cores: int) -> int:
    return -(-threads // cores) - 1


def one_way(data: Dataset) -> float | None:
    floor = data.floor("line_one_way")
    if floor is not None:
        return floor["median"]
    seen = data.results["floor_median"].drop_nulls()
    return float(seen.median()) if len(seen) else None


def loop_rows(data: Dataset, **wanted) -> list[Row]:
    return rows(data, metric="loop", **wanted)
