# SPDX-License-Identifier: Apache-2.0
"""events_table.py RESULTS.jsonl [--readme PAGE.md] [--plot FILE.svg]: notifications on the machine.

Prints what `machine_measure --events` measured as Markdown tables, beside the figures of Hale and
Dinda 2018 where their text has numbers. --readme puts the tables between the markers of PAGE.md.
--plot draws one receiver and the last of all by the number of cores; it needs matplotlib.
"""

from __future__ import annotations

import pathlib
import sys

from hardware.flow.measured import lines, status_of, svg_plots, tables_command

# The mechanisms in the order of the tables, with their names there.
NAMES = {
    "polling": "polling", "interrupt_entry": "interrupt, first instruction",
    "remote_call_entry": "remote call, first instruction", "interrupt_plain": "interrupt",
    "remote_call": "remote call", "interrupt": "interrupt with a number",
    "event_shortcut": "event, short cut", "event": "event", "event_by_call": "event by remote call",
    "condition_kick": "condition, kick", "condition": "condition",
}  # fmt: skip
HALTED = {"interrupt_entry": "interrupt_entry_halted",
    "remote_call_entry": "remote_call_entry_halted"}  # fmt: skip

# Drawn broad, as another mechanism takes as long and lies on it.
BELOW = ("interrupt_entry", "interrupt")

Found = dict[tuple[int, int], dict[tuple[str, str, str], dict]]


def read(path: pathlib.Path) -> Found:
    """Returns by (sockets, cores) the lines by (name, metric, scenario).

    Raises ValueError with file and line, and if there are none.
    """
    found: Found = {}
    for row in lines(path):
        if row.get("benchmark") == "machine_event":
            here = found.setdefault((row["sockets"], row["cores"]), {})
            here[(row["name"], row["metric"], row.get("scenario", ""))] = row
    if not found:
        raise ValueError(f"{path}: no notifications; machine_measure --events makes them")
    return found


def cycles(found: Found, size: tuple[int, int], name: str, metric: str, key: str = "median",
           scenario: str = "") -> float | None:  # fmt: skip
    row = found.get(size, {}).get((name, metric, scenario))
    return None if row is None else row[key]


def cell(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def by_size(found: Found, metric: str) -> str:
    """Returns a row for each size with the median of each mechanism."""
    text = ["| sockets | cores | " + " | ".join(NAMES.values()) + " |",
        "|" + "--:|" * (2 + len(NAMES))]  # fmt: skip
    text += [f"| {size[0]} | {size[1]} | "
        + " | ".join(cell(cycles(found, size, name, metric)) for name in NAMES) + " |"
        for size in sorted(found)]  # fmt: skip
    return "\n".join(text)


def spread(found: Found, size: tuple[int, int]) -> str:
    """Returns a row for each mechanism: one receiver, and a broadcast, in one size."""
    text = ["| to | one: min | median | max | sigma | all: first | last | sigma of a broadcast |",
        "|---|" + "--:|" * 7]  # fmt: skip
    for name, title in NAMES.items():
        one = [cell(cycles(found, size, name, "unicast", key))
            for key in ("min", "median", "max", "sigma")]  # fmt: skip
        all_of = [cell(cycles(found, size, name, metric))
            for metric in ("broadcast_first", "broadcast_last", "broadcast_sigma")]  # fmt: skip
        text.append(f"| {title} | " + " | ".join(one + all_of) + " |")
    return "\n".join(text)


def distances(found: Found, size: tuple[int, int]) -> str:
    """Returns a row for each kind of receiver: in the socket, in another one."""
    shown = ("polling", "interrupt_entry", "remote_call_entry")
    each = size[1] // size[0]
    text = ["| receiver | " + " | ".join(NAMES[name] for name in shown) + " |",
        "|---|" + "--:|" * len(shown)]  # fmt: skip
    for first, last, where in ((1, each, "in the sender's socket"),
                               (each, size[1], "in another socket")):  # fmt: skip
        cells = []
        for name in shown:
            values = [cycles(found, size, name, "unicast_to", scenario=f"core {core}")
                for core in range(first, last)]  # fmt: skip
            known = [value for value in values if value is not None]
            low, high = (min(known), max(known)) if known else (None, None)
            cells.append(cell(low) if low == high else f"{cell(low)} to {cell(high)}")
        if first < last:
            text.append(f"| {where} | " + " | ".join(cells) + " |")
    return "\n".join(text)


def costs(found: Found, size: tuple[int, int]) -> str:
    """Returns the parts of an interrupt beside those of figure 19, and the remote call. Parts and
    sums are the least values, as in the paper."""

    def least(name: str, metric: str) -> float:
        value = cycles(found, size, name, metric, "min")
        if value is None:
            raise ValueError(f"{name}, {metric}: not measured with {size[1]} cores")
        return value

    source, call_source = least("source_plain", "part"), least("source_call", "part")
    entry, call_entry = least("interrupt_entry", "unicast"), least("remote_call_entry", "unicast")
    plain, call = least("interrupt_plain", "unicast"), least("remote_call", "unicast")
    system_call, destination = least("system_call", "part"), least("destination", "part")
    projected = plain - (plain - entry) + system_call
    rows = (
        ("source: the send", "43", source, call_source),
        ("from there to the handler's first instruction", "378", entry - source,
            call_entry - call_source),
        ("from there to the function that handles it", "729 with the processor's own steps",
            plain - entry, call - call_entry),
        ("all", "1150", plain, call),
        ("interrupt by an instruction, to its function", "729", destination, None),
        ("system call, there and back", "232", system_call, None),
        ("projected: an interrupt handled as a system call", "653", projected, None),
    )  # fmt: skip
    text = ["| part | paper, figure 19 | interrupt | remote call |", "|---|--:|--:|--:|"]
    text += [f"| {what} | {paper} | {cell(one)} | {cell(two)} |" for what, paper, one, two in rows]
    return "\n".join(text)


def ratio(above: float | None, below: float | None) -> str:
    return "" if not above or not below else f"{above / below:.1f}"


def figures(found: Found, size: tuple[int, int]) -> str:
    """Returns each figure of the paper beside ours, in the largest size."""

    def one(name: str, key: str = "median") -> float | None:
        return cycles(found, size, name, "unicast", key)

    def last(name: str) -> float | None:
        return cycles(found, size, name, "broadcast_last")

    def sigma(name: str) -> float | None:
        return cycles(found, size, name, "broadcast_sigma")

    def named(of, *names: str) -> str:  # type: ignore[no-untyped-def]
        return "; ".join(f"{NAMES[name]}: {cell(of(name))}" for name in names)

    kicked = ("condition_kick", "condition", "interrupt_entry")
    slower = ratio(one("condition_kick"), one("interrupt_entry"))
    rows = (
        ("3", "waking one thread in user space against an IPI",
            "16 times (x64), 32 and 16 times (Phi); IPI 740 cycles (Phi)",
            f"no user space; a thread of the kernel, by kick, takes {slower} times the interrupt"),
        ("4", "the same, all threads", "78 and 30 times (x64), over 4,000 and 2,000 (Phi)",
            "no user space; the last thread of the kernel, by kick, takes "
            + ratio(last("condition_kick"), last("interrupt_entry")) + " times the interrupt"),
        ("5, 6", "sigma of a broadcast in user space and by IPI",
            "three orders (x64), five (Phi)", named(sigma, *kicked)),
        ("7", "IPI to each core", "knees at the distances", "table by distance"),
        ("8, 9", "kernel condition variables, one receiver",
            "over 4 times faster than in user space; kick has the least time of the other",
            named(one, *kicked) + f"; the least without kick: {cell(one('condition', 'min'))}"),
        ("10, 11", "the same, all", "10 and 16 times", named(last, *kicked)),
        ("12, 13", "sigma of the same", "10 times better", named(sigma, *kicked)),
        ("14", "drawing of the events through the tables", "no number",
            "slots for each pair of cores instead of the lookup table"),
        ("15", "events through the tables, one receiver",
            "5 % (100 cycles, 40 on Phi) over the IPI",
            named(one, "event", "event_shortcut", "interrupt", "event_by_call")),
        ("16", "the same, all", "within tens of cycles",
            named(last, "event", "event_shortcut", "interrupt", "event_by_call")),
        ("17", "sigma of the same", "nearly identical",
            named(sigma, "event", "event_shortcut", "interrupt", "event_by_call")),
        ("18", "polling against an IPI", "an IPI takes about 1,000 cycles more",
            named(one, "polling", "interrupt_entry", "interrupt_plain")),
        ("19", "the cost of an interrupt", "1,150", "the table below"),
        ("20", "remote system call, projected", "overlaps with polling",
            "measured: " + named(one, "remote_call_entry", "remote_call", "polling")),
    )  # fmt: skip
    text = ["| figure | what it shows | paper | here, cycles |", "|---|---|---|---|"]
    return "\n".join(text + [f"| {' | '.join(row)} |" for row in rows])


def halted(found: Found) -> str:
    """Returns a row for each size: a receiver that runs, and one that halts."""
    text = ["| sockets | cores | " + " | ".join(f"{NAMES[n]}: runs | halts" for n in HALTED) + " |",
        "|" + "--:|" * (2 + 2 * len(HALTED))]  # fmt: skip
    for size in sorted(found):
        cells = [cell(cycles(found, size, name, "unicast"))
            for pair in HALTED.items() for name in pair]  # fmt: skip
        text.append(f"| {size[0]} | {size[1]} | " + " | ".join(cells) + " |")
    return "\n".join(text)


def write_plot(path: pathlib.Path, found: Found) -> None:
    """Plots one receiver above and the last of a broadcast below, by the number of cores.

    Raises ValueError without matplotlib.
    """
    pyplot = svg_plots()
    colours = dict(zip(NAMES, [*(f"C{number}" for number in range(10)), "black"], strict=True))
    all_sockets = sorted({sockets for sockets, _ in found})
    rows = {"unicast": "one receiver", "broadcast_last": "all, to the last"}
    figure, panels = pyplot.subplots(len(rows), len(all_sockets), squeeze=False, sharey=True,
        figsize=(4.2 * len(all_sockets) + 1, 3.6 * len(rows)), layout="constrained")  # fmt: skip
    for line, (metric, title) in zip(panels, rows.items(), strict=True):
        for axes, sockets in zip(line, all_sockets, strict=True):
            sizes = [size for size in sorted(found) if size[0] == sockets]
            for name, label in NAMES.items():
                values = [cycles(found, size, name, metric) for size in sizes]
                axes.plot([size[1] for size in sizes], values, label=label, marker=".",
                    linewidth=4 if name in BELOW else 1.5, alpha=0.6 if name in BELOW else 1,
                    color=colours[name], linestyle="--" if "call" in name else "-")  # fmt: skip
            axes.set(xscale="log", yscale="log")
            axes.set_xticks([size[1] for size in sizes], [str(size[1]) for size in sizes])
            ticks = [50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000]
            axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
            axes.minorticks_off()
            axes.set_title(f"{sockets} socket{'s' * (sockets > 1)}, {title}", fontsize="medium")
            axes.grid(alpha=0.3)
        line[0].set_ylabel("cycles")
    for axes in panels[-1]:
        axes.set_xlabel("cores")
    figure.legend(*panels[0][0].get_legend_handles_labels(), fontsize="small", ncols=4,
        loc="outside lower center")  # fmt: skip
    figure.savefig(path, metadata={"Date": None})


def tables(found: Found) -> dict[str, str]:
    """Returns the tables of the page by the names of their markers.

    Raises ValueError without lines of one socket.
    """
    largest = max(found)
    one_socket = max((size for size in found if size[0] == 1), default=None)
    if one_socket is None:
        raise ValueError("no notifications in one socket, which two of the tables show; "
            "machine_measure --events 16 1 makes them")
    return {
        "figures": figures(found, largest),
        "costs": costs(found, one_socket),
        "one receiver": by_size(found, "unicast"),
        "last of all": by_size(found, "broadcast_last"),
        "sigma": by_size(found, "broadcast_sigma"),
        "spread in one socket": spread(found, one_socket),
        "spread": spread(found, largest),
        "distance": distances(found, largest),
        "halted": halted(found),
    }


def main() -> None:
    tables_command(__doc__, read, tables, write_plot)


if __name__ == "__main__":
    sys.exit(status_of(main))
