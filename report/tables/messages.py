# SPDX-License-Identifier: Apache-2.0
"""Small messages and hops of a token between threads, beside queues; and the same between
processes, beside MPI's own.
"""

from __future__ import annotations

from typing import Iterable

from report import style
from report.lines import Dataset
from report.model import Cell, Table
from report.select import Row, best, is_free, peers_of, ranks_words, rows, tutti_of
from report.statistics import compare, format_time

NAME = "message"
TITLE = "Small messages between threads"
QUESTION = (
    "Everybody sends to random others as fast as it can: how many messages a second do all of them "
    "move together? And how long "
    "is one hop, when all wait for one token that goes round?"
)
RATES = {"others_8_bytes": "8 B, M/s", "others_64_bytes": "64 B, M/s"}
RANDOM, HOP = "random_8_bytes", "hop"
RANDOM_LABEL = "tutti, to oneself too"
SHOWN = (2, 4, 8)

PROCESSES_NAME = "processes"
PROCESSES_TITLE = "Messages between processes"
PROCESSES_QUESTION = (
    "Processes of an MPI program: tutti's endpoint through memory that they share, and through "
    "packets over MPI, beside what "
    "that MPI offers itself, in the same run."
)
FAMILIES = {"openmpi": "Open MPI", "mpich": "MPICH"}
# (benchmark, metrics, head); a rate where the benchmark is message.
COLUMNS = (
    ("idle", ("empty",), "empty episode"), ("idle", ("one_message",), "with a message each"),
    ("message", ("random", "next"), "8 B, M/s"), ("hop", ("one_way",), "a hop"),
)
MEANINGS = {
    "MPI_Barrier": "no messages", "MPI_Ibarrier": "no messages", "MPI_Allreduce": "of two counters",
    "NBX": "synchronous sends, then a barrier", "MPI_Isend": "64 under way, to the next",
    "MPI_Send": "there and back",
}
TRANSPORTS = {"shared": "shared memory", "packets": "packets"}
DASH = Cell("–", kind="muted")


def _is_shown(row: Row) -> bool:
    """tutti's default and all peers: a message travels the same way with every detector."""
    return style.is_default(row) or not style.is_tutti(row["provider"])


def _label(row: Row) -> str:
    return RANDOM_LABEL if row["metric"] == RANDOM else style.peer_label(row)


def _time_cell(row: Row | None, least: float | None) -> Cell:
    if row is None:
        return DASH
    return Cell(
        format_time(row["median"]), _extent(row, format_time),
        tint=row["median"] / least if least else None,
    )


def _rate_cell(row: Row | None, least: float | None) -> Cell:
    """Millions a second; the spread from the slowest to the fastest round."""
    if row is None:
        return DASH
    return Cell(
        _millions(row["median"]), _extent(row, _millions, True),
        tint=row["median"] / least if least else None,
    )


def _millions(nanoseconds: float) -> str:
    rate = 1e3 / nanoseconds
    return (
        f"{rate:.0f}"
        if rate >= 100
        else f"{rate:.3g}"
        if rate >= 1
        else f"{rate:.2g}"
        if rate >= 0.01
        else "<0.01"
    )


def _extent(row: Row, words, turned: bool = False) -> str:
    if row["min"] is None or row["p99"] is None:
        return ""
    first, last = (
        words(row[key]).split() for key in (("p99", "min") if turned else ("min", "p99"))
    )
    # A unit that both share is said once.
    return " ".join([*(first[:1] if first[1:] == last[1:] else first), "to", *last])


def _least(found: Iterable[Row]) -> float | None:
    first = best(found)
    return first["median"] if first else None


def build(data: Dataset) -> Table:
    made = Table(NAME, TITLE, QUESTION, [("", 1)], ["messages"], [])
    found = [
        row
        for row in rows(
            data, benchmark=lambda name: name in ("message", "hop"), processes=lambda n: n is None,
            scenario=is_free,
        )
        if row["median"] > 0 and row["metric"] in (*RATES, RANDOM, HOP) and _is_shown(row)
    ]
    counts = [n for n in SHOWN if any(row["threads"] == n for row in found)]
    if not counts:
        missing = data.why_failed("message", "idle") or [
            "no result of the benchmarks message and hop in one process."
        ]
        made.missing = [f"Not measured: {text}" for text in missing]
        return made
    columns = [(n, metric) for n in counts for metric in (*RATES, HOP)]
    for n in counts:
        made.groups.append((ranks_words(n, n, data.cores), len(RATES) + 1))
        made.heads += [*RATES.values(), "a hop"]
    least = {
        (n, metric): _least(row for row in found if row["threads"] == n and row["metric"] == metric)
        for n, metric in columns
    }
    labels = sorted({_label(row) for row in found}, key=lambda label: _rank(label, found))
    for label in labels:
        mine = [row for row in found if _label(row) == label]
        cells = [
            Cell(
                label,
                kind="ours"
                if label != RANDOM_LABEL and style.is_tutti(mine[0]["provider"])
                else "",
            )
        ]
        for n, metric in columns:
            wanted = (metric, RANDOM) if metric == "others_8_bytes" else (metric,)
            row = next(
                (row for row in mine if row["threads"] == n and row["metric"] in wanted), None
            )
            cells.append((_time_cell if metric == HOP else _rate_cell)(row, least[n, metric]))
        made.rows.append(cells)
    made.captions = [*_words(found, counts, data), _meaning()]
    return made


def _rank(label: str, found: list[Row]) -> tuple[bool, bool, float]:
    """tutti's default, then oneself among the destinations, then peers, the fastest first."""
    mine = [row for row in found if _label(row) == label]
    ours = any(style.is_tutti(row["provider"]) for row in mine)
    return not ours, label == RANDOM_LABEL, min(row["median"] for row in mine)


def _words(found: list[Row], counts: list[int], data: Dataset) -> list[str]:
    made = []
    for n in counts:
        cell = [row for row in found if row["threads"] == n and row["metric"] == "others_8_bytes"]
        ours, peer = best(row for row in cell if style.is_default(row)), best(peers_of(cell))
        if ours and peer:
            made.append(
                f"{ranks_words(n, n, data.cores)}, 8 bytes: tutti's default moves "
                f"{_millions(ours['median'])} M/s, "
                f"{compare(ours, peer).text()} than {_label(peer)} ({_millions(peer['median'])} "
                "M/s)."
            )
    return made


def _meaning() -> str:
    return (
        "A message counts when it is received and released. Messages to oneself touch no ring: "
        "with two threads half of all "
        "random destinations are oneself. The queues are one a pair (Boost) or one a receiver; "
        "none of them can tell that all is "
        "over, so their rounds end by counting."
    )


def build_processes(data: Dataset) -> Table:
    made = Table(
        PROCESSES_NAME, PROCESSES_TITLE, PROCESSES_QUESTION, [("", 1)], ["between processes"], []
    )
    found = [
        row
        for row in rows(data, processes=lambda n: n is not None)
        if row["mpi"] in FAMILIES and row["median"] > 0
    ]
    sizes = sorted({row["processes"] for row in found})
    shapes = {(row["mpi"], row["processes"]) for row in found}
    groups = [(family, n) for n in sizes for family in FAMILIES if (family, n) in shapes]
    made.missing = _absent(data, {family for family, _ in groups})
    if not groups:
        return made
    for family, n in groups:
        cores = max(
            (row["cores"] or n for row in found if (row["mpi"], row["processes"]) == (family, n)),
            default=n,
        )
        crowded = f" on {cores} cores" if n > cores else ""
        made.groups.append((f"{FAMILIES[family]}, {n} processes{crowded}", len(COLUMNS)))
        made.heads += [head for _, _, head in COLUMNS]
    cells_of = {
        group: [row for row in found if (row["mpi"], row["processes"]) == group] for group in groups
    }
    for ours, name in sorted(
        {(style.is_tutti(row["provider"]), row["name"]) for row in found}, key=_process_rank
    ):
        title = (
            Cell(f"tutti, {TRANSPORTS.get(name, name)}", kind="ours")
            if ours
            else Cell(name, MEANINGS.get(name, ""))
        )
        made.rows.append(
            [title, *(cell for group in groups for cell in _cells(cells_of[group], ours, name))]
        )
    made.captions = [text for group in groups for text in _process_words(cells_of[group], *group)]
    return made


def _process_rank(key: tuple[bool, str]) -> tuple[bool, int, str]:
    """tutti's transports first, then MPI's calls in the order of the table of meanings."""
    ours, name = key
    known = list(TRANSPORTS if ours else MEANINGS)
    return not ours, known.index(name) if name in known else len(known), name


def _cells(cell: list[Row], ours: bool, name: str) -> list[Cell]:
    made = []
    for benchmark, metrics, _ in COLUMNS:
        column = [row for row in cell if row["benchmark"] == benchmark and row["metric"] in metrics]
        row = next(
            (
                row
                for row in column
                if style.is_tutti(row["provider"]) == ours and row["name"] == name
            ),
            None,
        )
        made.append((_rate_cell if benchmark == "message" else _time_cell)(row, _least(column)))
    return made


def _process_words(cell: list[Row], family: str, n: int) -> list[str]:
    parts = []
    for benchmark, metrics, head in COLUMNS:
        column = [row for row in cell if row["benchmark"] == benchmark and row["metric"] in metrics]
        ours, peer = best(tutti_of(column)), best(peers_of(column))
        if ours and peer:
            what = {
                "8 B, M/s": "messages of 8 bytes",
                "with a message each": "an episode with a message each",
            }.get(head, head)
            through = f"through {TRANSPORTS.get(ours['name'], ours['name'])}"
            parts.append(f"{what} {compare(ours, peer).text()} {through} than by {peer['name']}")
    return [f"{FAMILIES[family]}, {n} processes: {'; '.join(parts)}."] if parts else []


def _absent(data: Dataset, present: set[str]) -> list[str]:
    notes = data.not_measured(PROCESSES_NAME)
    for family, words in FAMILIES.items():
        if family in present:
            continue
        reasons = [
            line["reason"]
            for line in data.skipped
            if line.get("provider") == family and line.get("benchmark") == "idle"
        ]
        notes += [f"{words}: not measured: {reasons[0]}."] if reasons else []
        if not reasons and not data.why_failed(PROCESSES_NAME):
            notes.append(f"{words}: not measured: no line of its processes.")
    return notes
