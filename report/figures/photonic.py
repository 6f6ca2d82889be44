# SPDX-License-Identifier: Apache-2.0
"""Plots the optical barrier (hardware/photonic): the cycles of both structures and the laser's
power by number of participants.

    .venv/bin/python -m report.figures.photonic OUT.png [NAME=VALUE...]     # values of
    hardware/photonic/parts.py's Optics
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from hardware.photonic import model
from hardware.photonic.parts import MACHINES, Optics, settings

from report.model import Axis, Figure, Panel, Point, Rule, Series

SIZES = [4, 8, 16, 28, 40, 56, 64, 96, 128, 192, 256]
# Also 32, which is between two sizes: a scale without it would look like a break.
POWERS = [(2**n, str(2**n)) for n in range(2, 9)]
SHADES = ["color:tutti", "color:tutti1", "color:tutti3"]


def build(optics: Optics = Optics()) -> Figure:
    """Returns both panels, for the Xeon of the paper with other numbers of threads and sockets."""
    one = model.figures(MACHINES["xeon"], optics)
    two = model.figures(MACHINES["xeon2"], optics)
    threads = MACHINES["xeon"].participants
    captions = [
        f"{threads} threads of one socket need {one.worst_cycles:.1f} cycles at most; the Hardware "
        f"Barrier Structure needs {one.electronic_cycles:.0f}. The paper expects tens of cycles or "
        "fewer.",
        f"One waveguide through two sockets needs {two.laser_light_mw / 1000:.1f} W of light, "
        "because losses in dB add up. With a laser in each socket "
        f"{two.regenerated_light_mw:.1f} mW suffice, and {two.regenerated_cycles:.1f} cycles.",
        "This is a calculation (`python3 -m hardware.photonic`). All losses but the waveguide's "
        "are assumptions: hardware/photonic/README.md.",
    ]
    return Figure(
        "photonic",
        "A barrier by light and the electronic structure (figure 9 of Hetland et al. 2019)",
        "How many cycles pass from the last arrival to the last departure, and how much light does "
        "that take?",
        [_cycles(optics), _power(optics)], captions,
    )  # fmt: skip


def _cycles(optics: Optics) -> Panel:
    series = []
    for shade, name, words in zip(SHADES, ("xeon", "xeon2", "xeon4"),
            ("1 socket", "2 sockets", "4 sockets")):
        machine = MACHINES[name]
        grown = [dataclasses.replace(machine, participants=n, pitch_mm=2.9 * 28 / n) for n in SIZES]
        points = [Point(m.participants, model.barrier_cycles(m, optics, 0, 0)) for m in grown]
        series.append(Series(f"light, {words}", shade, points, emphasis=name == "xeon"))
        if machine.sockets > 1:
            points = [Point(m.participants, model.regenerated_cycles(m, optics)) for m in grown]
            series.append(Series(f"regenerated, {words}", shade, points, dash="dot",
                marker="diamond"))
        points = [Point(m.participants, model.electronic_cycles(m)) for m in grown]
        series.append(Series(f"electronic, {words}", "color:libgomp", points, dash="dash",
            marker="square"))
    axis = Axis("threads of a socket (same die)", log=True,
        ticks=POWERS)
    cycles = Axis("cycles, last arrival to last departure", log=True,
        ticks=[(n, str(n)) for n in (3, 10, 30, 100, 300)])
    return Panel("2.4 GHz, worst places", axis, cycles, series)


def _power(optics: Optics) -> Panel:
    series = []
    for shade, loss in zip(SHADES, (0.02, 0.1, 0.3)):
        with_loss = dataclasses.replace(optics, ring_off_db=loss)
        points = []
        for n in SIZES:
            machine = dataclasses.replace(MACHINES["xeon"], participants=n, pitch_mm=2.9 * 28 / n)
            light = model.laser_mw(machine, with_loss)
            if light <= 10 * optics.limit_mw:
                points.append(Point(n, light))
        series.append(Series(f"{loss} dB a ring", shade, points,
            emphasis=loss == optics.ring_off_db))
    axis = Axis("threads of a socket (same die)", log=True,
        ticks=POWERS)
    power = Axis("laser light, mW", log=True,
        ticks=[(v, f"{v:g}") for v in (0.1, 1, 10, 100, 1000, 10000)])
    rules = [Rule(optics.limit_mw * model.factor(optics.coupler_db), "what a waveguide carries",
        False)]
    return Panel("laser light for one barrier, one socket", axis, power, series, rules)


def write(path: Path, optics: Optics = Optics()) -> None:
    """Draws into `path`, a PNG file. Raises RuntimeError if matplotlib is not installed."""
    try:
        from report import png_render
    except ImportError as error:
        raise RuntimeError(
            f"the plot needs matplotlib (pip install -r report/requirements.txt): {error}"
        ) from error
    png_render.write(build(optics), path)


def main(arguments: list[str]) -> int:
    try:
        if not arguments:
            raise ValueError("usage: python -m report.figures.photonic OUT.png [NAME=VALUE...]")
        write(Path(arguments[0]), Optics(**settings(arguments[1:], Optics, "optics")))
    except (ValueError, RuntimeError, OSError) as error:
        print(f"report: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
