# SPDX-License-Identifier: Apache-2.0
"""What the parts of the machine cost on an ECP5: cells, and the clock when placed and routed.

    python3 -m hardware.machine.cost cells 4 16                      # prints JSON lines
    python3 -m hardware.machine.cost place 4 --seeds 16 --match mesh
    python3 -m hardware.machine.cost table                           # the kept lines as Markdown

`--keep` also writes the lines into cost.jsonl, in place of those about the same. Each part is
synthesised and placed alone.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import statistics
import sys
import tempfile
from typing import Iterator

from hardware.flow import synthesise, tools
from hardware.flow.unit import ROOT, all_units

KEPT = pathlib.Path(__file__).with_name("cost.jsonl")
RTL = "hardware/machine/rtl"
# The cells of an ECP5 that count, by what the lines call them. A CCU2C is a carry and two LUTs.
CELLS = {"luts": "LUT4", "carries": "CCU2C", "flip_flops": "TRELLIS_FF",
    "ram_cells": "TRELLIS_DPR16X4", "block_rams": "DP16KD|PDPW16KD"}  # fmt: skip

# What makes a machine without a part: (file, the text that stands in it once, the new text). The
# part has no effect then, and synthesis removes it.
WITHOUT_DETECTOR = (
    ("tutti_machine_messages.sv", "release_o[h] = releases[g][S];",
        "release_o[h] = 1'b0;"),
    ("tutti_machine_messages.sv", "unanimous_o[h] = unanimous[g][S];",
        "unanimous_o[h] = 1'b0;"),
    ("tutti_machine_messages.sv", "enable_o[h] = enables[g][S] && enables[0][S];",
        "enable_o[h] = 1'b1;"),
    ("tutti_machine_messages.sv", "group_o[h].total = totals[g][S];",
        "group_o[h].total = '0;"),
    ("tutti_machine_messages.sv", "assign wave_o = {phases, begin_all, end_all, detected_all};",
        "assign wave_o = '0;"),
    ("tutti_machine_messages.sv", "assign error_o = {strange_q, error};",
        "assign error_o = '0;"),
)  # fmt: skip
WITHOUT_CALLS = (
    ("tutti_machine_core_csr.sv", "assign mine = call_irq_i && enabled_call_q && "
        "machine_call_q == machine_q;", "assign mine = 1'b0;"),
    ("tutti_machine_core_csr.sv", "12'h7c0: {busy_d, machine_call_d, enabled_call_d} = wdata[2:0];",
        "12'h7c0: ;"),
    ("tutti_machine_core_csr.sv", "12'h7c1: entry_d = wdata[31:2];", "12'h7c1: ;"),
    ("tutti_machine_core_csr.sv", "12'h800: masked_d = wdata[0];", "12'h800: ;"),
    ("tutti_machine_core_csr.sv", "12'h801: call_pc_d = wdata[31:2];", "12'h801: ;"),
    ("tutti_machine_core_csr.sv", "rdata_o = {29'd0, call_irq_i, busy_q, masked_q};",
        "rdata_o = '0;"),
)  # fmt: skip


def parts(cores: int) -> list:
    """Returns (name, how many, module, its parameters, what is removed) of a machine in one
    socket."""
    sockets = {"Cores": cores, "Sockets": 1}
    memory = {"MemoryBytes": 128 << 10, "Banks": 2, "NearBytes": 0, "Transactions": 2}
    image = {"ImageBytes": 16 << 10}
    return [
        ("core", cores, "tutti_machine_core", image, ()),
        ("core without remote calls", cores, "tutti_machine_core", image, WITHOUT_CALLS),
        ("cache", cores, "tutti_machine_cache", {"CacheBytes": 2048, "MemoryBytes": 128 << 10}, ()),
        ("home of lines", 2, "tutti_machine_directory", {"Cores": cores, **memory}, ()),
        ("network of the memory", 1, "tutti_machine_network", {**sockets, "Banks": 2}, ()),
        ("interrupts", 1, "tutti_machine_interrupts", sockets, ()),
        ("barrier unit of the instructions", 1, "tutti_isa_barrier_unit", {"Cores": cores}, ()),
        ("agent", cores, "tutti_machine_agent", {}, ()),
        ("structure, counting and mask unit", 1, "tutti_machine_units",
            {**sockets, "MaxDistance": 1}, ()),
        ("mailbox", cores, "tutti_machine_mailbox", {}, ()),
        ("mesh of the messages, with the detector", 1, "tutti_machine_messages", sockets, ()),
        ("mesh of the messages", 1, "tutti_machine_messages", sockets, WITHOUT_DETECTOR),
    ]  # fmt: skip


def without(sources: list, patches: tuple, folder: pathlib.Path) -> list:
    """Returns the sources with the patches in them. Raises ValueError if one fits nowhere."""
    changed = {}
    for name, old, new in patches:
        path = ROOT / RTL / name
        text = changed.get(path) or path.read_text("utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{RTL}/{name}: not once: {old}")
        changed[path] = text.replace(old, new)
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for path, text in changed.items():
        made[path] = folder / path.name
        made[path].write_text(text, "utf-8")
    return [made.get(source, source) for source in sources]


def cells(top: str, parameters: dict, patches: tuple, folder: pathlib.Path) -> dict:
    """Synthesises a module into folder/netlist.json and returns its cells. Raises RuntimeError.
    """
    (machine,) = [unit for unit in all_units() if unit.name == "machine"]
    generics = " ".join(f"-G {key}={value}" for key, value in parameters.items())
    sources = without(machine.sources, patches, folder / "changed")
    files = " ".join(tools.stage(sources, folder))
    command = synthesise.FAMILIES["ecp5"][0]
    outcome = tools.yosys(f"read_slang -j 1 --top {top} {generics} {files}\n{command} -top {top}\n"
        "tee -q -o stat.json stat -json\nwrite_json netlist.json\n", folder, 7200)  # fmt: skip
    if outcome.status != 0:
        raise RuntimeError(f"{top}: {tools.tail(outcome.text)}")
    found = json.loads((folder / "stat.json").read_text())["design"]["num_cells_by_type"]
    return {name: sum(count for cell, count in found.items() if re.fullmatch(kind, cell))
        for name, kind in CELLS.items()}  # fmt: skip


def placed(seed: int, folder: pathlib.Path) -> dict:
    """Places and routes folder/netlist.json; returns what of the chip is used, and the clock.
    Raises RuntimeError."""
    outcome = synthesise.rate(seed, folder, 7200)
    text = outcome.text
    rates = re.findall(r"Max frequency for clock[^:]*: ([\d.]+) MHz", text)
    used = dict(re.findall(r"Info:\s+(TRELLIS_COMB|TRELLIS_FF|DP16KD):\s+(\d+)/", text))
    if not rates:
        raise RuntimeError(f"seed {seed}: {tools.tail(text)}")
    return {"mhz": float(rates[-1]), "comb": int(used["TRELLIS_COMB"]),
        "flip_flops": int(used["TRELLIS_FF"]), "block_rams": int(used["DP16KD"])}  # fmt: skip


def measure(what: str, cores: list, match: str, seeds: int) -> Iterator[dict]:
    """Yields the lines of the parts whose names contain `match`."""
    for many in cores:
        for name, count, top, parameters, patches in parts(many):
            if match not in name:
                continue
            with tempfile.TemporaryDirectory() as folder:
                place = pathlib.Path(folder)
                found = cells(top, parameters, patches, place)
                yield {"type": "cells", "cores": many, "part": name, "count": count, **found}
                for seed in range(1, seeds + 1) if what == "place" else ():
                    yield {"type": "placed", "cores": many, "part": name, "seed": seed,
                        **placed(seed, place)}  # fmt: skip


def key(line: dict) -> str:
    """What a line is about."""
    return json.dumps([line.get(name) for name in ("type", "cores", "part", "seed")])


def read() -> list:
    rows = KEPT.read_text("utf-8").splitlines() if KEPT.is_file() else []
    return [json.loads(row) for row in rows]


def keep(lines: list) -> None:
    """Writes lines in place of the kept ones that are about the same."""
    kept = {key(line): line for line in read()} | {key(line): line for line in lines}
    KEPT.write_text("".join(json.dumps(kept[each]) + "\n" for each in sorted(kept)), "utf-8")


def table(lines: list) -> str:
    """Returns the parts as a table for each number of cores, then what was placed."""
    text = []
    for cores in sorted({line["cores"] for line in lines if line["type"] == "cells"}):
        text += [f"| {cores} cores: part | how many | LUT4 of one | carries | RAM cells "
            "| flip-flops | block RAMs |", "|---|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
        text += [f"| {line['part']} | {line['count']} | " + " | ".join(f"{line[name]:,}"
            for name in ("luts", "carries", "ram_cells", "flip_flops", "block_rams")) + " |"
            for line in lines if line["type"] == "cells" and line["cores"] == cores]  # fmt: skip
        text.append("")
    routed = [line for line in lines if line["type"] == "placed"]
    if routed:
        text += ["| cores | part | seeds | LUTs (TRELLIS_COMB) | flip-flops | MHz, least | median "
            "| most |", "|--:|---|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    for cores, part in sorted({(line["cores"], line["part"]) for line in routed}):
        mine = [line for line in routed if (line["cores"], line["part"]) == (cores, part)]
        rates = [line["mhz"] for line in mine]
        text.append(f"| {cores} | {part} | {len(mine)} | {mine[0]['comb']:,} "
            f"| {mine[0]['flip_flops']:,} | {min(rates):.1f} | {statistics.median(rates):.1f} "
            f"| {max(rates):.1f} |")  # fmt: skip
    return "\n".join(text)


def main(arguments: list) -> int:
    """Returns 0, 1 if a tool fails or a patch fits nowhere, 2 for bad arguments, 77 without the
    tools."""
    parser = argparse.ArgumentParser(prog="python3 -m hardware.machine.cost",
        description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=("cells", "place", "table"))
    parser.add_argument("cores", nargs="*", type=int, help="numbers of cores, in one socket")
    parser.add_argument("--match", default="", help="only parts whose name contains this text")
    parser.add_argument("--seeds", type=int, default=1, help="of place: how many (default: 1)")
    parser.add_argument("--keep", action="store_true", help="write the lines into cost.jsonl")
    chosen = parser.parse_args(arguments)
    if chosen.what == "table":
        print(table(read()))
        return 0
    if not chosen.cores:
        parser.error(f"{chosen.what}: no number of cores is given")
    if not any(chosen.match in name for name, *_ in parts(1)):
        parser.error(f"--match: no part's name contains '{chosen.match}'")
    if chosen.seeds < 1:
        parser.error(f"--seeds: {chosen.seeds} is not 1 or more")
    try:
        for line in measure(chosen.what, chosen.cores, chosen.match, chosen.seeds):
            print(json.dumps(line), flush=True)
            if chosen.keep:
                keep([line])
    except tools.Absent as absent:
        print(f"SKIPPED: {absent}")
        return 77
    except (RuntimeError, ValueError) as error:
        print(f"cost: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
