#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests how the Python package starts the command, with a small script in place of the command.

usage: start_test.py SCRIPT   (the program that the package installs as `tutti`)
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "tutti_sync"
SCRIPT = pathlib.Path(sys.argv[1])
SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)


def put_command(package: pathlib.Path, text: str) -> None:
    path = package / "bin/tutti"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name).resolve()

    def run_it(
        self, *command: "str | pathlib.Path", parent_ignores: bool = False, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """Runs it in the locale C, in which Python sets LC_CTYPE."""
        kept = {
            name: value for name, value in os.environ.items()
            if name != "LANG" and not name.startswith("LC_")
        }  # fmt: skip
        action = signal.SIG_IGN if parent_ignores else signal.SIG_DFL

        def set_signals() -> None:
            for number in SIGNALS:
                signal.signal(number, action)

        return subprocess.run(
            command, cwd=self.at, env=kept | variables, capture_output=True, text=True, timeout=60,
            check=False, restore_signals=False, preexec_fn=set_signals,
        )  # fmt: skip

    def expect_ignored(self, status: str, expected: bool) -> None:
        ignored = int(status.split()[1], 16)
        for number in SIGNALS:
            self.assertEqual(bool(ignored >> number - 1 & 1), expected, number)


class Module(Case):
    def setUp(self) -> None:
        super().setUp()
        shutil.copytree(PACKAGE, self.at / "tutti_sync")

    def has_command(self, text: str) -> None:
        put_command(self.at / "tutti_sync", text)

    def start(self, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        return self.run_it(sys.executable, "-m", "tutti_sync", *words, **variables)

    def test_arguments_and_status_are_passed_on(self) -> None:
        self.has_command('echo "$*"; exit 7')
        done = self.start("run", "--", "a")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "run -- a\n", ""))

    def test_the_command_does_not_ignore_what_python_ignores(self) -> None:
        self.has_command("exec grep SigIgn /proc/self/status")
        self.expect_ignored(self.start().stdout, False)

    def test_the_locale_is_that_of_the_parent(self) -> None:
        self.has_command('echo "${LC_CTYPE-none}"')
        self.assertEqual(self.start().stdout, "none\n")
        for value in ("C", "C.UTF-8", ""):
            self.assertEqual(self.start(LC_CTYPE=value).stdout, f"{value}\n")

    def test_a_package_without_the_command_says_so(self) -> None:
        done = self.start()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^tutti: error: cannot start /.*/bin/tutti: No such file")


class Script(Case):
    def setUp(self) -> None:
        super().setUp()
        self.script = self.at / "bin/tutti"
        self.script.parent.mkdir()
        shutil.copy(SCRIPT, self.script)

    def has_command(self, text: str, folder: str = "lib/python3.11/site-packages") -> None:
        put_command(self.at / folder / "tutti_sync", text)

    def test_arguments_and_status_are_passed_on(self) -> None:
        self.has_command('echo "$*"; exit 7')
        done = self.run_it(self.script, "run", "--", "a b", "")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "run -- a b \n", ""))

    def test_signals_and_environment_are_those_of_the_parent(self) -> None:
        self.has_command('echo "${LC_CTYPE-none}"; exec grep SigIgn /proc/self/status')
        for ignores in (True, False):
            locale, status = self.run_it(
                self.script, parent_ignores=ignores
            ).stdout.splitlines()  # fmt: skip
            self.assertEqual(locale, "none")
            self.expect_ignored(status, ignores)

    def test_the_command_installed_last_is_found(self) -> None:
        """Each folder is that of another Python or system; the program may be started by a link."""
        link = self.at / "tutti"
        link.symlink_to("bin/tutti")
        for folder in (
            ".", "lib/python3.11/dist-packages", "lib/pypy3.10/site-packages",
            "lib64/python3.9/site-packages", "lib/python3.12/site-packages",
        ):  # fmt: skip
            # The kernel's clock of files moves in steps of some milliseconds.
            subprocess.run(["sleep", "0.02"], check=True)
            self.has_command(f"echo {folder}", folder)
            self.assertEqual(self.run_it(link).stdout, f"{folder}\n")

    def test_an_environment_without_the_package_says_so(self) -> None:
        done = self.run_it(self.script)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(
            done.stderr,
            f"tutti: error: the Python packages below {self.at}/ have no tutti_sync/bin/tutti; "
            "python -m tutti_sync also starts it\n",
        )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
