# SPDX-License-Identifier: Apache-2.0
"""Runs bench/exact_cost and writes its sums as result lines: python -m report.sums PROGRAM."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from cli.result_line import result_line

BENCHMARK = "sums"
# The program's names of the sums that the page shows.
NAMES = ("plain_loop", "pairwise", "fold", "exact_span", "exact_each")
CASE = re.compile(rf"time_sum/({'|'.join(NAMES)})/values:(\d+)/orders:0$")


def lines_of(text: str) -> list[str]:
    """A line for each sum and each number of values, in ns for a value."""
    made = []
    for run in json.loads(text)["benchmarks"]:
        found = CASE.match(run["run_name"])
        if not found or run.get("run_type") != "iteration":
            continue
        nanoseconds = run["cpu_time"] / int(found[2])
        made.append(
            result_line(
                benchmark=BENCHMARK, provider="plain" if found[1] == "plain_loop" else "tutti",
                name=found[1], kind=found[2], threads=1, metric="value", samples=1,
                min=nanoseconds, median=nanoseconds, p99=nanoseconds,
            )
        )
    return made


def main() -> None:
    program, wanted = sys.argv[1], f"time_sum/({'|'.join(NAMES)})/.*orders:0$"
    options = [
        "--benchmark_format=json", "--benchmark_min_time=0.02", "--benchmark_repetitions=5",
        "--benchmark_enable_random_interleaving=true", f"--benchmark_filter={wanted}",
    ]
    done = subprocess.run([program, *options], check=True, capture_output=True, text=True)
    print("\n".join(lines_of(done.stdout)))


if __name__ == "__main__":
    main()
