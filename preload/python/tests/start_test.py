#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests how the Python package starts the command, with a small script in place of the command."""

import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "tutti_sync"


class Start(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        shutil.copytree(PACKAGE, self.at / "tutti_sync")

    def has_command(self, text: str) -> None:
        path = self.at / "tutti_sync/bin/tutti"
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def run_it(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "tutti_sync", *words], cwd=self.at, capture_output=True,
            text=True, timeout=60, check=False,
        )

    def test_arguments_and_status_are_passed_on(self) -> None:
        self.has_command('echo "$*"; exit 7')
        done = self.run_it("run", "--", "a")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "run -- a\n", ""))

    def test_the_command_does_not_ignore_what_python_ignores(self) -> None:
        self.has_command("exec grep SigIgn /proc/self/status")
        ignored = int(self.run_it().stdout.split()[1], 16)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            self.assertFalse(ignored >> number - 1 & 1, number)

    def test_a_package_without_the_command_says_so(self) -> None:
        done = self.run_it()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^tutti: error: cannot start /.*/bin/tutti: No such file")


if __name__ == "__main__":
    unittest.main()
