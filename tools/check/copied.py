#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the figures that a page copies from another page or a kept file with their source.

copied_figures.py lists them: the text of the page with {} for each figure, and where each figure
stands first. A figure is right if the source, rounded to the digits that the page shows, is the
same. A text that the page no longer has, and a table, row or line that is no longer there, are
violations too: so no figure leaves the comparison unseen.

usage: copied.py [--write]   with --write the pages get the figures of their sources
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pages
import sources
from sources import Violation

NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
NUMBERS = re.compile(NUMBER)


class Missing(Exception):
    """A sentence: what a source no longer has."""


@dataclass(frozen=True)
class Copy:
    """A text with {} for each figure, the page that has it, and what the figures must be."""

    page: str
    text: str
    values: Callable[[Source], list[float]]


def number(text: str) -> float:
    """The value of a figure with or without commas between its digits."""
    return float(text.replace(",", ""))


def pattern_of(text: str) -> re.Pattern[str]:
    """Finds the text, however its lines are broken."""
    parts = [r"\s+".join(re.escape(word) for word in re.split(r"\s+", part))
             for part in text.split("{}")]  # fmt: skip
    return re.compile(f"({NUMBER})".join(parts))


def agrees(shown: str, value: float) -> bool:
    """Whether the value is the shown figure, as far as that has digits."""
    decimals = len(shown.partition(".")[2])
    return abs(number(shown) - value) <= 0.5000001 * 10**-decimals


def written(shown: str, value: float) -> str:
    """The value, in the form of the figure that is shown."""
    decimals = len(shown.partition(".")[2])
    with_commas = "," in shown or number(shown) < 1000
    return f"{value:,.{decimals}f}" if with_commas else f"{value:.{decimals}f}"


def cells_of(row: str) -> list[str]:
    plain = re.split(r"(?<!\\)\|", row.strip().removeprefix("|").removesuffix("|"))
    return [cell.strip().replace("**", "") for cell in plain]


class Source:
    """Reads figures where they stand first."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root

    @cache
    def text(self, page: str) -> str:
        try:
            return (self.root / page).read_text(encoding="utf-8")
        except OSError as error:
            raise Missing(f"{page} cannot be read: {error.strerror}") from error

    @cache
    def tables(self, page: str, anchor: str) -> list[list[list[str]]]:
        """The tables between the heading of this anchor and the next heading, as rows of cells."""
        found: list[list[list[str]]] = []
        is_there, is_inside, before = False, False, ""
        for _, line in pages.prose(self.text(page)):
            if heading := re.match(r"#{1,6}\s+(.*)", line):
                is_inside = pages.slug(heading[1]) == anchor
                is_there |= is_inside
            if is_inside and line.startswith("|"):
                if not before.startswith("|"):
                    found.append([])
                if not pages.TABLE_RULE.match(line):
                    found[-1].append(cells_of(line))
            before = line
        if not is_there:
            raise Missing(f"{page} has no heading #{anchor}")
        return found

    def cell(
        self, place: str, row: str | tuple[str, ...], column: str | int, table: int = 0, at: int = 0
    ) -> float:
        """A figure of a table. `place` is PAGE#ANCHOR, `row` the first cells of the row, or how
        its first cell begins; `at` is which of the figures in the cell."""
        page, _, anchor = place.partition("#")
        tables = self.tables(page, anchor)
        if table >= len(tables):
            raise Missing(f"{place} has {len(tables)} tables")
        head, *body = tables[table]
        wanted = (row,) if isinstance(row, str) else row
        rows = [cells for cells in body if tuple(cells[: len(wanted)]) == wanted]
        if isinstance(row, str):
            rows += [cells for cells in body if cells[0].startswith(row)]
        if not rows:
            raise Missing(f"{place} has no row {', '.join(wanted)}")
        if isinstance(column, str) and column not in head:
            raise Missing(f"{place} has no column '{column}'")
        cell = rows[0][head.index(column) if isinstance(column, str) else column]
        figures = NUMBERS.findall(re.sub(r"(?<=\d) (?=\d{3}\b)", "", cell))
        if at >= len(figures):
            raise Missing(f"{place}: the cell '{cell}' of row {', '.join(wanted)} has no figure")
        return number(figures[at])

    def cells(
        self, place: str, row: str | tuple[str, ...], *columns: str | int, table: int = 0
    ) -> list[float]:
        return [self.cell(place, row, column, table) for column in columns]

    @cache
    def lines(self, file: str) -> list[dict]:
        return [json.loads(line) for line in self.text(file).splitlines()]

    def kept(self, file: str, field: str, **keys: object) -> float:
        """A value of the lines of a file that have these keys; they must agree on it."""
        found = {
            line[field]
            for line in self.lines(file)
            if field in line and all(line.get(key) == value for key, value in keys.items())
        }
        if len(found) != 1:
            named = ", ".join(f"{key} {value}" for key, value in keys.items())
            raise Missing(f"{file} has {len(found)} values of {field} for {named}")
        return float(found.pop())

    def said(self, page: str, text: str) -> list[float]:
        """The figures of a sentence of another page, which has {} for each."""
        if (match := pattern_of(text).search(self.text(page))) is None:
            raise Missing(f"{page} does not say '{text}'")
        return [number(figure) for figure in match.groups()]


class Comparison:
    def __init__(self, root: pathlib.Path) -> None:
        self.root, self.source = root, Source(root)
        self.violations: list[Violation] = []
        self.wrong: list[Violation] = []
        self.compared = 0
        # What --write puts in the place of the matched text: page, begin, end, figure.
        self.fresh: list[tuple[str, int, int, str]] = []

    def add(self, copy: Copy) -> None:
        path = self.root / copy.page
        try:
            text = self.source.text(copy.page)
            match = pattern_of(copy.text).search(text)
            if match is None:
                raise Missing(f"the page does not say '{copy.text}'")
            line = text.count("\n", 0, match.start()) + 1
        except Missing as missing:
            self.violations.append(Violation(path, 1, str(missing)))
            return
        try:
            values = copy.values(self.source)
        except Missing as missing:
            self.violations.append(Violation(path, line, str(missing)))
            return
        if len(values) != len(match.groups()):
            figures = len(match.groups())
            message = f"{len(values)} sources for the {figures} figures of '{copy.text}'"
            self.violations.append(Violation(path, line, message))
            return
        for i, value in enumerate(values, 1):
            self.compared += 1
            if not agrees(match[i], value):
                fresh = written(match[i], value)
                message = f"'{match[i]}' in '{copy.text}' is {fresh} in its source"
                self.wrong.append(Violation(path, line, message))
                self.fresh.append((copy.page, *match.span(i), fresh))

    def write(self) -> None:
        for page, begin, end, figure in sorted(self.fresh, reverse=True):
            text = (self.root / page).read_text(encoding="utf-8")
            (self.root / page).write_text(text[:begin] + figure + text[end:], encoding="utf-8")
        print(f"copied: wrote {len(self.fresh)} figures")
        self.wrong = []


def main() -> int:
    from copied_figures import COPIES

    parser = sources.parser(__doc__)
    parser.add_argument("--write", action="store_true", help="correct the pages")
    arguments = parser.parse_args()
    comparison = Comparison(arguments.root.resolve())
    for copy in COPIES:
        comparison.add(copy)
    if arguments.write:
        comparison.write()
    print(f"copied: compared {comparison.compared} figures with their sources")
    pages_with_copies = {copy.page for copy in COPIES}
    return sources.report(
        "copied", comparison.root, len(pages_with_copies), comparison.violations + comparison.wrong
    )


if __name__ == "__main__":
    sys.exit(main())
