# SPDX-License-Identifier: Apache-2.0
"""The measured parts of Markdown pages: each stands between two marks and is made from stored
lines.

  <!-- measured: NAME -->
  ...
  <!-- /measured -->

`python -m report pages --write` makes them from the lines in docs/measured.jsonl, `--check`
compares, which a test does. With `--from results/*.jsonl` the lines of that report take the place
of the kept ones first.
"""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable

from report import style
from report.choice import (
    Choice, choices, in_short, is_recovery, markdown, named_rows, with_other_sides,
)
from report.errors import ReportError
from report.figures import overview
from report.lines import KEY, Dataset, assemble, kept_text, read_file, row_of, text_of
from report.output import write_text
from report.select import Row, best, rows, usual_wait
from report.statistics import format_ratio, format_time

PART = re.compile(r"(<!-- measured: (\w+) -->\n)(.*?)(<!-- /measured -->)", re.DOTALL)
OPENING = re.compile(r"<!-- measured:")
# The README shows so many losses; docs/choices.md has all.
MOST_LOSSES = 5
DASH = "–"
# A time that is more floors than this is made of sleeping, and is no multiple of anything.
MEANINGFUL = 100
# All paths are relative to the project's folder.
KEPT = Path("docs/measured.jsonl")
PAGES = (Path("README.md"), Path("docs/choices.md"))
PICTURE = Path("docs/img/overview.png")


@dataclass(frozen=True)
class Column:
    """One contender of a table; of several names, the one with the smallest median is shown."""

    title: str
    provider: str
    names: tuple[str, ...] = ()

    def of(self, found: Iterable[Row]) -> Row | None:
        return best(
            row
            for row in found
            if row["provider"] == self.provider
            and usual_wait(row)
            and (not self.names or row["name"] in self.names)
        )


TUTTI = Column("tutti", "tutti", ("default",))
STD, PTHREAD = Column("std::barrier", "std"), Column("pthread", "pthread")
LIBGOMP, LIBOMP = Column("libgomp, best", "libgomp"), Column("LLVM libomp, best", "libomp")
LIBGOMP_DEFAULT = Column("libgomp", "libgomp", ("default",))
LIBGOMP_PASSIVE, TBB = Column("libgomp, passive", "libgomp", ("passive",)), Column("oneTBB", "tbb")
POOL = Column("pthread pool", "pthread")
COLUMNS = (TUTTI, STD, PTHREAD, LIBGOMP, LIBGOMP_DEFAULT, LIBOMP, LIBGOMP_PASSIVE, TBB)


@dataclass(frozen=True)
class Situation:
    """One row of a table: its words, and what its result lines have."""

    words: str
    wanted: dict[str, Any]
    # What a cell shows, all of one setting; the wanted metric, or nothing here, says which setting.
    metrics: tuple[str, ...] = ()


def _usual_session(session: str) -> bool:
    """True for no neighbours, and for neighbours in the session of the run."""
    return session in ("", "same")


def _barrier(
    words: str, threads: int, scenario: str = "free", metric: str = "loop", pinned: bool = True,
    metrics: tuple[str, ...] = (),
) -> Situation:
    wanted = {
        "benchmark": "barrier", "threads": threads, "scenario": scenario, "metric": metric,
        "pinned": pinned, "session": _usual_session,
    }
    return Situation(words, wanted, metrics)


def _region(
    words: str, threads: int, scenario: str = "free", metric: str = "loop", what: str = "empty",
    ranks: int = 0,
) -> Situation:
    wanted = {
        "benchmark": "region", "threads": threads, "ranks": ranks or threads, "scenario": scenario,
        "metric": metric, "what": what,
        "pinned": True, "session": _usual_session,
    }
    return Situation(words, wanted)


LATE_METRICS = ("last_in_last_out", "cpu_time")
GLANCE = (
    _barrier("barrier, 2 threads with a core each", 2),
    _barrier("barrier, 8 threads on 2 cores", 8),
    _barrier("barrier, 2 threads, a busy process on each core", 2, "neighbour_all"),
    _region("parallel region, 2 threads, after 60 µs of serial code", 2, "gap_60us", "latency"),
)
BARRIERS = (
    *(_barrier(f"{n}", n) for n in (2, 4, 8, 16, 64)),
    _barrier(
        "2, arrivals up to 10 µs apart: last-in to last-out", 2, "skew_10us", "last_in_last_out"
    ),
    _barrier("2, a busy process on one core", 2, "neighbour_one"),
    _barrier("2, a busy process on each core", 2, "neighbour_all"),
    _barrier("4, a busy process on each core", 4, "neighbour_all"),
    _barrier("2, not pinned", 2, pinned=False),
    _barrier(
        "2, one of them 1 ms late: last-in to last-out; processor time of the waiter", 2,
        "imbalance_1ms", "last_in_last_out", metrics=LATE_METRICS,
    ),
    _barrier(
        "the same by the settings that take least processor time", 2, "imbalance_1ms", "cpu_time",
        metrics=LATE_METRICS,
    ),
)
REGIONS = (
    *(_region(f"{n} threads, empty", n) for n in (2, 4, 8)),
    *(_region(f"{n} threads, with the sum of two doubles", n, what="reduce2") for n in (2, 4, 8)),
    _region("8 virtual ranks on 2 threads, empty", 2, ranks=8),
    _region("64 virtual ranks on 2 threads, empty", 2, ranks=64),
)
GAPS = ("20us", "60us", "200us", "500us", "2ms")
GAP_METRICS = ("latency", "cpu_time")


def _gap(gap: str, metric: str) -> Situation:
    return _region("", 2, f"gap_{gap}", metric)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def table(first: str, heads: Iterable[str], lines: Iterable[list[str]]) -> str:
    """A Markdown table; `first` is the head of its first column, which is words."""
    heads = list(heads)
    return (
        "\n".join(
            [
                _line([first, *heads]), f"|---|{'--:|' * len(heads)}",
                *(_line(line) for line in lines),
            ]
        )
        + "\n"
    )


def _cell(data: Dataset, situation: Situation, row: Row | None, is_fastest: bool) -> str:
    """The time of a row, bold if it is the fastest; with further metrics of the same setting where
    the situation has them.
    """
    if row is None:
        return DASH
    parts = []
    for metric in situation.metrics or (row["metric"],):
        of_setting = {key: row[key] for key in ("provider", "name", "wait")}
        shown = row
        if metric != row["metric"]:
            shown = best(rows(data, **situation.wanted | of_setting | {"metric": metric}))
        time = format_time(shown["median"]) if shown else DASH
        parts.append(f"**{time}**" if is_fastest and shown is row else time)
    return "; ".join(parts)


def _times(
    data: Dataset, situations: Iterable[Situation], columns: tuple[Column, ...], with_floor: bool,
    first: str,
) -> str:
    lines = []
    for situation in situations:
        found = rows(data, **situation.wanted)
        shown = [column.of(found) for column in columns]
        fastest = best(row for row in shown if row)
        cells = [situation.words]
        for column, row in zip(columns, shown):
            cells.append(_cell(data, situation, row, row is fastest))
            if with_floor and column is TUTTI:
                ratio = row["ratio_median"] if row else None
                cells.append(
                    format_ratio(ratio).removesuffix("x") if ratio and ratio < MEANINGFUL else ""
                )
        lines.append(cells)
    heads = [
        head
        for column in columns
        for head in (
            (column.title, "x floor") if with_floor and column is TUTTI else (column.title,)
        )
    ]
    return table(first, heads, lines)


def _glance(data: Dataset) -> str:
    return _times(data, GLANCE, (TUTTI, STD, PTHREAD, LIBGOMP), False, "")


def _barriers(data: Dataset) -> str:
    return _times(
        data, BARRIERS, (TUTTI, LIBGOMP, LIBOMP, STD, PTHREAD), True, "barrier: threads, situation"
    )


def _regions(data: Dataset) -> str:
    return _times(data, REGIONS, (TUTTI, LIBGOMP, LIBOMP, TBB), True, "parallel region")


def _gaps(data: Dataset) -> str:
    columns = (TUTTI, LIBGOMP_DEFAULT, LIBGOMP_PASSIVE, TBB, POOL)
    lines = []
    for gap in GAPS:
        sides = [rows(data, **_gap(gap, metric).wanted) for metric in GAP_METRICS]
        cells = [gap.replace("us", " µs").replace("ms", " ms")]
        for column in columns:
            latency, burned = (column.of(side) for side in sides)
            cells.append(
                f"{format_time(latency['median'])}; {format_time(burned['median'])}"
                if latency and burned
                else DASH
            )
        lines.append(cells)
    return table("serial code before the region", (column.title for column in columns), lines)


def _losses(data: Dataset) -> str:
    made = choices(data)
    worst = [choice for choice in made if choice.loses][:MOST_LOSSES]
    times = sorted(
        _times_the_best(choice)
        for choice in made
        if choice.against_best and choice.against_best.ratio > 0
    )
    spread = "Nothing else was measured to hold it against."
    if times:
        half, most = times[len(times) // 2], times[len(times) * 9 // 10]
        spread = (
            f"In half of the comparisons it takes at most {half:.2f} times the best, in nine of "
            f"ten at most {most:.1f} times."
        )
    listed = f"the table has the {MOST_LOSSES} in which it loses most"
    return (
        f"{in_short(made, listed)} {spread}\n\n"
        + "\n".join(markdown(worst, True).split("\n")[2:])
        + "\n"
    )


def _times_the_best(choice: Choice) -> float:
    return 1 / choice.against_best.ratio


def _groups(data: Dataset) -> str:
    """How often and by how much the default loses, a row for each group of situations. Times to
    recover have no multiples: within a slice of the scheduler they are as good as each other.
    """
    groups: dict[str, list[Choice]] = {}
    for choice in choices(data):
        if choice.against_best and choice.against_best.ratio > 0:
            groups.setdefault(choice.group, []).append(choice)
    lines = []
    for group, made in groups.items():
        times = sorted(_times_the_best(choice) for choice in made)
        losses = sum(choice.loses for choice in made)
        lines.append(
            [group, str(len(made)), str(losses),
             *(DASH if is_recovery(made[0]) else f"{time:.2f}"
               for time in (statistics.median(times), times[-1]))]
        )
    heads = ("comparisons", "losses", "times the best, median", "most")
    return table("situations", heads, sorted(lines))


def _choices(data: Dataset) -> str:
    return markdown(choices(data)) + "\n"


def _machine(data: Dataset) -> str:
    """One sentence: what the figures were measured on, and with what."""
    machine, transfer = data.machine, data.floor("line_one_way")
    cores, cpu = machine.get("cores"), machine.get("cpu") or "an unknown processor"
    words = f"Measured on {cores} cores of {cpu}" + (
        " in a virtual machine" if machine.get("virtual_machine") else ""
    )
    details = [f"one line transfer takes {format_time(transfer['median'])}"] if transfer else []
    details += [str(machine[key]) for key in ("compiler",) if machine.get(key)]
    details += [str(machine["kernel"])] if machine.get("kernel") else []
    details += [f"commit {str(machine['commit'])[:7]}"] if machine.get("commit") else []
    return f"{words}: {', '.join(details)}.\n"


PARTS: dict[str, Callable[[Dataset], str]] = {
    "machine": _machine, "glance": _glance, "barriers": _barriers, "regions": _regions,
    "gaps": _gaps, "losses": _losses, "groups": _groups,
    "choices": _choices,
}


def filled(text: str, data: Dataset, page: Path) -> str:
    """The page with every measured part made from the data; an unknown or unclosed part is an error
    that names the page.
    """
    closed = PART.findall(text)
    if len(closed) != len(OPENING.findall(text)):
        raise ReportError(f"{page}: a part `<!-- measured: NAME -->` has no `<!-- /measured -->`.")
    for _, name, _, _ in closed:
        if name not in PARTS:
            raise ReportError(
                f"{page}: there is no measured part '{name}'; there are {', '.join(PARTS)}."
            )
    return PART.sub(lambda found: f"{found[1]}\n{PARTS[found[2]](data)}\n{found[4]}", text)


def write(pages: Iterable[Path], data: Dataset) -> None:
    for page in pages:
        write_text(page, filled(text_of(page), data, page))


def differing(pages: Iterable[Path], data: Dataset) -> list[Path]:
    """The pages whose measured parts are not what the data say."""
    return [page for page in pages if filled(text := text_of(page), data, page) != text]


KEPT_KEYS = (
    "type", "benchmark", "kind", "provider", "name", "wait", "threads", "ranks", "cores", "pinned",
    "scenario", "session", "metric",
    "p25", "median", "p75", "ratio_median", "quantity", "reason", "cpu", "virtual_machine",
    "kernel", "compiler", "commit",
    "unrecovered", "unit",
)
# What lines.py takes for a result that does not say it.
USUAL = {"benchmark": "barrier", "scenario": "free", "pinned": True, "wait": "", "unit": "ns"}


def _shown(data: Dataset) -> set[tuple]:
    """The results that the pages and the picture name, each by its key."""
    regions = [*REGIONS, *(_gap(gap, metric) for gap in GAPS for metric in GAP_METRICS)]
    in_tables = [
        row
        for situation in (*GLANCE, *BARRIERS, *regions)
        if (found := rows(data, **situation.wanted))
        for column in COLUMNS
        if (row := column.of(found)) is not None
    ]
    shown = [*named_rows(data), *overview.barrier_rows(data), *overview.region_rows(data)]
    return {_key(row) for row in with_other_sides(data, shown + in_tables)}


def _key(row: Row) -> tuple:
    return tuple(row[key] for key in KEY)


def _is_needed(line: dict[str, Any], shown: set[tuple]) -> bool:
    """True for floors, for the results that are shown, and for the default's reasons where there is
    none.
    """
    if line.get("type") == "result":
        return "unit" not in line and _key(row_of(line)) in shown
    is_about_default = line.get("provider") is None or (
        line.get("provider") == "tutti" and line.get("name") == "default"
    )
    return line.get("type") == "floor" or (line.get("type") == "skipped" and is_about_default)


def shortened(line: dict[str, Any]) -> dict[str, Any]:
    """The line without what no part needs and without what a reader of lines fills in."""
    kept = {key: line[key] for key in KEPT_KEYS if line.get(key) is not None}
    if line["type"] == "floor":
        kept.pop("unit", None)
    if line["type"] == "result":
        kept = {
            key: value for key, value in kept.items() if USUAL.get(key) != value and key != "cores"
        }
        if kept.get("ranks") == kept["threads"]:
            del kept["ranks"]
    if kept.get("ratio_median", 0) >= MEANINGFUL:
        del kept["ratio_median"]
    return {
        key: short(value) if isinstance(value, float) else value for key, value in kept.items()
    }


def short(value: float) -> float | int:
    """Four digits, and no point behind a whole number."""
    rounded = float(f"{value:.4g}")
    return int(rounded) if rounded.is_integer() else rounded


def keep(sources: Iterable[Path]) -> None:
    """Stores the lines that the pages need."""
    write_text(KEPT, kept_lines(sources))


def kept_lines(sources: Iterable[Path]) -> str:
    """The first machine and the lines that some part needs, as short as they can be.

    The shortened lines tell which are needed, as the parts are made from these. So all lines of the
    kept file are kept if it is given itself.
    """
    parsed = [(path, [shortened(line) for line in read_file(path)]) for path in sources]
    kept, has_machine, shown = [], False, _shown(assemble(parsed))
    for line in (line for _, lines in parsed for line in lines):
        is_first = line["type"] == "machine" and not has_machine
        has_machine = has_machine or is_first
        if is_first or _is_needed(line, shown):
            kept.append(line)
    return kept_text(kept, [path for path, _ in parsed])
