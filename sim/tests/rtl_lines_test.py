#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the lines beside which the simulation stands with the kept ones of the RTL machine, or
copies them from there.

usage: rtl_lines_test.py [--write] KEPT LINES
(hardware/machine/measured.jsonl and sim/measured/rtl.jsonl)
"""

import json
import pathlib
import sys

METRICS = ("one_late", "together", "back_to_back")
SOFTWARE = ("central", "ticket", "striped", "combining", "mcs", "dissemination", "dissemination_4",
            "tournament", "hierarchical")  # fmt: skip
# The sizes that the descriptions `rtl` and `rtl4` have: sockets and cores.
SIZES = ((1, 2), (1, 4), (1, 8), (1, 16), (4, 16))
UNIT_DISTANCE = 10


def place_of(line: dict) -> tuple[int, int, int] | None:
    """Returns where the line stands, or None if it is not wanted."""
    if line.get("benchmark") != "machine_barrier" or (line["sockets"], line["cores"]) not in SIZES:
        return None
    distances = {"barwait": UNIT_DISTANCE} | dict.fromkeys(SOFTWARE, 0)
    if distances.get(line["name"]) != line["unit_distance"]:
        return None
    size = SIZES.index((line["sockets"], line["cores"]))
    return METRICS.index(line["metric"]), size, list(distances).index(line["name"])


def lines(kept: pathlib.Path) -> str:
    texts = kept.read_text(encoding="utf-8").splitlines()
    placed = sorted((place, text) for text in texts if (place := place_of(json.loads(text))))
    return "".join(text + "\n" for _, text in placed)


def main(arguments: list[str]) -> None:
    write = arguments[:1] == ["--write"]
    kept, copy = (pathlib.Path(argument) for argument in arguments[write:])
    wanted = lines(kept)
    if not wanted:
        sys.exit(f"{kept} has none of the lines that are wanted")
    if write:
        copy.write_text(wanted, encoding="utf-8")
    elif copy.read_text(encoding="utf-8") != wanted:
        sys.exit(f"{copy} is not what {kept} has; --write copies it")


if __name__ == "__main__":
    main(sys.argv[1:])
