# SPDX-License-Identifier: Apache-2.0
"""Tests that the parts of the machine can be removed as hardware/machine/cost.py says, and its
table."""

import contextlib
import io
import pathlib
import tempfile
import unittest

from hardware.flow.unit import all_units
from hardware.machine import cost

LINES = [
    {"type": "cells", "cores": 4, "part": "core", "count": 4, "luts": 3000, "carries": 20,
        "ram_cells": 8, "flip_flops": 500, "block_rams": 0},
    {"type": "placed", "cores": 4, "part": "core", "seed": 1, "comb": 3100, "flip_flops": 500,
        "block_rams": 0, "mhz": 50.0},
    {"type": "placed", "cores": 4, "part": "core", "seed": 2, "comb": 3100, "flip_flops": 500,
        "block_rams": 0, "mhz": 53.0},
]  # fmt: skip


class Cost(unittest.TestCase):
    def test_what_is_removed_stands_once_in_the_sources(self):
        (machine,) = [unit for unit in all_units() if unit.name == "machine"]
        with tempfile.TemporaryDirectory() as folder:
            for patches in (cost.WITHOUT_DETECTOR, cost.WITHOUT_CALLS):
                sources = cost.without(machine.sources, patches, pathlib.Path(folder))
                changed = [path for path in sources if path not in machine.sources]
                self.assertEqual([path.name for path in changed], [patches[0][0]])
                self.assertEqual(len(sources), len(machine.sources))

    def test_what_stands_nowhere_is_named(self):
        patch = (("tutti_machine_core_csr.sv", "no such text", ""),)
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(ValueError, "csr.sv: not once: no such text"):
                cost.without([], patch, pathlib.Path(folder))

    def test_each_part_is_a_module_of_the_machine(self):
        (machine,) = [unit for unit in all_units() if unit.name == "machine"]
        names = {source.stem for source in machine.sources}
        for name, count, top, _, _ in cost.parts(4):
            self.assertIn(top, names, name)
            self.assertIn(count, (1, 2, 4), name)

    def test_a_row_has_the_cells_or_the_median_of_the_seeds(self):
        text = cost.table(LINES).splitlines()
        self.assertIn("| core | 4 | 3,000 | 20 | 8 | 500 | 0 |", text)
        self.assertIn("| 4 | core | 2 | 3,100 | 500 | 50.0 | 51.5 | 53.0 |", text)

    def test_arguments_that_choose_nothing_are_refused(self):
        for arguments, sentence in (
            (["cells", "4", "--match", "nosuch"], "no part's name contains 'nosuch'"),
            (["place", "4", "--seeds", "0"], "--seeds: 0 is not 1 or more"),
            (["cells"], "cells: no number of cores is given"),
        ):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
                cost.main(arguments)
            self.assertEqual(ended.exception.code, 2)
            self.assertIn(sentence, said.getvalue())

    def test_the_page_has_the_table_of_the_kept_lines(self):
        page = cost.KEPT.with_name("README.md").read_text("utf-8")
        self.assertIn(cost.table(cost.read()).strip(), page)


if __name__ == "__main__":
    unittest.main()
