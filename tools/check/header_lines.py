#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how many lines each header in include/ has after preprocessing: every file that includes
it compiles them.

The limits hold for g++ 12, whose <atomic> alone has 24,209 lines and whose <chrono> has 35,062;
with another compiler the check is skipped (exit status 77). `--table` prints each header with its
lines and the seconds that it takes to compile.
"""

import concurrent.futures
import fnmatch
import os
import pathlib
import resource
import shutil
import subprocess
import sys

import sources
from sources import Violation

COMPILER = ["g++", "-std=c++20", "-x", "c++"]
MAJOR = "12"
# The first matching pattern counts. A header that needs more gets a line of its own, with a reason.
LIMITS = {
    # Most programs include these: `<atomic>`, `<chrono>` and `<vector>`, and tutti's own part.
    "tutti/barrier/barrier.hpp": 45_000,
    # Parts of it: the number of CPUs (usable_cpus.hpp); `<chrono>`, `<vector>` and misuse.
    "tutti/barrier/chosen_algorithm.hpp": 32_000,
    "tutti/barrier/deadline_calls.hpp": 41_000,
    # The same with a variant of the reductions and the names of the list.
    "tutti/reduce/reduction.hpp": 47_000,
    # These choose by name at run time: a unique_ptr with <memory>, any standard type in a provider.
    "tutti/barrier/any.hpp": 38_500,
    "tutti/barrier/timed.hpp": 40_300,
    # `<chrono>`, `<vector>` and the text of its errors.
    "tutti/barrier/shared.hpp": 42_000,
    "tutti/barrier/provider.hpp": 52_300,
    "tutti/registry.hpp": 56_000,
    # The algorithms and their base: little more than <atomic>.
    "tutti/barrier/*": 30_000,
    "tutti/platform/cpu_quota.hpp": 32_000,
    "tutti/platform/topology.hpp": 32_000,
    "tutti/platform/usable_cpus.hpp": 32_000,
    "tutti/platform/*": 28_000,
    "tutti/schedule/table.hpp": 32_000,
    "tutti/schedule/*": 28_000,
    "tutti/wait/*": 28_300,
    # The rest.
    "*": 75_300,
}


def lines_of(root: pathlib.Path, header: str) -> int:
    done = subprocess.run(
        [*COMPILER, "-E", "-P", f"-I{root / 'include'}", "-"],
        input=f"#include <{header}>\n", capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.count("\n")


def limit_of(header: str) -> int:
    return next(limit for pattern, limit in LIMITS.items() if fnmatch.fnmatch(header, pattern))


def headers(root: pathlib.Path) -> list[str]:
    return [
        p.relative_to(root / "include").as_posix() for p in sources.source_files(root, ["include"])
    ]


def is_measured_compiler() -> bool:
    if not shutil.which("g++"):
        return False
    return (
        subprocess.run(
            ["g++", "-dumpversion"], capture_output=True, text=True, check=True
        ).stdout.strip()
        == MAJOR
    )


def counts(root: pathlib.Path) -> dict[str, int]:
    names = headers(root)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(lambda name: lines_of(root, name), names), strict=True))


def run(root: pathlib.Path) -> int:
    if not is_measured_compiler():
        print(f"header_lines: SKIPPED: the limits hold for g++ {MAJOR}")
        return 77
    found = counts(root)
    violations = [
        Violation(
            root / "include" / name, 1,
            f"{count:,} preprocessed lines; its limit is {limit_of(name):,}",
        )
        for name, count in found.items()
        if count > limit_of(name)
    ]
    return sources.report("header_lines", root, len(found), violations)


def seconds_of(root: pathlib.Path, header: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [*COMPILER, "-fsyntax-only", f"-I{root / 'include'}", "-"],
        input=f"#include <{header}>\n", text=True, check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(root: pathlib.Path) -> None:
    for name, count in sorted(counts(root).items(), key=lambda item: item[1]):
        print(f"{count:>8,} {seconds_of(root, name):>6.2f} s  {name}")


def main() -> int:
    parser = sources.parser(__doc__)
    parser.add_argument(
        "--table", action="store_true", help="print lines and seconds of every header"
    )
    arguments = parser.parse_args()
    if not arguments.table:
        return run(arguments.root.resolve())
    table(arguments.root.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
