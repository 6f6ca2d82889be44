# SPDX-License-Identifier: Apache-2.0
"""workloads.py RESULTS.jsonl [--readme PAGE.md] [--plot FILE.svg]: prints tables of the workloads.

Prints what machine_measure measured of the workloads as Markdown tables. --readme puts them between
the markers of PAGE.md. --plot draws them by the number of cores; it needs matplotlib.
"""

from __future__ import annotations

import pathlib
import sys

from hardware.flow.measured import lines, status_of, svg_plots, tables_command
from hardware.machine.table import SOFTWARE, contender, hardware_names, number, styles_of

MASTERS = ["flags", "flags_padded", "recursive", "recursive_padded", "atomic", "mutex"]
REGIONS = [*SOFTWARE, "fork_join", *MASTERS]
# The workloads by the names of their tables: the metric, and who runs it in software.
TABLES = {
    "steps": ("streamcluster_step", SOFTWARE),
    "regions": ("region", REGIONS),
    "regions with work": ("region_of_256", REGIONS),
    "nothing": ("vcode_nothing", SOFTWARE),
    "not": ("vcode_not", SOFTWARE),
    "sort": ("vcode_sort", SOFTWARE),
}  # fmt: skip
STRUCTURE = "structure 10"
# Rows of the figure: a metric, its title, and whether it shows the speed-up beside one core.
PANELS = (
    ("streamcluster_step", "StreamCluster", True),
    ("vcode_sort", "vector machine, sort", True),
    ("vcode_nothing", "vector machine, COPY 0 0 (does nothing)", False),
)


def read(path: pathlib.Path) -> dict:
    """Returns cycles by metric, then by (sockets, cores), then by contender.

    Raises ValueError with file and line.
    """
    found: dict = {}
    for row in lines(path):
        if row.get("benchmark") == "machine_workload":
            sizes = found.setdefault(row["metric"], {})
            sizes.setdefault((row["sockets"], row["cores"]), {})[contender(row)] = row["median"]
    if not found:
        raise ValueError(f"{path}: no workloads of machine_measure")
    return found


def best(cycles: dict, software: list) -> tuple[str, float]:
    """Returns the fastest in software and its cycles; an empty name if there is none."""
    those = ((n, v) for n, v in cycles.items() if n in software)
    return min(those, key=lambda pair: pair[1], default=("", 0.0))


def table(sizes: dict, software: list) -> str:
    """Returns one row for each number of sockets and cores."""
    alone = sizes.get((1, 1))
    without = any("none" in cycles for cycles in sizes.values())
    shown = [n for n in ["default", *software] if any(n in c for c in sizes.values())]
    names = [*(["none"] if without else []), *hardware_names(sizes), *shown]
    titles = [{"none": "no barrier"}.get(n, n.removesuffix(" 10").replace("_", " ")) for n in names]
    head = ["sockets", "cores", *titles, "best software / structure"]
    if alone:
        head += ["speed-up, structure", "speed-up, best software"]
    text = ["| " + " | ".join(head) + " |", "|--:" * len(head) + "|"]
    for (sockets, cores), cycles in sorted(sizes.items()):
        name, value = best(cycles, software)
        cells = [f"**{number(cycles.get(n))}**" if n == name else number(cycles.get(n))
            for n in names]
        structure = cycles.get(STRUCTURE)
        cells.append(number(value / structure, 2) if name and structure else "")
        if alone:
            serial = best(alone, software)[1]
            cells += [number(serial / by, 1) if by else "" for by in (structure, value)]
        text.append(f"| {sockets} | {cores} | " + " | ".join(cells) + " |")
    return "\n".join(text)


def tables(found: dict) -> dict[str, str]:
    """Returns each table by the name of its place in the page."""
    return {name: table(found[metric], software) for name, (metric, software) in TABLES.items()
        if metric in found}  # fmt: skip


def plot_panel(axes, sizes: dict, sockets: int, styles: dict, serial: float | None) -> None:
    """Draws one workload for one number of sockets: cycles, or the speed-up beside `serial`."""
    cores = sorted(c for s, c in sizes if s == sockets and c > 1)
    for name, style in styles.items():
        points = [(c, sizes[(sockets, c)][name]) for c in cores if name in sizes[(sockets, c)]]
        if points:
            shown = [(c, serial / value if serial else value) for c, value in points]
            axes.plot(*zip(*shown, strict=True), **style)
    if serial:
        axes.plot(cores, cores, color="gray", linewidth=0.8, linestyle=":", zorder=0,
            label="as many times as cores")  # fmt: skip


def write_plot(path: pathlib.Path, found: dict) -> None:
    """Plots the workloads: a row for each, a column for each number of sockets.

    Raises ValueError without matplotlib.
    """
    pyplot = svg_plots()
    from matplotlib import ticker

    panels = [p for p in PANELS if p[0] in found]
    every = {size for metric, *_ in panels for size in found[metric] if size[1] > 1}
    all_sockets, all_cores = sorted({s for s, _ in every}), sorted({c for _, c in every})
    figure, grid = pyplot.subplots(len(panels), len(all_sockets), squeeze=False, sharex=True,
        sharey="row", figsize=(3.6 * len(all_sockets) + 1, 3.2 * len(panels) + 0.6),
        layout="constrained")  # fmt: skip
    hardware = {size: found[panels[0][0]].get(size, {}) for size in every}
    styles = {"none": {"label": "no barrier", "color": "gray", "marker": "x", "linewidth": 0.8},
        **styles_of(hardware)}  # fmt: skip
    for line, (metric, title, is_speed_up) in zip(grid, panels, strict=True):
        sizes = found[metric]
        serial = best(sizes.get((1, 1), {}), SOFTWARE)[1] if is_speed_up else None
        if is_speed_up and not serial:
            raise ValueError(f"{metric}: --plot shows speed-ups, and there is no line of one core; "
                "machine_measure --workloads 1 1 makes it")
        for axes, sockets in zip(line, all_sockets, strict=True):
            axes.set(xscale="log", yscale="log")
            plot_panel(axes, sizes, sockets, styles, serial)
            axes.set_title(f"{sockets} socket{'s' * (sockets > 1)}: {title}", fontsize="small")
            axes.set_xticks(all_cores, [str(c) for c in all_cores])
            axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
            axes.minorticks_off()
            axes.grid(alpha=0.3)
            axes.tick_params(labelleft=True, labelbottom=True, labelsize="small")
        line[0].set_ylabel("speed-up beside one core" if is_speed_up else "cycles")
    for axes in grid[-1]:
        axes.set_xlabel("cores")
    drawn = {label: handle for axes in grid.flat
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}  # fmt: skip
    figure.legend(drawn.values(), drawn.keys(), fontsize="small", ncols=5,
        loc="outside lower center")  # fmt: skip
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    tables_command(__doc__, read, tables, write_plot)


if __name__ == "__main__":
    sys.exit(status_of(main))
