#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs unmodified programs of Debian and PyPI under several OpenMP runtimes and prints tables.

In each situation the runtimes take turns: the program's own libgomp with its defaults, with
OMP_WAIT_POLICY=active and =passive, LLVM's libomp preloaded, and tutti preloaded. The command
compares what the programs compute, to the last bit: tutti's results are wrong if they differ from
libgomp's and all of libgomp's with this number of threads are the same. It counts a program only if
tutti has run it. A program that is not installed gives one line.

A situation is a number of threads, with a condition if there is one: `2`, `8`, `2+one` (a busy
process on one CPU), `2+all` (one on each CPU), `2+quota` (1.5 CPUs, in a control group).

--record appends what it measures to a file of JSON lines, which --print makes the tables of.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from program_list import PROGRAMS, Program, arguments_of, make_inputs
from program_tables import OWN, WRONG, comparison, print_tables
from runtimes import Place, Runtime, add_options, in_situation, in_turns, wanted_runtimes

SKIPPED = 77


# ---- a run


@dataclass(frozen=True)
class Run:
    """`wall` is None if the run took too long."""

    wall: float | None
    processor: float
    result: str
    # How many CPUs other programs used in the mean, the busy processes of this command included.
    others: float
    # How many functions of regions tutti named whose ranks run one after the other.
    in_turn: int = 0


def processor_time_of_all() -> float:
    """What all programs of the machine have used since it started."""
    names = "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"
    numbers = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    times = dict(zip(names, map(int, numbers), strict=False))
    busy = sum(v for k, v in times.items() if k not in ("idle", "iowait"))
    return busy / os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """A run did not succeed. The message is one sentence."""


def execute(
    program: Program, words: list[str], runtime: Runtime, place: Place, where: pathlib.Path,
    limit: float,
) -> Run:
    """Runs the program once."""
    environment = runtime.environment(place.threads, dict(program.settings))
    for each in program.files:
        (where / each).unlink(missing_ok=True)
    output, errors = where / "output", where / "errors"
    with output.open("wb") as out, errors.open("wb") as err:
        before = processor_time_of_all()
        begun = time.perf_counter()
        child = subprocess.Popen(
            words, cwd=where, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            preexec_fn=place.joining(),
        )
        try:
            status, spent = wait_for(child, begun + limit)
        except BaseException:
            # It would keep the control group that it is in.
            child.kill()
            child.wait()
            raise
        wall = time.perf_counter() - begun
        of_all = processor_time_of_all() - before
    others = max(of_all - spent, 0) / wall
    if status is None:
        return Run(None, spent, "", others)
    said = errors.read_text(encoding="utf-8", errors="replace")
    if status != 0:
        raise Failure(f"{program.name} under {runtime.name} ended with {status}: {said[-300:]}")
    if not runtime.has_run(said):
        raise Failure(f"tutti has not run {program.name}: {said[-300:]}")
    text = output.read_bytes()
    processor = spent
    if program.is_job:
        wall, processor = (float(each) for each in text.split()[1:3])
    in_turn = said.count("ranks of its region run one after the other")
    return Run(wall, processor, result_of(program, text, where), others, in_turn)


def execute_calmly(most_others: float, *run: object) -> Run:
    """Runs the program; if others used more CPUs meanwhile, again, but not for ever."""
    for _ in range(20):
        done = execute(*run)
        if done.others <= most_others:
            break
        time.sleep(1)
    return done


def wait_for(child: subprocess.Popen, deadline: float) -> tuple[int | None, float]:
    """The exit status, or None if the deadline has passed, and the processor time."""
    process = os.pidfd_open(child.pid)
    try:
        ended = select.select([process], [], [], max(deadline - time.perf_counter(), 0))[0]
    finally:
        os.close(process)
    if not ended:
        child.kill()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode if ended else None, used.ru_utime + used.ru_stime


def result_of(program: Program, text: bytes, where: pathlib.Path) -> str:
    """A digest of what the program has computed."""
    digest = hashlib.sha256()
    if program.results:
        for line in re.findall(program.results, text.decode(errors="replace"), re.MULTILINE):
            digest.update(line.encode())
    else:
        digest.update(text)
    for each in program.files:
        digest.update((where / each).read_bytes())
    return digest.hexdigest()[:16]


def measure(asked: argparse.Namespace, rows: list[Runtime]) -> Iterator[dict[str, object]]:
    """Yields a record of each run."""
    begun = time.perf_counter()
    for situation in asked.situations:
        with in_situation(situation) as place:
            for program in PROGRAMS:
                if program.name not in asked.programs:
                    continue
                words = arguments_of(program, place.threads, asked.python)
                too_few_cpus = place.threads > len(os.sched_getaffinity(0))
                if words is None or (program.wants_cpus and too_few_cpus):
                    continue
                slow: set[str] = set()
                made: list[dict[str, object]] = []
                for runtime in turns_of(asked, rows, made):
                    if runtime.name in slow or time.perf_counter() - begun > asked.seconds:
                        continue
                    record: dict[str, object] = {
                        "program": program.name, "situation": situation,
                        "runtime": runtime.name,
                    }
                    try:
                        done = execute_calmly(
                            asked.calm + place.busy, program, words, runtime, place, asked.work,
                            asked.limit,
                        )
                    except Failure as failure:
                        yield record | {"failure": str(failure)}
                        slow.add(runtime.name)
                        continue
                    if done.wall is None:
                        slow.add(runtime.name)
                        yield record | {"over": asked.limit}
                        if asked.must_end and runtime.name == "tutti":
                            yield record | {"failure": f"{program.name} did not end in time"}
                    else:
                        made.append(record | {
                            "wall": done.wall, "processor": done.processor,
                            "result": done.result, "others": round(done.others, 2),
                            "in_turn": done.in_turn,
                        })
                        yield made[-1]


def turns_of(
    asked: argparse.Namespace, rows: list[Runtime], made: list[dict[str, object]]
) -> Iterator[Runtime]:
    """Yields the runtimes of a program's runs, whose records are in `made` by then. A few runs of
    libgomp may repeat a result by chance: if tutti's differ, libgomp gets as many runs as tutti."""
    yield from in_turns(rows, asked.repeats, asked.others)
    own = [each for each in rows if each.name in OWN]
    for _ in range(asked.repeats - (asked.others or asked.repeats)):
        if comparison(made) == WRONG:
            yield from own


# ---- the command line


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = [each.name for each in PROGRAMS]
    add_options(parser, ["2", "4", "8", "2+one", "2+all", "2+quota"])
    parser.add_argument("--programs", nargs="+", choices=known, default=known)
    parser.add_argument("--list", action="store_true", help="print the programs' names, and end")
    parser.add_argument("--others", type=int, metavar="RUNS",
                        help="runs of each runtime that is not tutti's (as many as --repeats)")
    parser.add_argument("--limit", type=float, default=10, help="seconds a run may take (10)")
    parser.add_argument("--must-end", action="store_true",
                        help="a run of tutti that takes too long is a failure")
    parser.add_argument("--calm", type=float, default=1e9, metavar="CPUS",
                        help="run again, up to 20 times, if other programs used more CPUs")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no run after them")
    parser.add_argument("--python", nargs="+", default=[sys.executable], metavar="PYTHON",
                        help="those that have the libraries of PyPI")
    parser.add_argument("--work", type=pathlib.Path, help="folder of inputs and outputs")
    parser.add_argument("--record", type=pathlib.Path, help="append the runs to this file")
    parser.add_argument("--print", nargs="+", type=pathlib.Path, metavar="FILE",
                        help="measure nothing; print the tables of these files")
    return parser.parse_args()


def main() -> int:
    asked = parse_arguments()
    if asked.list:
        print("\n".join(each.name for each in PROGRAMS))
        return 0
    if asked.print:
        lines = [line for file in asked.print for line in file.read_text().splitlines()]
        return 1 if print_tables([json.loads(line) for line in lines]) else 0
    rows = wanted_runtimes(asked)
    asked.work = (asked.work or asked.build / "openmp-programs").resolve()
    absent = [
        each
        for each in PROGRAMS
        if each.name in asked.programs and arguments_of(each, 1, asked.python) is None
    ]
    for each in absent:
        print(f"programs.py: {each.name} is missing: {each.package}", file=sys.stderr)
    if len(absent) == len(asked.programs):
        return SKIPPED
    make_inputs(asked.work)
    records = []
    with open(asked.record or os.devnull, "a", encoding="utf-8") as file:
        for record in measure(asked, rows):
            records.append(record)
            print(json.dumps(record), file=file, flush=True)
    wrong = print_tables(records)
    return 1 if wrong or any("failure" in each for each in records) else 0


if __name__ == "__main__":
    sys.exit(main())
