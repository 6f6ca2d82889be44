#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what libtutti_pthread.so exports, and `tutti run --pthread` on ordinary programs and on
those of sanitizers.

usage: run_test.py NM TUTTI LIBRARY PROGRAM WITH_ASAN WITH_TSAN     ("" for one that is missing)
"""

import os
import subprocess
import sys
import unittest

NM = TUTTI = LIBRARY = PROGRAM = WITH_ASAN = WITH_TSAN = ""


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run(
        arguments, env=kept, capture_output=True, text=True, timeout=120, check=False
    )


class Library(unittest.TestCase):
    def test_exports_three_functions(self) -> None:
        done = run(NM, "--dynamic", "--defined-only", "--format=posix", LIBRARY)
        names = {line.split()[0] for line in done.stdout.splitlines()}
        expected = {f"pthread_barrier_{name}" for name in ("init", "wait", "destroy")}
        self.assertEqual(names, expected)


class Run(unittest.TestCase):
    def succeeds(self, *arguments: str) -> None:
        done = run(TUTTI, "run", *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_ordinary_program(self) -> None:
        # It ends with success only with tutti's barriers, which refuse waits once destroyed.
        self.succeeds("--pthread", "--", PROGRAM)

    def test_address_sanitizer(self) -> None:
        if not WITH_ASAN:
            self.skipTest("the compiler has no AddressSanitizer")
        for options in (["--pthread"], ["--openmp"], ["--pthread", "--openmp"], []):
            with self.subTest(options=options):
                self.succeeds(*options, "--", WITH_ASAN)
        # A program that it starts does not become one of AddressSanitizer.
        command = 'test -z "$(grep libasan /proc/self/maps)"'
        self.succeeds("--pthread", "--", WITH_ASAN, "start", command)

    def test_thread_sanitizer(self) -> None:
        if not WITH_TSAN:
            self.skipTest("the compiler has no ThreadSanitizer")
        self.succeeds("--pthread", "--", WITH_TSAN)
        done = run(TUTTI, "run", "--pthread", "--", WITH_TSAN, "race")
        self.assertEqual(done.returncode, 66)
        self.assertIn("ThreadSanitizer: data race", done.stderr)


if __name__ == "__main__":
    NM, TUTTI, LIBRARY, PROGRAM, WITH_ASAN, WITH_TSAN = sys.argv[1:7]
    unittest.main(argv=sys.argv[:1] + sys.argv[7:])
