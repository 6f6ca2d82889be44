# SPDX-License-Identifier: Apache-2.0
"""What the kept notifications of hardware/machine show, and the page with their tables."""

import json
import pathlib
import tempfile
import unittest

from hardware.machine import events_table, kept

PAGE = kept.BARRIERS.parent / "software" / "events.md"


class Events(unittest.TestCase):
    def setUp(self):
        self.found = events_table.read(kept.BARRIERS)

    def median(self, size, name, metric="unicast"):
        return events_table.cycles(self.found, size, name, metric)

    def test_every_size_has_every_mechanism(self):
        sizes = {(1, 2), (1, 4), (1, 8), (1, 16), (4, 4), (4, 8), (4, 16)}
        self.assertLessEqual(sizes, set(self.found))
        for size in self.found:
            for name in [*events_table.NAMES, *events_table.HALTED.values()]:
                for metric in ("unicast", "broadcast_last", "broadcast_sigma"):
                    self.assertIsNotNone(self.median(size, name, metric), (size, name, metric))

    def test_the_order_of_the_mechanisms(self):
        for size in self.found:
            for faster, slower in (("remote_call_entry", "interrupt_entry"),
                    ("remote_call", "polling"), ("remote_call", "interrupt_plain"),
                    ("interrupt_entry", "interrupt_plain"), ("interrupt_plain", "interrupt"),
                    ("interrupt", "event"), ("event_by_call", "event"),
                    ("event", "condition_kick")):  # fmt: skip
                self.assertLess(self.median(size, faster), self.median(size, slower),
                    (size, faster))  # fmt: skip

    def test_only_what_the_hardware_sends_to_all_does_not_grow(self):
        for name in events_table.NAMES:
            few, many = (self.median((1, cores), name, "broadcast_last") for cores in (2, 16))
            is_sent_to_all = name in ("interrupt_entry", "remote_call_entry", "interrupt_plain",
                "remote_call")  # fmt: skip
            if is_sent_to_all:
                self.assertLess(abs(many - few), 5, name)
            else:
                self.assertGreater(many, 2 * few, name)

    def test_the_page_has_the_tables_of_the_kept_lines(self):
        text = PAGE.read_text("utf-8")
        for name, table in events_table.tables(self.found).items():
            self.assertIn(f"<!-- table.py: {name} -->\n{table}\n<!-- end -->", text,
                "python3 -m hardware.machine.events_table writes the page anew")  # fmt: skip

    def test_asks_for_the_lines_of_one_socket(self):
        over_sockets = {size: lines for size, lines in self.found.items() if size[0] > 1}
        with self.assertRaisesRegex(ValueError, "no notifications in one socket"):
            events_table.tables(over_sockets)

    def test_refuses_lines_without_notifications(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "lines.jsonl"
            path.write_text(json.dumps({"benchmark": "machine_barrier"}) + "\n", "utf-8")
            with self.assertRaises(ValueError):
                events_table.read(path)


if __name__ == "__main__":
    unittest.main()
