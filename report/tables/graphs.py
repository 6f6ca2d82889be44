# SPDX-License-Identifier: Apache-2.0
"""PageRank and shortest paths by messages, beside tuned code that shares memory and sends none."""

from __future__ import annotations

from report.lines import Dataset
from report.model import Cell, Table
from report.select import Row, rows
from report.statistics import format_count, format_time

NAME = "graph_ceiling"
TITLE = "Messages beside shared memory"
QUESTION = (
    "What do messages cost where the graph would fit in shared memory anyway? The ceiling is our "
    "own tuned code without "
    "messages: PageRank that pulls, shortest paths by delta-stepping. Million edges a second, and "
    "the share of the ceiling."
)
PROBLEMS = {"pagerank": ("PageRank", "pull"), "sssp": ("shortest paths", "delta_stepping")}
MODES = {"sync": "synchronous", "async": "asynchronous", "sequential": "plain loop, one thread"}
PATHS_REASON = (
    "A message leaves whether or not a shorter way is still to come, so where paths have many "
    "edges a vertex is corrected again "
    "and again; delta-stepping avoids that by going in the order of distance."
)
REASON = (
    "A pull reads 4 bytes an edge at random and adds in a register; a message that arrives reads, "
    "adds and writes 8 bytes at "
    "random, and each vertex takes its turn in a queue (docs/graphs.md)."
)
DASH = Cell("–", kind="muted")


def _cell(row: Row | None, ceiling: Row | None, edges: float) -> Cell:
    if row is None:
        return DASH
    rate = row["edges_per_second"] or edges / (row["median"] * 1e-9)
    share = ceiling["median"] / row["median"] if ceiling and ceiling is not row else None
    note = (
        f"{share:.2f} of the ceiling"
        if share
        else f"{format_time(row['min'])} to {format_time(row['p99'])}"
    )
    return Cell(
        f"{rate * 1e-6:,.0f}" if rate >= 1e8 else f"{rate * 1e-6:.3g}", note,
        tint=1 / share if share else 1.0,
    )


def build(data: Dataset) -> Table:
    made = Table(NAME, TITLE, QUESTION, [], ["problem", "graph", "ceiling", *MODES.values()], [])
    found = [
        row for row in rows(data, benchmark=lambda name: name in PROBLEMS) if row["median"] > 0
    ]
    if not found:
        missing = data.why_failed(NAME) or ["no result of tutti-graph-compare."]
        made.missing = [f"Not measured: {text}" for text in missing]
        return made
    below, paths = [], []
    for problem, (words, ceiling_name) in PROBLEMS.items():
        for graph in dict.fromkeys(row["graph"] for row in found if row["benchmark"] == problem):
            cell = {
                row["name"]: row
                for row in found
                if (row["benchmark"], row["graph"]) == (problem, graph)
            }
            ceiling = cell.get(ceiling_name)
            first = next(iter(cell.values()))
            edges = float(first["edges"] or 0)
            name = str(graph or "").split(":")[0] or "graph"
            # Graphs of one kind differ in size.
            told = f"{name} of {format_count(edges)} edges" if first["edges"] else name
            size = (
                f"{format_count(first['vertices'])} vertices, {format_count(edges)} edges"
                if first["edges"]
                else ""
            )
            forms = [_cell(cell.get(mode), ceiling, edges) for mode in MODES]
            made.rows.append(
                [Cell(words), Cell(name, size), _cell(ceiling, ceiling, edges), *forms]
            )
            if problem == "pagerank" and ceiling and "sync" in cell:
                below.append(f"{ceiling['median'] / cell['sync']['median']:.2f} on {told}")
            if problem == "sssp" and ceiling and {"sync", "async"} <= cell.keys():
                best = min((cell["sync"], cell["async"]), key=lambda row: row["median"])
                paths.append(f"{ceiling['median'] / best['median']:.2f} on {told}")
    threads = sorted({row["threads"] for row in found})
    made.missing = data.not_measured(NAME)
    made.captions = [
        f"Everything but the plain loop with {threads[0] if len(threads) == 1 else 'several'} "
        "threads, taking turns; medians."
    ]
    if below:
        made.captions.append(
            "Synchronous PageRank by messages has this share of the pull's speed: "
            f"{', '.join(below)}. {REASON}"
        )
    if paths:
        made.captions.append(
            f"Shortest paths by messages, the better form: {', '.join(paths)} of the ceiling. "
            f"{PATHS_REASON}"
        )
    return made
