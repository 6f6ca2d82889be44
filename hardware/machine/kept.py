# SPDX-License-Identifier: Apache-2.0
"""Cycles of the machine's barriers and messages: kept in hardware/machine/, and compared.

    python3 -m hardware.machine.kept --write RESULTS.jsonl...  # keep what machine_measure printed
    python3 -m hardware.machine.kept --sample MEASURE IMAGES   # make a few lines anew, and compare
    python3 -m hardware.machine.kept --messages ...            # of machine_measure_messages

If two lines are about the same, `--write` keeps that of the later file.

A simulation gives the same cycles on every computer, from the same programs. So a line of the
hardware's barriers must be the kept one. tutti's own barriers and the kernel change with the
library: a line of theirs may differ by a tenth. Another compiler makes other programs, and nothing
is compared.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

from hardware.flow import exact, measured

HERE = pathlib.Path(__file__).resolve().parent
BARRIERS, MESSAGES = HERE / "measured.jsonl", HERE / "messages.jsonl"
COMPILER = "riscv64-unknown-elf-g++"
# How far a line of tutti's own barriers, or of the kernel, may be from the kept one.
TOLERANCE = 0.1
VALUES = ("min", "median", "max")


def compiler() -> str:
    """Returns the compiler's version; empty without it."""
    if not shutil.which(COMPILER):
        return ""
    said = subprocess.run([COMPILER, "-dumpfullversion"], text=True, capture_output=True,
        check=False)  # fmt: skip
    return said.stdout.strip()


def results(text: str, name: str) -> list:
    """Returns the lines of machine_measure in a text. Raises exact.Wrong."""
    found = []
    for number, row in enumerate(text.splitlines(), 1):
        try:
            line = json.loads(row)
        except json.JSONDecodeError as error:
            raise exact.Wrong(f"{name}:{number}: not JSON: {error.msg}") from error
        if isinstance(line, dict) and str(line.get("benchmark", "")).startswith("machine_"):
            found.append(line)
    if not found:
        raise exact.Wrong(f"{name}: no results of machine_measure")
    return found


def of_file(path: str | pathlib.Path) -> list:
    """Returns the lines of machine_measure in a file. Raises exact.Wrong."""
    try:
        return results(pathlib.Path(path).read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise exact.Wrong(f"{path}: cannot be read: {error}") from error


def made_by(kept: pathlib.Path) -> str:
    """Returns the version of the compiler that made the kept programs. Raises exact.Wrong."""
    with kept.open(encoding="utf-8") as file:
        first = json.loads(file.readline())
    if first.get("type") != "machine_images":
        raise exact.Wrong(f"{kept.name}: its first line does not name the compiler")
    return first["compiler"]


def compare(made: list, kept: list) -> list:
    """Returns a sentence for each line that differs from the kept one, or that is not kept."""
    known = {exact.key(line): line for line in kept}
    wrong = []
    for line in made:
        key = exact.key(line)
        if key not in known:
            wrong.append(f"not kept: {key}")
            continue
        share = TOLERANCE if line["provider"] in ("tutti", "kernel") else 0
        for value in VALUES:
            before, now = known[key][value], line[value]
            if abs(now - before) > share * before:
                wrong.append(f"{key}: {value}: {before} kept, {now} now")
    return wrong


def write(names: list, kept: pathlib.Path) -> int:
    """Returns 0. Raises exact.Wrong without a compiler, or if the lines are of several."""
    here = compiler()
    if not here:
        raise exact.Wrong(f"there is no {COMPILER}, whose version the first line has to name")
    lines: dict = {}
    for name in names:
        lines |= {exact.key(line): line for line in of_file(name)}
        for row in measured.lines(pathlib.Path(name)):
            if row.get("type") == "machine_images" and row.get("compiler") != here:
                raise exact.Wrong(f"{name}: its programs are of {COMPILER} {row.get('compiler')}, "
                    f"not {here}; measure all of its lines anew, or write with that one")
    first = {"type": "machine_images", "compiler": here}
    kept.write_text("".join(json.dumps(line) + "\n" for line in
        [first, *(lines[key] for key in sorted(lines))]), "utf-8")  # fmt: skip
    print(f"kept: {kept.name} keeps {len(lines)} lines")
    return 0


def sample(program: str, images: str, kept: pathlib.Path) -> int:
    """Returns 0, 1 if a line differs, 77 with another compiler."""
    here, there = compiler(), made_by(kept)
    if here != there:
        print(f"SKIPPED: the kept programs are of {COMPILER} {there}, not {here or 'any'}")
        return 77
    done = subprocess.run([program, images, "--sample"], text=True, capture_output=True,
        check=False)  # fmt: skip
    if done.returncode != 0:
        raise exact.Wrong(f"{program} failed: {done.stderr.strip()}")
    made = results(done.stdout, program)
    wrong = compare(made, of_file(kept))
    for text in wrong:
        print(f"kept: {text}", file=sys.stderr)
    print(f"kept: {len(made)} lines compared, {len(wrong)} differences")
    if wrong:
        print("kept: if that is meant, measure anew: hardware/machine/software/README.md says how",
            file=sys.stderr)  # fmt: skip
    return 1 if wrong else 0


def main(arguments: list) -> int:
    """Returns 0, 1 if a line differs, 2 for bad arguments or files, 77 with another compiler."""
    parser = argparse.ArgumentParser(prog="python3 -m hardware.machine.kept",
        description=(__doc__ or "").split("\n")[0])  # fmt: skip
    do = parser.add_mutually_exclusive_group(required=True)
    do.add_argument("--write", nargs="+", metavar="RESULTS.jsonl", help="keep their lines")
    do.add_argument("--sample", nargs=2, metavar=("MEASURE", "IMAGES"),
        help="make a few lines anew and compare them")
    parser.add_argument("--messages", action="store_true", help="of machine_measure_messages")
    chosen = parser.parse_args(arguments)
    kept = MESSAGES if chosen.messages else BARRIERS
    try:
        return write(chosen.write, kept) if chosen.write else sample(*chosen.sample, kept)
    except exact.Wrong as error:
        print(f"kept: error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
