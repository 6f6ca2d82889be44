# SPDX-License-Identifier: Apache-2.0
"""What the tests of `tutti sim` share. Each of them is run as: TEST.py TUTTI MACHINES (the program,
the folder of the machines' descriptions)."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

# With these a calibration has enough barriers to fit to.
MANY = ("central", "counting", "pool", "striped", "flags", "mcs", "combining", "dissemination",
        "recursive", "atomic", "flags_padded")  # fmt: skip
TUTTI, MACHINES = (pathlib.Path(argument) for argument in sys.argv[1:3])


def tutti_sim(*words: object) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(TUTTI), "sim", *(str(word) for word in words)], capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


class SimCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def lines(self, *words: object) -> list[dict]:
        status, out, error = tutti_sim(*words, "--json")
        self.assertEqual((status, error), (0, ""), words)
        return [json.loads(line) for line in out.splitlines()]

    def refused(self, *words: object) -> str:
        """What the program says, one sentence on standard error."""
        status, out, error = tutti_sim(*words)
        self.assertEqual((status, out), (2, ""), (words, error))
        self.assertEqual(error.count("\n"), 1, error)
        self.assertNotIn("exception", error)
        return error

    def measured(self, few: bool = True) -> list[str]:
        """Lines as `tutti bench barrier --json` prints them."""
        floors = {
            "line_one_way": 40, "timer": 20, "futex_wake": 300, "context_switch": 1800,
            "sched_yield": 500, "wake_idle_core": 20000,
        }  # fmt: skip
        lines = [{"type": "floor", "quantity": q, "median": v} for q, v in floors.items()]
        result = {
            "type": "result", "benchmark": "barrier", "metric": "loop", "provider": "tutti",
            "scenario": "free", "pinned": True, "wait": "spin", "median": 100.0,
        }  # fmt: skip
        names = ("ticket", "tournament", "a_new_one")
        for name in names if few else (*names, *MANY):
            for threads in (2, 4):
                lines.append(result | {"name": name, "threads": threads})
        return [json.dumps(line) for line in lines]


def main() -> None:
    """Runs the tests of the script that calls it."""
    unittest.main(argv=sys.argv[:1])
