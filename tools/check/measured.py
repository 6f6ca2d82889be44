#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the measured tables of a page with what their commands print today, except the figures,
or measures them anew.

A measured part lies between the lines `<!-- measured by `COMMAND` -->` and
`<!-- end of measured -->`. It begins with the machine and the commit. The command is run in the
project's folder, with `--form` added unless the part is to be written: then it measures nothing and
leaves the figures out. Heads, the first cell of each row, the number of cells and all text must be
the same; the order of rows may be another one.
usage: measured.py [--write [WORD]] --build FOLDER PAGE
With WORD only the parts whose command contains it are written.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from sources import lines_of_page

BEGIN = re.compile(r"<!-- measured by `([^`]+)` -->$")
END = "<!-- end of measured -->"
MACHINE = re.compile(r".*, commit [0-9a-f]{7,40}\b")
NUMBER = re.compile(r"\d[\d.,]*")


def fail(message: str) -> None:
    sys.exit(f"measured: {message}")


def parts_of(page: Path, lines: list[str]) -> list[tuple[int, int, str]]:
    """The first line of each part, the line after its last one, and its command."""
    found = []
    begin, command = -1, ""
    for i, line in enumerate(lines):
        begins = BEGIN.match(line)
        if begins:
            if begin >= 0:
                fail(f"{page}:{i + 1}: the part of line {begin} has no end")
            begin, command = i + 1, begins[1]
        elif line == END:
            if begin < 0:
                fail(f"{page}:{i + 1}: an end without a beginning")
            found.append((begin, i, command))
            begin = -1
        elif line.startswith("<!-- measured"):
            fail(f"{page}:{i + 1}: not `<!-- measured by `COMMAND` -->`")
    if begin >= 0:
        fail(f"{page}:{begin}: this part has no end")
    return found


def form_of(lines: list[str]) -> list[str]:
    """What does not depend on the machine."""
    made: list[str] = []
    rows: list[str] = []
    head = 0
    for line in [*lines, ""]:
        if not line.startswith("|"):
            made += sorted(rows)
            rows, head = [], 0
            made.append(NUMBER.sub("#", line))
        elif head < 2:
            head += 1
            made.append(line)
        else:
            cells = line.split("|")
            rows.append(f"{cells[1].strip()}, {len(cells) - 2} cells")
    return [line for line in made if line.strip()]


def printed_by(command: str, build: Path) -> list[str]:
    path = f"{build.resolve()}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PATH": path},
    )
    if done.returncode != 0:
        fail(f"`{command}` ends with status {done.returncode}")
    return done.stdout.rstrip("\n").split("\n")


def check(page: Path, build: Path) -> None:
    lines = lines_of_page(page, fail)
    parts = parts_of(page, lines)
    if not parts:
        fail(f"{page} has no measured part")
    for begin, end, command in parts:
        if not MACHINE.match(lines[begin]):
            fail(f"{page}:{begin + 1}: names no machine with its commit")
        stands = form_of(lines[begin + 1 : end])
        fresh = form_of(printed_by(f"{command} --form", build)[1:])
        for a, b in zip(stands + ["nothing"], fresh + ["nothing"]):
            if a != b:
                fail(f"{page}:{begin}: `{command}` prints '{b}' where the page has '{a}'")
    print(f"measured: {len(parts)} parts of {page} have the form of today")


def write(page: Path, build: Path, word: str) -> None:
    lines = lines_of_page(page, fail)
    for begin, end, command in reversed(parts_of(page, lines)):
        if word in command:
            lines[begin:end] = printed_by(command, build)
            page.write_text("\n".join(lines) + "\n", encoding="utf-8")
            print(f"measured: wrote the part of {page} that `{command}` prints", flush=True)


def main(arguments: list[str]) -> None:
    if arguments[:1] in (["--help"], ["-h"]):
        print(__doc__.strip())
        return
    wanted, word = False, ""
    if arguments[:1] == ["--write"]:
        wanted, arguments = True, arguments[1:]
        if arguments[:1] != ["--build"]:
            word, arguments = arguments[0], arguments[1:]
    if len(arguments) != 3 or arguments[0] != "--build":
        fail("usage: measured.py [--write [WORD]] --build FOLDER PAGE")
    build, page = Path(arguments[1]), Path(arguments[2])
    if wanted:
        write(page, build, word)
    else:
        check(page, build)


if __name__ == "__main__":
    main(sys.argv[1:])
