#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs under tutti with the checking tool (ompt_tool.c), and compares what the tool counts
with what the program does and, if LLVM's runtime is given, with what that tells the tool."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

# The events of `constructs` in ompt_test.c, for n threads: those that all runtimes report alike.
# The two regions at its end have 2 threads, the second also nested ones of 2.
EXPECTED = {
    "parallel_begin": lambda n: 5,
    "parallel_end": lambda n: 5,
    "implicit_task.begin": lambda n: n + 8,
    "implicit_task.end": lambda n: n + 8,
    "sync_region.parallel.begin": lambda n: n + 8,
    "sync_region.parallel.end": lambda n: n + 8,
    "work.single.begin": lambda n: 2,
    "work.single.end": lambda n: 2,
    "work.single_other.begin": lambda n: 2 * n - 2,
    "work.single_other.end": lambda n: 2 * n - 2,
    "work.sections.begin": lambda n: n,
    "work.sections.end": lambda n: n,
    "work.loop.begin": lambda n: 2 * n + 2,
    "work.loop.end": lambda n: 2 * n + 2,
    "work.taskloop.begin": lambda n: 1,
    "work.taskloop.end": lambda n: 1,
    "mutex_acquired.critical": lambda n: n,
    "mutex_released.critical": lambda n: n,
    "mutex_acquired.lock": lambda n: n,
    "mutex_released.lock": lambda n: n,
    "mutex_acquire.nest_lock": lambda n: 2 * n,
    "mutex_acquired.nest_lock": lambda n: n,
    "mutex_released.nest_lock": lambda n: n,
    "nest_lock.begin": lambda n: n,
    "nest_lock.end": lambda n: n,
    "mutex_acquire.ordered": lambda n: 8,
    "mutex_released.ordered": lambda n: 8,
    "lock_init.lock": lambda n: 1,
    "lock_destroy.lock": lambda n: 1,
    "lock_init.nest_lock": lambda n: 1,
    "lock_destroy.nest_lock": lambda n: 1,
    "task_schedule.switch": lambda n: 10,
    "task_schedule.complete": lambda n: 10,
    "dependences": lambda n: 1,
    "sync_region.taskwait.begin": lambda n: 1,
    "sync_region_wait.taskgroup.end": lambda n: 2,
    "sync_region.taskgroup.begin": lambda n: 2,
    "implicit_task.initial.begin": lambda n: 1,
    "implicit_task.initial.end": lambda n: 1,
    "thread_begin.initial": lambda n: 1,
}


class Runner:
    def __init__(self, arguments: argparse.Namespace):
        self.given = arguments
        self.failures = 0

    def wrong(self, text: str) -> None:
        self.failures += 1
        print(text, flush=True)

    def run(
        self, program: list[str], threads: int, library: str, settings: dict[str, str]
    ) -> list[dict[str, int]]:
        """The counts of the program, then those of its children."""
        where = f"{' '.join(program)}, {threads} threads, {settings}"
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(
                os.environ,
                OMP_NUM_THREADS=str(threads),
                OMP_TOOL_LIBRARIES=self.given.tool,
                OMPT_TOOL_OUTPUT=f"{folder}/counts",
                TUTTI_VERBOSE="1",
            )
            environment.update(settings)
            if library:
                environment["LD_PRELOAD"] = " ".join(
                    [library] + environment.get("LD_PRELOAD", "").split()
                )
            with subprocess.Popen(
                program, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as process:
                try:
                    _, errors = process.communicate(timeout=240)
                except subprocess.TimeoutExpired:
                    process.kill()
                    self.wrong(f"{where}: no end")
                    return []
            if process.returncode != 0:
                self.wrong(f"{where}: status {process.returncode}: {errors.strip()}")
            if library and "tutti: runtime tutti" not in errors:
                self.wrong(f"{where}: tutti did not run it: {errors.strip()}")
            found = sorted(
                pathlib.Path(folder).iterdir(),
                key=lambda file: (file.suffix != f".{process.pid}", file.name),
            )
            result = []
            for file in found:
                counts = {}
                for line in file.read_text().splitlines():
                    name, _, value = line.rpartition(" ")
                    if line.startswith("wrong "):
                        self.wrong(f"{where}: {line}")
                    else:
                        counts[name] = int(value)
                result.append(counts)
            return result

    def check(self, program: list[str], threads: int, settings: dict[str, str]) -> dict[str, int]:
        results = self.run(program, threads, self.given.library, settings)
        if not results:
            self.wrong(f"{program} {threads} {settings}: the tool has written nothing")
            return {}
        return results[0]

    def expect(self, where: str, counts: dict[str, int], threads: int) -> None:
        for name, amount in EXPECTED.items():
            if counts.get(name, 0) != amount(threads):
                self.wrong(f"{where}: {name} is {counts.get(name, 0)}, not {amount(threads)}")
        created = sum(value for name, value in counts.items() if name.startswith("task_create"))
        if created != 10:
            self.wrong(f"{where}: {created} tasks are created, not 10")
        for name in ("tasks_open", "threads_open"):
            if counts.get(name) != 0:
                self.wrong(f"{where}: {name} is {counts.get(name)}")
        if counts.get("thread_begin.worker", 0) + 1 != counts.get("thread_end"):
            self.wrong(f"{where}: not all threads have ended: {counts}")


def compare(runner: Runner, program: str) -> None:
    """The same program under LLVM's runtime."""
    for threads in (2, 4):
        theirs = runner.run([program], threads, "", {})
        if not theirs:
            print("LLVM's runtime has not started the tool: nothing to compare")
            return
        counts = dict(theirs[0], tasks_open=0, threads_open=0)
        counts["thread_end"] = counts.get("thread_begin.worker", 0) + 1
        # LLVM 14 does not tell apart the implicit barriers.
        for end in ("begin", "end"):
            implicit = counts.get(f"sync_region.implicit.{end}", 0)
            if implicit != 0:
                counts[f"sync_region.parallel.{end}"] = implicit - 4 * threads
        runner.expect(f"LLVM's runtime, {program}", counts, threads)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--compare", action="store_true", help="with the program's own runtime")
    parser.add_argument("--part", choices=["counts", "modes", "programs"], required=True)
    parser.add_argument("programs", nargs="+")
    runner = Runner(given := parser.parse_args())
    first = given.programs[0]
    if given.part == "programs":
        # Ordinary programs: each event has its partner.
        for program in given.programs:
            for threads in (1, 2, 4):
                counts = runner.check([program], threads, {"OMP_CANCELLATION": "true"})
                if counts.get("tasks_open") != 0:
                    runner.wrong(f"{program}, {threads} threads: {counts.get('tasks_open')} tasks")
    elif given.part == "counts":
        for threads in (1, 2, 3, 8):
            counts = runner.check([first], threads, {})
            runner.expect(f"{first}, {threads} threads", counts, threads)
        if given.compare:
            compare(runner, first)
    else:
        modes(runner, first)
    return 1 if runner.failures else 0


def modes(runner: Runner, program: str) -> None:
    library = runner.given.library
    for mode in ("omp", "slow"):
        runner.expect(mode, runner.check([program], 3, {"OMPT_TOOL_MODE": mode}), 3)
    for mode in ("null", "zero"):
        if runner.run([program], 2, library, {"OMPT_TOOL_MODE": mode}):
            runner.wrong(f"{mode}: a tool that declines has been told something")
    if runner.run([program], 2, library, {"OMP_TOOL": "disabled"}):
        runner.wrong("OMP_TOOL=disabled: the tool has been told something")
    # Callbacks come and go while threads call them, and the tool ends in the middle.
    for mode in ("unset", "finalize"):
        if runner.check([program, "many"], 4, {"OMPT_TOOL_MODE": mode}).get("end") != 1:
            runner.wrong(f"{mode}: the tool has not ended")
    # A preloaded tool, and one that comes first and declines.
    tool = runner.given.tool
    preloaded = {"LD_PRELOAD": tool, "OMP_TOOL_LIBRARIES": ""}
    runner.expect("preloaded", runner.check([program], 2, preloaded), 2)
    two = {"OMP_TOOL_LIBRARIES": f"/no/such/tool.so:{library}:{tool}:{tool}"}
    runner.expect("a list of tools", runner.check([program], 2, two), 2)
    for how in ("exit", "threads"):
        for _ in range(5):
            if runner.check([program, how], 4, {}).get("end") != 1:
                runner.wrong(f"{how}: the tool has not ended")
    if runner.check([program, "tasks"], 3, {}).get("task_schedule.complete") != 2:
        runner.wrong("tasks: two tasks do not run")
    both = runner.run([program, "fork"], 3, library, {})
    if len(both) != 2:
        runner.wrong(f"fork: {len(both)} processes have ended the tool, not 2")
    for counts, regions in zip(both, (1, 2)):
        if counts.get("parallel_begin") != regions or counts.get("parallel_end") != regions:
            runner.wrong(f"fork: {counts}")
    verbose = subprocess.run(
        [program],
        env=dict(
            os.environ, LD_PRELOAD=library, OMP_TOOL_LIBRARIES=tool, OMP_TOOL_VERBOSE_INIT="stderr",
            OMPT_TOOL_OUTPUT="/dev/null/none",
        ),
        capture_output=True, text=True, timeout=240, check=False,
    ).stderr
    if "the tool observes the program" not in verbose:
        runner.wrong(f"OMP_TOOL_VERBOSE_INIT: {verbose}")


if __name__ == "__main__":
    sys.exit(main())
