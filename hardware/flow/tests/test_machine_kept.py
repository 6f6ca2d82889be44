# SPDX-License-Identifier: Apache-2.0
"""What hardware/machine/kept.py takes for the same cycles."""

import contextlib
import importlib.util
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

from hardware.flow import exact
from hardware.machine import kept, table, workloads

LINE = {
    "type": "result", "benchmark": "machine_barrier", "provider": "isa", "name": "structure",
    "wait": "instruction", "metric": "one_late", "unit_distance": 10, "unit_link": 54, "threads": 4,
    "cores": 4, "sockets": 2, "unit": "cycles", "min": 90.0, "median": 100.0, "max": 110.0,
    "samples": 8,
}  # fmt: skip


def written(folder: str, *lines: dict) -> pathlib.Path:
    """Returns a file with these lines."""
    path = pathlib.Path(folder) / "lines.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


class Kept(unittest.TestCase):
    def test_hardware_must_be_the_kept_line(self):
        self.assertEqual(kept.compare([LINE], [LINE]), [])
        wrong = kept.compare([LINE | {"median": 101.0}], [LINE])
        self.assertEqual(len(wrong), 1)
        self.assertIn("median: 100.0 kept, 101.0 now", wrong[0])

    def test_software_may_differ_by_a_tenth(self):
        line = LINE | {"provider": "tutti", "name": "central"}
        self.assertEqual(kept.compare([line | {"median": 109.0}], [line]), [])
        self.assertEqual(len(kept.compare([line | {"median": 111.0}], [line])), 1)

    def test_another_link_is_another_line(self):
        wrong = kept.compare([LINE | {"unit_link": 92}], [LINE])
        self.assertEqual(len(wrong), 1)
        self.assertIn("not kept", wrong[0])

    def test_refuses_what_machine_measure_did_not_print(self):
        for text in ('{"type": "result", "benchmark": "barrier"}', "", "[1"):
            with self.assertRaises(exact.Wrong):
                kept.results(text, "a file")

    def test_keeps_no_lines_of_another_compiler_or_of_none(self):
        first = {"type": "machine_images", "compiler": "12.2.0"}
        with tempfile.TemporaryDirectory() as folder:
            made, to = written(folder, first, LINE), pathlib.Path(folder) / "kept.jsonl"
            for here, said in (("", "there is no riscv64"), ("13.1.0", "12.2.0, not 13.1.0")):
                with mock.patch.object(kept, "compiler", return_value=here):
                    with self.assertRaisesRegex(exact.Wrong, said):
                        kept.write([made], to)
                self.assertFalse(to.exists())
            with mock.patch.object(kept, "compiler", return_value="12.2.0"):
                with contextlib.redirect_stdout(io.StringIO()):
                    kept.write([made], to)
            self.assertEqual(kept.made_by(to), "12.2.0")
            self.assertEqual(kept.of_file(to), [LINE])

    def test_the_kept_lines_have_every_kind_of_barrier_over_one_and_two_sockets(self):
        barriers = [line for line in kept.of_file(kept.BARRIERS)
            if line["benchmark"] == "machine_barrier" and line["cores"] == 4]  # fmt: skip
        for sockets in (1, 2):
            names = {line["name"] for line in barriers if line["sockets"] == sockets}
            every = {"none", "barwait", "structure", "mask", "counting_unit", "central"}
            self.assertLessEqual(every, names)
        self.assertTrue(kept.made_by(kept.BARRIERS))

    def test_the_kept_lines_have_every_workload(self):
        found = workloads.read(kept.BARRIERS)
        for metric, software in workloads.TABLES.values():
            for sockets in (1, 2, 4):
                cycles = found[metric][(sockets, 4)]
                every = {"barwait 10", "structure 10", "mask 10", "counting_unit 10", "default"}
                self.assertLessEqual(every | set(software), set(cycles))


class Table(unittest.TestCase):
    def test_shows_the_best_in_software_and_the_speed_up(self):
        sizes = {
            (1, 1): {"central": 1000.0},
            (1, 4): {"structure 10": 250.0, "default": 900.0, "central": 500.0, "mcs": 400.0},
        }
        rows = workloads.table(sizes, ["central", "mcs"]).splitlines()
        self.assertEqual(rows[2], "| 1 | 1 |  |  | **1000** |  |  |  | 1.0 |")
        self.assertEqual(rows[3], "| 1 | 4 | 250 | 900 | 500 | **400** | 1.60 | 4.0 | 2.5 |")

    def test_what_the_program_itself_takes_is_empty_where_it_was_not_measured(self):
        distant = {"sockets": 1, "unit_distance": 19, "unit_link": 0}
        with tempfile.TemporaryDirectory() as folder:
            found = table.read(written(folder, LINE | distant))
        self.assertIn("| 19, - | 38 | 100 |  |  |", table.tables(*found)["paper"])

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs matplotlib")
    def test_a_plot_of_speed_ups_asks_for_the_line_of_one_core(self):
        found = {"vcode_sort": {(4, 16): {"structure 10": 250.0, "central": 500.0}}}
        with tempfile.TemporaryDirectory() as folder, \
                self.assertRaisesRegex(ValueError, "vcode_sort: --plot .* no line of one core"):
            workloads.write_plot(pathlib.Path(folder) / "plot.svg", found)

    def test_only_names_tables_that_there_are(self):
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            command = ["table.py", str(written(folder, LINE)), "--only", "oneLate"]
            for more in ([], ["--readme", str(page)]):
                with mock.patch("sys.argv", command + more), contextlib.redirect_stderr(said):
                    with self.assertRaises(SystemExit) as ended:
                        table.main()
                self.assertEqual(ended.exception.code, 2)
        self.assertIn("--only chooses tables of --readme, which is not given", said.getvalue())
        self.assertIn("--only: there is no table 'oneLate', but ", said.getvalue())


if __name__ == "__main__":
    unittest.main()
