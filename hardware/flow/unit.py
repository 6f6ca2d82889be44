# SPDX-License-Identifier: Apache-2.0
"""Descriptions of hardware units: reads `unit.toml` files and refuses what it does not understand."""

from __future__ import annotations

import dataclasses
import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
HARDWARE = ROOT / "hardware"


class BadDescription(ValueError):
    """A unit.toml that cannot be used; the message names the file and the key."""


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Parameters that elaboration must refuse with a sentence that contains `message`."""

    parameters: dict
    message: str


@dataclasses.dataclass(frozen=True)
class Module:
    """A module that is linted and elaborated alone, at each set of parameters."""

    name: str
    parameters: list = dataclasses.field(default_factory=lambda: [{}])
    refused: list = dataclasses.field(default_factory=list)
    waive: list = dataclasses.field(default_factory=list)  # Verilator warnings, each with a reason in a comment


@dataclasses.dataclass(frozen=True)
class Proof:
    """Assertions of a top module, proved at each set of parameters."""

    name: str
    top: str
    files: list
    method: str  # induction | bmc | pdr
    assertions: dict | int  # how many must reach the solver: of each parameter set, keyed "Threads=28", or of all
    depth: int = 1  # induction: its k; bmc: steps
    base: int = 0  # induction: steps of the base case; 0: as many as k
    parameters: list = dataclasses.field(default_factory=lambda: [{}])
    covers: int = 0  # cover statements, all of which must be reached
    cover_depth: int = 20
    cover_parameters: dict = dataclasses.field(default_factory=dict)
    bug_parameters: dict = dataclasses.field(default_factory=dict)  # small, so that a bug gives a trace
    bug_depth: int = 20
    bugs: bool = True  # takes part in the mutation run
    quick: bool | list = True  # in quick runs: all parameter sets, none, or these
    solver: str = "bitwuzla"  # or what else yosys-smtbmc knows and is installed: z3, cvc5
    timeout: int = 300  # seconds of one solver run


@dataclasses.dataclass(frozen=True)
class Bug:
    """A seeded bug: `old` stands exactly once in `file` and becomes `new`; the proofs or simulations must object."""

    name: str
    file: str
    old: str
    new: str
    proofs: list = dataclasses.field(default_factory=list)  # empty: any proof of the unit
    simulations: list = dataclasses.field(default_factory=list)  # for what only a simulation can see


@dataclasses.dataclass(frozen=True)
class Simulation:
    """A Verilator model with a C++ harness: exit status 0 passes; lines of JSON on stdout are results."""

    name: str
    top: str
    harness: list
    parameters: list = dataclasses.field(default_factory=lambda: [{}])
    quick: list = dataclasses.field(default_factory=list)  # the parameter sets of quick runs
    files: list = dataclasses.field(default_factory=list)  # SystemVerilog beside the unit's sources
    arguments: list = dataclasses.field(default_factory=list)
    quick_arguments: list = dataclasses.field(default_factory=list)
    defines: dict = dataclasses.field(default_factory=dict)  # of the harness
    coverage: bool = True
    timeout: int = 300


@dataclasses.dataclass(frozen=True)
class Synthesis:
    """Parameter sets of a top module that are synthesised for each target."""

    top: str
    parameters: list = dataclasses.field(default_factory=lambda: [{}])
    targets: list = dataclasses.field(default_factory=lambda: ["xilinx", "ecp5", "intel", "ice40"])
    place: list = dataclasses.field(default_factory=list)  # parameter sets that nextpnr places, for the clock rate
    quick: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Unit:
    """One unit: a folder with a unit.toml."""

    name: str
    folder: pathlib.Path
    summary: str
    sources: list  # absolute, in compile order, those of used units first
    modules: list
    proofs: list
    bugs: list
    simulations: list
    synthesis: list


def _make(kind, table: dict, where: str):
    known = {field.name for field in dataclasses.fields(kind)}
    for key in table:
        if key not in known:
            raise BadDescription(f"{where}: unknown key '{key}' (known: {', '.join(sorted(known))})")
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
        # Packages are compiled before the modules that import them.
        files.sort(key=lambda f: not f.name.endswith("_pkg.sv"))
        found += [f for f in files if f not in found]
    return found


def load(path: pathlib.Path) -> Unit:
    """The unit that `path`, a unit.toml, describes. Raises BadDescription."""
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise BadDescription(f"{path}: {error}") from error
    folder = path.parent
    allowed = {"name", "summary", "sources", "uses", "module", "proof", "bug", "simulation", "synthesis"}
    for key in table:
        if key not in allowed:
            raise BadDescription(f"{path}: unknown key '{key}' (known: {', '.join(sorted(allowed))})")
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
        modules.append(_make(Module, entry, where))

    def tables(key, kind):
        return [_make(kind, e, f"{path}: {key} {e.get('name', i)}") for i, e in enumerate(table.get(key, []))]

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
            raise BadDescription(f"{path}: proof {proof.name}: method '{proof.method}' is none of induction, bmc, pdr")
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
                f"{path}: bug {bug.name}: '{bug.old}' stands {text.count(bug.old)} times in {bug.file}, not once"
            )


def all_units() -> list:
    """Every unit under hardware/, by name."""
    units = [load(path) for path in sorted(HARDWARE.glob("*/unit.toml")) + sorted(HARDWARE.glob("*/*/unit.toml"))]
    return sorted(units, key=lambda unit: unit.name)


def label(parameters: dict) -> str:
    """`Threads=28,Ports=4`: how a parameter set is written in names and results."""
    return ",".join(f"{key}={value}" for key, value in parameters.items())
