#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what OMP_* variables do under libgomp and under tutti: the settings, the sizes of
regions, and every message. Values are tried that are right, and ones that are not.

Under the preloaded library libgomp is loaded too and reports bad values; a program that is linked
with tutti instead has tutti's messages. These differ today and are not compared:
* OMP_DYNAMIC=true: libgomp subtracts the load of the machine from the number of threads;
* OMP_SCHEDULE=dynamic,-2 and OMP_DEFAULT_DEVICE=-1 (another value), "dynamic 3" (message);
* OMP_PLACES={0}, with which libgomp's default is the number of all CPUs, and !{0},{1};
* messages of the linked program for OMP_PLACES=threads(0) and {-1}, for GOMP_CPU_AFFINITY, and for
  OMP_TARGET_OFFLOAD;
* OMP_ALLOCATOR and OMP_TARGET_OFFLOAD in what omp_display_env prints.
usage: settings_test.py LIBRARY PROGRAM PROGRAM_LINKED_WITH_TUTTI
"""

import os
import subprocess
import sys
import unittest

LIBRARY = PROGRAM = LINKED = ""

# Both numbers and lists of them may have blanks around.
VALUES: dict[str, tuple[str, ...]] = {
    "OMP_NUM_THREADS": (
        "3", " 2 ", "3,2", "2 , 2,3", "1", "0", "-1", "two", "", "2,", "2,0", "2 3",
        "99999999999999999999",
    ),
    "OMP_DYNAMIC": ("FALSE", " False ", "1", "yes", ""),
    "OMP_NESTED": ("true", "false", "no"),
    "OMP_MAX_ACTIVE_LEVELS": ("0", "1", "3", "255", "256", "1000", "-1", "x"),
    "OMP_SCHEDULE": (
        "static", "static,5", "dynamic", "DYNAMIC,7", "guided", "guided,2", "auto", "auto,3",
        "monotonic:dynamic", "nonmonotonic:guided,4", "monotonic : static,2", "nonmonotonic:static",
        "dynamic,0", "static,0", "dynamic,x", "fast", "", "monotonic",
        "dynamic,99999999999",
    ),
    "OMP_PROC_BIND": (
        "true", "false", "close", "spread", "master", "primary", "close,spread", "close , primary",
        "maybe", "true,close", "close,", "",
    ),
    "OMP_PLACES": (
        "threads", "cores", "sockets", "{0},{1}", "{0,1}", "{0:2}", "{0}:2",
        "{0}:2:1", "ll_caches", "numa_domains", "{", "{0", "{0},",
        "nowhere", "{0}:0",
    ),
    "OMP_CANCELLATION": ("true", "false", "maybe"),
    "OMP_THREAD_LIMIT": ("1", "2", "5", "0", "-3", "lots"),
    "OMP_STACKSIZE": (
        "1000", "512k", "3 M", "100000B", "1g", "2m", "", "large", "5x", "-1", "99999999999999999g",
    ),
    "GOMP_STACKSIZE": ("900", "none"),
    "OMP_WAIT_POLICY": ("active", "PASSIVE", " passive ", "lazy", ""),
    "OMP_DEFAULT_DEVICE": ("0", "4", "gpu"),
    "OMP_MAX_TASK_PRIORITY": ("0", "9", "-1", "high"),
    "OMP_NUM_TEAMS": ("0", "3", "-1", "few"),
    "OMP_TEAMS_THREAD_LIMIT": ("0", "3", "-1", "few"),
    "OMP_ALLOCATOR": (
        "omp_default_mem_alloc", "omp_thread_mem_alloc", "OMP_CGROUP_MEM_ALLOC", "omp_fast_alloc",
    ),
    "OMP_DISPLAY_ENV": ("true", "false", "verbose", "loud"),
    "OMP_DISPLAY_AFFINITY": ("false", "perhaps"),
    "OMP_AFFINITY_FORMAT": ("", "thread %n of %N", "%{thread_num}"),
    "GOMP_CPU_AFFINITY": ("0 1", "0-1", "1,0", "0-1:1"),
    "OMP_TARGET_OFFLOAD": ("default", "disabled"),
}

# Libgomp polls this many times, which tutti does not.
LEFT_OUT = "  GOMP_SPINCOUNT = "


def run(
    program: str, what: str, settings: dict[str, str], library: str = ""
) -> tuple[int, str, str]:
    """The exit status, the output and the messages."""
    ours = ("OMP_", "GOMP_", "TUTTI_", "LD_PRELOAD")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)} | settings
    if library:
        environment["LD_PRELOAD"] = library
    done = subprocess.run(
        [program, *what.split()], env=environment, capture_output=True, text=True, timeout=60,
        check=False,
    )
    messages = [line for line in done.stderr.splitlines() if not line.startswith(LEFT_OUT)]
    return done.returncode, done.stdout, "\n".join(messages)


class Settings(unittest.TestCase):
    maxDiff = None

    def compare(self, what: str, settings: dict[str, str]) -> tuple[int, str, str]:
        expected = run(PROGRAM, what, settings)
        with self.subTest(what=what, runtime="preloaded", **settings):
            self.assertEqual(run(PROGRAM, what, settings, LIBRARY), expected)
        with self.subTest(what=what, runtime="linked", **settings):
            self.assertEqual(run(LINKED, what, settings), expected)
        return expected

    def test_each_value(self) -> None:
        for name, values in VALUES.items():
            for value in values:
                self.compare("", {name: value})

    def test_display(self) -> None:
        for settings in (
            {},
            {"OMP_NUM_THREADS": "3,2", "OMP_SCHEDULE": "guided,4", "OMP_PROC_BIND": "close,spread"},
            {"OMP_PLACES": "{0},{1}", "OMP_STACKSIZE": "2m", "OMP_WAIT_POLICY": "active"},
            {"OMP_STACKSIZE": "512k", "OMP_DISPLAY_AFFINITY": "false"},
            {"OMP_SCHEDULE": "monotonic:dynamic,3", "OMP_CANCELLATION": "true"},
            {"OMP_MAX_ACTIVE_LEVELS": "4", "OMP_THREAD_LIMIT": "9"},
        ):
            for what in ("display", "display_all"):
                _, _, messages = self.compare(what, settings)
                self.assertIn("OPENMP DISPLAY ENVIRONMENT END", messages)

    def test_affinity(self) -> None:
        status, _, messages = self.compare(
            "affinity", {"OMP_AFFINITY_FORMAT": "%n of %N at level %L", "OMP_PLACES": "{0},{1}"}
        )
        self.assertEqual((status, messages.splitlines()[0]), (0, "level 0 of 1"))

    def test_error_directives(self) -> None:
        status, output, messages = self.compare("warning", {"OMP_NUM_THREADS": "2"})
        self.assertEqual((status, "after the warnings" in output), (0, True))
        self.assertIn("it goes on", messages)
        for what in ("fatal", "fatal_in_region"):
            status, output, _ = self.compare(what, {"OMP_NUM_THREADS": "2"})
            self.assertEqual((status, "after the end" in output), (1, False))


if __name__ == "__main__":
    LIBRARY, PROGRAM, LINKED = (os.path.abspath(each) for each in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
