#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that clang-format would change nothing, that no line of C, C++ or Python is wider than 100
columns, and that every file of C or C++ opens with the licence and its purpose.

Exit status 77 (skipped) when clang-format is not installed and the rest is in order.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import sources
from sources import Violation

WIDTH = 100
LICENCE = "SPDX-License-Identifier: Apache-2.0"


def check_opening(path: pathlib.Path) -> list[Violation]:
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or LICENCE not in lines[0]:
        return [Violation(path, 1, f"the first line is not '{LICENCE}'")]
    second = lines[1] if len(lines) > 1 else ""
    is_comment = re.match(r"\s*(//|/?\*)[ /*]*[^ /*]", second) is not None
    # A source whose header tells its purpose begins with this header.
    own_header = re.fullmatch(r'#include "(?:.*/)?(\w+)\.hpp"', second)
    if is_comment or (own_header and own_header[1] == path.stem):
        return []
    return [Violation(path, 2, "the second line does not say what the file is for")]


def check_width(path: pathlib.Path) -> list[Violation]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        Violation(path, number, f"this line has {len(line)} columns, more than {WIDTH}")
        for number, line in enumerate(lines, 1)
        if len(line) > WIDTH
    ]


def check_layout(paths: list[pathlib.Path]) -> list[Violation]:
    done = subprocess.run(
        ["clang-format", "--dry-run", *map(str, paths)], capture_output=True, text=True, check=False
    )
    places = re.findall(
        r"^(.+?):(\d+):\d+: \w+: code should be clang-formatted", done.stderr, re.MULTILINE
    )
    if done.returncode != 0 and not places:
        raise SystemExit(f"format: error: clang-format failed:\n{done.stderr}")
    first = {path: int(line) for path, line in reversed(places)}
    return [
        Violation(pathlib.Path(p), line, "layout differs; run `make format`")
        for p, line in first.items()
    ]


def python_files(root: pathlib.Path) -> list[pathlib.Path]:
    """The Python files of the tree, scripts without an ending too."""
    found = []
    for folder in sources.FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix == ".py" or (not path.suffix and path.is_file() and is_script(path)):
                found.append(path)
    return found


def is_script(path: pathlib.Path) -> bool:
    with path.open("rb") as file:
        return file.readline(80).startswith(b"#!/usr/bin/env python3")


def run(root: pathlib.Path) -> int:
    paths = list(sources.source_files(root, sources.FOLDERS))
    scripts = python_files(root)
    violations = [
        violation for path in paths for violation in check_opening(path) + check_width(path)
    ]
    violations += [violation for path in scripts for violation in check_width(path)]
    has_tool = shutil.which("clang-format") is not None
    if has_tool and paths:
        violations += check_layout(paths)
    status = sources.report("format", root, len(paths) + len(scripts), violations)
    if status == 0 and not has_tool:
        print("format: SKIPPED the layout: clang-format is not installed")
        return 77
    return status


if __name__ == "__main__":
    sys.exit(sources.main(__doc__, run))
