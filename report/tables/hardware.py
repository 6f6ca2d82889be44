# SPDX-License-Identifier: Apache-2.0
"""The hardware units: how many of their checks passed, and what they cost in an FPGA. The numbers
are the flow's own.
"""

from __future__ import annotations

from hardware.flow import tables as flow

from report import hardware
from report.lines import Dataset
from report.model import Cell, Table
from report.papers import ARAP_PASSAGE_CYCLES, ARAP_PASSAGE_US, NAYLOR_CLOCK_HZ
from report.statistics import format_ratio

CHECKS_NAME, AREA_NAME = "hardware_checks", "hardware_area"
CHECKS_TITLE, AREA_TITLE = "Hardware units: what was checked", "Hardware units: what they cost"
CHECKS_QUESTION = (
    "Jobs of each stage that passed: lint, elaboration of each module alone, refusal of bad "
    "parameters, proofs, covers, seeded "
    "bugs that must be caught, simulations, synthesis."
)
DETECTION_NAME, DETECTION_TITLE = (
    "hardware_detection", "Termination detection in hardware (figure 6 of Naylor et al. 2020)",
)
DETECTION_QUESTION = (
    "A master asks every board of a mesh whether it is idle and hears from all: how many cycles "
    "does that take, beside the "
    "paper's estimate 2 L (x + y - 1) and beside a clock tree in software?"
)
NETWORK_NAME = "hardware_network"
NETWORK_TITLE = "Barriers in the packet path of a network (figures 7 and 8 of Arap et al.)"
NETWORK_QUESTION = (
    "Nodes whose network interfaces run the barrier themselves: how many cycles, by topology and "
    "number of nodes?"
)
DASH = Cell("–", kind="muted")
AREA_QUESTION = (
    "Look-up tables and flip-flops against the number of threads (n) or barriers (m): least "
    "squares over the sizes that were "
    "synthesised."
)


def _cell(text: str) -> Cell:
    passed, of, all_of_it = text.partition(" of ")
    if not of:
        return Cell("–" if text == "-" else text, kind="muted" if text == "-" else "")
    return Cell(text, kind="good" if passed == all_of_it else "bad")


def _parsed(markdown: str) -> tuple[list[str], list[list[Cell]]]:
    """Heads and rows of the last table in a text."""
    block = markdown.strip().split("\n\n")[-1].splitlines()
    split = [[part.strip() for part in line.strip().strip("|").split("|")] for line in block]
    return split[0], [[Cell(row[0]), *(_cell(text) for text in row[1:])] for row in split[2:]]


def _table(data: Dataset, name: str, title: str, question: str, markdown: str) -> Table:
    made = Table(name, title, question, [], [], [])
    heads, found = _parsed(markdown) if markdown else ([], [])
    if not found:
        made.missing = hardware.missing(data)
        return made
    made.heads, made.rows = heads, found
    return made


def build_checks(data: Dataset) -> Table:
    # What comes with the sources are cycles and cells; whether the checks pass, only a run tells.
    found = [] if hardware.made(data) == hardware.WITH_SOURCES else hardware.jobs(data)
    made = _table(
        data, CHECKS_NAME, CHECKS_TITLE, CHECKS_QUESTION, flow.checks(found) if found else ""
    )
    if not made.empty:
        failed = [f"{job['unit']}: {job['name']}" for job in found if job["status"] == "failed"]
        made.captions = [f"Made {hardware.made(data) or 'at an unknown time'}; {hardware.HOW}."]
        if failed:
            made.captions.insert(0, f"FAILED: {', '.join(failed)}.")
        skipped = sum(job["status"] == "skipped" for job in found)
        if skipped:
            made.missing = [
                f"{skipped} jobs were skipped for want of a tool; hardware.jsonl says which."
            ]
    return made


def build_area(data: Dataset) -> Table:
    found = [
        job
        for job in hardware.jobs(data)
        if job["stage"] == "synthesise" and job["status"] == "passed"
    ]
    made = _table(
        data, AREA_NAME, AREA_TITLE, AREA_QUESTION, flow.synthesis(found) if found else ""
    )
    if not made.empty:
        made.captions = [
            "Yosys, without I/O pads; Cyclone V counts ALUTs. Every size: hardware.jsonl, stage "
            "synthesise."
        ]
    return made


def _mesh(line: dict) -> str:
    return f"{line.get('Columns', '?')} x {line.get('Rows', '?')}"


def build_detection(data: Dataset) -> Table:
    """Round trips of termination detection on a mesh: figure 6 of Naylor et al. 2020, in
    simulation.
    """
    found = [line for line in hardware.cycles(data) if {"formula", "detect"} <= line.keys()]
    made = Table(DETECTION_NAME, DETECTION_TITLE, DETECTION_QUESTION, [], [], [])
    if not found:
        made.missing = hardware.missing(data)
        return made
    handled = sorted(
        {
            int(key.removeprefix("tree_"))
            for line in found
            for key in line
            if key.startswith("tree_")
        }
    )
    made.groups = [
        ("", 2), ("cycles of a round trip", 3),
        ("clock tree: cycles, and times as long", len(handled)),
    ]
    made.groups = [group for group in made.groups if group[1]]
    made.heads = [
        "mesh", "master at", "paper's estimate", "measured", "under load",
        *(f"{n} a message" for n in handled),
    ]
    for line in sorted(
        found, key=lambda line: (line.get("master", ""), line["formula"], _mesh(line))
    ):
        trip = line["detect"]
        trees = [line.get(f"tree_{n}") for n in handled]
        made.rows.append(
            [
                Cell(_mesh(line)),
                Cell(str(line.get("master", "–"))),
                Cell(f"{line['formula']:,.0f}"),
                Cell(f"{trip:,.0f}", f"{NAYLOR_CLOCK_HZ / trip:,.0f} a second" if trip else ""),
                Cell(f"{line['loaded']:,.0f}") if line.get("loaded") else DASH,
                *(
                    Cell(f"{tree:,.0f}", format_ratio(tree / trip)) if tree and trip else DASH
                    for tree in trees
                ),
            ]
        )
    made.captions = [
        "The clock tree is software on the same mesh: a message to each thread and back; the "
        "columns say how many cycles a thread "
        "takes to handle one. Rates are those at the paper's 240 MHz. In the paper, hardware is 6 "
        "to 13 times as fast as the tree in software; its text prints no rates, and says that a "
        "master in the centre could be twice as fast."
    ]
    return made


def _passage(line: dict | None) -> Cell:
    if line is None:
        return DASH
    return Cell(
        f"{line['late_own_worst']:,}",
        f"last out {line['late_worst']:,}, together {line['together']:,}",
    )


def build_network(data: Dataset) -> Table:
    """Barriers in the packet path of a network: cycles for each topology and number of nodes."""
    found = [
        line for line in hardware.cycles(data) if {"topology", "late_own_worst"} <= line.keys()
    ]
    made = Table(NETWORK_NAME, NETWORK_TITLE, NETWORK_QUESTION, [], [], [])
    if not found:
        made.missing = hardware.missing(data)
        return made
    links = sorted({bool(line.get("gigabit")) for line in found})
    sizes = sorted({line["nodes"] for line in found})
    made.groups = [("", 1), *((hardware.LINKS[gigabit], len(sizes)) for gigabit in links)]
    made.heads = ["topology", *(str(n) for _ in links for n in sizes)]
    # A name may go on with the number of nodes.
    of = {
        (line["topology"].split()[0], bool(line.get("gigabit")), line["nodes"]): line
        for line in found
    }
    for topology in dict.fromkeys(name for name, _, _ in of):
        made.rows.append(
            [
                Cell(topology),
                *(_passage(of.get((topology, gigabit, n))) for gigabit in links for n in sizes),
            ]
        )
    made.captions = [
        "Cycles from the arrival of the one late node, at worst, to its own release, as the paper "
        "counts: a node more in the ring costs one passage p, a level more in the tree two. Below "
        "it: until the last node is released, and the same if all arrive together.",
        *_passages_of_packets(data),
    ]
    return made


def _passages_of_packets(data: Dataset) -> list[str]:
    """The time of one packet in one node, as figure 7 of the paper measures it."""
    return [
        "One passage p of a packet, by the method of the paper's figure 7 "
        f"({hardware.LINKS[line['gigabit']]}): "
        f"{line['p_cycles']:g} cycles, {line['p_us']:g} µs at 125 MHz. The paper measured "
        f"{ARAP_PASSAGE_CYCLES} cycles, {ARAP_PASSAGE_US:g} µs."
        for line in hardware.cycles(data)
        if line.get("measure") == "as_in_the_paper"
    ]
