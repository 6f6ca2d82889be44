#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what OMP_* variables do under libgomp and under tutti: the settings, the sizes of
regions, and every message. Values are tried that are right, and ones that are not.

Under the preloaded library libgomp is loaded too and reports bad values; a program that is linked
with tutti instead has tutti's messages. These differ today and are not compared:
* OMP_DYNAMIC=true: libgomp subtracts the load of the machine from the number of threads;
* messages of the linked program for OMP_PLACES=threads(0) and {-1} and for GOMP_CPU_AFFINITY;
* regions of which GOMP_CPU_AFFINITY puts a thread on a CPU that does not exist, which end the
  program under libgomp;
* OMP_PLACES of which the process may use none, besides a GOMP_CPU_AFFINITY with CPUs of others.
usage: settings_test.py LIBRARY PROGRAM PROGRAM_LINKED_WITH_TUTTI [PROGRAM_BUILT_BY_CLANG]
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

LIBRARY = PROGRAM = LINKED = CLANG = ""

# Both numbers and lists of them may have blanks around.
VALUES: dict[str, tuple[str, ...]] = {
    "OMP_NUM_THREADS": (
        "3", " 2 ", "3,2", "2 , 2,3", "1", "0", "-1", "two", "", "2,", "2,0", "2 3",
        "99999999999999999999",
    ),
    "OMP_DYNAMIC": ("FALSE", " False ", "1", "yes", ""),
    "OMP_NESTED": ("true", "false", "no", "true,false"),
    "OMP_MAX_ACTIVE_LEVELS": (
        "0", "1", "3", "255", "256", "1000", "-1", "x", "9223372036854775808",
        "18446744073709551615",
    ),
    "OMP_SCHEDULE": (
        "static", "static,5", "dynamic", "DYNAMIC,7", "guided", "guided,2", "auto", "auto,3",
        "monotonic:dynamic", "nonmonotonic:guided,4", "monotonic : static,2", "nonmonotonic:static",
        "dynamic,0", "static,0", "dynamic,x", "fast", "", "monotonic",
        "dynamic,99999999999", "static,", "static 4", "staticx", "static4", "auto,", "dynamic 3",
        "dynamic,-1", "guided,-2", "static,-3", "auto,-4", "dynamic,-2147483648",
        "dynamic,-2147483649", "dynamic,2147483648", "guided,99999999999", "guided,2,3",
        "monotonic:dynamic x", "nonmonotonic:static,x",
    ),
    "OMP_PROC_BIND": (
        "true", "false", "close", "spread", "master", "primary", "close,spread", "close , primary",
        "maybe", "true,close", "close,", "",
    ),
    "OMP_PLACES": (
        "threads", "cores", "sockets", "{0},{1}", "{0,1}", "{0:2}", "{0}:2",
        "{0}:2:1", "ll_caches", "numa_domains", "{", "{0", "{0},",
        "nowhere", "{0}:0", "{0}", "cores(1)", "threads(1)", "threads(-1)",
    ),
    "OMP_CANCELLATION": (
        "true", "false", "maybe", "1", "yes", "on", "T", "true,false", "false,true", "truex",
    ),
    "OMP_THREAD_LIMIT": ("1", "2", "5", "0", "-3", "lots", "9223372036854775808"),
    "OMP_STACKSIZE": (
        "1000", "512k", "3 M", "100000B", "1g", "2m", "", "large", "5x", "-1", "99999999999999999g",
        "0", "3", "1000b", "16383b", "16384b",
    ),
    "GOMP_STACKSIZE": ("900", "none"),
    "OMP_WAIT_POLICY": ("active", "PASSIVE", " passive ", "lazy", ""),
    "OMP_DEFAULT_DEVICE": ("0", "4", "gpu", "-1", "2147483647", "2147483648", "4294967297"),
    "OMP_MAX_TASK_PRIORITY": (
        "0", "9", "-1", "high", "9223372036854775808", "2147483647", "2147483648",
    ),
    "OMP_NUM_TEAMS": ("0", "3", "-1", "few", "2147483647", "2147483648", "99999999999"),
    "OMP_TEAMS_THREAD_LIMIT": ("0", "3", "-1", "few", "2147483647", "2147483648", "4294967295"),
    "OMP_ALLOCATOR": (
        "omp_default_mem_alloc", "omp_thread_mem_alloc", "OMP_CGROUP_MEM_ALLOC", "omp_fast_alloc",
    ),
    "OMP_DISPLAY_ENV": ("true", "false", "verbose", "loud", "true,false"),
    "OMP_DISPLAY_AFFINITY": ("false", "perhaps"),
    "OMP_AFFINITY_FORMAT": ("", "thread %n of %N", "%{thread_num}"),
    "GOMP_CPU_AFFINITY": ("0 1", "0-1", "1,0", "0-1:1", "0", "0-1:9", "0,65535"),
    "OMP_TARGET_OFFLOAD": ("default", "disabled", " Mandatory ", "", "disabled,", "defaultx"),
    "GOMP_SPINCOUNT": (
        "0", "7", "5k", " 2 M ", "3g", "4T", "infinite", "INFINITY ", "infinitely", "1x", "1kk", "",
        "few", "-1", "99999999999999999g", "99999999999999999999999",
    ),
}

# Strides and exclusions. Libgomp also says why it refuses some of these.
INTERVALS = (
    "{0,1}:1:7", "{0:2:1}:1:0", "{0:1:0},{1}", "{0,1}:2", "{0:2}:2", "{1}:2:-1", "{0}:2:-1",
    "{0,1}:2:-1", "{0}:2:-5", "{0}:1000000", "{0}:3:9223372036854775807", "!{0},{1}",
    "!{0},{0},{1}", "{0,1},!{0}", "{0},{1},!{0}:1", "{0},{1},!{0}:2", "{!0,0}", "{0,1,!0:1}",
    "{! 0,0}", "{0},{1},{0,1},!{0,1}", "{!1,1},{0,1}", "{0,!1}", "{0,1,!1,!1}", "{0,1,!1}",
)

# The numbers of processes and threads differ between runs.
FORMATS = (
    "%n|%N|%L|%a|%t|%T|%A|%H|%%", "%4n|%.4n|%0.4n|%0.6a|%.6a|%6a|%a", "%30H|%.30H|%0.30H",
    "%12A|%.12A|%0.12A", "%{thread_num}%{num_threads}|%0.3{nesting_level}|%7{ancestor_tnum}|",
    "%{host}%{thread_affinity}%{team_num}%{num_teams}", "%99999n", "%99999999999999999999n",
    "%.99999999999999999999n", "longer than the buffer that it has to go into", "%1n%10n%2N",
)
WRONG_FORMATS = (
    "%", "text %", "%q", "%.4q", "%{foo}", "%{}", "%{thread_num", "%0.4{thread_num", "%05n", "%0n",
    "%.n", "%0.n", "%.0n", "%0.0n", "%0", "%.", "%5", "%-5n", "%+n", "%{thread_num }", "% n", "%l",
)


def run(
    program: str, what: str | list[str], settings: dict[str, str], library: str = ""
) -> tuple[int, str, str]:
    """The exit status, the output and the messages."""
    ours = ("OMP_", "GOMP_", "TUTTI_", "LD_PRELOAD")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)} | settings
    if library:
        environment["LD_PRELOAD"] = library
    done = subprocess.run(
        [program, *([what] if isinstance(what, str) else what)], env=environment,
        capture_output=True, text=True, timeout=60, check=False,
    )
    return done.returncode, done.stdout, done.stderr


class Settings(unittest.TestCase):
    maxDiff = None

    def compare(self, what: str | list[str], settings: dict[str, str]) -> tuple[int, str, str]:
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
            {"OMP_STACKSIZE": "512k", "OMP_DEFAULT_DEVICE": "-1"},
            {"OMP_SCHEDULE": "monotonic:dynamic,3", "OMP_CANCELLATION": "true"},
            {"OMP_MAX_ACTIVE_LEVELS": "4", "OMP_ALLOCATOR": "omp_low_lat_mem_alloc"},
            {"OMP_PROC_BIND": "primary,close,master", "OMP_PLACES": "{1},{0}"},
            {"OMP_TARGET_OFFLOAD": "mandatory", "OMP_SCHEDULE": "dynamic,-1"},
            {"OMP_TARGET_OFFLOAD": "disabled", "OMP_SCHEDULE": "static,-1"},
            {"GOMP_SPINCOUNT": "5k", "OMP_WAIT_POLICY": "active", "OMP_SCHEDULE": "auto,-1"},
            {"OMP_WAIT_POLICY": "passive", "OMP_CANCELLATION": "true,false"},
            {"GOMP_CPU_AFFINITY": "0-1,63", "OMP_NUM_THREADS": "2", "OMP_DYNAMIC": "falsex"},
        ):
            for what in ("display", "display_all"):
                _, _, messages = self.compare(what, settings)
                self.assertIn("OPENMP DISPLAY ENVIRONMENT END", messages)

    def test_thread_limit(self) -> None:
        """One thread of each region opens the next one, and has what the others leave."""
        for threads in ("2,2,2", "3,2,4"):
            for limit in range(1, 8):
                settings = {"OMP_NUM_THREADS": threads, "OMP_THREAD_LIMIT": str(limit)}
                _, output, _ = self.compare("again", settings)
                lines = [each for each in output.splitlines() if each.startswith("regions of ")]
                self.assertEqual((len(lines), len(set(lines))), (3, 1))

    def test_affinity(self) -> None:
        status, _, messages = self.compare(
            "affinity", {"OMP_AFFINITY_FORMAT": "%n of %N at level %L", "OMP_PLACES": "{0},{1}"}
        )
        self.assertEqual((status, messages.splitlines()[0]), (0, "level 0 of 1"))

    def test_formats(self) -> None:
        for text in FORMATS:
            status, output, _ = self.compare(["capture", text], {})
            self.assertEqual((status, "'" in output), (0, True), text)
        # The text is larger than the memory.
        status, output, _ = self.compare(["capture", "%9999999999999n"], {})
        self.assertEqual((status, "9999999999999 '0   " in output), (1, True))
        for text in WRONG_FORMATS:
            status, output, messages = self.compare(["capture", text], {})
            self.assertEqual((status, "'" in output), (1, False), text)
            self.assertIn("in affinity format", messages)

    def test_displayed_regions(self) -> None:
        shown = {"OMP_DISPLAY_AFFINITY": "true", "OMP_MAX_ACTIVE_LEVELS": "2"}
        for text in ("%L: %n of %N, parent %a, on %A, team %t of %T", "the same", "%0.20H"):
            for more in (
                {"OMP_NUM_THREADS": "1"},
                {"OMP_NUM_THREADS": "4"},
                {"OMP_PLACES": "{0},{1}", "OMP_PROC_BIND": "close"},
                {"OMP_PLACES": "{0},{1},{0,1}", "OMP_PROC_BIND": "true"},
                {"OMP_PLACES": "{0},{1},{0},{1},{0}", "OMP_PROC_BIND": "spread"},
            ):
                settings = shown | more | {"OMP_AFFINITY_FORMAT": text}
                status, _, messages = self.compare("regions", settings)
                self.assertEqual(status, 0)
                self.assertGreater(len(messages.splitlines()), 20)
        status, _, _ = self.compare("regions", shown | {"OMP_AFFINITY_FORMAT": "%q"})
        self.assertEqual(status, 1)

    def test_places(self) -> None:
        for places in ("{0}", "{0},{1}", "{0},{1},{0,1}", "{0},{1},{0},{1},{0},{1},{0}"):
            for bind in ("true", "close", "spread", "primary", "spread,close"):
                status, output, _ = self.compare(
                    "places",
                    {
                        "OMP_PLACES": places, "OMP_PROC_BIND": bind, "OMP_NUM_THREADS": "2",
                        "OMP_MAX_ACTIVE_LEVELS": "2",
                    },
                )
                self.assertEqual((status, "afterwards 1: 0 of 0+" in output), (0, True))

    def test_intervals(self) -> None:
        for places in INTERVALS:
            expected = run(PROGRAM, "", {"OMP_PLACES": places})
            with self.subTest(places=places):
                self.assertEqual(run(PROGRAM, "", {"OMP_PLACES": places}, LIBRARY), expected)
                self.assertEqual(run(LINKED, "", {"OMP_PLACES": places})[:2], expected[:2])
        for cpus in ("0-99999999999", "0 99999", "0--1", "0-1:-1"):
            expected = run(PROGRAM, "", {"GOMP_CPU_AFFINITY": cpus})
            with self.subTest(cpus=cpus):
                self.assertEqual(run(PROGRAM, "", {"GOMP_CPU_AFFINITY": cpus}, LIBRARY), expected)

    def test_places_inside(self) -> None:
        """The clause proc_bind is also for regions inside, unless they have a setting."""
        settings = {"OMP_PLACES": "{0},{1},{0},{1},{0},{1}", "OMP_MAX_ACTIVE_LEVELS": "2"}
        for bind in ("close", "spread", "primary", "true", "close,spread", "spread,close", "false"):
            _, output, _ = self.compare("inside", settings | {"OMP_PROC_BIND": bind})
            self.assertEqual(output.count("inside 2"), 8)
        if CLANG:
            # With LLVM's runtime it is for one region.
            _, output, _ = run(CLANG, "inside", settings | {"OMP_PROC_BIND": "close"}, LIBRARY)
            self.assertEqual(output.count(": bind 3"), 4)

    def test_places_of_other_machines(self) -> None:
        """Sysfs tells of machines whose parts are not what they are here."""
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("there is one CPU")
        mount = 'mount --bind "$0" /sys/devices/system && exec "$@"'
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)

            def write(file: str, text: object) -> None:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_text(f"{text}\n", encoding="utf-8")

            inside = ["-rm", "sh", "-c", mount, name]
            write("cpu/online", f"0-{cpus[-1]}")
            write("cpu/possible", f"0-{cpus[-1]}")
            if run("unshare", [*inside, "true"], {})[0] != 0:
                self.skipTest("nothing can be mounted here")
            together = ",".join(str(cpu) for cpu in cpus)
            # The first and the last CPU are a core, and two memories have the CPUs the other way
            # round. The highest cache is not the one that this machine has under the number.
            ends = (cpus[0], cpus[-1])
            for cpu in cpus:
                core = f"{ends[0]},{ends[1]}" if cpu in ends else cpu
                write(f"cpu/cpu{cpu}/topology/thread_siblings_list", core)
                write(f"cpu/cpu{cpu}/topology/core_siblings_list", together)
                for i, (level, shared) in enumerate(((1, cpu), (2, core), (3, together), (1, cpu))):
                    cache = f"cpu/cpu{cpu}/cache/index{i}"
                    write(f"{cache}/level", level)
                    write(f"{cache}/shared_cpu_list", shared)
            write("node/online", "0,2-3")
            write("node/node0/cpulist", "")
            write("node/node2/cpulist", cpus[-1])
            write("node/node3/cpulist", f"{cpus[0]}-{cpus[-1]}")
            for places in (
                "threads", "cores", "sockets", "ll_caches", "numa_domains", "numa_domains(1)",
            ):
                what = [*inside, PROGRAM, "display"]
                expected = run("unshare", what, {"OMP_PLACES": places})
                with self.subTest(places=places):
                    self.assertEqual(expected[0], 0)
                    taken_over = run("unshare", what, {"OMP_PLACES": places}, LIBRARY)
                    self.assertEqual(taken_over, expected)

    def test_listed_cpus(self) -> None:
        """GOMP_CPU_AFFINITY counts unless OMP_PLACES does, and may list CPUs of others."""
        usable = os.sched_getaffinity(0)
        cpus_and_binds = [
            {"GOMP_CPU_AFFINITY": cpus} | bind
            for cpus in ("0 1", "1 0", "1")
            for bind in ({}, *({"OMP_PROC_BIND": b} for b in ("true", "close", "false")))
        ]
        places = ("{0},{1},!{1}", "{0,1},{5},!{5}", "{0},{5}")
        shown = {"OMP_AFFINITY_FORMAT": "%n on %A"}
        for mask in (usable, *({cpu} for cpu in sorted(usable)[:2])):
            os.sched_setaffinity(0, mask)
            try:
                for settings in (
                    *cpus_and_binds,
                    *(each | {"OMP_NUM_THREADS": "2"} for each in cpus_and_binds),
                    *(each | {"OMP_PLACES": "{0}"} for each in cpus_and_binds if 0 in mask),
                    *({"OMP_PLACES": each} for each in places),
                ):
                    expected = run(PROGRAM, "affinity", settings | shown)
                    preloaded = run(PROGRAM, "affinity", settings | shown, LIBRARY)
                    linked = run(LINKED, "affinity", settings | shown)
                    with self.subTest(mask=mask, **settings):
                        self.assertEqual(preloaded, expected)
                        self.assertEqual(linked[:2], expected[:2])
            finally:
                os.sched_setaffinity(0, usable)

    def test_pause(self) -> None:
        _, output, _ = self.compare("pause", {})
        self.assertIn("pauses 0 0 -1 -1", output)

    def test_clang(self) -> None:
        if not CLANG:
            self.skipTest("there is no program that clang built")
        shown = {"OMP_DISPLAY_AFFINITY": "true", "OMP_MAX_ACTIVE_LEVELS": "2"}
        shown |= {"OMP_AFFINITY_FORMAT": "%n of %N at %L on %A", "OMP_NUM_THREADS": "3"}
        expected = run(PROGRAM, "regions", shown)
        self.assertEqual(run(CLANG, "regions", shown, LIBRARY), expected)
        # LLVM's runtime knows these no better, and goes on.
        for text, expected_text in (
            ("%q %{foo}|", "undefined undefined|"), ("%05n|%.n|%0n|", "0    |0|0|"),
            ("a%{thread_num", "aundefined"), ("b%", "bundefined"),
        ):
            status, output, messages = run(CLANG, ["capture", text], {}, LIBRARY)
            self.assertEqual((status, messages), (0, f"{expected_text}\n{expected_text}\n"))
            self.assertIn(f"{len(expected_text)} '{expected_text}'", output)
        _, output, _ = run(CLANG, "pause", {}, LIBRARY)
        self.assertIn("pauses 1 1 ", output)

    def test_places_of_clang(self) -> None:
        if not CLANG:
            self.skipTest("there is no program that clang built")
        settings = {"OMP_PLACES": "{0},{1},{0}", "OMP_PROC_BIND": "close"}
        regions = []
        for program, library in ((PROGRAM, ""), (CLANG, LIBRARY)):
            _, output, _ = run(program, "places", settings, library)
            # Not the nested regions, where the runtimes differ.
            regions.append(output[output.index("default") : output.index("in rank")].splitlines())
        self.assertEqual(regions[1], regions[0])
        self.assertEqual(len(regions[0]), 36)

    def test_messages_to_clang(self) -> None:
        """LLVM's runtime is loaded too, and must not start."""
        if not CLANG:
            self.skipTest("there is no program that clang built")
        for settings in (
            {"OMP_NESTED": "maybe"}, {"OMP_THREAD_LIMIT": "lots"},
            {"OMP_DISPLAY_ENV": "true", "OMP_STACKSIZE": "2m"},
            {"OMP_DISPLAY_ENV": "true", "OMP_STACKSIZE": "2m", "OMP_PLACES": "threads"},
        ):
            status, _, messages = run(CLANG, "", settings, LIBRARY)
            _, _, expected = run(LINKED, "", settings)
            with self.subTest(**settings):
                self.assertEqual((status, messages), (0, expected))
                self.assertRegex(messages, "libgomp: |OPENMP DISPLAY ENVIRONMENT END")

    def like_llvm(self, what: str, line: str, settings: dict[str, str]) -> None:
        """Compares a line with that of LLVM's runtime."""
        lines = []
        for library in ("", LIBRARY):
            status, output, _ = run(CLANG, what, settings, library)
            self.assertEqual(status, 0)
            lines.append([each for each in output.splitlines() if each.startswith(line)])
        with self.subTest(**settings):
            self.assertEqual((lines[1], len(lines[1])), (lines[0], 1))

    def test_stack_of_clang(self) -> None:
        if not CLANG:
            self.skipTest("there is no program that clang built")
        usual = resource.getrlimit(resource.RLIMIT_STACK)
        larger = [each for each in (12 << 20, -1) if usual[1] == -1]
        for limit in (usual[0], *larger):
            resource.setrlimit(resource.RLIMIT_STACK, (limit, usual[1]))
            try:
                for settings in (
                    {}, {"KMP_STACKSIZE": "12m"}, {"KMP_STACKSIZE": "1048576"},
                    {"KMP_STACKSIZE": "2 MB"}, {"KMP_STACKSIZE": "2x"}, {"OMP_STACKSIZE": "3mb"},
                    {"KMP_STACKSIZE": "1m", "OMP_STACKSIZE": "2m"}, {"OMP_STACKSIZE": "2048"},
                ):
                    self.like_llvm("stack", "stack of ", settings)
            finally:
                resource.setrlimit(resource.RLIMIT_STACK, usual)
        self.compare("stack", {"KMP_STACKSIZE": "12m"})

    def test_booleans_of_clang(self) -> None:
        if not CLANG:
            self.skipTest("there is no program that clang built")
        for value in (
            "1", "yes", "Y", "on", "o", ".true.", ".t.", ".T", ".", "T", "tru", "truex", "1x",
            "enabled", "enable", "01", "0", "no", "n", "off", ".false.", "F", "disabled", "true",
        ):
            self.like_llvm("", "cancellation ", {"OMP_CANCELLATION": value})
        # What is not true is the default, too.
        for value in ("0", "no", "off", ".f.", "F"):
            _, _, messages = run(CLANG, "", {"OMP_CANCELLATION": value}, LIBRARY)
            self.assertEqual(messages, "", value)
        for value, is_shown in (("yes", True), ("V", True), ("0", False)):
            _, _, messages = run(CLANG, "", {"OMP_DISPLAY_ENV": value}, LIBRARY)
            self.assertEqual(("ENVIRONMENT END" in messages, "libgomp" in messages),
                             (is_shown, False), value)

    def test_error_directives(self) -> None:
        status, output, messages = self.compare("warning", {"OMP_NUM_THREADS": "2"})
        self.assertEqual((status, "after the warnings" in output), (0, True))
        self.assertIn("it goes on", messages)
        for what in ("fatal", "fatal_in_region"):
            status, output, _ = self.compare(what, {"OMP_NUM_THREADS": "2"})
            self.assertEqual((status, "after the end" in output), (1, False))


if __name__ == "__main__":
    LIBRARY, PROGRAM, LINKED = (os.path.abspath(each) for each in sys.argv[1:4])
    CLANG = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else ""
    unittest.main(argv=sys.argv[:1])
