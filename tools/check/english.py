#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds sentences without a subject: comments, help texts and pages that open with a fragment.

A fragment is a comment line, a string literal or a Markdown line whose sentence opens with "Of",
"Whoever" or "So many", or with "As" or "Who" in a comment. A sentence must first name who does
something, then what it does.
"""

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import sources
from sources import Violation

SUFFIXES = {
    ".h", ".hpp", ".c", ".cpp", ".sv", ".svh", ".v", ".py", ".sh", ".cmake", ".toml", ".md", ".txt",
    ".js", ".css",
}
# These folders hold data in any language.
LEFT_OUT = ("vcode/programs/", "vcode/tests/", "tests/vcode/")
COMMENT = re.compile(r"^\s*(?://+|#+|\*|--)\s*(?:\*\s+|-\s+)?(Of|As|Who|Whoever|So many)\s")
STRING = re.compile(r'"(Of|Whoever|So many)\s\w')
PAGE = re.compile(r"^\s*(?:\*\s+|-\s+|\d+\.\s+|\|\s*)?(Of|Whoever|So many)\s\w")


def files(root: pathlib.Path) -> Iterator[pathlib.Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True,
        check=True,
    )
    for name in listed.stdout.split("\n"):
        path = root / name
        if path.suffix in SUFFIXES and path.is_file() and not name.startswith(LEFT_OUT):
            yield path


def check_file(path: pathlib.Path, text: str) -> list[Violation]:
    patterns = (PAGE,) if path.suffix == ".md" else (COMMENT, STRING)
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = next((m for m in (pattern.search(line) for pattern in patterns) if m), None)
        if match:
            found.append(
                Violation(
                    path, number, f"a fragment opens with '{match[1]}': name who does what first"
                )
            )
    return found


def run(root: pathlib.Path) -> int:
    violations, count = [], 0
    for path in files(root):
        count += 1
        violations += check_file(path, path.read_text(encoding="utf-8", errors="replace"))
    return sources.report("english", root, count, violations)


if __name__ == "__main__":
    sys.exit(sources.main(__doc__, run))
