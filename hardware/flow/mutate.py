# SPDX-License-Identifier: Apache-2.0
"""The mutation run: each seeded bug, put into a copy of the sources, must be caught.

A bug counts as caught when a proof gives a counterexample from reset at small parameters, or a
simulation fails. Without a bug all must pass; the run checks that too.
"""

from __future__ import annotations

import pathlib
import shutil

from . import prove, simulate, tools
from .results import FAILED, PASSED, result
from .unit import Bug, Proof, Simulation, Unit


def _patched(unit: Unit, bug: Bug, folder: pathlib.Path) -> tuple:
    """Returns (sources, path of the patched file): the unit's sources with the bug in them."""
    target = unit.folder / bug.file
    patched = folder / "patched" / bug.file
    shutil.rmtree(folder / "patched", ignore_errors=True)
    patched.parent.mkdir(parents=True)
    patched.write_text(target.read_text().replace(bug.old, bug.new))
    return [patched if source == target else source for source in unit.sources], patched


def _search(proof: Proof, sources: list, folder: pathlib.Path) -> tuple:
    """Returns (verdict, outcome) of a search for a counterexample from reset at the size for bugs.
    """
    parameters = proof.bug_parameters or proof.parameters[0]
    if proof.method == "pdr":
        return prove.pdr(proof, prove.write_aiger(proof, parameters, sources, folder))
    return prove.bounded(proof, prove.write_smt2(proof, parameters, sources, folder),
        proof.bug_depth)


def baseline(unit: Unit, proof: Proof, folder: pathlib.Path) -> list:
    """Passes if the proof finds nothing without a bug; otherwise every bug would seem caught."""
    sources = unit.sources + [unit.folder / f for f in proof.files]
    try:
        verdict, outcome = _search(proof, sources, folder)
    except prove.Trouble as trouble:
        return [result(unit.name, "mutate", f"none ({proof.name})", FAILED, 0, log=str(trouble))]
    log = "" if verdict else f"fails without a bug: {outcome.ending}"
    status = PASSED if verdict else FAILED
    return [result(unit.name, "mutate", f"none ({proof.name})", status, outcome.seconds,
        note="passes", log=log)]


def baseline_of_simulation(unit: Unit, simulation: Simulation, folder: pathlib.Path) -> list:
    """Passes if the simulation succeeds without a bug."""
    outcome = _simulated(unit, simulation, unit.sources, folder)
    log = "" if outcome.status == 0 else f"fails without a bug: {outcome.ending}"
    status = PASSED if outcome.status == 0 else FAILED
    name = f"none ({simulation.name})"
    return [result(unit.name, "mutate", name, status, outcome.seconds, note="passes",
        log=log)]


def _simulated(unit: Unit, simulation: Simulation, sources: list,
        folder: pathlib.Path) -> tools.Outcome:
    quick = (simulation.quick or simulation.parameters)[0]
    return simulate.run_once(unit, simulation, quick, sources, folder / simulation.name, True)


def _objects(outcome: tools.Outcome) -> bool:
    """Returns true if the harness or an assertion in the sources reports an error, false for other
    failures."""
    return outcome.status == 1 or (outcome.status != 0 and "Assertion failed" in outcome.text)


def mutate(unit: Unit, bug: Bug, folder: pathlib.Path) -> list:
    """Passes if a proof or a simulation catches the bug."""
    sources, patched = _patched(unit, bug, folder)
    caught_by, seconds, silent = [], 0.0, []
    for proof in unit.proofs:
        if (bug.proofs and proof.name not in bug.proofs) or (not bug.proofs and not proof.bugs):
            continue
        if bug.simulations and not bug.proofs:
            continue
        files = [unit.folder / f for f in proof.files]
        files = [patched if f == unit.folder / bug.file else f for f in files]
        try:
            verdict, outcome = _search(proof, sources + files, folder / proof.name)
        except prove.Trouble as trouble:
            return [result(unit.name, "mutate", bug.name, FAILED, seconds,
                log=f"does not compile: {trouble}")]
        seconds += outcome.seconds
        if verdict is False:
            caught_by.append(proof.name)
            continue
        silent.append(f"{proof.name} ({'no answer' if verdict is None else 'holds'})")
    for simulation in unit.simulations:
        if caught_by or simulation.name not in bug.simulations:
            continue
        outcome = _simulated(unit, simulation, sources, folder)
        seconds += outcome.seconds
        if _objects(outcome):
            caught_by.append(simulation.name)
        else:
            silent.append(
                f"{simulation.name} (exit status {outcome.status}: {tools.tail(outcome.text, 3)})")
    status = PASSED if caught_by else FAILED
    log = "" if caught_by else "not caught: " + ", ".join(silent)
    note = "caught by " + ", ".join(caught_by) if caught_by else ""
    return [result(unit.name, "mutate", bug.name, status, seconds, caught_by=caught_by, note=note,
        log=log)]
