#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program under a preloaded runtime, with several numbers of threads and beside busy
processes, and says whether it succeeded each time and whether tutti ran it."""

import argparse
import os
import subprocess
import sys

# It ends with this process, also if that is killed.
NOISE = "import os\nwhile os.getppid() == {}:\n    for _ in range(100000): pass"


def run(
    program: list[str], environment: dict[str, str], seconds: float, status: int, says: str
) -> str:
    """What is wrong, or an empty string."""
    try:
        done = subprocess.run(
            program, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end after {seconds} s"
    if "tutti: runtime tutti" not in done.stderr:
        return f"tutti did not run it: {done.stderr.strip()}"
    if done.returncode != status:
        return f"status {done.returncode}: {done.stderr.strip()}"
    return "" if says in done.stderr else f"it did not say '{says}': {done.stderr.strip()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, type=os.path.abspath)
    parser.add_argument("--threads", default="1,2,3,8")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--noise", type=int, default=0, help="busy processes beside the program")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--status", type=int, default=0, help="the exit status that is right")
    parser.add_argument("--says", default="", help="what it has to print on standard error")
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    environment = dict(os.environ, LD_PRELOAD=arguments.library, TUTTI_VERBOSE="1")
    environment.update(each.split("=", 1) for each in arguments.set)
    noise = [
        subprocess.Popen([sys.executable, "-c", NOISE.format(os.getpid())])
        for _ in range(arguments.noise)
    ]
    failures = 0
    try:
        for repeat in range(arguments.repeats):
            for threads in arguments.threads.split(","):
                variables = dict(environment, OMP_NUM_THREADS=threads)
                wrong = run(
                    arguments.program, variables, arguments.seconds, arguments.status,
                    arguments.says,
                )
                if wrong:
                    failures += 1
                    where = f"{arguments.program[0]}: {threads} threads, repeat {repeat}"
                    print(f"{where}: {wrong}", flush=True)
    finally:
        for process in noise:
            process.kill()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
