# SPDX-License-Identifier: Apache-2.0
"""Compares the calculation with the paper and with one in the direction of the light, and tests bad
input.
"""

import contextlib
import dataclasses
import io
import json
import math
import pathlib
import re
import unittest

from hardware.photonic import __main__ as command
from hardware.photonic import model
from hardware.photonic.parts import LIGHT_MM_PER_NS, MACHINES, Machine, Optics

LOSSY = Optics(ring_off_db=0.3, splitter_db=0.2, coupler_db=2.0, board_db_per_cm=0.1)


def walk(machine: Machine, optics: Optics, launched: float, missing: int = 0) -> list:
    """Returns the power at each detector in mW, in the direction of the light, beginning at the
    laser.

    Each tap takes the part for which it was made, which follows from the power that those behind it
    get.
    """
    everybody = machine.sockets * machine.participants
    first = -optics.coupler_db - missing * optics.ring_on_db
    for i in range(everybody):
        first -= optics.ring_off_db + (machine.barriers - 1) * optics.ring_beside_db
        if i + 1 < everybody:
            crosses = (i + 1) % machine.participants == 0
            first -= _gap(machine, optics, crosses)
    light = launched * 10 ** (first / 10)
    # The power at the detectors behind each tap for one mW behind the tap, from the end.
    losses = [-_gap(machine, optics, (everybody - 1 - j) % machine.participants == 0)
        for j in range(everybody - 1)]
    through = 10 ** (-optics.splitter_db / 10)
    # Power needed behind tap j.
    need = [0.0] * everybody
    for j in range(everybody - 2, -1, -1):
        need[j] = (need[j + 1] + 1.0) / through / 10 ** (losses[j] / 10)
    found = []
    for j in range(everybody):
        inside = light * through
        share = 1.0 / (1.0 + need[j])
        found.append(inside * share * 10 ** (-optics.drop_db / 10))
        if j + 1 < everybody:
            light = inside * (1.0 - share) * 10 ** (losses[j] / 10)
    return found


def _gap(machine: Machine, optics: Optics, crosses: bool) -> float:
    """Returns the loss between two neighbours on the waveguide, in dB."""
    if crosses:
        return 2 * optics.coupler_db + optics.board_db_per_cm * machine.board_cm
    return optics.waveguide_db_per_cm * machine.pitch_mm / 10


class Delay(unittest.TestCase):
    def test_light_needs_5_ns_for_43_cm_as_in_the_paper(self):
        machine = Machine(participants=2, pitch_mm=430.0 / 2)
        self.assertAlmostEqual(model.flight_ns(machine, Optics(), 0, 0), 5.0)

    def test_place_of_the_last_and_of_the_one_who_looks_count_alike(self):
        machine = Machine(sockets=2, participants=5, pitch_mm=3.0, board_cm=8.0)
        self.assertAlmostEqual(model.flight_ns(machine, Optics(), 2, 7),
            model.flight_ns(machine, Optics(), 7, 2))
        self.assertEqual(model.flight_ns(machine, Optics(), 9, 9), 0.0)
        length = 2 * (8 * 3.0 + 80.0)
        expected = length * Optics().group_index / LIGHT_MM_PER_NS
        self.assertAlmostEqual(model.flight_ns(machine, Optics(), 0, 0), expected)

    def test_worst_is_worst_and_best_is_best(self):
        machine = Machine(sockets=2, participants=3, pitch_mm=2.0)
        all_cycles = [model.barrier_cycles(machine, Optics(), i, j) for i in range(6)
            for j in range(6)]
        found = model.figures(machine)
        self.assertAlmostEqual(found.worst_cycles, max(all_cycles))
        self.assertAlmostEqual(found.best_cycles, min(all_cycles))

    def test_one_socket_of_the_paper_stays_in_tens_of_cycles(self):
        for name in ("opteron", "xeon", "phi"):
            self.assertLess(model.figures(MACHINES[name]).worst_cycles, 20, name)

    def test_regenerated_light_walks_all_sockets_at_once(self):
        one, four = MACHINES["xeon"], MACHINES["xeon4"]
        self.assertEqual(model.regenerated_cycles(one, Optics()),
            model.barrier_cycles(one, Optics(), 0, 0))
        self.assertLess(model.regenerated_cycles(four, Optics()),
            model.barrier_cycles(four, Optics(), 0, 0))
        board = 2 * 3 * 100.0 * Optics().group_index / LIGHT_MM_PER_NS * four.clock_ghz
        again = 2 * (Optics().switch_ns + Optics().detect_ns) * four.clock_ghz
        expected = model.barrier_cycles(one, Optics(), 0, 0) + board + again
        self.assertAlmostEqual(model.regenerated_cycles(four, Optics()), expected)

    def test_electronic_cycles_are_those_that_the_structure_was_simulated_with(self):
        text = (pathlib.Path(__file__).parents[2] / "hbs" / "README.md").read_text()
        rows = {
            (int(sockets or 1), int(threads), int(l3), int(link) if link != "-" else 0): int(last)
            for sockets, threads, l3, link, last in re.findall(
                r"^\|[^|]*\| (?:(\d) x )?(\d+) \| (\d+), (\d+|-) \|[^|]*\| \d+, (\d+) \|", text,
                    re.MULTILINE
            )
        }
        checked = 0
        for machine in MACHINES.values():
            link = int(machine.link_cycles * machine.hops) if machine.sockets > 1 else 0
            key = (machine.sockets, machine.participants, int(machine.l3_cycles), link)
            if key in rows:
                self.assertEqual(model.electronic_cycles(machine), rows[key], machine.name)
                checked += 1
        self.assertGreaterEqual(checked, 4)


class Power(unittest.TestCase):
    def test_every_detector_gets_just_what_it_needs(self):
        for optics in (Optics(), LOSSY):
            for machine in (MACHINES["xeon"], Machine(sockets=3, participants=4, barriers=5),
                    Machine(participants=1)):
                needed = 10 ** ((optics.sensitivity_dbm + optics.margin_db) / 10)
                for power in walk(machine, optics, model.laser_mw(machine, optics)):
                    self.assertAlmostEqual(power / needed, 1.0, places=9)

    def test_one_who_is_missing_darkens_all(self):
        machine = MACHINES["xeon"]
        light = walk(machine, Optics(), model.laser_mw(machine, Optics()), missing=1)
        threshold = 10 ** (Optics().sensitivity_dbm / 10)
        self.assertLess(max(light), threshold)
        self.assertAlmostEqual(-10 * math.log10(light[0] / threshold),
            Optics().ring_on_db - Optics().margin_db)

    def test_losses_cost_light(self):
        machine = Machine(sockets=2, participants=8, barriers=3)
        plain = model.laser_mw(machine, Optics())
        for name in ("waveguide_db_per_cm", "ring_off_db", "ring_beside_db", "splitter_db",
                "drop_db", "coupler_db",
                     "board_db_per_cm", "margin_db"):  # fmt: skip
            more = dataclasses.replace(Optics(), **{name: getattr(Optics(), name) * 2})
            self.assertGreater(model.laser_mw(machine, more), plain, name)
        self.assertAlmostEqual(model.laser_mw(machine,
            dataclasses.replace(Optics(), sensitivity_dbm=-20.0)),
                               plain / 10 ** 0.3)  # fmt: skip

    def test_limits_are_limits(self):
        machine = MACHINES["xeon"]
        most = model.most_participants(machine)
        self.assertTrue(model.figures(dataclasses.replace(machine, participants=most)).feasible)
        self.assertFalse(model.figures(dataclasses.replace(machine,
            participants=most + 1)).feasible)
        barriers = model.most_barriers(machine)
        self.assertTrue(model.figures(dataclasses.replace(machine, barriers=barriers)).feasible)
        self.assertFalse(model.figures(dataclasses.replace(machine,
            barriers=barriers + 1)).feasible)
        few = Machine(participants=2)
        self.assertEqual(model.most_barriers(few), Optics().most_wavelengths)
        self.assertEqual(model.most_barriers(MACHINES["phi"]), 0)


class Misuse(unittest.TestCase):
    def test_bad_values_are_refused_by_name(self):
        for values in ({"sockets": 0}, {"participants": -1}, {"clock_ghz": 0.0}, {"pitch_mm": -1.0},
                {"board_cm": math.nan},
                       {"participants": 2.5}, {"barriers": math.inf}):  # fmt: skip
            with self.assertRaisesRegex(ValueError, next(iter(values))):
                Machine(**values)
        for values in ({"group_index": 0.0}, {"ring_off_db": -0.1}, {"laser_efficiency": 1.5},
                {"sensitivity_dbm": math.nan},
                       {"most_wavelengths": 0}):  # fmt: skip
            with self.assertRaisesRegex(ValueError, next(iter(values))):
                Optics(**values)
        with self.assertRaisesRegex(ValueError, "participants 0 to 27, not 28"):
            model.place_mm(MACHINES["xeon"], 28)

    def said(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = command.main(list(arguments))
        return status, out.getvalue(), err.getvalue()

    def test_the_command_refuses_in_a_sentence(self):
        for arguments, message in (
            (["--with", "soccets=2"], "'soccets=2' is no NAME=VALUE"),
            (["--with", "sockets=two"], "sockets cannot be 'two'"),
            (["--optics", "drop_db=-1"], "drop_db must be at least 0, not -1.0"),
        ):
            status, out, err = self.said(*arguments)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(message, err)
            self.assertEqual(err.count("\n"), 1)

    def test_the_command_says_what_the_model_says(self):
        status, out, _ = self.said("--json", "--machine", "xeon", "--with", "barriers=4")
        self.assertEqual(status, 0)
        line = json.loads(out)
        self.assertEqual(line["barriers"], 4)
        expected = model.figures(dataclasses.replace(MACHINES["xeon"], barriers=4))
        self.assertEqual(line["worst_cycles"], expected.worst_cycles)
        self.assertEqual(len(self.said()[1].splitlines()), 2 + len(MACHINES))


if __name__ == "__main__":
    unittest.main()
