#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the host tests of the OpenMP validation suite under the program's own runtime and under
tutti, and says where the two differ.

The suite is no part of the project: --suite names its folder, with `tests/` and `ompvv/`. If the
own runtime passes a test and tutti fails it, that is a failure. Each test that tutti does not take
over is named with the symbol that it lacks; --most-untouched limits their number.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

SKIPPED = 77


@dataclass(frozen=True)
class Outcome:
    name: str
    own: bool
    ours: bool
    runtime: str

    @property
    def is_taken_over(self) -> bool:
        return self.runtime == "tutti"


def passes(program: pathlib.Path, seconds: float, **more: str) -> tuple[bool, str]:
    """Whether the program succeeds, and what it says."""
    try:
        done = subprocess.run(
            [program], env=os.environ | more, capture_output=True, text=True, errors="replace",
            timeout=seconds, check=False, cwd=program.parent,
        )
    except subprocess.TimeoutExpired:
        return False, "no end"
    return done.returncode == 0, done.stderr


def try_one(
    source: pathlib.Path, folder: pathlib.Path, asked: argparse.Namespace
) -> Outcome | None:
    """None: the compiler does not know the test's constructs."""
    program = folder / "_".join(source.relative_to(asked.suite).with_suffix("").parts)
    built = subprocess.run(
        [
            asked.compiler, "-O2", "-fopenmp", f"-I{asked.suite}/ompvv", source,
            asked.suite / "ompvv/libompvv.c", "-o", program, "-lm",
        ],
        capture_output=True, check=False,
    )
    if built.returncode != 0:
        return None
    own, _ = passes(program, asked.seconds)
    # Some tests want several threads to take part, which a busy machine may refuse them.
    for _ in range(3):
        ours, said = passes(program, asked.seconds, LD_PRELOAD=asked.library, TUTTI_VERBOSE="1")
        if ours:
            break
    told = [line for line in said.splitlines() if line.startswith("tutti: runtime ")]
    runtime = told[0].removeprefix("tutti: runtime ") if told else "none"
    return Outcome(source.stem, own, ours, runtime)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=pathlib.Path, required=True)
    parser.add_argument("--library", required=True, type=os.path.abspath)
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--seconds", type=float, default=60, help="a test may take (60)")
    parser.add_argument("--most-untouched", type=int, default=3)
    asked = parser.parse_args()
    asked.suite = asked.suite.resolve()
    sources = sorted(asked.suite.glob("tests/**/*.c"))
    if not sources:
        print(f"validation.py: there is no suite in {asked.suite}")
        return SKIPPED
    if shutil.which(asked.compiler) is None:
        print(f"validation.py: there is no {asked.compiler}")
        return SKIPPED
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(2) as pool,
    ):
        outcomes = list(
            pool.map(lambda source: try_one(source, pathlib.Path(folder), asked), sources)
        )
    built = [each for each in outcomes if each is not None]
    passed = [each for each in built if each.own]
    # A program without any runtime has nothing to take over.
    untouched = [each for each in passed if each.runtime not in ("tutti", "none")]
    failed = [each for each in passed if each.is_taken_over and not each.ours]
    print(
        f"{len(built)} of {len(sources)} tests build with {asked.compiler}; the own runtime passes "
        f"{len(passed)}. Of all that build, tutti takes {sum(e.is_taken_over for e in built)} over "
        f"and passes {sum(e.is_taken_over and e.ours for e in built)}."
    )
    for each in untouched:
        print(f"untouched: {each.name}: {each.runtime}")
    for each in failed:
        print(f"failed: {each.name}")
    return 1 if failed or len(untouched) > asked.most_untouched else 0


if __name__ == "__main__":
    sys.exit(main())
