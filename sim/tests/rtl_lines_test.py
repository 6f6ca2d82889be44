#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the lines of the RTL machine with the tables of its page, or writes them.

usage: rtl_lines_test.py [--write] PAGE LINES
(hardware/machine/software/README.md and sim/measured/rtl.jsonl)
"""

from __future__ import annotations

import json
import pathlib
import re
import sys

# The tables of the page, and the metrics of machine_measure that are in them.
TABLES = {"one late": "one_late", "together": "together", "back to back": "back_to_back"}
SOFTWARE = ("central", "ticket", "striped", "combining", "mcs", "dissemination", "dissemination_4",
            "tournament", "hierarchical")  # fmt: skip
# Other columns: units that the simulation does not have, what tutti chooses of the others, and a
# ratio.
LEFT_OUT = re.compile(r"structure \d+|mask \d+|counting_unit \d+|default|best software / .*")

# The sizes that the descriptions `rtl` and `rtl4` have: up to 16 cores in one socket, 16 in four.
SIZES = {("1", "2"), ("1", "4"), ("1", "8"), ("1", "16"), ("4", "16")}


def cells(row: str) -> list[str]:
    return [cell.strip().strip("*") for cell in row.strip("|").split("|")]


def table(page: str, name: str) -> list[str]:
    found = re.findall(rf"<!-- table\.py: {name} -->\n(.*?)\n<!-- end -->", page, re.S)
    if len(found) != 1:
        raise ValueError(f"the page needs one table '{name}', and has {len(found)}")
    return found[0].splitlines()


def lines(page: str) -> str:
    """Returns what machine_measure prints of the values in the tables."""
    made = []
    for name, metric in TABLES.items():
        head, _, *rows = table(page, name)
        names = cells(head)
        if names[:2] != ["sockets", "cores"]:
            raise ValueError(f"the table '{name}' must begin with sockets and cores")
        for row in rows:
            sockets, cores, *values = cells(row)
            if (sockets, cores) not in SIZES:
                continue
            for column, value in zip(names[2:], values, strict=True):
                unit = re.fullmatch(r"barwait (\d+)", column)
                if unit is None and column not in SOFTWARE:
                    if LEFT_OUT.fullmatch(column):
                        continue
                    raise ValueError(f"the table '{name}' has an unknown column '{column}'")
                if value == "":
                    continue
                made.append({
                    "type": "result",
                    "benchmark": "machine_barrier",
                    "provider": "tutti" if unit is None else "isa",
                    "name": column if unit is None else "barwait",
                    "wait": "spin" if unit is None else "instruction",
                    "metric": metric,
                    "unit_distance": 0 if unit is None else int(unit[1]),
                    "threads": int(cores),
                    "cores": int(cores),
                    "sockets": int(sockets),
                    "unit": "cycles",
                    "median": float(value),
                })  # fmt: skip
    if not made:
        raise ValueError("the tables of the page are empty")
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in made)


def main(arguments: list[str]) -> None:
    write = arguments[:1] == ["--write"]
    page, kept = (pathlib.Path(argument) for argument in arguments[write:])
    try:
        fresh = lines(page.read_text(encoding="utf-8"))
    except ValueError as error:
        sys.exit(f"{page}: {error}")
    if write:
        kept.write_text(fresh, encoding="utf-8")
        return
    stands = kept.read_text(encoding="utf-8").splitlines()
    wanted = fresh.splitlines()
    for number, (is_there, should) in enumerate(zip(stands, wanted), 1):
        if is_there != should:
            sys.exit(f"{kept}:{number}: {is_there}\nis not in {page}, which has\n{should}")
    if len(stands) != len(wanted):
        sys.exit(f"{kept} has {len(stands)} lines, and {page} has {len(wanted)} values")


if __name__ == "__main__":
    main(sys.argv[1:])
