# SPDX-License-Identifier: Apache-2.0
"""The calculation. A barrier is a wavelength. On its first pass the light meets a ring of every participant: ON until that
participant arrives, so that light at the end of the pass is the AND of all. The waveguide turns and comes back; on this
second pass every participant takes a little of the light to its detector.

Source: paper 000, section 5 and figure 9; positions, budgets and formulas are worked out here."""

from __future__ import annotations

import dataclasses

from .parts import LIGHT_MM_PER_NS, Machine, Optics


def factor(db: float) -> float:
    """How many times less power is left after a loss of `db` decibels."""
    return 10.0 ** (db / 10.0)


def place_mm(machine: Machine, participant: int) -> float:
    """Where on the first pass a participant's ring is, in mm from the first one's. Raises ValueError for nobody."""
    everybody = machine.sockets * machine.participants
    if not 0 <= participant < everybody:
        raise ValueError(f"machine '{machine.name}' has participants 0 to {everybody - 1}, not {participant}")
    socket, inside = divmod(participant, machine.participants)
    whole_socket = (machine.participants - 1) * machine.pitch_mm + machine.board_cm * 10.0
    return socket * whole_socket + inside * machine.pitch_mm


def flight_ns(machine: Machine, optics: Optics, last: int, seen_by: int) -> float:
    """Nanoseconds of the light from the ring of the last to arrive to the turn and back to a participant's detector."""
    end = place_mm(machine, machine.sockets * machine.participants - 1)
    length = 2.0 * end - place_mm(machine, last) - place_mm(machine, seen_by)
    return length * optics.group_index / LIGHT_MM_PER_NS


def barrier_cycles(machine: Machine, optics: Optics, last: int, seen_by: int) -> float:
    """Clock cycles from the last arrival to one participant's departure."""
    optical = optics.switch_ns + flight_ns(machine, optics, last, seen_by) + optics.detect_ns
    return machine.to_ring_cycles + optical * machine.clock_ghz + machine.from_detector_cycles


def electronic_cycles(machine: Machine) -> float:
    """The same of the Hardware Barrier Structure as simulated in hardware/hbs, for the participant that waits longest."""
    if machine.sockets == 1:
        return machine.l3_cycles + 1
    return machine.l3_cycles + machine.hops * machine.link_cycles + 2


def laser_mw(machine: Machine, optics: Optics) -> float:
    """Light of one barrier where it enters the first chip's coupler, in mW, so that every detector has what it needs.

    The taps are made so that each takes just that: going backwards from the end, what must come in before a tap is what
    it takes and what must go on, and both suffer the losses before it."""
    spread = factor(optics.splitter_db)
    pitch = factor(optics.waveguide_db_per_cm * machine.pitch_mm / 10.0)
    crossing = factor(2 * optics.coupler_db + optics.board_db_per_cm * machine.board_cm)
    ring = factor(optics.ring_off_db + (machine.barriers - 1) * optics.ring_beside_db)
    detector = 10.0 ** (optics.sensitivity_dbm / 10.0) * factor(optics.drop_db + optics.margin_db)
    needed = 0.0
    for socket in range(machine.sockets):  # the end of the second pass is in socket 0
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
    """(a socket by itself, the board with one ring and one detector a socket) of a machine that amplifies."""
    return (
        dataclasses.replace(machine, sockets=1),
        dataclasses.replace(machine, participants=1, pitch_mm=0.0),
    )


def regenerated_cycles(machine: Machine, optics: Optics) -> float:
    """Worst cycles when a socket's AND is detected at its turn and sent on by a ring of its own: first pass of the socket,
    the board there and back, second pass of the socket; each is switched and detected again."""
    if machine.sockets == 1:
        return barrier_cycles(machine, optics, 0, 0)
    socket, board = _parts(machine)
    flight = flight_ns(socket, optics, 0, 0) + flight_ns(board, optics, 0, 0)
    optical = flight + 3 * (optics.switch_ns + optics.detect_ns)
    return machine.to_ring_cycles + optical * machine.clock_ghz + machine.from_detector_cycles


def regenerated_mw(machine: Machine, optics: Optics) -> float:
    """Light of one barrier of such a machine, of all its lasers, in mW. A socket's loop is counted as if it were whole."""
    if machine.sockets == 1:
        return laser_mw(machine, optics)
    socket, board = _parts(machine)
    return machine.sockets * laser_mw(socket, optics) + laser_mw(board, optics)


@dataclasses.dataclass(frozen=True)
class Figures:
    """What a barrier by light costs on a machine."""

    best_cycles: float  # from the last arrival to the first departure, at the best place
    worst_cycles: float  # to the last departure, at the worst place
    worst_ns: float
    electronic_cycles: float
    regenerated_cycles: float  # worst, when sockets send the light on by lasers of their own
    regenerated_light_mw: float  # of one barrier, all lasers
    waveguide_cm: float  # both passes
    rings: int  # modulators and filters of all barriers
    laser_light_mw: float  # of one barrier
    laser_mw: float  # electricity for one barrier
    tuning_mw: float  # for one barrier
    total_mw: float  # for all barriers
    episode_pj: float  # what switching and detecting adds, an episode of one barrier
    contrast_db: float  # light with everybody there, against all but one
    feasible: bool  # the waveguide carries the light of all barriers, and there are wavelengths for them


def figures(machine: Machine, optics: Optics = Optics()) -> Figures:
    """Everything at once."""
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
    """How many participants a socket of this machine may have at most (0: none; searched up to `limit`)."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        grown = dataclasses.replace(machine, participants=middle)
        low, high = (middle, high) if figures(grown, optics).feasible else (low, middle - 1)
    return low


def most_barriers(machine: Machine, optics: Optics = Optics()) -> int:
    """How many barriers fit on one waveguide."""
    most = 0
    for barriers in range(1, optics.most_wavelengths + 1):
        if not figures(dataclasses.replace(machine, barriers=barriers), optics).feasible:
            break
        most = barriers
    return most
