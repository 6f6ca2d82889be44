#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the example of a program's own job queue, compares what it prints for both queues, and
counts the lines in which they differ.

usage: job_queue_test.py PROGRAM SOURCE
"""

import difflib
import os
import re
import subprocess
import sys
import unittest

PROGRAM, SOURCE = sys.argv[1:3]
PRINTED = re.compile(
    r"a job waits ([\d.]+) µs with a condition variable, ([\d.]+) µs with tutti::event\n"
)


class JobQueue(unittest.TestCase):
    def test_the_event_is_faster(self) -> None:
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("the submitter and the worker need a core each")
        seen = []
        # Beside other work a run may show the contrary, but not each of a few.
        for _ in range(5):
            result = subprocess.run([PROGRAM], capture_output=True, text=True, check=True)
            printed = PRINTED.fullmatch(result.stdout)
            self.assertIsNotNone(printed, result.stdout)
            with_condition, with_event = (float(us) for us in printed.groups())
            seen.append((with_condition, with_event))
            if with_event < with_condition:
                return
        self.fail(f"condition variable and event, us: {seen}")

    def test_it_changes_five_lines(self) -> None:
        with open(SOURCE, encoding="utf-8") as file:
            text = file.read()
        before, after = (
            re.search(rf"namespace {name} {{\n(.*?)}}  // namespace", text, re.DOTALL)
            .group(1).splitlines()
            for name in ("before", "after")
        )
        numbered = re.compile(r" *// \d$")
        added = [
            line[2:]
            for line in difflib.ndiff(before, [numbered.sub("", line) for line in after])
            if line.startswith("+ ")
        ]
        # The fifth is the include.
        self.assertEqual(len(added), 4, added)
        self.assertEqual([int(n) for n in re.findall(r"// (\d)\n", text)], [1, 2, 3, 4, 5])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
