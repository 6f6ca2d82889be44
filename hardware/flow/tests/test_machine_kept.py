# SPDX-License-Identifier: Apache-2.0
"""What hardware/machine/kept.py takes for the same cycles."""

import unittest

from hardware.flow import exact
from hardware.machine import kept

LINE = {
    "type": "result", "benchmark": "machine_barrier", "provider": "isa", "name": "structure",
    "wait": "instruction", "metric": "one_late", "unit_distance": 10, "unit_link": 54, "threads": 4,
    "cores": 4, "sockets": 2, "unit": "cycles", "min": 90.0, "median": 100.0, "max": 110.0,
    "samples": 8,
}  # fmt: skip


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

    def test_the_kept_lines_have_every_kind_of_barrier_over_one_and_two_sockets(self):
        barriers = [line for line in kept.of_file(kept.KEPT)
            if line["benchmark"] == "machine_barrier" and line["cores"] == 4]  # fmt: skip
        for sockets in (1, 2):
            names = {line["name"] for line in barriers if line["sockets"] == sockets}
            every = {"none", "barwait", "structure", "mask", "counting_unit", "central"}
            self.assertLessEqual(every, names)
        self.assertTrue(kept.made_by())


if __name__ == "__main__":
    unittest.main()
