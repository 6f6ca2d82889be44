# SPDX-License-Identifier: Apache-2.0
"""Tests that mutants are drawn from everything that becomes gates, and that each gets its fate."""

import dataclasses
import importlib.util
import shutil
import unittest
import unittest.mock

from hardware.flow import equal, mutants, tools
from hardware.flow.tests.test_flow import GOOD, Folder

# `never` is 0 in every cycle, which yosys can prove; `spare` reaches an output that no property
# reads.
RTL = """
module x (input logic clk_i, input logic rst_ni, output logic [1:0] q_o, output logic spare_o);
  localparam int Most = 2;
  if (Most > 3) $fatal(1, "too much");
  logic never;
  assign never = q_o[0] && !q_o[0];
  assign spare_o = q_o[0] && q_o[1];
  always_ff @(posedge clk_i) begin
    if (!rst_ni || never) q_o <= '0;
    else q_o <= q_o == 2'd2 ? '0 : q_o + 2'd1;
  end
endmodule
"""


# `box` is not among the unit's sources; what it does with what it is given is not known.
AROUND = """
module x (input logic clk_i, input logic rst_ni, input logic a_i, output logic q_o);
  logic given, seen;
  assign given = a_i && rst_ni;
  box u_box (.clk(clk_i), .in(given), .out(seen));
  assign q_o = seen ^ 1'b0;
endmodule
"""
BOX = """
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNDRIVEN */
(* blackbox *)
module box (input logic clk, input logic in, output logic out);
endmodule
"""


@unittest.skipUnless(importlib.util.find_spec("pyslang"), "needs pyslang")
class BlackBoxes(Folder):
    def test_only_the_same_gates_around_a_box_are_equivalent(self):
        source = self.folder / "rtl" / "x.sv"
        source.write_text(AROUND)
        (self.folder / "box.sv").write_text(BOX)
        described = self.load('''
name = "x"
sources = ["rtl/*.sv"]
[[module]]
name = "x"
black_boxes = ["box.sv"]
''')
        for old, new, fate in (("^", "|", "equivalent"), ("&&", "||", "survived")):
            (mutant,) = [m for m in mutants.mutants_of(source) if (m.old, m.new) == (old, new)]
            try:
                (line,) = mutants.judge(described, mutant, self.folder / "build")
            except tools.Absent as absent:
                self.skipTest(str(absent))
            self.assertEqual(line["fate"], fate, line)


@unittest.skipUnless(importlib.util.find_spec("pyslang"), "needs pyslang")
class Mutants(Folder):
    def setUp(self):
        super().setUp()
        (self.folder / "rtl" / "x.sv").write_text(RTL)
        self.unit = self.load(GOOD[: GOOD.index("[[bug]]")])
        self.all = mutants.mutants_of(self.folder / "rtl" / "x.sv")

    def of(self, old, new):
        (found,) = [m for m in self.all if (m.old, m.new) == (old, new)]
        return found

    def test_every_kind_is_found_and_declarations_are_left_alone(self):
        changes = {(m.old, m.new) for m in self.all}
        self.assertLessEqual(
            {
                ("==", "!="), ("+", "-"), ("||", "&&"), ("!rst_ni || never", "1'b1"),
                ("'0", "'1"), ("q_o <= '0;", ";"), ("'0 : q_o + 2'd1", "q_o + 2'd1 : '0"),
                ("!rst_ni", "rst_ni"), ("never", "spare_o"),
            }, changes,
        )  # fmt: skip
        lines = {m.line for m in self.all}
        self.assertEqual(lines & {2, 3, 4, 5}, set())
        for mutant in self.all:
            self.assertNotEqual(mutant.text(), RTL)

    def test_a_seed_draws_the_same(self):
        def names(seed):
            return [m.name for m in mutants.draw(self.unit, 6, seed)]

        self.assertEqual(names("a"), names("a"))
        self.assertNotEqual(names("a"), names("b"))
        self.assertEqual(len(mutants.draw(self.unit, 3, "a", each_file=True)), 3)

    def test_the_seed_is_the_last_commit_of_a_source(self):
        def git(*arguments, where=self.folder):
            outcome = tools.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org",
                "-c", "commit.gpgsign=false", *arguments], 10, where)  # fmt: skip
            self.assertEqual(outcome.status, 0, outcome.text)
            return outcome.text.strip()

        def commit(text):
            git("add", "rtl", "proof.sv")
            git("commit", "-q", "-m", text)
            return git("rev-parse", "--short=12", "HEAD")

        def seed():
            return mutants.seed_of([self.unit], self.folder)

        if not shutil.which("git"):
            self.skipTest("needs git")
        git("init", "-q")
        self.assertEqual(seed(), mutants.NO_HISTORY)
        (self.folder / "proof.sv").write_text("1")
        first = commit("a source")
        self.assertEqual(seed(), first)
        (self.folder / "proof.sv").write_text("2")
        self.assertNotEqual(commit("a proof"), first)
        self.assertEqual(seed(), first)
        (self.folder / "rtl" / "x.sv").write_text(RTL + "\n")
        self.assertEqual(seed(), first)
        last = commit("another source")
        self.assertEqual(seed(), last)
        # A clone without its history does not know which commit changed the source.
        cut = self.folder / "cut"
        git("clone", "-q", "--depth", "1", f"file://{self.folder}", str(cut))
        self.assertEqual(git("rev-parse", "--short=12", "HEAD", where=cut), last)
        clone = dataclasses.replace(self.unit, folder=cut, sources=[cut / "rtl" / "x.sv"])
        self.assertEqual(mutants.seed_of([clone], cut), mutants.NO_HISTORY)
        with unittest.mock.patch.object(mutants.shutil, "which", return_value=None):
            self.assertEqual(seed(), mutants.NO_HISTORY)

    def fate(self, old, new):
        try:
            (line,) = mutants.judge(self.unit, self.of(old, new), self.folder / "build")
        except tools.Absent as absent:
            self.skipTest(str(absent))
        self.assertEqual(line["status"] == "failed", line["fate"] == "survived", line)
        return line["fate"]

    def test_a_broken_counter_is_killed(self):
        self.assertEqual(self.fate("+", "-"), "killed")

    def test_what_no_property_reads_survives(self):
        spare = [m for m in self.all if m.line == 7 and (m.old, m.new) == ("&&", "||")]
        (line,) = mutants.judge(self.unit, spare[0], self.folder / "build")
        self.assertEqual(line["fate"], "survived")
        self.assertIn("p (does not see it)", line["log"])

    def test_a_simulation_that_does_not_build_judges_nothing(self):
        (self.folder / "sim").mkdir()
        (self.folder / "sim" / "s.cpp").write_text("int main() { return missing(); }\n")
        self.unit = self.load(GOOD[: GOOD.index("[[bug]]")]
            + '[[simulation]]\nname = "s"\ntop = "x"\nharness = ["sim/s.cpp"]\n')
        spare = [m for m in self.all if m.line == 7 and (m.old, m.new) == ("&&", "||")]
        with self.assertRaisesRegex(RuntimeError, "s does not build: "):
            mutants.judge(self.unit, spare[0], self.folder / "build")

    def test_a_mutant_that_is_no_design_beside_the_sources_of_a_simulation_is_refused(self):
        (self.folder / "sim").mkdir()
        (self.folder / "sim" / "s.cpp").touch()
        self.unit = self.load(GOOD[: GOOD.index("[[bug]]")]
            + '[[simulation]]\nname = "s"\ntop = "x"\nharness = ["sim/s.cpp"]\n')
        (spare, *_) = [m for m in self.all if m.line == 7 and (m.old, m.new) == ("&&", "||")]
        said = tools.Outcome(3, "%Error-BLKANDNBLK: build/changed/x.sv:7:3: Unsupported\n", 1.0)
        with unittest.mock.patch.object(mutants.simulate, "run_once", return_value=said):
            (line,) = mutants.judge(self.unit, spare, self.folder / "build")
        self.assertEqual(line["fate"], "refused", line)
        self.assertIn("BLKANDNBLK", line["note"])

    def test_a_register_that_is_read_only_after_it_was_written(self):
        path = self.folder / "rtl" / "x.sv"
        path.write_text(RTL.replace("logic never;", "logic never, on, kept;").replace(
            "always_ff @(posedge clk_i) begin", """always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      on <= 1'b0;
      kept <= 1'b0;
    end else if (!on) begin
      on <= 1'b1;
      kept <= !q_o[0];
    end
""").replace("q_o[0] && q_o[1];", "on && kept && q_o[1];"))
        self.all = mutants.mutants_of(path)
        self.unit = self.load(GOOD[: GOOD.index("[[bug]]")])
        reset = [m for m in self.all if (m.old, m.new) == ("1'b0", "1'b1")]
        fates = []
        for mutant in reset:
            try:
                (line,) = mutants.judge(self.unit, mutant, self.folder / "build")
            except tools.Absent as absent:
                self.skipTest(str(absent))
            fates.append(line["fate"])
        # `on` is read at once; `kept` only when `on` is set.
        self.assertEqual(fates, ["survived", "equivalent"])

    def test_a_function_of_a_package_is_compared_alone(self):
        package = self.folder / "rtl" / "x_pkg.sv"
        package.write_text("""
package x_pkg;
  typedef logic [1:0] two_t;
  function automatic two_t least(two_t a, two_t b);
    return a < b ? a : b;
  endfunction
endpackage
""")
        path = self.folder / "rtl" / "x.sv"
        path.write_text(RTL.replace("q_o[0] && q_o[1];", "x_pkg::least(q_o, 2'd1) != 2'd0;"))
        self.unit = self.load(GOOD[: GOOD.index("[[bug]]")])
        fates = {}
        for mutant in mutants.mutants_of(package):
            if mutant.old == "<":
                self.assertEqual(mutants._what(mutant), "least")
                try:
                    (line,) = mutants.judge(self.unit, mutant, self.folder / "build")
                except tools.Absent as absent:
                    self.skipTest(str(absent))
                fates[mutant.new] = line["fate"]
        self.assertEqual(fates, {"<=": "equivalent", ">": "survived"})

    def test_an_equal_one_is_proved_equal(self):
        begin = RTL.index("never) q_o")
        path = self.folder / "rtl" / "x.sv"
        equal = mutants.Mutant(path, 9, begin, begin + len("never"), "never", "1'b0")
        (line,) = mutants.judge(self.unit, equal, self.folder / "build")
        self.assertEqual(line["fate"], "equivalent")

    def compared(self, how, change, original=RTL):
        """What a comparison of the module with `change` of its text says."""
        path = self.folder / "rtl" / "x.sv"
        path.write_text(original)
        changed = self.folder / "changed" / "x.sv"
        changed.parent.mkdir(exist_ok=True)
        changed.write_text(change(original))
        self.unit = self.load(GOOD[: GOOD.index("[[bug]]")])
        sources = [changed if each == path else each for each in self.unit.sources]
        try:
            return how(sources)
        except tools.Absent as absent:
            self.skipTest(str(absent))

    def test_a_step_from_equal_registers(self):
        def step(sources):
            (module,) = self.unit.modules
            return equal._equal_in_a_step(
                self.unit, module, module.parameters[0], sources, self.folder / "step")

        self.assertTrue(self.compared(step, lambda text: text.replace("|| never", "|| 1'b0")))
        self.assertFalse(self.compared(step, lambda text: text.replace("q_o <= '0", "q_o <= '1")))
        self.assertFalse(self.compared(step, lambda text: text.replace("[0] && q_o[1]", "[0]")))
        # What a register is at power-on is no step.
        begins = RTL.replace("logic never;", "logic never, on = 1'b0;").replace(
            "q_o[0] && q_o[1];", "on;").replace("else q_o", "else on <= on ^ q_o[0];\n    q_o")
        self.assertFalse(self.compared(step, lambda text: text.replace("on = 1'b0", "on = 1'b1"),
            begins))  # fmt: skip

    def test_what_nothing_reads_makes_no_gates(self):
        path = self.folder / "rtl" / "x.sv"
        path.write_text(RTL.replace("logic never;",
            "logic never, idle;\n  assign idle = never && q_o[0];"))  # fmt: skip
        self.unit = self.load(GOOD[: GOOD.index("[[bug]]")])
        (idle,) = [m for m in mutants.mutants_of(path) if (m.line, m.old) == (6, "&&")]
        try:
            (line,) = mutants.judge(self.unit, idle, self.folder / "build")
        except tools.Absent as absent:
            self.skipTest(str(absent))
        self.assertEqual(line["note"], "equivalent: no gate differs")


if __name__ == "__main__":
    unittest.main()
