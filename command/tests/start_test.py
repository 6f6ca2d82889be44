#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `tutti --version` needs no library but the C library's and ends at once, and that
every other call reaches the program with the subcommands.

usage: start_test.py FRONT SUBCOMMANDS [SANITIZERS]   (both programs; what they are built with)
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

FRONT, SUBCOMMANDS = (pathlib.Path(argument) for argument in sys.argv[1:3])
SANITIZERS = "".join(sys.argv[3:])


def said(*command: object) -> tuple[int, str, str]:
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def milliseconds_of(*command: object) -> float:
    """The fastest of fifty runs tells it, so that other work on the machine does not count."""
    words = [str(each) for each in command]
    nothing = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    times = []
    for _ in range(50):
        start = time.monotonic()
        child = os.posix_spawn(words[0], words, os.environ, file_actions=nothing)
        os.waitpid(child, 0)
        times.append(time.monotonic() - start)
    return min(times) * 1000


class Start(unittest.TestCase):
    @unittest.skipIf(SANITIZERS, "a sanitizer has libraries and a start of its own")
    def test_version_loads_only_the_c_library(self) -> None:
        dynamic = said("readelf", "-d", FRONT)[1]
        needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
        self.assertLessEqual(set(needed), {"libc.so.6"})

    @unittest.skipIf(SANITIZERS, "a sanitizer has libraries and a start of its own")
    def test_version_takes_less_than_two_milliseconds(self) -> None:
        self.assertLess(milliseconds_of(FRONT, "--version"), 2)

    def test_version_is_what_the_subcommands_say(self) -> None:
        self.assertEqual(said(FRONT, "--version"), said(SUBCOMMANDS, "--version"))

    def test_help_is_that_of_the_subcommands(self) -> None:
        for words in (["--help"], ["bench", "--help"]):
            told = said(FRONT, *words)
            self.assertEqual(told[0], 0)
            self.assertEqual(told, said(SUBCOMMANDS, *words))

    def test_an_output_that_is_full(self) -> None:
        sentence = "tutti: the output could not be written: No space left on device\n"
        for words in (["--version"], ["--help"], ["bench", "--help"]):
            with self.subTest(words=words), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run(
                    [FRONT, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
                )
                self.assertEqual((done.returncode, done.stderr), (1, sentence))

    def test_arguments_and_exit_status_are_passed_on(self) -> None:
        status, _, error = said(FRONT, "--version", "fly")
        self.assertEqual((status, error), said(SUBCOMMANDS, "--version", "fly")[::2])
        status, _, error = said(FRONT, "fly")
        self.assertEqual(status, 2)
        self.assertIn("fly", error)

    def test_a_front_without_subcommands_says_what_is_missing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            alone = pathlib.Path(folder).resolve() / "tutti"
            shutil.copy(FRONT, alone)
            status, _, error = said(alone, "info")
            self.assertEqual(status, 1)
            self.assertRegex(error, r"^tutti: error: cannot start /.*tutti-command: No such file")
            self.assertEqual(said(alone, "--version")[0], 0)
            # One that is there and is no program is not missing.
            broken = alone.parent / "libexec/tutti/tutti-command"
            broken.parent.mkdir(parents=True)
            broken.touch()
            status, _, error = said(alone, "info")
            self.assertEqual(status, 1)
            self.assertEqual(error, f"tutti: error: cannot start {broken}: Permission denied\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
