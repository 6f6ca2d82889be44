#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times OpenMP's constructs under the program's own runtime and under tutti's, preloaded.

The command starts the program --starts times with each number of threads and under each runtime;
the runtimes take turns. A start gives some hundred samples of each construct, each the mean of a
batch. The table has the median over the starts of a start's median sample, and in brackets that of
the sample below which a tenth of them are: what the construct costs while nothing else uses the
CPUs. The command fails unless tutti runs the program.
"""

import argparse
import collections
import pathlib
import statistics
import subprocess
import sys

from runtimes import clean_environment

Samples = dict[str, list[float]]


def start(program: pathlib.Path, seconds: float, threads: int, library: str) -> Samples:
    """The samples of each construct."""
    environment = clean_environment() | {"OMP_NUM_THREADS": str(threads), "TUTTI_VERBOSE": "1"}
    if library:
        environment["LD_PRELOAD"] = library
    done = subprocess.run(
        [program, str(seconds)], env=environment, capture_output=True, text=True, timeout=300,
        check=True,
    )
    if library and "tutti: runtime tutti" not in done.stderr:
        raise SystemExit(f"constructs.py: tutti has not run the program: {done.stderr.strip()}")
    samples: Samples = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        name, _, value = line.rpartition(" ")
        samples[name].append(float(value))
    return samples


def typical(starts: list[Samples], name: str) -> tuple[float, float]:
    """The median sample, and the sample below which a tenth of them are."""
    sorted_samples = [sorted(each[name]) for each in starts]
    return (
        statistics.median(each[len(each) // 2] for each in sorted_samples),
        statistics.median(each[len(each) // 10] for each in sorted_samples),
    )


def time_text(ns: float) -> str:
    return f"{ns / 1000:,.1f} µs" if ns >= 9999.5 else f"{ns:.0f} ns"


def print_table(threads: int, own: list[Samples], tutti: list[Samples]) -> None:
    print(f"\n{threads} threads\n")
    print("| construct | own runtime | tutti | own / tutti |\n|---|--:|--:|--:|")
    for name in own[0]:
        (middle, low), (our_middle, our_low) = typical(own, name), typical(tutti, name)
        print(
            f"| {name} | {time_text(middle)} ({time_text(low)}) "
            f"| {time_text(our_middle)} ({time_text(our_low)}) "
            f"| {middle / our_middle:.1f} ({low / our_low:.1f}) |"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--library", type=pathlib.Path, help="tutti's runtime (of the build)")
    parser.add_argument("--threads", nargs="+", type=int, default=[2, 4, 8])
    parser.add_argument("--starts", type=int, default=5, help="starts with each (5)")
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a start (0.3)")
    asked = parser.parse_args()
    program = (asked.build / "preload/openmp/tests/openmp_constructs").resolve()
    library = (asked.library or asked.build / "preload/libtutti_openmp.so").resolve()
    for file in (program, library):
        if not file.is_file():
            print(f"constructs.py: there is no {file}; build it first", file=sys.stderr)
            return 1
    for threads in asked.threads:
        own: list[Samples] = []
        tutti: list[Samples] = []
        for _ in range(asked.starts):
            own.append(start(program, asked.seconds, threads, ""))
            tutti.append(start(program, asked.seconds, threads, str(library)))
        print_table(threads, own, tutti)
    return 0


if __name__ == "__main__":
    sys.exit(main())
