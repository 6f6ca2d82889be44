# SPDX-License-Identifier: Apache-2.0
"""The inputs of the calculation: optical devices and machines.

Values from Hetland et al. 2019 are marked [paper]. All others are assumptions of the usual order of
magnitude. The options --optics and --with of `python3 -m hardware.photonic` change any of them.
"""

from __future__ import annotations

import dataclasses
import math

LIGHT_MM_PER_NS = 299.792458


def _check(owner: str, values: dict, positive: tuple, not_negative: tuple) -> None:
    for name in positive + not_negative:
        value = values[name]
        if not math.isfinite(value) or value < 0 or (name in positive and value == 0):
            raise ValueError(
                f"{owner}: {name} must be {'positive' if name in positive else 'at least 0'}, "
                f"not {value}")


@dataclasses.dataclass(frozen=True)
class Optics:
    """The optical devices.

    A name ends in its unit: dB for losses, cm for lengths, ns for times, mW or dBm for powers, fJ
    for energies. A core's ring is on and stops the light until the core arrives; then it is off.
    """

    # [paper]: 43 cm in 5 ns, that is 3.49.
    group_index: float = 5.0 / 430.0 * LIGHT_MM_PER_NS
    # [paper]: silicon nitride, C band.
    waveguide_db_per_cm: float = 0.4
    # The loss at a ring of this barrier while it is off, that is, lets the light pass.
    ring_off_db: float = 0.1
    # The loss at a ring of another barrier, which has another wavelength.
    ring_beside_db: float = 0.005
    # The attenuation by one ring that is on.
    ring_on_db: float = 15.0
    # The excess loss of a tap, where a core takes its part of the light.
    splitter_db: float = 0.1
    # The loss of the filter between a tap and its detector.
    drop_db: float = 1.0
    # The loss on the way into a chip or out of it.
    coupler_db: float = 1.5
    # The loss of the waveguide between sockets.
    board_db_per_cm: float = 0.05
    # The least power that a detector needs.
    sensitivity_dbm: float = -17.0
    # Each detector gets this much more light than it needs.
    margin_db: float = 3.0
    # Light power for each unit of electric power.
    laser_efficiency: float = 0.1
    # [paper]: rings and detectors work above 10 GHz.
    switch_ns: float = 0.1
    # [paper]: rings and detectors work above 10 GHz.
    detect_ns: float = 0.1
    # [paper]: modulation and demodulation of a bit.
    switch_fj: float = 317.0
    # The power that keeps one ring at its wavelength.
    tuning_mw: float = 0.1
    # The light that a waveguide carries before it becomes nonlinear.
    limit_mw: float = 100.0
    # [paper]: the number in 2019; 64 are expected.
    most_wavelengths: int = 40

    def __post_init__(self) -> None:
        positive = ("group_index", "laser_efficiency", "limit_mw", "most_wavelengths", "ring_on_db")
        rest = tuple(
            f.name for f in dataclasses.fields(self) if f.name not in positive
                and f.name != "sensitivity_dbm"
        )
        _check("optics", dataclasses.asdict(self), positive, rest)
        if self.laser_efficiency > 1:
            raise ValueError(
                f"optics: laser_efficiency must be at most 1, not {self.laser_efficiency}")
        if not math.isfinite(self.sensitivity_dbm):
            raise ValueError(
                f"optics: sensitivity_dbm must be a number, not {self.sensitivity_dbm}")


@dataclasses.dataclass(frozen=True)
class Machine:
    """A machine.

    The waveguide visits all participants of socket 0, then of socket 1 ..., and returns the same
    way.
    """

    name: str = "machine"
    sockets: int = 1
    # Participants of a socket; each has a ring and a detector for each barrier.
    participants: int = 28
    # Waveguide from one participant to the next.
    pitch_mm: float = 2.9
    # Waveguide from one socket to the next.
    board_cm: float = 10.0
    clock_ghz: float = 2.4
    # Each barrier needs a wavelength.
    barriers: int = 1
    # The time from the instruction to the ring's driver.
    to_ring_cycles: float = 1.0
    # The time from the detector into the core's clock domain.
    from_detector_cycles: float = 2.0
    # [paper]: for the electronic structure, a core's round trip to it.
    l3_cycles: float = 38.0
    # [paper]: for the electronic structure, a hop between sockets.
    link_cycles: float = 110.0
    # Hops to the farthest socket.
    hops: int = 1

    def __post_init__(self) -> None:
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)
            if f.name != "name"}
        positive = ("sockets", "participants", "clock_ghz", "barriers")
        _check(f"machine '{self.name}'", values, positive,
            tuple(n for n in values if n not in positive))
        for name in ("sockets", "participants", "barriers", "hops"):
            if values[name] != int(values[name]):
                raise ValueError(
                    f"machine '{self.name}': {name} must be a whole number, not {values[name]}")


# Threads, L3 cycles and link cycles are from the paper's tables, clocks and areas from the data
# sheets. The waveguide visits the cores of a square die row by row, so a core's length of it is the
# side of its part of the die.
MACHINES = {
    "opteron": Machine("AMD Opteron 6272", 1, 16, 6.3, 10.0, 2.1, l3_cycles=20, link_cycles=92),
    "xeon": Machine("Xeon E5-2600 v4 (HARP)", 1, 28, 2.9, 10.0, 2.4, l3_cycles=38, link_cycles=110),
    "phi": Machine("Xeon Phi 7210", 1, 256, 0.8, 10.0, 1.3, l3_cycles=48, link_cycles=0),
    "opteron4": Machine("4 x AMD Opteron 6272", 4, 16, 6.3, 10.0, 2.1, l3_cycles=20, link_cycles=92,
        hops=2),
    "xeon2": Machine("2 x Xeon E5-2600 v4", 2, 28, 2.9, 10.0, 2.4, l3_cycles=38, link_cycles=110),
    "xeon4": Machine("4 x Xeon E5-2600 v4", 4, 28, 2.9, 10.0, 2.4, l3_cycles=38, link_cycles=110,
        hops=2),
}


def settings(text: list, kind: type, owner: str) -> dict:
    """Returns the fields of the dataclass `kind` that the texts NAME=VALUE set.

    Raises ValueError with a sentence that begins with `owner`, the option that has the texts.
    """
    known = {f.name: type(f.default) for f in dataclasses.fields(kind)}
    found = {}
    for setting in text:
        name, equals, value = setting.partition("=")
        if not equals or name not in known:
            raise ValueError(
                f"{owner}: '{setting}' is no NAME=VALUE with a name of {', '.join(known)}")
        try:
            found[name] = known[name](value)
        except ValueError:
            raise ValueError(f"{owner}: {name} cannot be '{value}'") from None
    return found
