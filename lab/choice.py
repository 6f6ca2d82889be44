# SPDX-License-Identifier: Apache-2.0
"""The table "which barrier should I use here": one row a situation, made from the data, losses first."""

from __future__ import annotations

from dataclasses import dataclass

from lab import style
from lab.lines import Dataset
from lab.select import (
    Row,
    best,
    default_of,
    duration_of,
    is_free,
    is_imbalance,
    is_neighbour,
    peers_of,
    rows,
    scenario_words,
    threads_words,
    tutti_of,
)
from lab.statistics import Comparison, compare

METRIC_WORDS = {"loop": "episode", "last_in_last_out": "latency", "cpu_time": "CPU time"}


@dataclass(frozen=True)
class Choice:
    """One situation and what the data advise there."""

    group: str
    situation: str
    metric: str
    best_tutti: Row | None
    default: Row | None
    best_peer: Row | None
    against_peer: Comparison | None
    against_tutti: Comparison | None

    @property
    def loses(self) -> bool:
        """The default is beaten by a peer, beyond the noise."""
        return self.against_peer is not None and self.against_peer.loses

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
            return (0, self.against_peer.ratio)
        return (1, 0.0)


def _group(row: Row, cores: int | None) -> tuple[int, str]:
    if is_neighbour(row["scenario"]):
        return (3, "a busy neighbour")
    if is_imbalance(row["scenario"]):
        return (4, "long waits")
    if not row["pinned"]:
        return (5, "not pinned")
    if cores and row["threads"] > cores:
        return (2, "more threads than cores")
    return (0, "free cores") if row["metric"] == "loop" else (1, "free cores, late arrivals")


def _words(row: Row, cores: int | None) -> str:
    parts = [threads_words(row["threads"])]
    if cores and row["threads"] > cores:
        parts[0] += f" on {cores} cores"
    if not is_free(row["scenario"]):
        parts.append(scenario_words(row["scenario"]))
    if not row["pinned"]:
        parts.append("not pinned")
    return ", ".join(parts)


def _choice(cell: list[Row], cores: int | None) -> Choice:
    default, tutti, peer = default_of(cell), best(tutti_of(cell)), best(peers_of(cell))
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
    )


def choices(data: Dataset) -> list[Choice]:
    """Every measured situation with two participants or more: losses first, then in the order a reader would ask."""
    cores = data.cores
    cells: dict[tuple, list[Row]] = {}
    for row in rows(data, threads=lambda n: n > 1, benchmark="barrier"):
        order = (
            _group(row, cores)[0], row["metric"] != "loop", row["metric"], duration_of(row["scenario"]) or 0,
            row["scenario"] != "neighbour_one", row["scenario"], row["threads"], row["pinned"],
        )
        cells.setdefault(order, []).append(row)
    made = [_choice(cells[order], cores) for order in sorted(cells)]
    return sorted(made, key=Choice.severity)


EXPECTED = {
    "free cores": "--metric loop with 2 to as many threads as cores",
    "more threads than cores": "--threads beyond the number of cores",
    "a busy neighbour": "--neighbour one and --neighbour all",
    "long waits": "--imbalance",
    "not pinned": "--pin none",
}


def missing(made: list[Choice]) -> list[str]:
    """Situations a reader expects that the lines do not cover."""
    present = {choice.group for choice in made}
    return [f"{group}: not measured: no line from a run with {how}." for group, how in EXPECTED.items() if group not in present]
