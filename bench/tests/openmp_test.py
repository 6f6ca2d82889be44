# SPDX-License-Identifier: Apache-2.0
"""How the scripts that compare OpenMP's runtimes start programs, and what they leave behind."""

import argparse
import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

SCRIPTS = pathlib.Path(__file__).resolve().parents[1] / "openmp"
sys.path.insert(0, str(SCRIPTS))

import constructs  # noqa: E402
import epcc  # noqa: E402
import program_tables  # noqa: E402
import programs  # noqa: E402
import runtimes  # noqa: E402

IN_A_GROUP = """
import runtimes, time
with runtimes.quota(1.5) as members:
    print(members.parent, flush=True)
    time.sleep(60)
"""


class Quota(unittest.TestCase):
    def test_its_group_is_gone_after_a_signal(self) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", IN_A_GROUP], cwd=SCRIPTS, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        ) as process:
            group = process.stdout.readline().strip()
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            if not group:
                self.skipTest(process.stderr.read())
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertFalse(pathlib.Path(group).exists())

    def test_a_group_with_processes_has_it_beside_itself(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            own = pathlib.Path(name) / "own"
            # What cannot be written.
            (own / "cgroup.subtree_control").mkdir(parents=True)
            with mock.patch.object(runtimes, "cpu_controller", return_value=(own, True)):
                with runtimes.quota(1.5) as members:
                    limit = members.parent / "cpu.max"
                    self.assertEqual(limit.read_text(), "150000 100000")
                    limit.unlink()
            self.assertEqual(members.parent.parent, own.parent)
            self.assertFalse(members.parent.exists())


IN_A_PROGRAM = """
import pathlib, programs, runtimes, sys
from program_list import Program
runtime = runtimes.Runtime("passive")
with runtimes.quota(1.5) as members:
    print(members.parent, flush=True)
    place = runtimes.Place(1, 0, members)
    words = ["sh", "-c", "echo $$ > ours; exec sleep 60"]
    programs.execute(Program("sleep", "", ""), words, runtime, place, pathlib.Path(sys.argv[1]), 60)
"""


class Programs(unittest.TestCase):
    def test_a_program_ends_with_the_command_that_has_started_it(self) -> None:
        with tempfile.TemporaryDirectory() as name, subprocess.Popen(
            [sys.executable, "-c", IN_A_PROGRAM, name], cwd=SCRIPTS, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        ) as process:
            group = process.stdout.readline().strip()
            if not group:
                self.skipTest(process.stderr.read())
            ours = pathlib.Path(name) / "ours"
            until = time.monotonic() + 30
            while not (ours.exists() and ours.read_text()) and time.monotonic() < until:
                time.sleep(0.01)
            program = int(ours.read_text())
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertFalse(pathlib.Path(f"/proc/{program}").exists())
        self.assertFalse(pathlib.Path(group).exists())


    def test_a_result_that_libgomp_repeated_by_chance_is_not_wrong(self) -> None:
        asked = argparse.Namespace(repeats=20, others=3)
        rows = [runtimes.Runtime("passive"), runtimes.Runtime("tutti", "tutti.so")]
        for varies, says in ((True, "libgomp's differ"), (False, "WRONG")):
            made = []
            for runtime in programs.turns_of(asked, rows, made):
                runs = sum(each["runtime"] == runtime.name for each in made)
                other = runs == 5 and (varies or runtime.is_tutti)
                made.append({"runtime": runtime.name, "result": "b" if other else "a"})
            self.assertEqual(program_tables.comparison(made), says)
            own = sum(each["runtime"] == "passive" for each in made)
            self.assertEqual(own, 6 if varies else 20)


class Constructs(unittest.TestCase):
    def test_no_setting_of_the_caller_reaches_the_program(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            program = pathlib.Path(name) / "program"
            program.write_text(
                "#!/bin/sh\n"
                'echo "settings ${OMP_WAIT_POLICY-0}${GOMP_SPINCOUNT-0}${LD_PRELOAD-0}"\n'
                'echo "threads $OMP_NUM_THREADS"\n'
            )
            program.chmod(0o755)
            settings = {"OMP_WAIT_POLICY": "1", "GOMP_SPINCOUNT": "1", "LD_PRELOAD": ""}
            with mock.patch.dict(os.environ, settings):
                samples = constructs.start(program, 0.1, 3, "")
        self.assertEqual(samples, {"settings": [0], "threads": [3]})

    def test_times_have_the_units_that_people_read(self) -> None:
        self.assertEqual(constructs.time_text(9999), "9999 ns")
        self.assertEqual(constructs.time_text(1234567), "1,234.6 µs")


class Epcc(unittest.TestCase):
    def test_tables_say_which_limit_has_ended_a_run(self) -> None:
        with mock.patch.object(sys, "argv", ["epcc.py", "--source", "."]):
            limit = epcc.parse_arguments().limit
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            epcc.print_table("2", {"active": [None], "tutti": [{"barrier": 1.0}]}, limit)
        self.assertIn("| barrier | > 10 s | 1 (1) |  |", said.getvalue())
        self.assertIn('"> 10 s" stands for runs that --limit has ended', epcc.__doc__ or "")


if __name__ == "__main__":
    unittest.main()
