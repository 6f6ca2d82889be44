# SPDX-License-Identifier: Apache-2.0
"""Proofs: Yosys writes the problem; yosys-smtbmc with an SMT solver (Bitwuzla or z3), or ABC's PDR,
solves it.

A proof counts only if as many assertions reached the solver as the description says, every cover is
reached, and the mutation run (mutate.py) finds its seeded bugs.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import sys
import threading

from . import simulate, tools
from .results import FAILED, PASSED, result
from .unit import Proof, Unit, label


class Trouble(RuntimeError):
    """A step of a proof gave no answer; the message says which and why."""


def _read(proof: Proof, parameters: dict, sources: list, folder: pathlib.Path) -> str:
    generics = " ".join(f"-G {key}={value}" for key, value in parameters.items())
    files = " ".join(tools.stage(sources, folder))
    return (
        f"read_slang -j 1 -D FORMAL --top {proof.top} {generics} {files}\n"
        f"prep -top {proof.top}\nflatten\nmemory_map\nopt -full\nasync2sync\nchformal -lower\n"
        "tee -q -o asserts.txt select -count t:$assert\n"
        "tee -q -o covers.txt select -count t:$cover\n"
    )


def _count(folder: pathlib.Path, what: str) -> int:
    return int(re.search(r"(\d+)", (folder / what).read_text()).group(1))


@dataclasses.dataclass(frozen=True)
class Problem:
    """A problem written for the solver, and what it contains."""

    folder: pathlib.Path
    asserts: int
    covers: int


def write_smt2(proof: Proof, parameters: dict, sources: list, folder: pathlib.Path) -> Problem:
    """Writes folder/problem.smt2.

    `opt` must not follow dffunmap: it would restore flip-flops that SMT2 lacks.
    """
    script = _read(proof, parameters, sources, folder)
    script += "dffunmap\nwrite_smt2 -wires problem.smt2\n"
    outcome = tools.yosys(script, folder)
    if outcome.status != 0:
        raise Trouble("yosys: " + tools.tail(outcome.text, 6))
    return Problem(folder, _count(folder, "asserts.txt"), _count(folder, "covers.txt"))


class Problems:
    """What yosys wrote for the solver in one run, by proof and parameters: `prove` and `cover` at
    the same size share it, because it may take yosys longer than the solver."""

    def __init__(self):
        self._lock = threading.Lock()
        self._written: dict = {}

    def smt2(self, unit: Unit, proof: Proof, parameters: dict, folder: pathlib.Path) -> Problem:
        """Returns the problem in `folder`. Raises Trouble."""
        with self._lock:
            writing, written = self._written.setdefault(
                (unit.name, proof.name, label(parameters)), (threading.Lock(), []))
        with writing:
            if not written:
                written.append(write_smt2(proof, parameters, _sources(unit, proof), folder))
            elif written[0].folder != folder:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(written[0].folder / "problem.smt2", folder)
        return dataclasses.replace(written[0], folder=folder)


def _sources(unit: Unit, proof: Proof) -> list:
    return unit.sources + [unit.folder / file for file in proof.files]


def write_aiger(proof: Proof, parameters: dict, sources: list, folder: pathlib.Path) -> Problem:
    """Writes folder/problem.aig without the covers, which ABC would take for outputs to be proved.
    """
    script = _read(proof, parameters, sources, folder) + (
        "chformal -cover -remove\nopt_clean\nsetundef -undriven -anyseq\n"
        "dffunmap\nsimplemap\ntechmap\nsimplemap\n"
        "setundef -init -zero\naigmap\nwrite_aiger -zinit problem.aig\n"
    )
    outcome = tools.yosys(script, folder)
    if outcome.status != 0:
        raise Trouble("yosys: " + tools.tail(outcome.text, 6))
    return Problem(folder, _count(folder, "asserts.txt"), _count(folder, "covers.txt"))


def _smtbmc(proof: Proof, problem: Problem, options: list) -> tools.Outcome:
    """Passes --unroll: without it z3 4.8 gave no answer on files that it solves in seconds with it.
    """
    command = [tools.find("yosys-smtbmc"), "-s", proof.solver, "--unroll", "--noprogress", *options,
               "problem.smt2"]
    extra = {}
    if proof.solver == "bitwuzla":
        extra["PATH"] = f"{bitwuzla(problem.folder)}{os.pathsep}{os.environ['PATH']}"
    else:
        tools.find(proof.solver)
    return tools.run(command, proof.timeout, problem.folder, extra)


def bitwuzla(folder: pathlib.Path) -> pathlib.Path:
    """Makes a folder with a program of that name, since PyPI has a Python module only.

    Raises tools.Absent.
    """
    if importlib.util.find_spec("bitwuzla") is None:
        raise tools.Absent("bitwuzla is not installed (pip install -r hardware/requirements.txt)")
    program = (folder / "bin" / "bitwuzla").resolve()
    program.parent.mkdir(parents=True, exist_ok=True)
    server = pathlib.Path(__file__).with_name("smtlib.py")
    program.write_text(
        f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(server))}\n")
    program.chmod(0o755)
    return program.parent


def _verdict(outcome: tools.Outcome) -> bool | None:
    """Returns True if the property holds, False for a counterexample, None for no answer."""
    if "Status: PASSED" in outcome.text or "Status: passed" in outcome.text:
        return True
    if "Status: FAILED" in outcome.text or "Status: failed" in outcome.text:
        return False
    return None


def bounded(proof: Proof, problem: Problem, depth: int) -> tuple:
    """Returns (verdict, outcome) of the first `depth` steps from reset."""
    outcome = _smtbmc(proof, problem, ["-t", str(depth)])
    return _verdict(outcome), outcome


def induction(proof: Proof, problem: Problem) -> tuple:
    """Returns (verdict, outcome) of the induction step with k = proof.depth; False means that it
    fails."""
    outcome = _smtbmc(proof, problem, ["-i", "-t", str(proof.depth)])
    return _verdict(outcome), outcome


def pdr(proof: Proof, problem: Problem) -> tuple:
    """Returns (verdict, outcome) of ABC's property-directed reachability."""
    return reach(problem.folder, proof.timeout)


def reach(folder: pathlib.Path, seconds: float) -> tuple:
    """Does the same with folder/problem.aig."""
    script = "read_aiger problem.aig; fold; strash; pdr"
    outcome = tools.run([tools.find("berkeley-abc"), "-c", script], seconds, folder)
    if "Property proved" in outcome.text:
        return True, outcome
    if "was asserted in frame" in outcome.text:
        return False, outcome
    return None, outcome


def expected_assertions(proof: Proof, parameters: dict) -> int | None:
    """Returns how many assertions the description promises at these parameters, or None if it says
    nothing."""
    if isinstance(proof.assertions, int):
        return proof.assertions
    return proof.assertions.get(label(parameters))


def _solve(unit: Unit, proof: Proof, parameters: dict, folder: pathlib.Path,
        problems: Problems) -> tuple:  # fmt: skip
    """Returns (problem, verdict, outcome of the last search, seconds of all). Raises Trouble."""
    if proof.method == "pdr":
        problem = write_aiger(proof, parameters, _sources(unit, proof), folder)
        verdict, outcome = pdr(proof, problem)
        return problem, verdict, outcome, outcome.seconds
    problem = problems.smt2(unit, proof, parameters, folder)
    if proof.method == "bmc":
        verdict, outcome = bounded(proof, problem, proof.depth)
        return problem, verdict, outcome, outcome.seconds
    verdict, outcome = bounded(proof, problem, proof.base or proof.depth + 1)
    seconds = outcome.seconds
    if verdict:
        verdict, outcome = induction(proof, problem)
        seconds += outcome.seconds
    return problem, verdict, outcome, seconds


def prove(unit: Unit, proof: Proof, parameters: dict, folder: pathlib.Path,
        problems: Problems | None = None) -> list:  # fmt: skip
    """Runs one proof at one set of parameters and checks its assertion count."""
    name = f"{proof.name} {label(parameters)}".strip()
    log = ""
    try:
        problem, verdict, outcome, seconds = _solve(unit, proof, parameters, folder,
            problems or Problems())
    except Trouble as trouble:
        return [result(unit.name, "prove", name, FAILED, 0, log=str(trouble))]
    promised = expected_assertions(proof, parameters)
    if verdict is None:
        log = f"no answer: {outcome.ending}"
    elif verdict is False:
        log = tools.tail(outcome.text)
    elif promised != problem.asserts:
        verdict = False
        log = f"{problem.asserts} assertions reached the solver, "
        log += f"the description promises {promised}"
    elif problem.asserts == 0:
        verdict, log = False, "vacuous: no assertion reached the solver"
    status = PASSED if verdict else FAILED
    note = f"{proof.method}, {problem.asserts} assertions, {seconds:.1f} s"
    # fmt: off
    return [result(unit.name, "prove", name, status, seconds, method=proof.method,
        assertions=problem.asserts,
                   parameters=parameters, depth=proof.depth, note=note, log=log)]
    # fmt: on


def cover(unit: Unit, proof: Proof, folder: pathlib.Path,
        problems: Problems | None = None) -> list:  # fmt: skip
    """Passes if every cover statement is reached: the assumptions then leave behaviour to be
    checked."""
    parameters = proof.cover_parameters or proof.parameters[0]
    name = f"{proof.name} {label(parameters)}".strip()
    if proof.cover_by:
        return _cover_by_simulation(unit, proof, parameters, name, folder)
    try:
        problem = (problems or Problems()).smt2(unit, proof, parameters, folder)
    except Trouble as trouble:
        return [result(unit.name, "cover", name, FAILED, 0, log=str(trouble))]
    outcome = _smtbmc(proof, problem, ["-c", "-t", str(proof.cover_depth)])
    reached = outcome.text.count("Reached cover statement")
    log = ""
    if problem.covers != proof.covers:
        log = f"{problem.covers} cover statements reached the solver, "
        log += f"the description promises {proof.covers}"
    elif not _verdict(outcome):
        log = tools.tail(outcome.text)
    status = FAILED if log else PASSED
    note = f"{reached} of {proof.covers} reached"
    return [result(unit.name, "cover", name, status, outcome.seconds, covers=reached, note=note,
        log=log)]


def _cover_by_simulation(unit: Unit, proof: Proof, parameters: dict, name: str,
        folder: pathlib.Path) -> list:  # fmt: skip
    """What `cover` returns, by a simulation of the proof's top: it ends if an assumption or an
    assertion is false."""
    simulation = next(each for each in unit.simulations if each.name == proof.cover_by)
    counts, outcome = simulate.covers(unit, simulation, parameters, folder)
    missing = [each for each, count in counts.items() if count == 0]
    log = ""
    if outcome.status != 0:
        log = outcome.ending
    elif len(counts) != proof.covers:
        log = f"the simulation has {len(counts)} cover statements, "
        log += f"the description promises {proof.covers}"
    elif missing:
        log = "not reached: " + ", ".join(missing)
    reached = len(counts) - len(missing)
    note = f"{reached} of {proof.covers} reached by {simulation.name}"
    return [result(unit.name, "cover", name, FAILED if log else PASSED, outcome.seconds,
        covers=reached, note=note, log=log)]  # fmt: skip
