# SPDX-License-Identifier: Apache-2.0
"""Descriptions of hardware units: reads `unit.toml` files and refuses unknown keys and values."""

from __future__ import annotations

import dataclasses
import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
HARDWARE = ROOT / "hardware"


class BadDescription(ValueError):
    """A unit.toml is not valid; the message names the file and the key."""


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Parameters that elaboration must refuse with a message that contains `message`."""

    parameters: dict
    message: str
    # Verilator elaborates the whole design before it says what it refuses, which takes long for
    # many cores.
    tools: tuple = ("verilator", "slang")


@dataclasses.dataclass(frozen=True)
class Module:
    """A module that is linted and elaborated alone, at each set of parameters."""

    name: str
    parameters: list = dataclasses.field(default_factory=lambda: [{}])
    # The parameter sets of quick runs; empty: all.
    quick: list = dataclasses.field(default_factory=list)
    refused: list = dataclasses.field(default_factory=list)
    # Verilator warnings, each with a reason in a comment.
    waive: list = dataclasses.field(default_factory=list)
    # Files with the ports of modules that are none of the unit's sources.
    black_boxes: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Proof:
    """Assertions of a top module, proved at each set of parameters."""

    name: str
    top: str
    files: list
    # induction, bmc or pdr.
    method: str
    # The number of assertions that must reach the solver: for each parameter set, keyed
    # "Threads=28", or for all.
    assertions: dict | int
    # For induction: k. For bmc: steps.
    depth: int = 1
    # For induction: steps of the base case; 0 means k.
    base: int = 0
    parameters: list = dataclasses.field(default_factory=lambda: [{}])
    # The number of cover statements; all must be reached.
    covers: int = 0
    cover_depth: int = 20
    # A simulation of the proof's top that reaches them instead of the solver.
    cover_by: str = ""
    cover_parameters: dict = dataclasses.field(default_factory=dict)
    # Small parameters, at which a bug gives a trace.
    bug_parameters: dict = dataclasses.field(default_factory=dict)
    bug_depth: int = 20
    # True if the proof takes part in the mutation run.
    bugs: bool = True
    # In quick runs: all parameter sets (True), none (False), or the listed ones.
    quick: bool | list = True
    # Whether quick runs of the proof reach its covers too.
    quick_covers: bool = True
    # Any solver that yosys-smtbmc supports and that is installed: bitwuzla, z3, cvc5.
    solver: str = "bitwuzla"
    # Seconds of processor time of one solver run.
    timeout: int = 300


@dataclasses.dataclass(frozen=True)
class Bug:
    """A seeded bug: `old` occurs exactly once in `file` and becomes `new`; the proofs or
    simulations must fail."""

    name: str
    file: str
    old: str
    new: str
    # Empty for any proof of the unit.
    proofs: list = dataclasses.field(default_factory=list)
    # For bugs that only a simulation can find.
    simulations: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Simulation:
    """A Verilator model with a C++ harness: exit status 0 passes; lines of JSON on stdout are
    results."""

    name: str
    top: str
    harness: list
    parameters: list = dataclasses.field(default_factory=lambda: [{}])
    # The parameter sets of quick runs.
    quick: list = dataclasses.field(default_factory=list)
    # SystemVerilog files in addition to the unit's sources.
    files: list = dataclasses.field(default_factory=list)
    arguments: list = dataclasses.field(default_factory=list)
    quick_arguments: list = dataclasses.field(default_factory=list)
    # Macros for the harness.
    defines: dict = dataclasses.field(default_factory=dict)
    coverage: bool = True
    # A file of the unit that has the lines that it prints; flow's --keep writes it.
    kept: str = ""
    # True if it judges drawn mutants.
    mutants: bool = True
    timeout: int = 300


@dataclasses.dataclass(frozen=True)
class Synthesis:
    """Parameter sets of a top module that are synthesised for each target."""

    top: str
    parameters: list = dataclasses.field(default_factory=lambda: [{}])
    targets: list = dataclasses.field(default_factory=lambda: ["xilinx", "ecp5", "intel", "ice40"])
    # Parameter sets that nextpnr places, for the clock rate.
    place: list = dataclasses.field(default_factory=list)
    # With these seeds, 1 and following; the median counts.
    seeds: int = 1
    quick: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Unit:
    """One unit: a folder with a unit.toml."""

    name: str
    folder: pathlib.Path
    summary: str
    # Absolute paths in compile order, those of used units first.
    sources: list
    modules: list
    proofs: list
    bugs: list
    simulations: list
    synthesis: list


def _make(kind, table: dict, where: str):
    known = {field.name for field in dataclasses.fields(kind)}
    for key in table:
        if key not in known:
            raise BadDescription(
                f"{where}: unknown key '{key}' (known: {', '.join(sorted(known))})")
    needed = {
        f.name
        for f in dataclasses.fields(kind)
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    }
    for key in sorted(needed - table.keys()):
        raise BadDescription(f"{where}: key '{key}' is missing")
    return kind(**table)


def _expand(folder: pathlib.Path, patterns: list, where: str) -> list:
    found = []
    for pattern in patterns:
        files = sorted(folder.glob(pattern))
        if not files:
            raise BadDescription(f"{where}: no file matches '{pattern}'")
        # Compile packages before the modules that import them.
        files.sort(key=lambda f: not f.name.endswith("_pkg.sv"))
        found += [f for f in files if f not in found]
    return found


def load(path: pathlib.Path) -> Unit:
    """Returns the unit that `path`, a unit.toml, describes. Raises BadDescription."""
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise BadDescription(f"{path}: {error}") from error
    folder = path.parent
    allowed = {"name", "summary", "sources", "uses", "module", "proof", "bug", "simulation",
        "synthesis"}
    for key in table:
        if key not in allowed:
            raise BadDescription(
                f"{path}: unknown key '{key}' (known: {', '.join(sorted(allowed))})")
    for key in ("name", "sources", "module"):
        if key not in table:
            raise BadDescription(f"{path}: key '{key}' is missing")
    sources = []
    for other in table.get("uses", []):
        sources += [s for s in load(HARDWARE / other / "unit.toml").sources if s not in sources]
    sources += [s for s in _expand(folder, table["sources"], str(path)) if s not in sources]
    sources.sort(key=lambda f: not f.name.endswith("_pkg.sv"))

    modules = []
    for number, entry in enumerate(table["module"]):
        where = f"{path}: module {entry.get('name', number)}"
        entry = dict(entry)
        entry["refused"] = [_make(Refusal, r, where + " refused") for r in entry.get("refused", [])]
        for refusal in entry["refused"]:
            if not refusal.tools or set(refusal.tools) - set(Refusal.tools):
                raise BadDescription(
                    f"{where} refused: tools {list(refusal.tools)} are not some of verilator, "
                    "slang")
        modules.append(_make(Module, entry, where))

    def tables(key, kind):
        return [_make(kind, e, f"{path}: {key} {e.get('name', i)}") for i,
            e in enumerate(table.get(key, []))]

    unit = Unit(
        name=table["name"],
        folder=folder,
        summary=table.get("summary", ""),
        sources=sources,
        modules=modules,
        proofs=tables("proof", Proof),
        bugs=tables("bug", Bug),
        simulations=tables("simulation", Simulation),
        synthesis=tables("synthesis", Synthesis),
    )
    _check(unit, path)
    return unit


def _check(unit: Unit, path: pathlib.Path) -> None:
    proofs = {proof.name for proof in unit.proofs}
    simulations = {simulation.name for simulation in unit.simulations}
    for proof in unit.proofs:
        if proof.method not in ("induction", "bmc", "pdr"):
            raise BadDescription(
                f"{path}: proof {proof.name}: method '{proof.method}' is none of induction, "
                "bmc, pdr")
        if proof.cover_by and proof.cover_by not in simulations:
            raise BadDescription(
                f"{path}: proof {proof.name}: no simulation is called '{proof.cover_by}'")
    for bug in unit.bugs:
        for name in bug.proofs:
            if name not in proofs:
                raise BadDescription(f"{path}: bug {bug.name}: no proof is called '{name}'")
        for name in bug.simulations:
            if name not in simulations:
                raise BadDescription(f"{path}: bug {bug.name}: no simulation is called '{name}'")
        text = (unit.folder / bug.file).read_text() if (unit.folder / bug.file).is_file() else None
        if text is None:
            raise BadDescription(f"{path}: bug {bug.name}: there is no file '{bug.file}'")
        if text.count(bug.old) != 1:
            raise BadDescription(
                f"{path}: bug {bug.name}: '{bug.old}' stands {text.count(bug.old)} times in "
                f"{bug.file}, not once"
            )


def with_black_boxes(unit: Unit, module: Module, sources: list) -> list:
    """Returns the sources and the ports of what the module instantiates from elsewhere."""
    return [*sources, *(unit.folder / file for file in module.black_boxes)]


def all_units() -> list:
    """Returns every unit under hardware/, by name."""
    units = [load(path) for path in sorted(HARDWARE.glob("*/unit.toml"))
        + sorted(HARDWARE.glob("*/*/unit.toml"))]
    return sorted(units, key=lambda unit: unit.name)


def label(parameters: dict) -> str:
    """Returns a parameter set as names and results show it: `Threads=28,Ports=4`."""
    return ",".join(f"{key}={value}" for key, value in parameters.items())
