# SPDX-License-Identifier: Apache-2.0
"""Results that are the same on every machine: kept in hardware/exact.jsonl, and compared.

These are the cycles of simulations and the cells of synthesis. The report shows them where
`make hardware` was not run.

    python3 -m hardware.flow.exact --write RESULTS.jsonl...   # keep what these files hold
    python3 -m hardware.flow.exact --compare RESULTS.jsonl... # exit 1 if a line is not the kept one
    python3 -m hardware.flow.exact --sample                   # make a few anew, and compare them

A file named - is the standard input.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import tempfile

from . import __main__ as flow
from .unit import HARDWARE

KEPT = HARDWARE / "exact.jsonl"
# What a line is about, beside parameters, which begin with a capital; all else was measured.
NAMING = {
    "type", "unit", "stage", "name", "status", "top", "target", "parameters", "simulation",
    "participants", "l3_cycles", "arrival", "departure", "master", "topology", "nodes", "gigabit",
    "benchmark", "provider", "wait", "threads", "cores", "sockets", "scenario", "metric",
    "memory_latency", "unit_distance", "unit_link", "measure", "load_percent", "other_bytes",
    "way_out_percent",
}
# Keys that differ from run to run.
PASSING = {"seconds", "note", "log", "coverage_percent"}
# (unit, stage, the beginning of the job's name): each takes seconds.
SAMPLE = (
    ("counting", "simulate", "measure Threads=64"),
    ("hbs", "simulate", "measure Sockets=2,Barriers=2,Local=28"),
    ("detector", "simulate", "measure Columns=2,Rows=2,Cores=1,HopLatency=150,MasterCentre=0"),
    ("counting", "synthesise", "tutti_counting_unit Threads=4 ice40"),
)


class Wrong(Exception):
    """A sentence for the user."""


def is_exact(line: dict) -> bool:
    """Whether a line is kept. tutti's own barriers on the simulated cores are not: they change with
    the library."""
    kind = line.get("type")
    if kind == "result":
        return line.get("unit") == "cycles" and line.get("provider") != "tutti"
    synthesised = line.get("stage") == "synthesise" and line.get("status") == "passed"
    return kind == "cycles" or (kind == "hardware" and synthesised)


def key(line: dict) -> str:
    """Returns what was measured, without the values."""
    named = {k: v for k, v in line.items() if k in NAMING or k[:1].isupper()}
    return json.dumps(named, sort_keys=True)


def read(names: list) -> dict:
    """Returns the exact lines of some files by key(). Raises Wrong."""
    found = {}
    for name in names:
        try:
            text = sys.stdin.read() if name == "-" else pathlib.Path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Wrong(f"{name}: cannot be read: {error}") from error
        for number, row in enumerate(text.splitlines(), 1):
            try:
                line = json.loads(row)
            except json.JSONDecodeError as error:
                raise Wrong(f"{name}:{number}: not JSON: {error.msg}") from error
            if isinstance(line, dict) and is_exact(line):
                found[key(line)] = {k: v for k, v in line.items() if k not in PASSING}
    if not found:
        raise Wrong(f"{', '.join(map(str, names))}: no cycles and no cells")
    return found


def compare(made: dict, kept: dict) -> list:
    """Returns a sentence for each line that differs from the kept one, or that is not kept."""
    wrong = []
    for name, line in made.items():
        if name not in kept:
            wrong.append(f"not kept: {name}")
        elif line != kept[name]:
            changed = [f"{k}: {kept[name].get(k)} kept, {v} now" for k, v in line.items()
                if kept[name].get(k) != v]
            wrong.append(f"{name}: {'; '.join(changed) or 'a value is missing'}")
    return wrong


def sample(folder: pathlib.Path) -> dict:
    """Runs SAMPLE in a folder and returns its lines. Raises Wrong, or SystemExit(77) without the
    tools."""
    files = []
    for turn, (unit, stage, match) in enumerate(SAMPLE):
        out = folder / f"{turn}.jsonl"
        status = flow.main([stage, "--unit", unit, "--match", match, "--jobs", "1",
            "--build", str(folder), "--out", str(out)])
        if status == 77:
            raise SystemExit(77)
        if status != 0:
            raise Wrong(f"{unit} {stage} {match} failed")
        files.append(out)
    return read(files)


def main(arguments: list) -> int:
    """Returns 0, 1 if a line differs, 2 for bad arguments or files, 77 without the tools."""
    parser = argparse.ArgumentParser(prog="python3 -m hardware.flow.exact",
        description=(__doc__ or "").split("\n")[0])
    do = parser.add_mutually_exclusive_group(required=True)
    do.add_argument("--write", nargs="+", metavar="RESULTS.jsonl", help="keep their exact lines")
    do.add_argument("--compare", nargs="+", metavar="RESULTS.jsonl",
        help="compare their exact lines with the kept ones")
    do.add_argument("--sample", action="store_true", help="make a few lines anew and compare them")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.write:
            lines = read(chosen.write)
            KEPT.write_text("".join(json.dumps(lines[k]) + "\n" for k in sorted(lines)), "utf-8")
            print(f"exact: {KEPT.name} keeps {len(lines)} lines")
            return 0
        kept = read([KEPT])
        if chosen.sample:
            with tempfile.TemporaryDirectory() as folder:
                made = sample(pathlib.Path(folder))
        else:
            made = read(chosen.compare)
        wrong = compare(made, kept)
    except Wrong as error:
        print(f"exact: error: {error}", file=sys.stderr)
        return 2
    for text in wrong:
        print(f"exact: {text}", file=sys.stderr)
    print(f"exact: {len(made) - len(wrong)} of {len(made)} lines are as kept")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
