# SPDX-License-Identifier: Apache-2.0
"""Prints results as Markdown tables: python3 -m hardware.flow.tables build/hardware/results.jsonl
"""

from __future__ import annotations

import collections
import json
import pathlib
import sys

from .unit import label

FAMILY_NAMES = {"xilinx": "Xilinx 7", "ecp5": "ECP5", "intel": "Cyclone V", "ice40": "iCE40"}


def line_fit(points: list) -> tuple:
    """Returns the least-squares line a + b x through (x, y) points.

    Raises ValueError for fewer than two different x.
    """
    n = len(points)
    mean_x = sum(x for x, _ in points) / n if n else 0.0
    mean_y = sum(y for _, y in points) / n if n else 0.0
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if spread == 0:
        raise ValueError("a line needs two different x")
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return mean_y - slope * mean_x, slope


def _grown(parameters: dict, key: str) -> tuple:
    return tuple(sorted((k, v) for k, v in parameters.items() if k != key))


def synthesis(lines: list) -> str:
    """Returns cells by parameters, and the cost of one more thread or barrier where three points or
    more differ in it."""
    rows = [line for line in lines if line.get("stage") == "synthesise"
        and line["status"] == "passed"]
    text = [
        "| module | parameters | target | LUT | flip-flops | carry | longest path, cells | MHz |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rates = {(r["top"], label(r["parameters"])): r["mhz"] for r in rows
        if r["target"] == "ecp5_placed"}
    for r in sorted(rows, key=lambda r: (r["top"], list(r["parameters"].values()), r["target"])):
        if r["target"] == "ecp5_placed":
            continue
        rate = rates.get((r["top"], label(r["parameters"])), "") if r["target"] == "ecp5" else ""
        family = FAMILY_NAMES[r["target"]]
        text.append(
            f"| {r['top']} | {label(r['parameters'])} | {family} | {r['luts']} "
            f"| {r['flip_flops']} | {r['carries']} "
            f"| {r['longest_path_cells']} | {rate} |"
        )
    text += ["", "| module | with | target | LUT | flip-flops |", "|---|---|---|---|---|"]
    grows = (("Threads", "n"), ("Local", "n"), ("Cores", "n"), ("Barriers", "m"),
        ("Communicators", "m"))
    for key, unit in grows:
        groups = collections.defaultdict(list)
        for r in rows:
            if key in r["parameters"] and r["target"] in FAMILY_NAMES:
                # The number of a tree's ports grows with its threads.
                is_tree = key == "Threads" and "Ports" in r["parameters"]
                rest = () if is_tree else _grown(r["parameters"], key)
                groups[(r["top"], r["target"], rest)].append(r)
        for (top, target, rest), members in sorted(groups.items()):
            if len(members) < 3:
                continue
            fits = []
            for what in ("luts", "flip_flops"):
                start, slope = line_fit([(m["parameters"][key], m[what]) for m in members])
                fits.append(f"{start:.0f} {'+' if slope >= 0 else '-'} {abs(slope):.1f} {unit}")
            shown = label(dict(rest)) or "-"
            text.append(f"| {top} | {shown} | {FAMILY_NAMES[target]} | {fits[0]} | {fits[1]} |")
    return "\n".join(text)


def cycles(lines: list) -> str:
    """Returns the simulations' measurements, one row for each line of results, in one table for
    each set of quantities."""
    kinds = collections.defaultdict(list)
    for line in lines:
        if line["type"] == "cycles":
            kinds[line["unit"], line["simulation"], line.get("measure", ""),
                tuple(line)].append(line)
    text = []
    for (unit, simulation, measure, columns), mine in sorted(kinds.items()):
        keys = [k for k in columns if k not in ("type", "unit", "simulation", "measure")]
        heading = f"### {unit}, {simulation}" + (f", {measure}" if measure else "")
        text += [heading, "", "| " + " | ".join(keys) + " |", "|" + "---|" * len(keys)]
        text += ["| " + " | ".join(str(r.get(k, "")) for k in keys) + " |" for r in mine]
        text.append("")
    return "\n".join(text)


def checks(lines: list) -> str:
    """Returns how many jobs of each stage passed, one row for each unit."""
    stages = ("lint", "elaborate", "refuse", "prove", "cover", "mutate", "simulate", "synthesise")
    jobs = [line for line in lines if line["type"] == "hardware"]
    text = ["| unit | " + " | ".join(stages) + " |", "|---|" + "---|" * len(stages)]
    for unit in sorted({j["unit"] for j in jobs}):
        cells = []
        for stage in stages:
            mine = [j for j in jobs if j["unit"] == unit and j["stage"] == stage]
            cells.append(f"{sum(j['status'] == 'passed' for j in mine)} of {len(mine)}" if mine
                else "-")
        text.append(f"| {unit} | " + " | ".join(cells) + " |")
    return "\n".join(text)


def main(arguments: list) -> int:
    if not arguments:
        print("usage: python3 -m hardware.flow.tables RESULTS.jsonl...", file=sys.stderr)
        return 2
    lines = []
    for name in arguments:
        try:
            lines += [json.loads(line) for line in pathlib.Path(name).read_text().splitlines()]
        except (OSError, json.JSONDecodeError) as error:
            print(f"hardware.flow.tables: error: {name}: {error}", file=sys.stderr)
            return 2
    print("## Checks\n\n" + checks(lines) + "\n\n## Synthesis\n\n" + synthesis(lines)
        + "\n\n## Cycles\n\n" + cycles(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
