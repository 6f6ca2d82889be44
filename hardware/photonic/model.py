# SPDX-License-Identifier: Apache-2.0
"""Calculates the delay and the power of an optical barrier.

A barrier is a wavelength. On its first pass the light meets a ring of every participant. The ring
is ON, and holds the light back, until its participant arrives, so light at the end of the pass is
the AND of all arrivals. The waveguide turns and comes back; on this second pass every participant
takes a part of the light to its detector.

Source: Hetland et al. 2019, section 5 and figure 9. The positions, budgets and formulas are this
project's.
"""

from __future__ import annotations

import dataclasses

from .parts import LIGHT_MM_PER_NS, Machine, Optics


def factor(db: float) -> float:
    """Returns the factor by which a loss of `db` decibels divides the power."""
    return 10.0 ** (db / 10.0)


def place_mm(machine: Machine, participant: int) -> float:
    """Returns a ring's position on the first pass, in mm from the first ring.

    Raises ValueError for no participant.
    """
    everybody = machine.sockets * machine.participants
    if not 0 <= participant < everybody:
        raise ValueError(
            f"machine '{machine.name}' has participants 0 to {everybody - 1}, not {participant}")
    socket, inside = divmod(participant, machine.participants)
    whole_socket = (machine.participants - 1) * machine.pitch_mm + machine.board_cm * 10.0
    return socket * whole_socket + inside * machine.pitch_mm


def flight_ns(machine: Machine, optics: Optics, last: int, seen_by: int) -> float:
    """Returns the light's nanoseconds from the last arriver's ring to the turn and back to a
    participant's detector."""
    end = place_mm(machine, machine.sockets * machine.participants - 1)
    length = 2.0 * end - place_mm(machine, last) - place_mm(machine, seen_by)
    return length * optics.group_index / LIGHT_MM_PER_NS


def barrier_cycles(machine: Machine, optics: Optics, last: int, seen_by: int) -> float:
    """Returns the clock cycles from the last arrival to one participant's departure."""
    optical = optics.switch_ns + flight_ns(machine, optics, last, seen_by) + optics.detect_ns
    return machine.to_ring_cycles + optical * machine.clock_ghz + machine.from_detector_cycles


def electronic_cycles(machine: Machine) -> float:
    """Returns the longest such time for the Hardware Barrier Structure as simulated in
    hardware/hbs."""
    if machine.sockets == 1:
        return machine.l3_cycles + 1
    return machine.l3_cycles + machine.hops * machine.link_cycles + 2


def laser_mw(machine: Machine, optics: Optics) -> float:
    """Returns the light for one barrier that must enter the first chip's coupler, in mW.

    Each tap takes just the power that its detector needs. The calculation goes backwards from the
    end: the power before a tap is the power that it takes plus the power that must go on, and both
    suffer the losses before the tap."""
    spread = factor(optics.splitter_db)
    pitch = factor(optics.waveguide_db_per_cm * machine.pitch_mm / 10.0)
    crossing = factor(2 * optics.coupler_db + optics.board_db_per_cm * machine.board_cm)
    ring = factor(optics.ring_off_db + (machine.barriers - 1) * optics.ring_beside_db)
    detector = 10.0 ** (optics.sensitivity_dbm / 10.0) * factor(optics.drop_db + optics.margin_db)
    needed = 0.0
    # The end of the second pass is in socket 0.
    for socket in range(machine.sockets):
        if socket > 0:
            needed *= crossing
        for participant in range(machine.participants):
            if participant > 0:
                needed *= pitch
            needed = (needed + detector) * spread
    for socket in range(machine.sockets):
        if socket > 0:
            needed *= crossing
        needed *= ring**machine.participants * pitch ** (machine.participants - 1)
    return needed * factor(optics.coupler_db)


def _parts(machine: Machine) -> tuple:
    """Returns (one socket alone, the board with one ring and one detector for each socket) for a
    machine that amplifies."""
    return (
        dataclasses.replace(machine, sockets=1),
        dataclasses.replace(machine, participants=1, pitch_mm=0.0),
    )


def regenerated_cycles(machine: Machine, optics: Optics) -> float:
    """Returns the worst cycles when each socket detects its AND at its turn and sends it on by its
    own ring.

    The light makes the first pass of the socket, crosses the board and comes back, and makes the
    second pass of the socket; each is switched and detected again.
    """
    if machine.sockets == 1:
        return barrier_cycles(machine, optics, 0, 0)
    socket, board = _parts(machine)
    flight = flight_ns(socket, optics, 0, 0) + flight_ns(board, optics, 0, 0)
    optical = flight + 3 * (optics.switch_ns + optics.detect_ns)
    return machine.to_ring_cycles + optical * machine.clock_ghz + machine.from_detector_cycles


def regenerated_mw(machine: Machine, optics: Optics) -> float:
    """Returns the light of all lasers for one barrier of such a machine, in mW.

    Each socket's loop counts in full.
    """
    if machine.sockets == 1:
        return laser_mw(machine, optics)
    socket, board = _parts(machine)
    return machine.sockets * laser_mw(socket, optics) + laser_mw(board, optics)


@dataclasses.dataclass(frozen=True)
class Figures:
    """The costs of an optical barrier on a machine."""

    # The time from the last arrival to the first departure, at the best place.
    best_cycles: float
    # The time to the last departure, at the worst place.
    worst_cycles: float
    worst_ns: float
    electronic_cycles: float
    # The worst case when each socket sends the light on with its own laser.
    regenerated_cycles: float
    # Light of all lasers for one barrier.
    regenerated_light_mw: float
    # Both passes together.
    waveguide_cm: float
    # Modulators and filters of all barriers.
    rings: int
    # For one barrier.
    laser_light_mw: float
    # Electric power for one barrier.
    laser_mw: float
    # For one barrier.
    tuning_mw: float
    # For all barriers.
    total_mw: float
    # Energy of switching and detecting in an episode of one barrier.
    episode_pj: float
    # Light when all have arrived, relative to all but one.
    contrast_db: float
    # The waveguide carries the light of all barriers, and there are enough wavelengths.
    feasible: bool


def figures(machine: Machine, optics: Optics = Optics()) -> Figures:
    """Returns all figures of a machine."""
    everybody = machine.sockets * machine.participants
    light = laser_mw(machine, optics)
    tuning = 2 * everybody * optics.tuning_mw
    worst = barrier_cycles(machine, optics, 0, 0)
    inside = light / factor(optics.coupler_db) * machine.barriers
    return Figures(
        best_cycles=barrier_cycles(machine, optics, everybody - 1, everybody - 1),
        worst_cycles=worst,
        worst_ns=worst / machine.clock_ghz,
        electronic_cycles=electronic_cycles(machine),
        regenerated_cycles=regenerated_cycles(machine, optics),
        regenerated_light_mw=regenerated_mw(machine, optics),
        waveguide_cm=2.0 * place_mm(machine, everybody - 1) / 10.0,
        rings=2 * everybody * machine.barriers,
        laser_light_mw=light,
        laser_mw=light / optics.laser_efficiency,
        tuning_mw=tuning,
        total_mw=machine.barriers * (light / optics.laser_efficiency + tuning),
        episode_pj=everybody * optics.switch_fj / 1000.0,
        contrast_db=optics.ring_on_db,
        feasible=inside <= optics.limit_mw and machine.barriers <= optics.most_wavelengths,
    )


def most_participants(machine: Machine, optics: Optics = Optics(), limit: int = 4096) -> int:
    """Returns the most participants that a socket of this machine may have (0: none; searched up to
    `limit`)."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        grown = dataclasses.replace(machine, participants=middle)
        low, high = (middle, high) if figures(grown, optics).feasible else (low, middle - 1)
    return low


def most_barriers(machine: Machine, optics: Optics = Optics()) -> int:
    """Returns how many barriers fit on one waveguide."""
    most = 0
    for barriers in range(1, optics.most_wavelengths + 1):
        if not figures(dataclasses.replace(machine, barriers=barriers), optics).feasible:
            break
        most = barriers
    return most
