# SPDX-License-Identifier: Apache-2.0
"""table.py RESULTS.jsonl [--readme README.md] [--csv FILE] [--plot FILE.svg]: prints tables.

Prints every figure of `isa_measure` as Markdown tables. --readme puts the tables for 16 cores and
for latency 20 between the markers of README.md. --csv writes one row for each measurement:
scenario, memory_latency, cores, metric, barrier, cycles, and the ratios to barwait beside the core
and to barwait as far away as the memory (empty where there is none). --plot draws cycles by cores
at latency 20; it needs matplotlib.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import sys

from hardware.flow.measured import lines, status_of, svg_plots, write_readme

NEAR, FAR = "barwait, near", "barwait, far"
SOFTWARE = ["central", "dissemination", "tournament"]
# The columns of README.md.
COLUMNS = [NEAR, FAR, *SOFTWARE]
NAMES = [NEAR, FAR, *SOFTWARE, "tutti central", "tutti dissemination", "tutti tournament", "none"]
METRICS = {"loop": "back to back", "last_in_last_out": "last in, last out",
    "stencil_step": "stencil, a step"}


def read(path: pathlib.Path) -> dict:
    """Returns cycles by (metric, scenario, memory latency, cores), then by barrier.

    Raises ValueError with file and line.
    """
    found: dict = {}
    for row in lines(path):
        if row.get("type") != "result" or "memory_latency" not in row:
            continue
        key = (row["metric"], row["scenario"], row["memory_latency"], row["threads"])
        found.setdefault(key, {})[barrier(row)] = row["median"]
    if not found:
        raise ValueError(f"{path}: no results of isa_measure")
    return found


def barrier(row: dict) -> str:
    """Returns its name in the tables."""
    if row["name"] == "barwait":
        return NEAR if row["unit_distance"] == 0 else FAR
    return {"isa": "", "software": "", "tutti": "tutti "}[row["provider"]] + row["name"]


def best(cycles: dict) -> float | None:
    """Returns the fastest barrier in software."""
    return min((v for n, v in cycles.items() if n not in (NEAR, FAR, "none")), default=None)


def ratio(cycles: dict, reference: str, digits: int = 1) -> str:
    """Returns best software over barwait; empty where there is none."""
    fastest = best(cycles)
    return f"{fastest / cycles[reference]:.{digits}f}" if fastest and reference in cycles else ""


def every(found: dict) -> str:
    """Returns all figures, in one table for each metric and scenario."""
    text = []
    for metric in METRICS:
        for scenario in ("near_banks", "uniform"):
            keys = sorted(k for k in found if k[:2] == (metric, scenario))
            shown = [n for n in NAMES if any(n in found[k] for k in keys)]
            text += [f"\n**{METRICS[metric]}, {scenario}**\n"]
            text += ["| latency | cores | " + " | ".join(shown)
                + " | best software / near | / far |"]
            text += ["|--:" * (len(shown) + 4) + "|"]
            for key in keys:
                cells = [f"{found[key][n]:.0f}" if n in found[key] else "" for n in shown]
                cells += [ratio(found[key], NEAR), ratio(found[key], FAR)]
                text.append(f"| {key[2]} | {key[3]} | " + " | ".join(cells) + " |")
    return "\n".join(text)


def near_banks(found: dict, metric: str, latency: int, cores: int) -> dict:
    """Returns the cycles of the barriers in COLUMNS, with data in banks near their cores.

    Raises ValueError if one is missing.
    """
    cycles = found.get((metric, "near_banks", latency, cores), {})
    if missing := [c for c in COLUMNS if c not in cycles]:
        raise ValueError(f"no {metric} of {missing[0]} with {cores} cores at latency {latency}")
    return {c: cycles[c] for c in COLUMNS}


def readme_tables(found: dict) -> dict:
    """Returns the table for each marker: 16 cores with near banks; latency 20 back to back.

    Raises ValueError if figures are missing.
    """
    names = [c.replace(",", "") for c in COLUMNS]
    head = " | ".join([*names, "best software / near", "/ far"]) + " |"
    sixteen = ["| | latency | " + head, "|---" + "|--:" * 8 + "|"]
    for metric, title in METRICS.items():
        for latency in (10, 20, 40):
            cycles = near_banks(found, metric, latency, 16)
            digits = 2 if metric == "stencil_step" else 1
            name = title + (" (8 cells a core)" if metric == "stencil_step" else "")
            cells = [f"{value:.0f}" for value in cycles.values()]
            cells += [ratio(cycles, NEAR, digits), ratio(cycles, FAR, digits)]
            sixteen.append(f"| {name if latency == 10 else ''} | {latency} | " + " | ".join(cells)
                + " |")
    by_cores = ["| cores | " + head, "|--:" * 8 + "|"]
    for cores in (2, 4, 8, 16):
        cycles = near_banks(found, "loop", 20, cores)
        cells = [f"{value:.0f}" for value in cycles.values()]
        cells += [ratio(cycles, NEAR), ratio(cycles, FAR)]
        by_cores.append(f"| {cores} | " + " | ".join(cells) + " |")
    return {"16 cores": "\n".join(sixteen), "by cores": "\n".join(by_cores)}


def write_csv(path: pathlib.Path, found: dict) -> None:
    """Writes one row for each measurement."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["scenario", "memory_latency", "cores", "metric", "barrier", "cycles",
            "ratio_near", "ratio_far"])
        for (metric, scenario, latency, cores), cycles in sorted(found.items()):
            for name, value in cycles.items():
                ratios = [f"{value / cycles[r]:.3f}" if r in cycles else "" for r in (NEAR, FAR)]
                out.writerow([scenario, latency, cores, metric, name, value, *ratios])


def write_plot(path: pathlib.Path, found: dict) -> None:
    """Plots cycles back to back, and the ratio to barwait, by number of cores.

    Raises ValueError without matplotlib, and if figures of latency 10, 20 or 40 are missing.
    """
    cores = sorted({k[3] for k in found if k[:2] == ("loop", "near_banks")})
    by_latency = {latency: [near_banks(found, "loop", latency, c) for c in cores]
        for latency in (10, 20, 40)}
    pyplot = svg_plots()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    for name in COLUMNS:
        left.plot(cores, [cycles[name] for cycles in by_latency[20]], marker="o", label=name)
    left.set(title="memory latency 20", xlabel="cores", ylabel="cycles an episode", ylim=(0, None))
    for number, (latency, row) in enumerate(by_latency.items()):
        for reference in (NEAR, FAR):
            right.plot(cores, [float(ratio(cycles, reference, 3)) for cycles in row],
                color=f"C{number}", marker="o", linestyle="-" if reference == NEAR else "--",
                label=f"{reference[9:]}, latency {latency}")
    right.set(title="best software / barwait", xlabel="cores", ylim=(0, None))
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_xticks(cores, [str(c) for c in cores])
        axes.grid(alpha=0.3)
        # Below the axes it hides no point.
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, fontsize="small")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    arguments = parser.parse_args()
    found = read(arguments.results)
    print(every(found))
    if arguments.readme:
        write_readme(arguments.readme, readme_tables(found))
    if arguments.csv:
        write_csv(arguments.csv, found)
    if arguments.plot:
        write_plot(arguments.plot, found)


if __name__ == "__main__":
    sys.exit(status_of(main))
