# SPDX-License-Identifier: Apache-2.0
"""What is left when a measurement ends by a signal or an error: no process and no folder.

usage: ended_test.py TUTTI TUTTI_BENCH_PROCESSES
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TUTTI, PROCESSES = sys.argv[1:3]
PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "vcode/tests/programs/nesl-compiled"


def read(path: str) -> str:
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def is_running(pid: int) -> bool:
    return read(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] not in ([], ["Z"])


def forks_of(pid: int) -> list[int]:
    """Its children that run the same program."""
    children = [int(each) for each in read(f"/proc/{pid}/task/{pid}/children").split()]
    own = read(f"/proc/{pid}/cmdline")
    return [each for each in children if is_running(each) and read(f"/proc/{each}/cmdline") == own]


def kill_running(pids: list[int]) -> None:
    for each in pids:
        if is_running(each):
            os.kill(each, signal.SIGKILL)


class Ended(unittest.TestCase):
    def expect_ended(self, forks: list[int]) -> None:
        end = time.monotonic() + 10
        while any(map(is_running, forks)) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual([each for each in forks if is_running(each)], [])

    def expect_no_process_left(self, command: list[str], count: int) -> None:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        forks: list[int] = []
        try:
            end = time.monotonic() + 60
            while len(forks) < count:
                self.assertIsNone(process.poll(), "it has ended by itself")
                self.assertLess(time.monotonic(), end, "it has no children")
                os.kill(process.pid, signal.SIGCONT)
                time.sleep(0.01)
                # Stopped, it ends none of them.
                os.kill(process.pid, signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                forks = forks_of(process.pid)
            os.kill(process.pid, signal.SIGTERM)
            os.kill(process.pid, signal.SIGCONT)
            self.assertEqual(process.wait(30), -signal.SIGTERM)
            self.expect_ended(forks)
        finally:
            kill_running([process.pid, *forks])
            process.wait()

    def test_busy_processes_end_with_the_command(self) -> None:
        self.expect_no_process_left(
            [TUTTI, "bench", "vcode", "--processes", "--busy", "1", "--rounds", "100000",
             "--python", "false", str(PROGRAMS / "dotp_1e7.vcode")], 1
        )

    def test_participants_end_with_the_program(self) -> None:
        self.expect_no_process_left([PROCESSES, "--processes", "3", "--rounds", "1000"], 3)

    def expect_an_error_if_a_participant_dies(self, after: float) -> None:
        process = subprocess.Popen(
            [PROCESSES, "--processes", "3", "--session", "same", "--rounds", "1000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            end = time.monotonic() + 60
            while len(forks := forks_of(process.pid)) < 3 and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(after)
            os.kill(forks[0], signal.SIGKILL)
            self.assertEqual(process.wait(30), 1)
            assert process.stderr is not None
            self.assertIn("a process has failed", process.stderr.read())
        finally:
            process.kill()
            process.communicate()

    def test_a_participant_that_dies_ends_the_measurement(self) -> None:
        # Tutti's barrier tells the others, and a pthread_barrier, which takes turns with it, never.
        for i in range(8):
            self.expect_an_error_if_a_participant_dies(0.5 + 0.013 * i)

    def test_a_participant_that_stops_for_ever_ends_the_measurement(self) -> None:
        process = subprocess.Popen(
            [PROCESSES, "--processes", "2", "--session", "same", "--rounds", "4",
             "--batch-ms", "125", "--limit", "1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        forks: list[int] = []
        try:
            end = time.monotonic() + 60
            while len(forks := forks_of(process.pid)) < 2 and time.monotonic() < end:
                time.sleep(0.01)
            os.kill(forks[0], signal.SIGSTOP)
            self.assertEqual(process.wait(60), 4)
            assert process.stderr is not None
            self.assertIn(
                "the barriers of 2 processes did not finish a round within 5 s",
                process.stderr.read(),
            )
            self.expect_ended(forks)
        finally:
            kill_running([process.pid, *forks])
            process.communicate()

    def test_a_python_that_fails_later_is_said_to_have_been_measured(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder) / "python"
            # It imports NumPy, measures once, and then fails.
            python.write_text(
                '#!/bin/sh\necho >> "$0.calls"\ntest $(wc -l < "$0.calls") -le 2 && echo 5\n'
            )
            python.chmod(0o755)
            done = subprocess.run(
                [TUTTI, "bench", "vcode", "--processes", "--busy", "0", "--rounds", "3",
                 "--python", str(python), str(PROGRAMS / "dotp_1e7.vcode")],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("NumPy was measured in 1 round, then its process failed", done.stderr)
        self.assertNotIn("not measured", done.stderr)

    def test_a_python_that_is_missing_is_named_and_left_out(self) -> None:
        done = subprocess.run(
            [TUTTI, "bench", "vcode", "--processes", "--busy", "0", "--rounds", "1",
             "--python", "no-such-python", str(PROGRAMS / "dotp_1e7.vcode")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("NumPy is not measured: no-such-python cannot be started", done.stderr)
        (row,) = [line for line in done.stdout.splitlines() if line.startswith("| dotp_1e7 | 1 |")]
        cells = [cell.strip() for cell in row.split("|")]
        self.assertNotEqual(cells[3], "")
        self.assertEqual(cells[8], "")

    def test_a_program_that_fails_is_named_and_left_out(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "divides_by_0.vcode"
            program.write_text("FUNC MAIN\nCONST INT 1\nCONST INT 0\n/ INT\nRET\n")
            done = subprocess.run(
                [TUTTI, "bench", "vcode", "--processes", "--busy", "0", "--rounds", "1",
                 "--python", "no-such-python", str(program)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("plain", "tutti 1", "tutti 2", "tutti auto"):
            self.assertRegex(done.stderr, rf"{name} is not measured: .*{program.name}.* failed")

    def test_an_error_leaves_no_programs_behind(self) -> None:
        for wrong in (["--rounds", "x"], ["--busy", "x"]):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [TUTTI, "bench", "vcode", "--processes", "--chains", "1", *wrong],
                    env={**os.environ, "TMPDIR": folder}, capture_output=True, check=False,
                )
                self.assertEqual(done.returncode, 2)
                self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
