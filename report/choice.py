# SPDX-License-Identifier: Apache-2.0
"""The table "which barrier should I use here": one row a comparison, made from the data, losses
first.

A situation is how many threads, on what machine, and what goes on beside them. Each measure of a
situation is a row and a comparison; no row leaves the list. The default loses where it takes more
than LOSS times what the best row does. Three things need a word:

* Latency and processor time after a wait are two sides of one choice: who spins through a wait
  answers at once, who sleeps burns nothing. The default's latency is held against those that burn
  no more than it does (or no more than the wait itself, where that is short; beyond LONG_WAIT
  against those that give most of it back), its processor time against those that answer as fast.
  With more threads than cores the waiters share what the one that works leaves, so giving most of
  it back is less for each of them. A contender that is faster at a higher price is named beside.
* With more threads than cores, some of them late or at work, the last return is often late because
  another participant works on the same core, which delays nobody. There whole episodes are
  compared, work included.
* A time to recover counts as lost only beyond RECOVERY_GRACE: the scheduler's slices are
  milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from report import style
from report.lines import Dataset
from report.select import (
    Row,
    best,
    default_of,
    duration_of,
    has_waits,
    is_disturbed,
    is_free,
    is_recover,
    peers_of,
    rows,
    scenario_words,
    threads_words,
    tutti_of,
    wait_of,
)
from report.statistics import Comparison, compare, format_ratio, format_time

METRIC_WORDS = {
    "loop": "episode", "last_in_last_out": "latency", "latency": "latency",
    "cpu_time": "CPU time of a waiter",
    "episode": "episode, work included", "recover": "time to recover",
}
BENCHMARKS = {"barrier": "barrier", "region": "region"}
LOSS = 1.05
# Beyond this a wait, in ns, is long: a waiter should give most of it back.
LONG_WAIT = 200e3
GIVEN_BACK = 2 / 3
BURNS_AS_MUCH = 1.1
RECOVERY_GRACE = 5e6


def _beaten(default: Row, other: Row, comparison: Comparison) -> bool:
    """In time, and against the floors of their rounds."""
    grace = RECOVERY_GRACE if default["metric"] == "recover" else 0.0
    return (
        comparison.ratio < 1 / LOSS and default["median"] > other["median"] * LOSS + grace
    )


def _ahead(default: Row | None, fair: list[Row]) -> tuple[Row | None, Comparison | None]:
    """The row that beats the default the most, and the default against it; if none does, the row
    with the least median.
    """
    others = [row for row in fair if row is not default]
    if default is None or not others:
        return best(others), None
    pairs = [(row, compare(default, row)) for row in others]
    ahead = [pair for pair in pairs if _beaten(default, *pair)]
    if ahead:
        return min(ahead, key=lambda pair: pair[1].ratio)
    return min(pairs, key=lambda pair: pair[0]["median"])


@dataclass(frozen=True)
class Choice:
    """One measure of a situation and what the data advise there."""

    group: str
    situation: str
    metric: str
    best_tutti: Row | None
    default: Row | None
    best_peer: Row | None
    against_peer: Comparison | None
    against_tutti: Comparison | None
    # The row that beats the default the most, or else the best row but the default, whoever it
    # belongs to, and the default against it.
    ahead: Row | None = None
    against_best: Comparison | None = None
    # Faster, but at a price that the default does not pay.
    dearer: Row | None = None
    # Why there is nothing.
    reason: str = ""

    @property
    def loses(self) -> bool:
        """The default takes more than LOSS times what the best row does: in time, and against the
        floors of their rounds.
        """
        return self.against_best is not None and _beaten(
            self.default, self.ahead, self.against_best
        )

    @property
    def within_noise(self) -> bool:
        return self.against_best is not None and self.against_best.within_noise

    @property
    def not_our_best(self) -> bool:
        """Another choice of tutti's beats the default, beyond the noise."""
        return self.against_tutti is not None and self.against_tutti.loses

    @property
    def measured(self) -> bool:
        return self.default is not None

    def severity(self) -> tuple[int, float]:
        """Sorts the situations where the default loses to the top, the worst first."""
        if self.loses:
            return (0, self.against_best.ratio)
        return (1, 0.0)


def _group(row: dict[str, Any], cores: int | None) -> tuple[int, str]:
    scenario = row["scenario"]
    if not row.get("pinned", True):
        return (8, "not pinned")
    if is_recover(scenario):
        return (7, "after a change")
    if "quota_" in scenario:
        return (6, "a quota")
    if is_disturbed(scenario):
        return (5, "waits beside others") if has_waits(scenario) else (3, "a busy neighbour")
    if has_waits(scenario):
        return (4, "long waits")
    if cores and row["threads"] > cores:
        return (2, "more threads than cores")
    return (
        (0, "free cores")
        if row.get("metric") != "last_in_last_out"
        else (1, "free cores, late arrivals")
    )


def _words(row: dict[str, Any], cores: int | None) -> str:
    parts = [threads_words(row["threads"])]
    if cores and row["threads"] > cores:
        parts[0] += f" on {cores} cores"
    if row.get("benchmark") == "region":
        parts[0] = f"region, {parts[0]}"
    if not is_free(row["scenario"]):
        parts.append(scenario_words(row["scenario"], row.get("session") or ""))
    if not row.get("pinned", True):
        parts.append("not pinned")
    return ", ".join(parts)


def _who(row: Row) -> tuple[str, str, str]:
    return (row["provider"], row["name"], row["wait"])


def _most_burnt(wait: float, threads: int, cores: int | None) -> float:
    """The processor time that a waiter takes if none of what the others leave is given back."""
    if not cores or threads <= cores:
        return wait
    return wait * (cores - 1) / (threads - 1)


def _fair(cell: list[Row], other_side: list[Row], default: Row, cores: int | None) -> list[Row]:
    """Those of a cell of latencies, or of processor times, that do not pay for it on the other
    side.
    """
    other = {_who(row): row["median"] for row in other_side}
    mine = other.get(_who(default))
    if mine is None:
        return cell
    if default["metric"] == "cpu_time":
        limit = LOSS * mine
    else:
        wait = wait_of(default["scenario"])
        allowed = wait * BURNS_AS_MUCH
        if wait > LONG_WAIT:
            allowed = _most_burnt(wait, default["threads"], cores) * (1 - GIVEN_BACK)
        limit = max(mine * BURNS_AS_MUCH, allowed)
    return [row for row in cell if row is default or other.get(_who(row), limit) <= limit]


def _why_not(data: Dataset, row: Row) -> str:
    """What the command said of the default in a situation where others have a figure."""
    for line in data.skipped:
        is_default = line.get("provider") == "tutti" and line.get("name") == "default"
        here = all(
            (line.get(key) or "") == (row[key] or "")
            for key in ("benchmark", "scenario", "session", "threads")
        )
        if is_default and here:
            return str(line.get("reason") or "")
    return ""


def _choice(cell: list[Row], other_side: list[Row], data: Dataset) -> Choice:
    cores = data.cores
    default = default_of(cell)
    fair = _fair(cell, other_side, default, cores) if default and other_side else cell
    tutti, peer = best(tutti_of(fair)), best(peers_of(fair))
    ahead, against_best = _ahead(default, fair)
    dearer = best(row for row in cell if row not in fair)
    first = cell[0]
    return Choice(
        _group(first, cores)[1],
        _words(first, cores),
        METRIC_WORDS.get(first["metric"], first["metric"]),
        tutti,
        default,
        peer,
        compare(default, peer) if default and peer else None,
        compare(default, tutti) if default and tutti and not style.is_default(tutti) else None,
        ahead,
        against_best,
        dearer if dearer and default and dearer["median"] * LOSS < default["median"] else None,
        "" if default else _why_not(data, first),
    )


def _compared(data: Dataset) -> list[Row]:
    """Every measured situation with two participants or more; of regions, the empty ones on kernel
    threads.
    """
    found = rows(data, threads=lambda n: n > 1, benchmark=lambda name: name in BENCHMARKS)
    whole = {
        _place_of(row) for row in found if row["metric"] == "episode" and style.is_default(row)
    }
    return [
        row
        for row in found
        if (
            row["benchmark"] == "barrier"
            or (row["what"] == "empty" and row["ranks"] == row["threads"])
        )
        and not (
            row["metric"] == "last_in_last_out"
            and data.cores
            and row["threads"] > data.cores
            and _place_of(row) in whole
        )
    ]


def _place_of(row: Row) -> tuple:
    """A situation, whatever is measured in it and of whom."""
    keys = ("benchmark", "what", "ranks", "threads", "scenario", "session", "pinned")
    return tuple(row[key] for key in keys)


def _order(row: dict[str, Any], cores: int | None) -> tuple:
    metric = row.get("metric") or ""
    return (
        row["benchmark"], _group(row, cores)[0], duration_of(row["scenario"]) or 0,
        row["scenario"] != "neighbour_one",
        row["scenario"], row.get("session") or "", row["threads"], row.get("pinned", True),
        metric != "loop", metric,
    )


OTHER_SIDE = {
    "cpu_time": ("last_in_last_out", "latency", "episode"), "last_in_last_out": ("cpu_time",),
    "latency": ("cpu_time",),
}


def _skipped(data: Dataset, measured: set[tuple]) -> list[tuple[tuple, Choice]]:
    """Situations that nobody has a figure of, with what the command said."""
    made = {}
    for line in data.skipped:
        benchmark, scenario, threads = (
            line.get("benchmark"), line.get("scenario"), line.get("threads"),
        )
        concerns_default = line.get("provider") is None or (
            line.get("provider") == "tutti" and line.get("name") == "default"
        )
        if benchmark not in BENCHMARKS or not scenario or not threads or not concerns_default:
            continue
        row = {
            "benchmark": benchmark, "scenario": scenario, "session": line.get("session") or "",
            "threads": threads,
        }
        if (benchmark, scenario, row["session"], threads) in measured:
            continue
        nothing = Choice(
            _group(row, data.cores)[1], _words(row, data.cores), "skipped", None, None, None, None,
            None,
            reason=str(line.get("reason") or ""),
        )
        made[_order(row, data.cores)] = nothing
    return list(made.items())


def choices(data: Dataset) -> list[Choice]:
    """Losses first, then in the order a reader would ask."""
    cores = data.cores
    cells: dict[tuple, list[Row]] = {}
    for row in _compared(data):
        cells.setdefault(_order(row, cores), []).append(row)
    made = []
    for order, cell in cells.items():
        sides = [
            cells.get((*order[:-2], name != "loop", name)) for name in OTHER_SIDE.get(order[-1], ())
        ]
        made.append((order, _choice(cell, next((side for side in sides if side), []), data)))
    situations = {
        (row["benchmark"], row["scenario"], row["session"], row["threads"])
        for cell in cells.values()
        for row in cell
    }
    made += _skipped(data, situations)
    made.sort(key=lambda pair: pair[0])
    return sorted((choice for _, choice in made), key=Choice.severity)


def named_rows(data: Dataset) -> list[Row]:
    """The rows that the choices name, one that is faster at a higher price among them."""
    return [
        row
        for choice in choices(data)
        for row in (
            choice.best_tutti, choice.default, choice.best_peer, choice.ahead, choice.dearer,
        )
        if row is not None
    ]


def with_other_sides(data: Dataset, shown: list[Row]) -> list[Row]:
    """The rows with what the same contenders cost on the other side of a wait: without it, a
    contender would count as one that does not pay.
    """
    sides = {*OTHER_SIDE, *OTHER_SIDE["cpu_time"]}
    of_waits = {_situation_of(row) for row in shown if row["metric"] in sides}
    return shown + [
        row for row in _compared(data) if row["metric"] in sides and _situation_of(row) in of_waits
    ]


def _situation_of(row: Row) -> tuple:
    """A contender in a situation, whatever is measured of it."""
    return (*_who(row), *_place_of(row))


EXPECTED = {
    "free cores": "--metric loop with 2 to as many threads as cores",
    "more threads than cores": "--threads beyond the number of cores",
    "a busy neighbour": "--neighbour or --background",
    "long waits": "--imbalance, --work or --gap",
    "waits beside others": "--imbalance or --gap with --background and --product",
    "a quota": "--quota",
    "after a change": "--recover",
    "not pinned": "--pin none",
}


def missing(made: list[Choice]) -> list[str]:
    """Situations a reader expects that the lines do not cover."""
    present = {choice.group for choice in made}
    return [
        f"{group}: not measured: no line from a run with {how}."
        for group, how in EXPECTED.items()
        if group not in present
    ]


def _situations(made: list[Choice]) -> int:
    """How many, whatever is measured in them."""
    return len({choice.situation for choice in made})


def in_short(made: list[Choice], listed: str = "they come first") -> str:
    """In words: how many comparisons of how many, in how many situations, and where they stand.
    """
    compared = [choice for choice in made if choice.measured and choice.against_best]
    losses = [choice for choice in made if choice.loses]
    alone = sum(1 for choice in made if choice.measured and not choice.against_best)
    skipped = sum(1 for choice in made if choice.reason)
    more = (
        f" {alone} more rows have nothing to be compared with, and do not count." if alone else ""
    )
    more += f" {skipped} could not be measured, and say why." if skipped else ""
    if not losses:
        return (
            f"tutti's default takes at most {LOSS:g} times what the best row does in each of "
            f"{len(compared)} comparisons.{more}"
        )
    noise = sum(1 for choice in losses if choice.within_noise)
    beside = f" ({noise} of them within noise)" if noise else ""
    return (
        f"tutti's default takes more than {LOSS:g} times what the best row does in {len(losses)} "
        f"of {len(compared)} comparisons{beside}, which are of {_situations(losses)} of "
        f"{_situations(compared)} situations; {listed}.{more}"
    )


def _named(row: Row | None) -> str:
    return f"{style.label(row)} {format_time(row['median'])}" if row else "–"


def is_recovery(choice: Choice) -> bool:
    return choice.metric == METRIC_WORDS["recover"]


def _times(choice: Choice) -> str:
    if choice.against_best is None:
        return "–"
    if is_recovery(choice):
        return "lost" if choice.loses else "within a slice"
    ratio = choice.against_best.ratio
    times = format_ratio(1 / ratio) if ratio else "∞x"
    return f"**{times}**" if choice.loses else times


def markdown(made: list[Choice], only_losses: bool = False) -> str:
    """The table for a README: what the default takes as a multiple of the best other row, losses
    first.
    """
    lines = [
        in_short(made), "",
        "| situation | what | tutti's default | best peer | best other choice of tutti's | times "
        "the best |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for choice in made:
        if only_losses and not choice.loses:
            continue
        if choice.default is None:
            lines.append(
                f"| {choice.situation} | {choice.metric} | {choice.reason or 'not measured'} | | | "
                "|"
            )
            continue
        other = (
            choice.best_tutti
            if choice.best_tutti and not style.is_default(choice.best_tutti)
            else None
        )
        lines.append(
            f"| {choice.situation} | {choice.metric} | {format_time(choice.default['median'])} | "
            f"{_named(choice.best_peer)} "
            f"| {_named(other)} | {_times(choice)} |"
        )
    return "\n".join(lines)
