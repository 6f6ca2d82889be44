#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what the scripts of the ports say of their measurements, with measurements made up here."""

import contextlib
import importlib.util
import io
import os
import pathlib
import sys
import threading
import types
import unittest
from importlib.machinery import SourceFileLoader
from unittest import mock

PORTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PORTS))
sys.dont_write_bytecode = True

import port  # noqa: E402


def script(name: str) -> types.ModuleType:
    loader = SourceFileLoader(f"{name}_run", str(PORTS / name / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module  # dataclasses look their module up.
    loader.exec_module(module)
    return module


GGML, OPENBLAS, RAXML = map(script, ("ggml", "openblas", "raxml"))


def series(*wall: float, timed_out: bool = False) -> port.Series:
    return port.Series(list(wall), list(wall), timed_out)


class Help(unittest.TestCase):
    def test_says_all_of_what_a_script_does(self) -> None:
        for module in (GGML, OPENBLAS, RAXML):
            said = io.StringIO()
            with mock.patch.object(sys, "argv", ["run", "--help"]):
                with contextlib.redirect_stdout(said), self.assertRaises(SystemExit) as end:
                    module.main()
            self.assertEqual(end.exception.code, 0)
            self.assertIn(module.__doc__.strip(), said.getvalue())


class Ggml(unittest.TestCase):
    def table(self, tutti: dict[bool, port.Series], own: port.Series) -> str:
        """tutti has two threads unplaced (False) and placed (True); four are as fast as ggml's."""
        results = {}
        for threads in (2, 4):
            for placed in (False, True):
                at = GGML.Situation(threads, "free", 0, placed)
                mine = tutti[placed] if threads == 2 else own
                results[GGML.Contender("tutti", "tutti"), at] = mine
                results[GGML.Contender("ggml", "own"), at] = own
        return "\n".join(GGML.table(results))

    def test_a_situation_in_which_tutti_did_not_end_is_a_loss(self) -> None:
        for late in (series(timed_out=True), series(1e6, timed_out=True)):
            said = self.table({False: series(1e6), True: late}, series(1e6))
            self.assertNotIn("best everywhere", said)
            self.assertIn("* 2 threads, free, placed: tutti did not end in time", said)

    def test_losses_have_both_times(self) -> None:
        said = self.table({False: series(1e6), True: series(3e6)}, series(2e6))
        self.assertIn(
            "* 2 threads, free, placed: ggml's own pool 2000 µs per token, tutti 3000 µs", said
        )
        self.assertNotIn("* 2 threads, free, unplaced: ggml", said)

    def test_ratios_have_rounds_of_both(self) -> None:
        for late in (False, True):
            tutti = {late: series(timed_out=True), not late: series(1e6)}
            said = self.table(tutti, series(1e6))
            self.assertIn("* 4 threads, free: 1.00; 1 of 1", said)
            self.assertNotIn("* 2 threads, free: ", said)
        said = self.table({False: series(2e6), True: series(1e6)}, series(1e6))
        self.assertIn("* 2 threads, free: 2.00; 0 of 1", said)


class Openblas(unittest.TestCase):
    where = [port.Situation(2, "free", "64"), port.Situation(2, "free", "128")]

    def verdict(self, *both_in: str) -> str:
        products = OPENBLAS.Products(1, 1)
        for job in ("64", "128"):
            made = ("tutti", "openblas") if job in both_in else ("tutti",)
            products.bits[2, job] = {provider: "bits" for provider in made}
        return products.verdict(self.where)

    def test_claims_equal_bits_only_of_what_was_compared(self) -> None:
        self.assertEqual(self.verdict("64", "128"), "All products of the two have the same bits.")
        self.assertIn("in 1 of 2 situations", self.verdict("64"))
        with self.assertRaisesRegex(port.Failure, "no bits were compared"):
            self.verdict()

    def test_needs_rounds(self) -> None:
        said = io.StringIO()
        with mock.patch.object(sys, "argv", ["run", "--rounds", "0"]):
            with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
                OPENBLAS.main()
        self.assertEqual(end.exception.code, 2)
        self.assertIn("must be more than 0", said.getvalue())

    def test_without_a_network_it_is_skipped(self) -> None:
        fails = mock.Mock(side_effect=port.Failure("pip failed"))
        absent = pathlib.Path("/there/is/none")
        with mock.patch.multiple(OPENBLAS, call=fails, say=mock.Mock(), LIBRARY=absent):
            with mock.patch.object(pathlib.Path, "exists", lambda path: path != absent):
                with self.assertRaisesRegex(port.Absent, "cannot be fetched"):
                    OPENBLAS.prepare(PORTS)

    def test_fetches_only_files_of_known_hashes(self) -> None:
        asked = []

        def call(command: list[str], what: str) -> None:
            at = command.index("--requirement")
            asked.append((command, pathlib.Path(command[at + 1]).read_text(encoding="utf-8")))

        with mock.patch.multiple(OPENBLAS, call=call, say=mock.Mock()):
            OPENBLAS.fetch()
        [(command, requirement)] = asked
        self.assertIn("--require-hashes", command)
        self.assertRegex(requirement, r"^scipy-openblas64==[0-9.]+( --hash=sha256:[0-9a-f]{64})+$")


class Raxml(unittest.TestCase):
    def test_a_failure_while_it_reads_ends_the_program_and_the_timer(self) -> None:
        program = ["/bin/sh", "-c", "echo Tree 0 Likelihood -1.0; exec sleep 60"]
        before, open_before = threading.active_count(), len(os.listdir("/proc/self/fd"))
        with mock.patch.object(RAXML, "processor_ns", side_effect=ValueError):
            with self.assertRaises(ValueError):
                RAXML.Raxml(PORTS, PORTS, 10).stamps(program, {})
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join(5)
        self.assertEqual(threading.active_count(), before)
        self.assertEqual(len(os.listdir("/proc/self/fd")), open_before)


if __name__ == "__main__":
    unittest.main()
