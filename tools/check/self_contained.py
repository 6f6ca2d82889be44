#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every header in include/ compiles alone, twice in one file, with each compiler and no
warning.

Headers that end in .h are compiled as C11 too. A compiler that is not installed is skipped with a
line.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

import sources
from sources import Violation

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
C_COMPILER = {"g++": "gcc", "clang++": "clang"}


def compile_alone(root: pathlib.Path, header: pathlib.Path, command: list[str]) -> Violation | None:
    name = header.relative_to(root / "include").as_posix()
    # C requires at least one declaration, and a header may contain only macros.
    source = f"#include <{name}>\n#include <{name}>\nextern int not_empty;\n"
    done = subprocess.run(
        [*command, *WARNINGS, "-fsyntax-only", f"-I{root / 'include'}", "-"],
        input=source, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return None
    errors = "\n".join("    " + line for line in done.stderr.splitlines()[:15])
    return Violation(header, 1, f"does not compile alone with {command[0]}:\n{errors}")


def jobs_for(root: pathlib.Path, compilers: list[str]) -> list[tuple[pathlib.Path, list[str]]]:
    jobs = []
    for header in sources.source_files(root, ["include"]):
        for compiler in compilers:
            jobs.append((header, [compiler, "-x", "c++", "-std=c++20"]))
            if header.suffix == ".h":
                jobs.append((header, [C_COMPILER.get(compiler, "cc"), "-x", "c", "-std=c11"]))
    return jobs


def run(root: pathlib.Path, compilers: list[str]) -> int:
    present = [compiler for compiler in compilers if shutil.which(compiler)]
    for compiler in sorted(set(compilers) - set(present)):
        print(f"self_contained: SKIPPED {compiler}: it is not installed")
    if not present:
        print("self_contained: error: none of the compilers is installed", file=sys.stderr)
        return 1
    jobs = jobs_for(root, present)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: compile_alone(root, *job), jobs)
        violations = [violation for violation in results if violation]
    return sources.report("self_contained", root, len({header for header, _ in jobs}), violations)


def main() -> int:
    parser = sources.parser(__doc__)
    parser.add_argument(
        "--compiler", action="append", help="a C++ compiler; repeatable (default: g++ and clang++)"
    )
    arguments = parser.parse_args()
    return run(arguments.root.resolve(), arguments.compiler or ["g++", "clang++"])


if __name__ == "__main__":
    sys.exit(main())
