# SPDX-License-Identifier: Apache-2.0
"""table.py RESULTS.jsonl [--readme README.md [--only NAME...]] [--plot FILE.svg]: prints tables.

Prints every figure of machine_measure as Markdown tables. --readme puts the tables between the
markers of README.md, and with --only those that it names.
--plot draws the barriers by the number of cores, beside the cycles that Hetland et al. 2019
estimate for the barrier instruction; it needs matplotlib.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

from hardware.flow.measured import lines, status_of, svg_plots, write_readme

SOFTWARE = ["central", "ticket", "striped", "combining", "mcs", "dissemination", "dissemination_4",
    "tournament", "hierarchical"]
METRICS = {"back_to_back": "back to back", "one_late": "last in, last out; one thread late",
    "together": "last in, last out; all together"}
# Estimates of Hetland et al. 2019, section 4, for a barrier whose last thread arrives: sockets,
# cycles, machine, and the distance and the link with which this machine stands for that one.
PAPER = (
    (1, 20, "one socket, structure at the L3 of an Opteron 6272", 10, 0),
    (1, 38, "one socket, structure at the L3 of a Xeon E5-2600 v4", 19, 0),
    (1, 42, "one socket, an access of the L3 of Skylake", 21, 0),
    (1, 48, "Xeon Phi 7210, structure at the centre of the mesh", 24, 0),
    (1, 64, "Xeon Phi 7210, structure at the directory, from", 32, 0),
    (1, 88, "Xeon Phi 7210, structure at the directory, to", 44, 0),
    (4, None, "four sockets of the Opteron, a hop of 92", 10, 92),
    (4, None, "four sockets of the Opteron, two hops", 10, 184),
    (4, 390, "four sockets of the Opteron, four hops one after the other", 10, 368),
    (4, None, "four sockets of Intel's processors, a hop of 110", 19, 110),
    (4, None, "four sockets of Intel's processors, two hops", 19, 220),
    (4, 480, "four sockets of Intel's processors, four hops one after the other", 19, 440),
)
UNITS = ("barwait", "structure", "mask", "counting_unit")
# The distance of the units in the tables, and the way between sockets: what a message of the memory
# takes.
DISTANCE, LINK = 10, 54


def read(path: pathlib.Path) -> tuple[dict, dict, dict]:
    """Returns three tables of cycles: barriers by (metric, sockets, cores), then by contender;
    accesses by (sockets, cores), then by (name, scenario); the structure with one thread late by
    (sockets, distance, link), then by cores. workloads.py reads the workloads.

    Raises ValueError with file and line.
    """
    barriers: dict = {}
    accesses: dict = {}
    far: dict = {}
    for row in lines(path):
        if row.get("name") == "structure" and row["metric"] == "one_late":
            key = (row["sockets"], row["unit_distance"], row["unit_link"])
            far.setdefault(key, {})[row["cores"]] = row["median"]
        if row.get("unit_link", 0) not in (0, LINK):
            continue
        if row.get("benchmark") == "machine_access":
            key = (row["sockets"], row["cores"])
            accesses.setdefault(key, {})[(row["name"], row["scenario"])] = row["median"]
        elif row.get("benchmark") == "machine_barrier":
            key = (row["metric"], row["sockets"], row["cores"])
            barriers.setdefault(key, {})[contender(row)] = row["median"]
    if not barriers:
        raise ValueError(f"{path}: no results of machine_measure")
    return barriers, accesses, far


def contender(row: dict) -> str:
    """Returns its name in the tables."""
    if row["name"] in UNITS:
        return f"{row['name']} {row['unit_distance']}"
    return row["name"]


def hardware_names(found: dict) -> list[str]:
    """Returns the names of the barriers in hardware at the tables' distance."""
    names = {n for cycles in found.values() for n in cycles}
    return [name for unit in UNITS if (name := f"{unit} {DISTANCE}") in names]


def number(value: float | None, digits: int = 0) -> str:
    """Returns it rounded; empty where there is none."""
    return "" if value is None else f"{value:.{digits}f}"


def best(cycles: dict) -> tuple[str, float]:
    """Returns the fastest software barrier and its cycles; an empty name if there is none."""
    software = ((n, v) for n, v in cycles.items() if n in SOFTWARE)
    return min(software, key=lambda pair: pair[1], default=("", 0.0))


def barrier_table(found: dict, metric: str) -> str:
    """Returns one row for each number of sockets and cores."""
    hardware = hardware_names(found)
    names = [*hardware, "default", *SOFTWARE]
    structure = f"structure {DISTANCE}"
    head = ["sockets", "cores", *names, "best software / structure"]
    text = ["| " + " | ".join(head) + " |", "|--:" * len(head) + "|"]
    for key in sorted(k for k in found if k[0] == metric):
        cycles = found[key]
        name, value = best(cycles)
        ratio = number(value / cycles[structure], 1) if name and structure in cycles else ""
        cells = [f"**{number(cycles.get(n))}**" if n == name else number(cycles.get(n))
            for n in names]
        text.append(f"| {key[1]} | {key[2]} | " + " | ".join(cells) + f" | {ratio} |")
    return "\n".join(text)


def units_table(found: dict) -> str:
    """Returns one row for each size in which a barrier over several sockets was measured."""
    hardware = hardware_names(found)
    head = ["sockets", "cores", "", *(name.split()[0].replace("_", " ") for name in hardware),
        "best software", "best software / structure"]
    text = ["| " + " | ".join(head) + " |", "|--:|--:|---|" + "--:|" * (len(head) - 3)]
    for sockets, cores in sorted({key[1:] for key in found}):
        for metric, what in METRICS.items():
            here = found.get((metric, sockets, cores), {})
            if f"structure {DISTANCE}" not in here:
                continue
            name, value = best(here)
            ratio = number(value / here[f"structure {DISTANCE}"], 1) if name else ""
            text.append(f"| {sockets} | {cores} | {what.split(';')[-1].strip()} | "
                + " | ".join(number(here.get(n)) for n in hardware)
                + f" | {number(value) if name else ''} {f'({name})' if name else ''} | {ratio} |")
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


def paper_table(found: dict, far: dict) -> str:
    """Returns the paper's estimates beside what the structure takes on this machine, as far away as
    there, with the most cores of that number of sockets."""
    text = ["| Hetland et al. 2019, section 4 | distance, link | estimated | measured | "
        "without the program's own | best software here |", "|---|--:|--:|--:|--:|--:|"]
    for sockets, cycles, what, distance, link in PAPER:
        by_cores = far.get((sockets, distance, link), {})
        if not by_cores:
            continue
        cores = max(by_cores)
        here = found.get(("one_late", sockets, cores), {})
        own = number(by_cores[cores] - here["none"]) if "none" in here else ""
        name, value = best(here)
        software = f"{number(value)} ({name}, {cores} cores)" if name else ""
        text.append(f"| {what} | {distance}, {link or '-'} | {cycles or ''} | "
            f"{number(by_cores[cores])} | {own} | {software} |")
    return "\n".join(text)


def tables(barriers: dict, accesses: dict, far: dict) -> dict[str, str]:
    """Returns each table by the name of its place in README.md."""
    made = {metric.replace("_", " "): barrier_table(barriers, metric) for metric in METRICS}
    made["paper"] = paper_table(barriers, far)
    made["units"] = units_table(barriers)
    # The sizes in which single accesses were measured.
    if sizes := sorted(s for s, kinds in accesses.items() if ("load_hit", "neighbour") in kinds):
        made["accesses"] = access_table(accesses, sizes)
    return made


def plot_panel(axes, found: dict, metric: str, sockets: int, styles: dict) -> None:
    """Draws the barriers of one number of sockets, and the paper's estimates."""
    cores = sorted(k[2] for k in found if k[:2] == (metric, sockets))
    for name, style in styles.items():
        points = [(c, found[(metric, sockets, c)][name]) for c in cores
            if name in found[(metric, sockets, c)]]
        if points:
            axes.plot(*zip(*points, strict=True), **style)
    estimates = {cycles for of_sockets, cycles, *_ in PAPER if of_sockets == sockets and cycles}
    for cycles in sorted(estimates) if metric == "one_late" else ():
        axes.axhline(cycles, color="gray", linewidth=0.8, linestyle=":", zorder=0)
        # 42 stands inside, since it is close to 38 and 48.
        at, side = (1.01, "left") if cycles != 42 else (0.99, "right")
        axes.text(at, cycles, f"{cycles}", fontsize="x-small", color="dimgray", ha=side,
            va="center", transform=axes.get_yaxis_transform())


def styles_of(found: dict) -> dict[str, dict]:
    """Returns how each barrier is drawn, the same in all panels: software thin with a colour each,
    hardware thick."""
    colours = [f"tab:{c}" for c in ("blue", "orange", "green", "red", "purple", "brown", "pink",
        "olive", "gray")]  # fmt: skip
    styles: dict[str, dict] = {}
    for name, colour in zip(SOFTWARE, colours, strict=True):
        styles[name] = {"label": name, "color": colour, "marker": ".", "linewidth": 0.9}
    labels = {"barwait": "barwait; between sockets in software",
        "structure": "structure (barwait over all sockets)", "mask": "mask unit",
        "counting_unit": "counting unit"}  # fmt: skip
    marks = dict(zip(UNITS, ("s", "D", "v", "^"), strict=True))
    shades = dict(zip(UNITS, ("black", "crimson", "teal", "darkgoldenrod"), strict=True))
    for name in hardware_names(found):
        unit = name.split()[0]
        styles[name] = {"label": labels[unit], "color": shades[unit], "marker": marks[unit],
            "linewidth": 2, "linestyle": "--"}  # fmt: skip
    return styles


def write_plot(path: pathlib.Path, found: dict) -> None:
    """Plots cycles from the last arrival to the last departure, by the number of cores: one thread
    late above, all together below.

    Raises ValueError without matplotlib.
    """
    pyplot = svg_plots()
    all_sockets, all_cores = sorted({k[1] for k in found}), sorted({k[2] for k in found})
    rows = {"one_late": "one thread late", "together": "all together"}
    figure, panels = pyplot.subplots(len(rows), len(all_sockets), squeeze=False, sharex=True,
        sharey=True, figsize=(3.6 * len(all_sockets) + 1, 3.6 * len(rows)), layout="constrained")
    styles = styles_of(found)
    for line, (metric, title) in zip(panels, rows.items(), strict=True):
        for axes, sockets in zip(line, all_sockets, strict=True):
            axes.set(xscale="log", yscale="log")
            plot_panel(axes, found, metric, sockets, styles)
            axes.set_title(f"{sockets} socket{'s' * (sockets > 1)}, {title}", fontsize="medium")
            axes.set_xticks(all_cores, [str(c) for c in all_cores])
            axes.minorticks_off()
            axes.set_yticks(*((ticks := [20, 50, 100, 200, 500, 1000, 2000, 5000, 10000]),
                [f"{t:,}" for t in ticks]))  # fmt: skip
            axes.grid(alpha=0.3)
            axes.tick_params(labelleft=True, labelbottom=True, labelsize="small")
        line[0].set_ylabel("cycles, last arrival to last departure")
    for axes in panels[-1]:
        axes.set_xlabel("cores")
    drawn = {label: handle for axes in panels.flat
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}  # fmt: skip
    order = [style["label"] for style in styles.values() if style["label"] in drawn]
    figure.legend([drawn[label] for label in order], order, fontsize="small", ncols=5,
        loc="outside lower center",
        title="gray: estimates of Hetland et al. 2019 (64 and 88: one machine, two places)",
        title_fontsize="small")  # fmt: skip
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--plot", type=pathlib.Path)
    arguments = parser.parse_args()
    barriers, accesses, far = read(arguments.results)
    made = tables(barriers, accesses, far)
    if arguments.only and not arguments.readme:
        parser.error("--only chooses tables of --readme, which is not given")
    for name in arguments.only or ():
        if name not in made:
            parser.error(f"--only: there is no table '{name}', but {', '.join(made)}")
    for name, table in made.items():
        print(f"{METRICS.get(name.replace(' ', '_'), name)}\n\n{table}\n")
    if arguments.readme:
        chosen = arguments.only or made
        write_readme(arguments.readme, {name: made[name] for name in chosen})
    if arguments.plot:
        write_plot(arguments.plot, barriers)


if __name__ == "__main__":
    sys.exit(status_of(main))
