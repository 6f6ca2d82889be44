# SPDX-License-Identifier: Apache-2.0
"""python3 -m hardware.flow.package: what other projects build the units with.

    python3 -m hardware.flow.package --write                # NAME/tutti_NAME.core and Bender.yml
    python3 -m hardware.flow.package --check                # compares them with the descriptions
    python3 -m hardware.flow.package --verilog tutti_mask_unit -G Threads=16 --out mask.v

The first two are FuseSoC's and Bender's descriptions of all units, made from each unit.toml. The
last makes one file of Verilog-2001 of a module, for tools that read no SystemVerilog: a netlist of
registers and operators whose parameters are fixed.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
import tempfile

from . import tools
from .unit import HARDWARE, ROOT, Unit, all_units, with_black_boxes

NOTE = "Made by python3 -m hardware.flow.package --write"
# Warnings about names and parameters, as in lint.py.
OPTIONS = "[-Wall, -Wno-DECLFILENAME, -Wno-UNUSEDPARAM]"


def version() -> str:
    """Returns the version of the project."""
    text = (ROOT / "include" / "tutti" / "version.h").read_text()
    return re.search(r'define TUTTI_VERSION_STRING "([^"]+)"', text).group(1)


def own_sources(unit: Unit) -> list:
    """Returns the unit's sources without those of units that it uses, as paths in its folder."""
    return [str(source.relative_to(unit.folder)) for source in unit.sources
        if source.is_relative_to(unit.folder)]


def used(unit: Unit, units: list) -> list:
    """Returns the other units whose sources this one needs."""
    return [other for other in units if other is not unit
        and any(source.is_relative_to(other.folder) for source in unit.sources)]


def core(unit: Unit, units: list) -> str:
    """Returns the description for FuseSoC."""
    lines = ["CAPI=2:", f"# SPDX-License-Identifier: Apache-2.0. {NOTE}.",
        f"name: tutti:hardware:{unit.name}:{version()}", f'description: "{unit.summary}"', "",
        "filesets:", "  rtl:", "    file_type: systemVerilogSource", "    files:"]
    lines += [f"      - {source}" for source in own_sources(unit)]
    others = used(unit, units)
    if others:
        lines += ["    depend:"]
        lines += [f"      - tutti:hardware:{other.name}" for other in others]
    top = unit.modules[-1].name
    lines += ["", "targets:", "  default:", "    filesets: [rtl]", "  lint:",
        "    filesets: [rtl]", f"    toplevel: {top}", "    default_tool: verilator", "    tools:",
        "      verilator:", "        mode: lint-only", f"        verilator_options: {OPTIONS}"]
    return "\n".join(lines) + "\n"


def in_order(units: list) -> list:
    """Returns the units, each behind those that it uses."""
    done: list = []
    while len(done) < len(units):
        done += [unit for unit in units if unit not in done
            and all(other in done for other in used(unit, units))]
    return done


def bender(units: list) -> str:
    """Returns the description for Bender: the sources of all units, in the order of compilation."""
    lines = [f"# SPDX-License-Identifier: Apache-2.0. {NOTE}.", "package:", "  name: tutti",
        '  authors: ["The tutti developers"]', "", "sources:"]
    for unit in in_order(units):
        lines += [f"  # {unit.name}: {unit.summary}", "  - files:"]
        lines += [f"      - {(unit.folder / source).relative_to(HARDWARE)}"
            for source in own_sources(unit)]
    return "\n".join(lines) + "\n"


def described() -> dict:
    """Returns the contents of every file of description."""
    units = all_units()
    files = {unit.folder / f"tutti_{unit.name}.core": core(unit, units) for unit in units}
    files[HARDWARE / "Bender.yml"] = bender(units)
    return files


def unit_of(module: str) -> Unit:
    """Returns the unit that has the module; raises ValueError if none has."""
    for unit in all_units():
        if module in {m.name for m in unit.modules}:
            return unit
    raise ValueError(f"no unit has a module '{module}'")


def verilog(unit: Unit, module: str, parameters: dict, folder: pathlib.Path) -> pathlib.Path:
    """Writes folder/MODULE.v and returns its path; raises RuntimeError with what Yosys said."""
    generics = " ".join(f"-G {key}={value}" for key, value in parameters.items())
    folder.mkdir(parents=True, exist_ok=True)
    (described,) = [each for each in unit.modules if each.name == module]
    files = " ".join(tools.stage(with_black_boxes(unit, described, unit.sources), folder))
    # The names of inner modules contain their place; flattened, the file has one module.
    script = (
        f"read_slang -j 1 --top {module} {generics} {files}\n"
        f"prep -top {module}\nflatten\nopt_clean -purge\nrename -top {module}\n"
        f"write_verilog -noattr -defparam {module}.v\n"
    )
    outcome = tools.yosys(script, folder)
    if outcome.status != 0:
        raise RuntimeError(tools.first_error(outcome.text))
    return folder / f"{module}.v"


def _parameters(given: list) -> dict:
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"-G takes NAME=VALUE, not '{text}'")
        found[key] = value
    return found


def main(arguments: list) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m hardware.flow.package",
        description="describes the units for FuseSoC and Bender, or exports one as Verilog-2001")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the descriptions")
    what.add_argument("--check", action="store_true", help="compare the descriptions")
    what.add_argument("--verilog", metavar="MODULE", help="export a module of any unit")
    parser.add_argument("-G", action="append", default=[], metavar="NAME=VALUE",
        help="a parameter of the exported module; may be repeated")
    parser.add_argument("--out", type=pathlib.Path, help="the exported file; default: MODULE.v")
    chosen = parser.parse_args(arguments)
    if chosen.verilog:
        try:
            with tempfile.TemporaryDirectory() as folder:
                made = verilog(unit_of(chosen.verilog), chosen.verilog, _parameters(chosen.G),
                    pathlib.Path(folder))
                (chosen.out or pathlib.Path(f"{chosen.verilog}.v")).write_text(made.read_text())
        except (ValueError, RuntimeError, tools.Absent) as error:
            print(f"hardware.flow.package: error: {error}", file=sys.stderr)
            return 1
        return 0
    stale = 0
    for path, text in described().items():
        if path.is_file() and path.read_text() == text:
            continue
        stale += 1
        if chosen.write:
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")
        else:
            print(f"{path.relative_to(ROOT)} is not what its unit says; run with --write")
    return 1 if stale and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
