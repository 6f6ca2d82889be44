#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times MPI_Barrier and an 8-byte MPI_Allreduce that libtutti-mpi.so serves, beside the MPI's own
and beside a ticket barrier among as many processes in shared memory.

The command starts each number of ranks under each MPI --starts times. The series of a start take
turns in the same processes. Open MPI yields where there are more ranks than CPUs, because its
launcher tells it to; MPICH spins. Two ranks are bound to a CPU each, others are not bound.

A table goes to standard output, or JSON lines with --json. The verbose line of the preload must say
that shared memory serves the ranks; otherwise the command fails.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from cli.result_line import result_line  # noqa: E402

LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich"}
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
CALLS = ("MPI_Barrier", "MPI_Allreduce")
METRICS = {"loop": "back to back", "last_in_last_out": "last in to last out"}

# The samples of a series: (MPI, ranks, metric, provider, name), where the provider is "tutti" or
# the MPI.
Series = tuple[str, int, str, str, str]
Samples = dict[Series, list[float]]


class Failed(Exception):
    pass


def command(family: str, ranks: int, build: pathlib.Path, rest: list[str]) -> list[str]:
    library = build / "preload" / "libtutti-mpi.so"
    program = build / "libexec" / "tutti" / f"tutti-bench-mpi-preload-{family}"
    for file in (library, program):
        if not file.is_file():
            raise Failed(f"there is no {file}; build the targets {library.stem} and {program.name}")
    words = [LAUNCHERS[family], "-n", str(ranks)]
    if family == "openmpi":
        words += ["--oversubscribe", "--bind-to", "core" if ranks == 2 else "none"]
        words += ["--allow-run-as-root", "--mca", "btl_base_warn_component_unused", "0"]
        words += ["-x", f"LD_PRELOAD={library}", "-x", "TUTTI_MPI_VERBOSE=1"]
    else:
        words += ["-bind-to", "core"] if ranks == 2 else []
        words += ["-genv", "LD_PRELOAD", str(library), "-genv", "TUTTI_MPI_VERBOSE", "1"]
    return [*words, str(program), *rest]


def start(family: str, ranks: int, asked: argparse.Namespace, samples: Samples) -> dict:
    words = command(
        family,
        ranks,
        asked.build.resolve(),
        ["--rounds", str(asked.rounds), "--batch-ms", str(asked.batch_ms)],
    )
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{' '.join(words)} has not ended within 300 s") from late
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}: status {done.returncode}: {done.stderr[-500:].strip()}")
    if f"{ranks} ranks: shared memory" not in done.stderr:
        raise Failed(f"the preload has not served {ranks} ranks of {NAMES[family]}: {done.stderr}")
    lines = [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]
    for line in lines:
        if line["type"] == "result":
            key = (family, ranks, line["metric"], line["provider"], line["name"])
            samples[key] += line["values"]
    machine = next(line for line in lines if line["type"] == "machine")
    # The launcher may have bound the rank that wrote this line.
    cpus = sorted(os.sched_getaffinity(0))
    return machine | {"cpus": cpus, "cores": len({core_of(cpu) for cpu in cpus})}


def core_of(cpu: int) -> str:
    siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return siblings.read_text() if siblings.is_file() else str(cpu)


def quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def ratio(samples: Samples, one: Series, other: Series) -> float:
    """The median of the ratios of the same rounds."""
    return statistics.median(a / b for a, b in zip(samples[one], samples[other], strict=True))


def own(series: Series) -> Series:
    family, ranks, metric, _, name = series
    return (family, ranks, metric, family, name)


def print_json(machine: dict, samples: Samples) -> None:
    print(json.dumps(machine))
    for series, values in samples.items():
        family, ranks, metric, provider, name = series
        low, middle, high = quartiles(values)
        keys = {
            "benchmark": "mpi_preload",
            "provider": provider,
            "name": name,
            "processes": ranks,
            "mpi": family,
            "threads": 1,
            "metric": metric,
            "min": min(values),
            "p25": low,
            "median": middle,
            "p75": high,
            "max": max(values),
            "samples": len(values),
        }
        if provider == "tutti" and name in CALLS:
            keys |= {
                "floor": "own_call",
                "floor_median": statistics.median(samples[own(series)]),
                "ratio_median": ratio(samples, series, own(series)),
            }
        print(result_line(**keys))


def time_text(ns: float) -> str:
    us = ns / 1000
    return f"{us:,.0f}" if us >= 100 else f"{us:.1f}" if us >= 10 else f"{us:.2f}"


def spread_text(values: list[float]) -> str:
    low, middle, high = quartiles(values)
    return f"{time_text(middle)} ({time_text(low)} to {time_text(high)})"


def print_table(samples: Samples) -> None:
    places = list(dict.fromkeys(series[:2] for series in samples))
    for metric, words in METRICS.items():
        print(f"\nMicroseconds, {words}: median (quartiles)\n")
        head = ["MPI, ranks", "call", "MPI's own", "preloaded", "own / preloaded"]
        head += ["ticket barrier", "preloaded / ticket"]
        print(f"| {' | '.join(head)} |\n|---|---|--:|--:|--:|--:|--:|")
        for family, ranks in places:
            ticket = (family, ranks, metric, "tutti", "ticket")
            for call in CALLS:
                mine = (family, ranks, metric, "tutti", call)
                cells = [
                    f"{NAMES[family]}, {ranks}",
                    f"`{call}`",
                    spread_text(samples[own(mine)]),
                    spread_text(samples[mine]),
                    f"{ratio(samples, own(mine), mine):.2f}",
                    spread_text(samples[ticket]),
                    f"{ratio(samples, mine, ticket):.2f}",
                ]
                print(f"| {' | '.join(cells)} |")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--mpi", nargs="+", choices=LAUNCHERS, default=list(LAUNCHERS))
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4, 8, 16])
    parser.add_argument("--starts", type=int, default=3, help="starts of each program (3)")
    parser.add_argument("--rounds", type=int, default=3, help="samples of a start (3)")
    parser.add_argument("--batch-ms", type=float, default=20, help="length of a sample (20)")
    parser.add_argument("--json", action="store_true", help="JSON lines instead of a table")
    asked = parser.parse_args()
    if min(asked.ranks) < 2 or asked.starts < 1 or asked.rounds < 1:
        parser.error("there must be at least two ranks, one start and one round")
    return asked


def main() -> int:
    asked = parse()
    installed = [family for family in asked.mpi if shutil.which(LAUNCHERS[family])]
    for family in set(asked.mpi) - set(installed):
        print(f"{NAMES[family]} is left out: it is not installed", file=sys.stderr)
    if not installed:
        return 77
    samples: Samples = collections.defaultdict(list)
    machine: dict = {}
    try:
        for _ in range(asked.starts):
            for ranks in asked.ranks:
                for family in installed:
                    machine = start(family, ranks, asked, samples)
    except (Failed, OSError) as why:
        print(f"preload.py: {why}", file=sys.stderr)
        return 1
    if asked.json:
        print_json(machine, samples)
    else:
        print(f"{machine['cpu']}, {len(machine['cpus'])} CPUs, {machine['kernel']}")
        print_table(samples)
    return 0


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    sys.exit(main())
