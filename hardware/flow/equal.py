# SPDX-License-Identifier: Apache-2.0
"""Whether changed sources of a unit are equal to its own: yosys makes the same gates of both; or
ABC proves that a module's outputs and next registers are equal if its registers are; or yosys does
with what the cycles before say; or ABC's reachability compares the outputs.

`stem` is the name of the changed source, which is that of its module.
"""

from __future__ import annotations

import pathlib
import re

from . import prove, tools
from .unit import Module, Unit, label, with_black_boxes

# Seconds for a comparison of two netlists.
EQUIVALENCE_SECONDS = 120
# The gates of original modules, by unit, module and parameters.
_golds: dict = {}


def identical_alone(unit: Unit, stem: str, sources: list,
        folder: pathlib.Path) -> bool:  # fmt: skip
    """Whether yosys makes the same gates of the mutant's own module as of the original's, at all of
    its sizes: the mutant is where nothing reads the value."""
    modules = [module for module in unit.modules if module.name == stem]
    for module, parameters in ((each, size) for each in modules for size in each.parameters):
        key = (str(unit.folder), module.name, label(parameters))
        if key not in _golds:
            _golds[key] = _gates(module, parameters,
                with_black_boxes(unit, module, unit.sources), folder / "same" / "gold")
        if _gates(module, parameters, with_black_boxes(unit, module, sources),
                folder / "same" / "gate") != _golds[key]:
            return False
    return bool(modules)


def _gates(module: Module, parameters: dict, sources: list, place: pathlib.Path) -> str:
    """The netlist of a module without the places in the sources; raises prove.Trouble."""
    generics = " ".join(f"-G {key}={value}" for key, value in parameters.items())
    files = " ".join(tools.stage(sources, place))
    outcome = tools.yosys(
        f"read_slang -j 1 --top {module.name} {generics} {files}\n"
        f"prep -flatten -top {module.name}\nopt -full -purge\n"
        "setattr -unset src\nsetattr -mod -unset src\nrename -top same\n"
        "write_rtlil same.il\n", place)  # fmt: skip
    if outcome.status != 0:
        raise prove.Trouble("yosys: " + tools.first_error(outcome.text))
    return (place / "same.il").read_text()


def equivalent_alone(unit: Unit, stem: str, name: str, sources: list,
        folder: pathlib.Path) -> bool:  # fmt: skip
    """Whether yosys proves that what has the mutant in it equals the original: the function of a
    package, for all arguments, or the module, at all of its sizes."""
    if name != stem:
        return _equal_function(unit, stem, name, sources, folder / "alone")
    modules = [module for module in unit.modules if module.name == stem]
    return bool(modules) and all(
        _equal_in_a_step(unit, module, parameters, sources, folder / "step" / label(parameters))
        or _equal(unit, module, parameters, sources, folder / "alone" / label(parameters))
        for module in modules for parameters in module.parameters)  # fmt: skip


def _equal_function(unit: Unit, package: str, name: str, sources: list,
        folder: pathlib.Path) -> bool:  # fmt: skip
    """Whether a function of a package is the original's equal for all arguments."""
    (path,) = [source for source in unit.sources if source.stem == package]
    head = re.search(rf"function\s+automatic\s+([^;(]*?)\b{name}\s*\(([^)]*)\)",
        path.read_text())  # fmt: skip
    if head is None:
        return False
    arguments = [each.strip() for each in head[2].split(",")]
    ports = "".join(f"  input {each},\n" for each in arguments)
    call = ", ".join(each.split()[-1] for each in arguments)
    probe = folder / "tutti_probe.sv"
    folder.mkdir(parents=True, exist_ok=True)
    probe.write_text(
        f"module tutti_probe import {package}::*; (\n"
        f"{ports}  output {head[1].strip()} result_o\n);\n"
        f"  assign result_o = {name}({call});\nendmodule\n")  # fmt: skip
    packages = [[source for source in some if source.stem.endswith("_pkg")] + [probe]
        for some in (unit.sources, sources)]  # fmt: skip
    script = _read_both(Module("tutti_probe"), {}, packages[0], packages[1], folder) + (
        "miter -equiv -flatten gold gate miter\nsat -verify -prove trigger 0 miter\n"
    )
    return tools.yosys(script, folder, EQUIVALENCE_SECONDS).status == 0


def equivalent(unit: Unit, tops: list, sources: list, folder: pathlib.Path) -> bool:
    """Whether yosys proves that every top module is the original's equal, at all of its sizes: what
    one size leaves out, such as a register that a parameter adds, another has."""
    for module in tops:
        for parameters in module.parameters:
            if not _equal(unit, module, parameters, sources,
                    folder / "equivalence" / module.name / label(parameters)):  # fmt: skip
                return False
    return bool(tops)


def _read_both(module: Module, parameters: dict, original: list, sources: list,
        place: pathlib.Path) -> str:  # fmt: skip
    """The script that reads the module as it is, `gold`, and the mutant's, `gate`."""
    generics = " ".join(f"-G {key}={value}" for key, value in parameters.items())
    script = ""
    for name, files in (("gold", original), ("gate", sources)):
        staged = " ".join(f"{name}/{file}" for file in tools.stage(files, place / name))
        script += (
            f"read_slang -j 1 --top {module.name} {generics} {staged}\n"
            f"prep -flatten -top {module.name}\nmemory_map\nopt -full\nasync2sync\n"
            f"chformal -remove\nrename -top {name}\ndesign -stash {name}\n"
        )
    return script + (
        "design -copy-from gold -as gold gold\ndesign -copy-from gate -as gate gate\n"
    )


def _equal_in_a_step(unit: Unit, module: Module, parameters: dict, sources: list,
        place: pathlib.Path) -> bool:  # fmt: skip
    """Whether the module, which alone has changed, gives equal values to its outputs, its instances
    and its next registers whenever its inputs, its registers and the outputs of its instances are
    equal. Undefined bits are 0, as in the proofs."""
    generics = " ".join(f"-G {key}={value}" for key, value in parameters.items())
    script = ""
    for name, files in (("gold", unit.sources), ("gate", sources)):
        staged = " ".join(f"{name}/{file}" for file in tools.stage(files, place / name))
        # Registers begin with any contents, the same in both, so none may have its own.
        script += (
            f"read_slang -j 1 --keep-hierarchy --top {module.name} {generics} {staged}\n"
            f"hierarchy -top {module.name}\nselect {module.name}\nproc\nopt_clean\n"
            "memory_collect\nmemory_map\nasync2sync\nchformal -remove\n"
            "select -assert-none a:init\ndffunmap\nexpose -evert -dff -evert-dff\n"
            f"select -clear\nrename {module.name} {name}\ndesign -stash {name}\n"
        )
    script += (
        "design -copy-from gold -as gold gold\ndesign -copy-from gate -as gate gate\n"
        "miter -equiv -flatten gold gate miter\nhierarchy -top miter\nopt_clean\n"
        "setundef -zero\nsimplemap\ntechmap\nsimplemap\nsetundef -zero\naigmap\n"
        "write_aiger problem.aig\n"
    )
    if tools.yosys(script, place, EQUIVALENCE_SECONDS).status != 0:
        return False
    proved = tools.run([tools.find("berkeley-abc"), "-c", "read_aiger problem.aig; strash; iprove"],
        EQUIVALENCE_SECONDS, place)  # fmt: skip
    return "UNSATISFIABLE" in proved.text


def _equal(unit: Unit, module: Module, parameters: dict, sources: list,
        place: pathlib.Path) -> bool:  # fmt: skip
    by_name = (
        "equiv_make gold gate equal\nhierarchy -top equal\nclean -purge\nequiv_simple -undef\n"
        "equiv_induct -undef\nequiv_status -assert\n"
    )
    script = _read_both(module, parameters, with_black_boxes(unit, module, unit.sources),
        with_black_boxes(unit, module, sources), place) + by_name
    return tools.yosys(script, place, EQUIVALENCE_SECONDS).status == 0


# Counts a difference only after the first cycle of reset.
SEEN = """
module tutti_seen (input clk, input rst_n, input differ, output bad);
  reg seen = 1'b0;
  always @(posedge clk) seen <= seen || !rst_n;
  assign bad = differ && seen;
endmodule
"""


def equivalent_after_reset(unit: Unit, stem: str, sources: list,
        folder: pathlib.Path) -> bool:  # fmt: skip
    """Whether ABC proves that the mutant's own module is the original's equal at all of its sizes,
    whatever its registers contain at power-on and whatever comes to its inputs."""
    for module in unit.modules:
        if module.name == stem:
            return all(_equal_after_reset(unit, module, parameters, sources,
                folder / "reset" / label(parameters)) for parameters in module.parameters)
    return False


def _equal_after_reset(unit: Unit, module: Module, parameters: dict, sources: list,
        place: pathlib.Path) -> bool:  # fmt: skip
    script = _read_both(module, parameters, with_black_boxes(unit, module, unit.sources),
        with_black_boxes(unit, module, sources), place) + (
        "miter -equiv -flatten gold gate miter\nhierarchy -top miter\nwrite_rtlil miter.il\n"
    )
    if tools.yosys(script, place, EQUIVALENCE_SECONDS).status != 0:
        return False
    text = (place / "miter.il").read_text()
    if "\\in_clk_i" not in text or "\\in_rst_ni" not in text:
        return False
    # The gate stands at the end of the one module.
    gate = ("  wire output 1000000 \\bad\n  cell \\tutti_seen \\gate_of_reset\n"
        "    connect \\clk \\in_clk_i\n    connect \\rst_n \\in_rst_ni\n"
        "    connect \\differ \\trigger\n    connect \\bad \\bad\n  end\n")  # fmt: skip
    body = re.sub(r"wire output \d+ (\\trigger)", r"wire \1", text.rstrip().removesuffix("end"))
    (place / "checked.il").write_text(body + gate + "end\n")
    (place / "seen.v").write_text(SEEN)
    # Registers that no reset sets begin with any value: -zinit makes inputs of it.
    script = (
        "read_rtlil checked.il\nread_verilog seen.v\nhierarchy -top miter\nproc\nflatten\n"
        "setundef -anyseq\nopt -full\ndffunmap\nsimplemap\ntechmap\nsimplemap\n"
        "aigmap\nwrite_aiger -zinit problem.aig\n"
    )
    if tools.yosys(script, place, EQUIVALENCE_SECONDS).status != 0:
        return False
    verdict, _ = prove.reach(place, EQUIVALENCE_SECONDS)
    return verdict is True
