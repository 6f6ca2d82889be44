#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how the project names the five papers that it builds.

  names  no tracked file names a paper by a number of three digits, or points at a folder outside of the project
         that only its authors have: readers know authors and year
  rows   docs/papers.md has a row for each of the papers' figures and tables, and no row has an empty cell
"""

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import sources
from sources import Violation

PAGE = "docs/papers.md"
NUMBER = re.compile(r"\bpapers?[ _-]?0\d\d\b", re.IGNORECASE)
OUTSIDE = re.compile(r"\.\./shared/|/shared[/]papers")
# The sections of the page: how many figures and tables the paper has.
WANTED = {
    "Hetland et al. 2019": (9, 0),
    "Arap et al.": (9, 0),
    "Berger and Stamatakis 2010": (3, 4),
    "Hale and Dinda 2018": (20, 0),
    "Naylor et al. 2020": (8, 0),
}
ROMAN = ("", "I", "II", "III", "IV")
ROW = re.compile(r"\| *((?:Figure|Table) [0-9IVX]+)\b")


def files(root: pathlib.Path) -> Iterator[pathlib.Path]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True)
    yield from (path for path in (root / name for name in listed.stdout.split("\n") if name) if path.is_file())


def check_names(path: pathlib.Path) -> list[Violation]:
    text = path.read_text(encoding="utf-8", errors="replace")
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if name := NUMBER.search(line):
            found.append(Violation(path, number, f"'{name[0]}': name the paper by its authors and year"))
        if place := OUTSIDE.search(line):
            found.append(Violation(path, number, f"'{place[0]}': readers do not have this folder"))
    return found


def check_rows(page: pathlib.Path) -> tuple[list[Violation], int]:
    """The violations, and the number of rows of figures and tables."""
    if not page.is_file():
        return [Violation(page, 1, "the page is missing")], 0
    seen: dict[str, set[str]] = {name: set() for name in WANTED}
    found, rows, section = [], 0, ""
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("## "):
            section = line[3:].strip()
        elif line.startswith("| "):
            if any(not cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))):
                found.append(Violation(page, number, "this row has an empty cell"))
            if name := ROW.match(line):
                rows += 1
                seen.setdefault(section, set()).add(name[1])
    for paper, (figures, tables) in WANTED.items():
        wanted = [f"Figure {n}" for n in range(1, figures + 1)] + [f"Table {ROMAN[n]}" for n in range(1, tables + 1)]
        absent = [name for name in wanted if name not in seen[paper]]
        if absent:
            found.append(Violation(page, 1, f"the section '{paper}' has no row for {', '.join(absent)}"))
    return found, rows


def run(root: pathlib.Path) -> int:
    paths = list(files(root))
    violations = [violation for path in paths for violation in check_names(path)]
    absent, rows = check_rows(root / PAGE)
    least = sum(figures + tables for figures, tables in WANTED.values())
    print(f"papers: {rows} rows of figures and tables, at least {least} wanted")
    return sources.report("papers", root, len(paths), violations + absent)


if __name__ == "__main__":
    sys.exit(sources.main(__doc__, run))
