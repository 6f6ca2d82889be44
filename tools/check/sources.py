# SPDX-License-Identifier: Apache-2.0
"""What the checks share: finding files, telling code from comments, reporting a violation."""

import argparse
import dataclasses
import pathlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUFFIXES = {".h", ".hpp", ".c", ".cpp"}
# All folders with sources of C, C++ or Python.
FOLDERS = (
    "include src cli bench vcode graph_apps network sim command preload workloads hardware kernel "
    "tests examples report tools"
).split()


@dataclasses.dataclass(frozen=True)
class Violation:
    path: pathlib.Path
    line: int
    message: str

    def text(self, root: pathlib.Path) -> str:
        return f"{self.path.relative_to(root)}:{self.line}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Line:
    """One line of a C or C++ file, taken apart. `code` keeps its columns: everything else is blank.
    """

    number: int
    code: str
    comment: str


# Strings come before comments, so that "//" inside a string is not a comment; raw strings come
# before both.
TOKEN = re.compile(
    r'R"(?P<raw>[^\s()\\]*)\((?:.|\n)*?\)(?P=raw)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|//[^\n]*"
    r"|/\*(?:.|\n)*?\*/"
)


def lines_of_page(page: pathlib.Path, fail: Callable[[str], NoReturn]) -> list[str]:
    """The lines of a page; `fail` gets a sentence if it cannot be read."""
    try:
        return page.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        fail(f"{page}: cannot be read ({error.strerror})")


def blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def lines_of(text: str) -> list[Line]:
    code: list[str] = []
    comments: list[str] = []
    position = 0
    for match in TOKEN.finditer(text):
        before = text[position : match.start()]
        token = match.group()
        is_comment = token.startswith(("//", "/*"))
        code += [before, blank(token) if is_comment else f'"{blank(token[1:-1])}"']
        comments += [blank(before), token if is_comment else blank(token)]
        position = match.end()
    code.append(text[position:])
    comments.append(blank(text[position:]))
    pairs = zip("".join(code).split("\n"), "".join(comments).split("\n"), strict=True)
    return [Line(number, c.rstrip(), t.strip()) for number, (c, t) in enumerate(pairs, 1)]


def source_files(root: pathlib.Path, folders: Iterable[str]) -> Iterator[pathlib.Path]:
    """The files of the folders. In the project itself, each of them has to be there: a check would
    not look at a folder that has another name by now.
    """
    for folder in folders:
        if root == ROOT and not (root / folder).is_dir():
            raise SystemExit(f"{folder}: a check names this folder, and it does not exist")
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path


def report(name: str, root: pathlib.Path, checked: int, violations: list[Violation]) -> int:
    """Prints the verdict; returns the exit status."""
    for violation in violations:
        print(violation.text(root), file=sys.stderr)
    if not checked and not violations:
        print(f"{name}: there are no files to check in {root}", file=sys.stderr)
        return 1
    if violations:
        print(f"{name}: {len(violations)} violations in {checked} files", file=sys.stderr)
        return 1
    print(f"{name}: {checked} files are as they should be")
    return 0


def check_files(
    name: str,
    root: pathlib.Path,
    folders: Iterable[str],
    check: Callable[[pathlib.Path, str], Iterable[Violation]],
) -> int:
    files = list(source_files(root, folders))
    violations = [v for path in files for v in check(path, path.read_text(encoding="utf-8"))]
    return report(name, root, len(files), violations)


def parser(description: str) -> argparse.ArgumentParser:
    """The options that every check has; a check may add its own."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--root", type=pathlib.Path, default=ROOT, help="the project's folder")
    return made


def main(description: str, run: Callable[[pathlib.Path], int]) -> int:
    """The command line of a check without options: run(root) returns the exit status."""
    return run(parser(description).parse_args().root.resolve())
