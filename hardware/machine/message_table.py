# SPDX-License-Identifier: Apache-2.0
"""message_table.py RESULTS.jsonl [--readme FILE.md]: tables of machine_measure_messages.

Prints messages and detection, totals and groups, and the vertex programs, as Markdown tables;
--readme puts them between the markers of a page.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

from hardware.flow.measured import lines, status_of, write_readme

WAYS = ("neighbour", "farthest in the socket", "next socket", "farthest")
TREES = ("tree_2", "tree_4")


def read(path: pathlib.Path) -> tuple[dict, dict]:
    """Returns cycles by (sockets, cores), then by what was measured; and the lines of the vertex
    programs by (sockets, cores, program, vertices), then by detector: with one thread a core.

    Raises ValueError with file and line.
    """
    cycles: dict = {}
    programs: dict = {}
    for row in lines(path):
        if row.get("threads") != row.get("cores"):
            continue
        size = (row.get("sockets"), row.get("cores"))
        if row.get("benchmark") == "machine_message":
            cycles.setdefault(size, {})[row["scenario"]] = row["median"]
        elif row.get("benchmark") == "machine_idle":
            cycles.setdefault(size, {})[f"{row['name']} {row['metric']}"] = row["median"]
        elif row.get("benchmark") == "machine_graph":
            key = (*size, row["name"], row["vertices"])
            programs.setdefault(key, {})[row["wait"]] = row
    if not cycles:
        raise ValueError(f"{path}: no results of machine_measure_messages")
    return cycles, programs


def paths_table(results: pathlib.Path) -> str:
    """Returns sends and cycles of shortest paths in the worst case, a row for each graph and size.

    Raises ValueError with file and line.
    """
    found: dict = {}
    for row in lines(results):
        if row.get("benchmark") == "machine_paths":
            key = (row["vertices"] // 2, row["sockets"], row["cores"])
            found.setdefault(key, {})[row["name"]] = row
    head = ["components", "sockets", "cores", "newest first: sends", "cycles",
        "oldest first: sends", "cycles"]  # fmt: skip
    text = ["| " + " | ".join(head) + " |", "|--:" * len(head) + "|"]
    for key in sorted(found):
        cells = [f"{found[key][order][what]:.0f}" for order in ("newest_first", "oldest_first")
            for what in ("sends", "median")]  # fmt: skip
        text.append(f"| {key[0]} | {key[1]} | {key[2]} | " + " | ".join(cells) + " |")
    return "\n".join(text)


def totals_table(results: pathlib.Path) -> str:
    """Returns what an episode with a total takes, a row for each size and group.

    Raises ValueError with file and line.
    """
    found: dict = {}
    for row in lines(results):
        if row.get("benchmark") in ("machine_total", "machine_group") and (
                row["threads"] == row["cores"]):  # fmt: skip
            key = (row["sockets"], row["cores"], row.get("scenario") or "all")
            found.setdefault(key, {})[row["name"]] = row["median"]
    names = ("detector", *TREES, *(f"detector_and_{name}" for name in TREES))
    head = ["sockets", "cores", "threads of a group", "wave with the total",
        *(name.replace("_", " of fan-out ") for name in TREES),
        *(f"wave, then {name.replace('_', ' of fan-out ')}" for name in TREES)]  # fmt: skip
    text = ["| " + " | ".join(head) + " |", "|--:|--:|---|" + "--:|" * (len(head) - 3)]
    for key in sorted(found):
        cells = " | ".join(number(found[key].get(name)) for name in names)
        text.append(f"| {key[0]} | {key[1]} | {key[2]} | {cells} |")
    return "\n".join(text)


def number(value: float | None) -> str:
    """Returns it rounded; empty where there is none."""
    return "" if value is None else f"{value:.0f}"


def detection_table(cycles: dict) -> str:
    """Returns one row for each size."""
    head = ["sockets", "cores", *WAYS, "wave", "episode",
        *(name.replace("_", " of fan-out ") for name in TREES), "best tree / wave"]  # fmt: skip
    text = ["| " + " | ".join(head) + " |", "|--:" * len(head) + "|"]
    for size in sorted(cycles):
        found = cycles[size]
        wave = found.get("detector round_trip")
        trees = [found.get(f"{name} round_trip") for name in TREES]
        known = [tree for tree in trees if tree is not None]
        ratio = f"{min(known) / wave:.1f}" if wave and known else ""
        values = [*(found.get(way) for way in WAYS), wave, found.get("detector episode"), *trees]
        cells = " | ".join(map(number, values))
        text.append(f"| {size[0]} | {size[1]} | {cells} | {ratio} |")
    return "\n".join(text)


def program_table(programs: dict) -> str:
    """Returns one row for each program and size."""
    head = ["sockets", "cores", "program", "vertices", "detections", "messages", "detector", "tree",
        "tree / detector"]  # fmt: skip
    text = ["| " + " | ".join(head) + " |", "|--:|--:|---|" + "--:|" * (len(head) - 3)]
    for key in sorted(programs):
        by = programs[key]
        if set(by) != {"detector", "tree_2"}:
            continue
        hard, soft = by["detector"], by["tree_2"]
        text.append(f"| {key[0]} | {key[1]} | {key[2]} | {key[3]} | {hard['detections']} | "
            f"{hard['packets']} | {hard['median']:.0f} | {soft['median']:.0f} | "
            f"{soft['median'] / hard['median']:.2f} |")  # fmt: skip
    return "\n".join(text)


def threads_table(results: pathlib.Path) -> str:
    """Returns one row for each program and size that was measured with several threads a core:
    cycles by threads of a core, and what the threads gain.

    Raises ValueError with file and line.
    """
    found: dict = {}
    for row in lines(results):
        if row.get("benchmark") == "machine_graph" and row["wait"] == "detector":
            key = (row["sockets"], row["cores"], row["name"], f"{row['vertices']} vertices")
        elif row.get("benchmark") == "machine_message" and row["scenario"] == "all in pairs":
            key = (row["sockets"], row["cores"], "round trip", row["scenario"])
        else:
            continue
        found.setdefault(key, {})[row["threads"] // row["cores"]] = row
    head = ["sockets", "cores", "program", "of", "threads a core", "messages", "cycles", "1 thread",
        "gain"]  # fmt: skip
    text = ["| " + " | ".join(head) + " |", "|--:|--:|---|---|" + "--:|" * (len(head) - 4)]
    for key in sorted(found):
        by = found[key]
        for threads in sorted(by):
            if threads == 1 or 1 not in by:
                continue
            one, several = by[1], by[threads]
            # In pairs, so many threads make so many round trips.
            times = threads if several["benchmark"] == "machine_message" else 1
            text.append("| " + " | ".join(map(str, key)) + f" | {threads} | "
                f"{several.get('packets', '')} | {several['median']:.0f} | {one['median']:.0f} | "
                f"{times * one['median'] / several['median']:.2f} |")  # fmt: skip
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--readme", type=pathlib.Path)
    arguments = parser.parse_args()
    cycles, programs = read(arguments.results)
    made = {"detection": detection_table(cycles), "vertex programs": program_table(programs),
        "totals": totals_table(arguments.results),
        "worst case": paths_table(arguments.results),
        "threads": threads_table(arguments.results)}  # fmt: skip
    for name, table in made.items():
        print(f"{name}\n\n{table}\n")
    if arguments.readme:
        write_readme(arguments.readme, made)


if __name__ == "__main__":
    sys.exit(status_of(main))
