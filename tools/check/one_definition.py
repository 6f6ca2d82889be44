#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the headers in include/ mean the same in every source of a program.

A program may link sources with and without NDEBUG, with and without exceptions, at different levels
of optimisation and for different processors, and a library that was compiled in yet another way.
The linker keeps one copy of each inline function, and every source believes its own layout of a
class. So after preprocessing, the headers must be the same text whatever the options are, except
for the lines that this script allows, each with its reason.
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import sources
from sources import Violation

# What the sources of one program may differ in.
VARIANTS = {
    "with NDEBUG": ["-DNDEBUG"],
    "with -O2": ["-O2"],
    "for another processor": ["-march=x86-64-v3", "-mwaitpkg"],
    "without exceptions": ["-fno-exceptions"],
}
# It needs the headers of an MPI.
NOT_ALONE = {"calls_of_mpi_h.hpp"}
MARKER = re.compile(r'^# (\d+) "([^"]*)"')


@dataclasses.dataclass(frozen=True)
class Allowed:
    file: str
    pattern: str  # of a preprocessed line
    reason: str


ALLOWED = [
    Allowed(
        "include/tutti/platform/misuse.hpp",
        r"^bool checks = [01] != 0\) noexcept \{$",
        "a default argument is evaluated by the source that makes the call, which is its purpose",
    ),
    Allowed(
        "include/tutti/platform/memory_shortage.hpp",
        r"^(try \{|\} catch \(const std::bad_alloc&\) \{|return false;|\})$",
        "both texts do the same where there is memory, and are called in the same way",
    ),
]


def is_allowed(file: str, line: str) -> bool:
    return any(each.file == file and re.match(each.pattern, line) for each in ALLOWED)


def preprocessed(
    root: pathlib.Path, headers: list[pathlib.Path], command: list[str]
) -> list[tuple]:
    """The lines of the project's own headers, each with its file and number."""
    done = subprocess.run(
        [*command, "-x", "c++", "-std=c++20", "-E", f"-I{root / 'include'}", "-"],
        input="".join(f'#include "{header}"\n' for header in headers),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"the headers cannot be preprocessed:\n{done.stderr[:1000]}")
    found = []
    file, number = None, 0
    for line in done.stdout.splitlines():
        if marker := MARKER.match(line):
            path = pathlib.Path(marker[2])
            file = path.relative_to(root).as_posix() if path.is_relative_to(root) else None
            number = int(marker[1])
            continue
        if file is not None and line.strip():
            found.append((file, number, re.sub(r"\s+", " ", line.strip())))
        number += 1
    return found


def compare(root: pathlib.Path, plain: list[tuple], other: list[tuple], how: str) -> set[Violation]:
    matcher = difflib.SequenceMatcher(
        None, [each[2] for each in plain], [each[2] for each in other], autojunk=False
    )
    violations = set()
    for kind, a, b, c, d in matcher.get_opcodes():
        for file, number, line in [] if kind == "equal" else [*plain[a:b], *other[c:d]]:
            if not is_allowed(file, line):
                violations.add(Violation(root / file, number, f"another text {how}: {line}"))
    return violations


def run(root: pathlib.Path, compilers: list[str]) -> int:
    present = [compiler for compiler in compilers if shutil.which(compiler)]
    if not present:
        print("one_definition: SKIPPED: none of the compilers is installed")
        return 77
    headers = [
        header
        for header in sources.source_files(root, ["include"])
        if header.suffix == ".hpp" and header.name not in NOT_ALONE
    ]
    violations: set[Violation] = set()
    for compiler in present:
        commands = [[compiler], *([compiler, *options] for options in VARIANTS.values())]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            plain, *others = pool.map(lambda each: preprocessed(root, headers, each), commands)
        for variant, other in zip(VARIANTS, others, strict=True):
            violations |= compare(root, plain, other, f"for {compiler} {variant}")
    ordered = sorted(violations, key=lambda v: (str(v.path), v.line, v.message))
    return sources.report("one_definition", root, len(headers), ordered)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--root", type=pathlib.Path, default=sources.ROOT, help="the project's folder"
    )
    parser.add_argument(
        "--compiler", action="append", help="a C++ compiler; repeatable (default: g++)"
    )
    arguments = parser.parse_args()
    return run(arguments.root.resolve(), arguments.compiler or ["g++"])


if __name__ == "__main__":
    sys.exit(main())
