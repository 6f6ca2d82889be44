#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the Markdown pages of the project without running what they show.

  links     a relative link names a file or folder of the project; its #anchor is a heading there
  tables    every row of a table has as many cells as its head
  commands  `make TARGET` is a target of the Makefile; a path such as tools/NAME or examples/...
  exists; a
            subcommand of build/tutti and its --options are in its --help (only with --tutti)
  caught    a page that says how many weakened orders the model checker catches says what the
            table of docs/model-checking.md adds up to
readme.py checks the commands that it runs.
"""

import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

import sources
from sources import Violation

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^\s*```(\w*)")
CODE = re.compile(r"`([^`]+)`")
TABLE_RULE = re.compile(r"^\s*\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?\s*)?$")
SHELL = {"sh", "bash", "console"}
PLACEHOLDER = re.compile(r"[A-Z]{2,}|\.\.\.|[<>{}$*]")
# A subject, its executions, orders, weakened orders, and caught ones.
MODEL_ROW = re.compile(r"^\| [^|]+ \| \d+ \| \d+ \| (\d+) \| (\d+) \|", re.MULTILINE)
CAUGHT = re.compile(r"must be caught: (\d+) of\s+(\d+) are")
TUTTI = re.compile(r"^(?:build/)?tutti\s+[a-z]")


def pages(root: pathlib.Path) -> list[pathlib.Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=root, capture_output=True,
        text=True, check=True,
    )
    return [root / name for name in listed.stdout.split("\n") if name]


def slug(heading: str) -> str:
    """The anchor that Git hosts make of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@cache
def anchors(page: pathlib.Path) -> set[str]:
    found: dict[str, int] = {}
    made = set()
    for _, line in prose(page.read_text(encoding="utf-8")):
        heading = re.match(r"#{1,6}\s+(.*)", line)
        for anchor in re.findall(r'<a (?:id|name)="([^"]+)"', line):
            made.add(anchor)
        if heading:
            name = slug(heading[1])
            again = found.get(name, 0)
            made.add(f"{name}-{again}" if again else name)
            found[name] = again + 1
    return made


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines outside of fenced blocks."""
    is_fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            is_fenced = not is_fenced
        elif not is_fenced:
            yield number, line


def commands(text: str) -> Iterator[tuple[int, str]]:
    """Lines of shell blocks and what stands between backquotes in prose, one command each."""
    language, pending = "", ""
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if fence:
            language = "" if language else fence[1] or "text"
        elif language in SHELL:
            if language == "console" and not line.startswith("$ ") and not pending:
                continue
            line = pending + line.removeprefix("$ ").strip()
            pending = line[:-1] if line.endswith("\\") else ""
            if not pending:
                yield number, line.split(" #")[0].strip()
        elif not language:
            for code in CODE.findall(line):
                yield number, code.strip()


class Checker:
    def __init__(self, root: pathlib.Path, tutti: pathlib.Path | None) -> None:
        self.root, self.tutti = root, tutti
        makefile = (root / "Makefile").read_text(encoding="utf-8")
        self.targets = set(re.findall(r"^([a-z][\w-]*):", makefile, re.MULTILINE))
        self.violations: list[Violation] = []
        self.checked = 0

    def caught(self, page: pathlib.Path, text: str) -> None:
        said = CAUGHT.search(text)
        if said is None:
            return
        self.checked += 1
        table = (self.root / "docs" / "model-checking.md").read_text(encoding="utf-8")
        rows = [(int(row[1]), int(row[0])) for row in MODEL_ROW.findall(table)]
        caught, weakened = (sum(column) for column in zip(*rows))
        if (int(said[1]), int(said[2])) != (caught, weakened):
            number = text.count("\n", 0, said.start()) + 1
            message = f"the model checker's table adds up to {caught} of {weakened}"
            self.violations.append(Violation(page, number, message))

    def link(self, page: pathlib.Path, number: int, link: str) -> None:
        if re.match(r"[a-z]+:", link):
            return
        self.checked += 1
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            self.violations.append(Violation(page, number, f"the link {link} leads to nothing"))
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            self.violations.append(
                Violation(page, number, f"the link {link}: {target.name} has no heading #{anchor}")
            )

    def tables(self, page: pathlib.Path, text: str) -> None:
        lines = list(prose(text))
        for (before_number, before), (_, rule) in zip(lines, lines[1:]):
            if not TABLE_RULE.match(rule) or "|" not in before:
                continue
            self.checked += 1
            columns = cells(rule)
            place = next(i for i, (number, _) in enumerate(lines) if number == before_number)
            for number, row in lines[place:]:
                if not row.strip().startswith("|") and "|" not in row:
                    break
                if cells(row) != columns:
                    self.violations.append(
                        Violation(
                            page, number, f"this row has {cells(row)} cells, the table {columns}"
                        )
                    )

    def make(self, page: pathlib.Path, number: int, words: list[str]) -> None:
        for word in words[1:]:
            if (
                "=" not in word
                and not word.startswith("-")
                and word not in self.targets
                and not PLACEHOLDER.search(word)
            ):
                self.violations.append(
                    Violation(page, number, f"`make {word}`: the Makefile has no target {word}")
                )

    @cache
    def help(self, subcommand: tuple[str, ...]) -> str | None:
        done = subprocess.run(
            [self.tutti, *subcommand, "--help"], capture_output=True, text=True, check=False,
            timeout=60,
        )
        return done.stdout if done.returncode == 0 else None

    def command(self, page: pathlib.Path, number: int, text: str) -> None:
        try:
            words = shlex.split(text.split(" | ")[0].split(" > ")[0])
        except ValueError:
            return
        if not words:
            return
        if words[0] == "make" and len(words) > 1:
            self.checked += 1
            self.make(page, number, words)
        elif re.match(r"(tools|examples)/[\w/.-]+$", words[0]):
            self.checked += 1
            if not (self.root / words[0]).exists():
                self.violations.append(Violation(page, number, f"there is no {words[0]}"))
        elif self.tutti and TUTTI.match(text):
            self.checked += 1
            self.subcommand(page, number, words[1:])

    def subcommand(self, page: pathlib.Path, number: int, words: list[str]) -> None:
        # Alternatives such as barrier|reduce stand for each of them; the first is checked.
        words = [word.split("|")[0].rstrip(",.;:") for word in words]
        path: tuple[str, ...] = ()
        text = self.help(path)
        for word in words:
            if not re.fullmatch(r"[a-z_]+", word) or not re.search(
                rf"^\s+{word}\b", text or "", re.MULTILINE
            ):
                break
            deeper = self.help((*path, word))
            if deeper is None:
                break
            path, text = (*path, word), deeper
        if not path:
            self.violations.append(
                Violation(
                    page, number, f"`tutti {' '.join(words)}`: there is no subcommand {words[0]}"
                )
            )
            return
        for word in words:
            option = word.split("=")[0]
            if re.fullmatch(r"--[a-z][\w-]+", option) and not re.search(
                rf"{re.escape(option)}\b", text or ""
            ):
                self.violations.append(
                    Violation(page, number, f"`tutti {' '.join(path)}` has no option {option}")
                )

    def page(self, page: pathlib.Path) -> None:
        text = page.read_text(encoding="utf-8")
        for number, line in prose(text):
            for found in LINK.finditer(CODE.sub(lambda code: " " * len(code[0]), line)):
                self.link(page, number, found[1] or found[2])
        self.tables(page, text)
        self.caught(page, text)
        for number, command in commands(text):
            for part in command.split(" && "):
                self.command(page, number, part.strip())


def cells(row: str) -> int:
    """The number of cells; a bar that is escaped or in code separates nothing."""
    plain = re.sub(r"\\\|", "  ", CODE.sub(lambda code: "x" * len(code[0]), row)).strip()
    return plain.removeprefix("|").removesuffix("|").count("|") + 1


def main() -> int:
    parser = sources.parser(__doc__)
    parser.add_argument(
        "--tutti", type=pathlib.Path, help="the command, to check subcommands and options with"
    )
    parser.add_argument(
        "pages", nargs="*", type=pathlib.Path, help="pages to check (default: all of the project)"
    )
    arguments = parser.parse_args()
    for path in (*arguments.pages, arguments.tutti):
        if path is not None and not path.is_file():
            parser.error(f"{path}: there is no such file")
    root = arguments.root.resolve()
    checker = Checker(root, arguments.tutti.resolve() if arguments.tutti else None)
    found = [page.resolve() for page in arguments.pages] or pages(root)
    for page in found:
        checker.page(page)
    print(f"pages: checked {checker.checked} links, tables and commands")
    return sources.report("pages", root, len(found), checker.violations)


if __name__ == "__main__":
    sys.exit(main())
