#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py RESULTS.jsonl [--csv FILE]: the tables of README.md from what `isa_measure` printed, and the plot's input.

The CSV has a row a measurement: scenario, memory_latency, cores, metric, barrier, cycles, ratio to barwait beside the
core and to barwait as far away as the memory (empty where there is none).
"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import sys


def read(path: pathlib.Path) -> list:
    """The result lines of a file. Raises ValueError that names file and line."""
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}:{number}: not JSON: {error.msg}") from error
        if isinstance(row, dict) and row.get("type") == "result" and "memory_latency" in row:
            rows.append(row)
    if not rows:
        raise ValueError(f"{path}: no results of isa_measure")
    return rows


def barrier(row: dict) -> str:
    if row["name"] == "barwait":
        return "barwait, near" if row["unit_distance"] == 0 else "barwait, far"
    return {"isa": "", "software": "", "tutti": "tutti "}[row["provider"]] + row["name"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--csv", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        rows = read(arguments.results)
    except (OSError, ValueError) as error:
        print(f"table.py: {error}", file=sys.stderr)
        return 1

    of = {}
    for row in rows:
        # A unit beside the cores at memory latency 2 is as near as one at the memory.
        key = (row["metric"], row["scenario"], row["memory_latency"], row["threads"])
        of.setdefault(key, {})[barrier(row)] = row["median"]
    names = ["barwait, near", "barwait, far", "central", "tournament", "dissemination"]
    names += ["tutti central", "tutti tournament", "tutti dissemination", "none"]
    for metric in ("last_in_last_out", "loop", "stencil_step"):
        for scenario in ("near_banks", "uniform"):
            print(f"\n**{metric}, {scenario}**\n")
            shown = [n for n in names if any(n in v for k, v in of.items() if k[:2] == (metric, scenario))]
            print("| latency | cores | " + " | ".join(shown) + " | best software / near | / far |")
            print("|--:" * (len(shown) + 4) + "|")
            for key in sorted(k for k in of if k[:2] == (metric, scenario)):
                found = of[key]
                software = [v for n, v in found.items() if not n.startswith("barwait") and n != "none"]
                cells = [f"{found[n]:.0f}" if n in found else "" for n in shown]
                for reference in ("barwait, near", "barwait, far"):
                    has = reference in found and software
                    cells.append(f"{min(software) / found[reference]:.1f}" if has else "")
                print(f"| {key[2]} | {key[3]} | " + " | ".join(cells) + " |")
    if arguments.csv:
        with arguments.csv.open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["scenario", "memory_latency", "cores", "metric", "barrier", "cycles", "ratio_near", "ratio_far"])
            for (metric, scenario, latency, cores), found in sorted(of.items()):
                for name, cycles in found.items():
                    ratios = [
                        f"{cycles / found[r]:.3f}" if r in found else "" for r in ("barwait, near", "barwait, far")
                    ]
                    out.writerow([scenario, latency, cores, metric, name, cycles, *ratios])
    return 0


if __name__ == "__main__":
    sys.exit(main())
