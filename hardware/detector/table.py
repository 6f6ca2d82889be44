# SPDX-License-Identifier: Apache-2.0
"""table.py RESULTS.jsonl... [--readme README.md]: prints the detector's table.

RESULTS are files that `python3 -m hardware.flow simulate --unit detector --match measure --out
RESULTS` writes from the output of `sim/measure.cpp`. Prints Markdown; --readme puts it between the
markers of README.md. The table gives cycles; only the round trips a second assume a clock, the
240 MHz of Naylor et al. 2020.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

from hardware.flow.measured import lines, status_of, write_readme

# Hertz.
CLOCK = 240e6
# Cycles of a thread for a message, as in measure.cpp.
HANDLES = (16, 80, 240)


def read(paths: list) -> list:
    """Returns the measured meshes, small ones first.

    Raises ValueError with the file and the line.
    """
    rows = {}
    for path in paths:
        for row in lines(path):
            if row.get("unit") == "detector" and row.get(
                    "simulation") == "measure" and "detect" in row:
                rows[(row["Columns"] * row["Rows"], row["Columns"], row["MasterCentre"])] = row
    if not rows:
        raise ValueError("no measurements of the detector in " + ", ".join(str(p) for p in paths))
    return [rows[key] for key in sorted(rows)]


def table(rows: list) -> str:
    """Returns the table with one row for each mesh and place of the master."""
    columns = ["mesh", "master", "formula", "round trip", "under load", "a second", "to release",
        "to enable", *(f"tree, {h}" for h in HANDLES)]
    text = ["| " + " | ".join(columns) + " |", "|---|---|" + "--:|" * (6 + len(HANDLES))]
    for r in rows:
        trees = " | ".join(f"{r[f'tree_{h}']} ({r[f'tree_{h}'] / r['detect']:.1f})"
            for h in HANDLES)
        text.append(
            f"| {r['Columns']} x {r['Rows']} | {r['master']} | {r['formula']} "
            f"| {r['detect']} | {r['loaded']} "
            + f"| {CLOCK / r['detect']:,.0f} ".replace(",", " ")
            + f"| {r['until_release']} | {r['until_enable']} | {trees} |"
        )
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    parser.add_argument("--readme", type=pathlib.Path)
    arguments = parser.parse_args()
    text = table(read(arguments.results))
    print(text)
    if arguments.readme:
        write_readme(arguments.readme, {"round trips": text})


if __name__ == "__main__":
    sys.exit(status_of(main))
