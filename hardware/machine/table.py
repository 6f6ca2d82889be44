# SPDX-License-Identifier: Apache-2.0
"""table.py RESULTS.jsonl [--readme README.md] [--plot FILE.svg]: prints tables of machine_measure.

Prints every figure as Markdown tables. --readme puts the tables between the markers of README.md.
--plot draws the barriers by the number of cores, beside the cycles that Hetland et al. 2019
estimate for the barrier instruction; it needs matplotlib.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

from hardware.flow.measured import lines, status_of, write_readme

SOFTWARE = ["central", "ticket", "striped", "combining", "mcs", "dissemination", "dissemination_4",
    "tournament", "hierarchical"]
METRICS = {"back_to_back": "back to back", "one_late": "last in, last out; one thread late",
    "together": "last in, last out; all together"}
# Estimates of Hetland et al. 2019, section 4, for a barrier whose last thread arrives.
PAPER = (
    (1, 20, "one socket, structure at the L3 of an Opteron 6272"),
    (1, 38, "one socket, structure at the L3 of a Xeon E5-2600 v4"),
    (1, 42, "one socket, an access of the L3 of Skylake"),
    (1, 48, "Xeon Phi 7210, structure at the centre of the mesh"),
    (1, 64, "Xeon Phi 7210, structure at the directory, from"),
    (1, 88, "Xeon Phi 7210, structure at the directory, to"),
    (4, 390, "four sockets of the Opteron"),
    (4, 480, "four sockets of Intel's processors"),
)


def read(path: pathlib.Path) -> tuple[dict, dict, dict]:
    """Returns three tables of cycles: barriers by (metric, sockets, cores), then by contender;
    the same for a step of the workload; accesses by (sockets, cores), then by (name, scenario).

    Raises ValueError with file and line.
    """
    barriers: dict = {}
    workloads: dict = {}
    accesses: dict = {}
    for row in lines(path):
        if row.get("benchmark") == "machine_access":
            key = (row["sockets"], row["cores"])
            accesses.setdefault(key, {})[(row["name"], row["scenario"])] = row["median"]
        elif row.get("benchmark") in ("machine_barrier", "machine_workload"):
            into = barriers if row["benchmark"] == "machine_barrier" else workloads
            key = (row["metric"], row["sockets"], row["cores"])
            into.setdefault(key, {})[contender(row)] = row["median"]
    if not barriers:
        raise ValueError(f"{path}: no results of machine_measure")
    return barriers, workloads, accesses


def contender(row: dict) -> str:
    """Returns its name in the tables."""
    if row["name"] == "barwait":
        return f"barwait {row['unit_distance']}"
    return row["name"]


def hardware_names(found: dict) -> list[str]:
    """Returns the barrier instruction's names, the nearest unit first."""
    names = {n for cycles in found.values() for n in cycles if n.startswith("barwait")}
    return sorted(names, key=lambda n: int(n.split()[1]))


def number(value: float | None, digits: int = 0) -> str:
    """Returns it rounded; empty where there is none."""
    return "" if value is None else f"{value:.{digits}f}"


def best(cycles: dict) -> tuple[str, float]:
    """Returns the fastest software barrier and its cycles."""
    return min(((n, v) for n, v in cycles.items() if n in SOFTWARE), key=lambda pair: pair[1])


def barrier_table(found: dict, metric: str) -> str:
    """Returns one row for each number of sockets and cores."""
    hardware = hardware_names(found)
    names = [*hardware, "default", *SOFTWARE]
    head = ["sockets", "cores", *names, f"best software / {hardware[-1]}"]
    text = ["| " + " | ".join(head) + " |", "|--:" * len(head) + "|"]
    for key in sorted(k for k in found if k[0] == metric):
        cycles = found[key]
        name, value = best(cycles)
        ratio = number(value / cycles[hardware[-1]], 1) if hardware[-1] in cycles else ""
        cells = [f"**{number(cycles.get(n))}**" if n == name else number(cycles.get(n))
            for n in names]
        text.append(f"| {key[1]} | {key[2]} | " + " | ".join(cells) + f" | {ratio} |")
    return "\n".join(text)


def workload_table(found: dict) -> str:
    """Returns one row for each number of sockets and cores."""
    hardware = hardware_names(found)
    software = [n for n in ["default", *SOFTWARE] if any(n in c for c in found.values())]
    names = [*hardware, *software]
    head = ["sockets", "cores", *names, f"best software / {hardware[-1]}"]
    text = ["| " + " | ".join(head) + " |", "|--:" * len(head) + "|"]
    for key in sorted(found):
        cycles = found[key]
        value = min(v for n, v in cycles.items() if n in software)
        ratio = number(value / cycles[hardware[-1]], 2) if hardware[-1] in cycles else ""
        text.append(f"| {key[1]} | {key[2]} | "
            + " | ".join(number(cycles.get(n)) for n in names) + f" | {ratio} |")
    return "\n".join(text)


def access_table(found: dict, sizes: list[tuple[int, int]]) -> str:
    """Returns one row for each kind of access, for some numbers of sockets and cores."""
    kinds: list[tuple[str, str]] = []
    for size in sizes:
        kinds += [k for k in found.get(size, {}) if k not in kinds]
    shown = [s for s in sizes if s in found]
    text = ["| access | the other core | "
        + " | ".join(f"{c} cores, {s} socket{'s' * (s > 1)}" for s, c in shown) + " |",
        "|---|---|" + "--:|" * len(shown)]
    for name, where in kinds:
        cells = [number(found[s].get((name, where)), 1) for s in shown]
        text.append(f"| {name} | {where.replace('_', ' ')} | " + " | ".join(cells) + " |")
    return "\n".join(text)


def paper_table(found: dict) -> str:
    """Returns the paper's estimates beside what this machine takes with its largest sockets."""
    hardware = hardware_names(found)
    text = ["| Hetland et al. 2019, section 4 | estimated | "
        + " | ".join(f"{n}, measured" for n in hardware) + " | best software here |",
        "|---|" + "--:|" * (len(hardware) + 2)]
    for sockets, cycles, what in PAPER:
        keys = [k for k in found if k[0] == "one_late" and k[1] == sockets
            and hardware[0] in found[k]]
        if not keys:
            continue
        here = found[max(keys)]
        name, value = best(here)
        text.append(f"| {what} | {cycles} | " + " | ".join(number(here[n]) for n in hardware)
            + f" | {number(value)} ({name}, {max(keys)[2]} cores) |")
    return "\n".join(text)


def tables(barriers: dict, workloads: dict, accesses: dict) -> dict[str, str]:
    """Returns each table by the name of its place in README.md."""
    made = {metric.replace("_", " "): barrier_table(barriers, metric) for metric in METRICS}
    made["paper"] = paper_table(barriers)
    if workloads:
        made["workload"] = workload_table(workloads)
    if accesses:
        # The largest of each number of sockets.
        largest = {s: max(c for t, c in accesses if t == s) for s, _ in accesses}
        made["accesses"] = access_table(accesses, sorted(largest.items()))
    return made


def write_plot(path: pathlib.Path, found: dict) -> None:
    """Plots cycles from the last arrival to the last departure, by the number of cores.

    Raises ValueError without matplotlib.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise ValueError(
            "--plot needs matplotlib (pip install -r report/requirements.txt)"
        ) from error
    matplotlib.use("svg")
    # The same file for the same figures; text stays text, which is small and can be searched.
    matplotlib.rcParams["svg.hashsalt"] = "tutti"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    all_sockets = sorted({k[1] for k in found})
    figure, panels = pyplot.subplots(1, len(all_sockets), figsize=(4 * len(all_sockets), 4.2),
        layout="constrained", sharey=True, squeeze=False)
    shown = ["central", "combining", "mcs", "dissemination", "tournament", "hierarchical",
        "default", *hardware_names(found)]
    for axes, sockets in zip(panels[0], all_sockets, strict=True):
        cores = sorted(k[2] for k in found if k[:2] == ("one_late", sockets))
        for name in shown:
            points = [(c, found[("one_late", sockets, c)][name]) for c in cores
                if name in found[("one_late", sockets, c)]]
            if not points:
                continue
            is_hardware = name.startswith("barwait")
            axes.plot(*zip(*points, strict=True), marker="s" if is_hardware else ".",
                linestyle="--" if is_hardware else "-",
                color="black" if name == "default" else None, label=name)
        for of_sockets, cycles, _ in PAPER:
            if of_sockets == sockets:
                axes.axhline(cycles, color="gray", linewidth=0.6, linestyle=":")
                axes.annotate(str(cycles), (cores[-1], cycles), fontsize="xx-small", color="gray")
        axes.set(title=f"{sockets} socket{'s' * (sockets > 1)}", xlabel="cores", xscale="log",
            yscale="log")
        axes.set_xscale("log", base=2)
        axes.set_xticks(cores, [str(c) for c in cores])
        axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("cycles, last arrival to last departure")
    panels[0][-1].legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    arguments = parser.parse_args()
    barriers, workloads, accesses = read(arguments.results)
    made = tables(barriers, workloads, accesses)
    for name, table in made.items():
        print(f"{METRICS.get(name.replace(' ', '_'), name)}\n\n{table}\n")
    if arguments.readme:
        write_readme(arguments.readme, made)
    if arguments.plot:
        write_plot(arguments.plot, barriers)


if __name__ == "__main__":
    sys.exit(status_of(main))
