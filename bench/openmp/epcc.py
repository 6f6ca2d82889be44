#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs EPCC's benchmarks under several OpenMP runtimes, which take turns, and prints tables.

EPCC's OpenMP microbenchmarks (version 3.1, M. Bull, F. Reid and N. McDonnell, 2015) time a
construct around a little work, and subtract the time of the work alone: the overhead. The command
compiles one of them for libgomp and runs it as it is: with libgomp's defaults, with
OMP_WAIT_POLICY=active and =passive, with LLVM's libomp preloaded, and with tutti preloaded. A cell
is the median over the runs of the mean overhead that a run prints, in µs, and in brackets the
smallest; "> 10 s" stands for runs that --limit has ended. The last column is the median of the
best setting of libgomp by tutti's.

A situation is a number of threads, with a condition if there is one: `2`, `8`, `2+one` (a busy
process of another session on one CPU), `2+all` (one on each CPU), `2+quota` (1.5 CPUs).
"""

import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

from runtimes import Place, Runtime, add_options, in_situation, in_turns, wanted_runtimes

OVERHEAD = re.compile(r"^(.+?) overhead = (\S+) microseconds", re.MULTILINE)
OWN = ("libgomp", "active", "passive")


def compiled(name: str, source: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    files = [source / f"{name}.c", source / "common.c"]
    if absent := [each for each in files if not each.is_file()]:
        raise SystemExit(f"epcc.py: {absent[0]} is missing: --source has to name EPCC's sources")
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    # The sources come with neither prototypes nor a declaration of main's result.
    subprocess.run(
        ["gcc", "-O2", "-w", "-fopenmp", "-DOMPVER2", "-DOMPVER3", *files, "-o", program, "-lm"],
        check=True,
    )
    return program


def run(program: pathlib.Path, runtime: Runtime, place: Place,
        asked: argparse.Namespace) -> dict[str, float] | None:
    """The overhead of each construct in µs; None: it took too long."""
    words = [program, "--test-time", str(asked.test_time), "--outer-repetitions", "20"]
    try:
        done = subprocess.run(
            words, env=runtime.environment(place.threads), capture_output=True, text=True,
            timeout=asked.limit, preexec_fn=place.joining(),
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        raise SystemExit(
            f"epcc.py: {program.name} under {runtime.name} ended with {done.returncode}"
        )
    if not runtime.has_run(done.stderr):
        raise SystemExit(f"epcc.py: tutti has not run {program.name}: {done.stderr.strip()[-300:]}")
    return {name.strip().lower(): float(us) for name, us in OVERHEAD.findall(done.stdout)}


def measure(program: pathlib.Path, situation: str, rows: list[Runtime],
            asked: argparse.Namespace) -> dict[str, list[dict[str, float] | None]]:
    runs: dict[str, list[dict[str, float] | None]] = collections.defaultdict(list)
    with in_situation(situation) as place:
        for runtime in in_turns(rows, asked.repeats):
            # A runtime that took too long once is not tried again.
            if None not in runs[runtime.name]:
                runs[runtime.name].append(run(program, runtime, place, asked))
    return runs


def values_of(runs: list[dict[str, float] | None], name: str) -> list[float]:
    return [] if None in runs else [each[name] for each in runs if each and name in each]


def print_table(situation: str, runs: dict[str, list[dict[str, float] | None]],
                limit: float) -> None:
    names = list(dict.fromkeys(name for all_of in runs.values() for one in all_of if one
                               for name in one))
    print(f"\n*{situation}*\n\n| construct | " + " | ".join(runs) + " | best of libgomp / tutti |")
    print("|---|" + "--:|" * (len(runs) + 1))
    for name in names:
        cells, middle = [], {}
        for runtime, all_of in runs.items():
            values = values_of(all_of, name)
            if not values:
                cells.append(f"> {limit:g} s")
                continue
            middle[runtime] = statistics.median(values)
            cells.append(f"{middle[runtime]:.3g} ({min(values):.3g})")
        own = [middle[each] for each in OWN if each in middle]
        ratio = ""
        # An overhead of nothing or less, as noise makes it, has no ratio.
        if own and middle.get("tutti", 0) > 0:
            ratio = f"{min(own) / middle['tutti']:.2f}"
        print(f"| {name} | " + " | ".join(cells) + f" | {ratio} |", flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=pathlib.Path, required=True,
                        help="folder with EPCC's sources")
    parser.add_argument("--benchmark", choices=["syncbench", "taskbench", "schedbench"],
                        default="syncbench", help="which of them (syncbench)")
    add_options(parser, ["2", "4", "8", "2+one", "4+one", "8+one"])
    parser.add_argument("--test-time", type=float, default=500,
                        help="µs of one of the 20 samples of a construct (500)")
    parser.add_argument("--limit", type=float, default=10, help="seconds a run may take (10)")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each run")
    return parser.parse_args()


def main() -> int:
    asked = parse_arguments()
    rows = wanted_runtimes(asked)
    program = compiled(asked.benchmark, asked.source, asked.build / "openmp-epcc")
    for situation in asked.situations:
        begun = time.perf_counter()
        runs = measure(program, situation, rows, asked)
        if asked.json:
            for name, all_of in runs.items():
                for one in all_of:
                    print(json.dumps({"situation": situation, "runtime": name, "us": one}))
            continue
        print_table(situation, runs, asked.limit)
        print(f"epcc.py: {situation}: {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
