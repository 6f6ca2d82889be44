#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says how many of Debian's packages that use libgomp tutti would take over, and which symbol
stops each of the others.

The command reads the dynamic symbol tables of the packages' programs and libraries, as the library
itself does before main (preload/openmp/takeover.cpp): a package is taken over if tutti has each
symbol of an OpenMP runtime that one of its files imports, in the version that it imports. By
default it reads the installed packages that depend on libgomp1. It also takes .deb files; `apt-get
download NAME` fetches one.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator

PREFIXES = (
    "GOMP_", "GOACC_", "omp_", "ompc_", "ompx_", "acc_", "__kmpc_", "kmp_", "kmpc_",
)
# The columns of readelf --dyn-syms: number, value, size, type, binding, visibility, section, name.
SYMBOL = re.compile(
    r"^ *\d+: [0-9a-f]+ +\S+ +\w+ +(GLOBAL|WEAK|UNIQUE) +\w+ +(\w+) ([^\s@]+)(?:@@?(\S+))?"
)


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def symbols_of(file: pathlib.Path) -> Iterator[tuple[str, str, str, str]]:
    """The binding, section, name and version of each symbol."""
    for line in output_of("readelf", "--dyn-syms", "--wide", str(file)).splitlines():
        found = SYMBOL.match(line)
        if found:
            yield found[1], found[2], found[3], found[4] or ""


def imports_of(file: pathlib.Path) -> set[tuple[str, str]]:
    """The symbols of an OpenMP runtime that the file cannot do without, and their versions."""
    return {
        (name, version)
        for binding, section, name, version in symbols_of(file)
        if section == "UND" and binding != "WEAK" and name.startswith(PREFIXES)
    }


def is_elf(file: pathlib.Path) -> bool:
    try:
        if file.is_symlink() or not file.is_file():
            return False
        with file.open("rb") as opened:
            return opened.read(4) == b"\x7fELF"
    except OSError:
        return False


def dependants() -> list[str]:
    """The packages that depend on libgomp1, says the list that apt has."""
    lines = output_of("apt-cache", "rdepends", "libgomp1").splitlines()[2:]
    return sorted({line.strip(" |") for line in lines} - {"libgomp1", "gcc", ""})


def installed(names: list[str]) -> list[str]:
    """Those that are installed, without those that belong to the compiler itself."""
    wanted = ("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n", *names)
    lines = output_of(*wanted).splitlines()
    return sorted({line.split()[-1] for line in lines if line.startswith("ii")})


def files_of(package: str) -> Iterable[pathlib.Path]:
    return (pathlib.Path(line) for line in output_of("dpkg", "-L", package).splitlines())


def imports_of_all(files: Iterable[pathlib.Path]) -> dict[tuple[str, str], str]:
    """What a package imports, and the name of a file that does."""
    found: dict[tuple[str, str], str] = {}
    for file in files:
        if is_elf(file):
            for symbol in imports_of(file):
                found.setdefault(symbol, file.name)
    return found


def read(package: str) -> tuple[str, dict[tuple[str, str], str]]:
    """The name of a package, or of a .deb file, and what it imports."""
    if not package.endswith(".deb"):
        return package, imports_of_all(files_of(package))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
        return (
            pathlib.Path(package).name.split("_")[0],
            imports_of_all(pathlib.Path(folder).rglob("*")),
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--library", type=pathlib.Path, help="tutti's runtime (of the build)")
    parser.add_argument("packages", nargs="*", help="names of installed packages, .deb files")
    asked = parser.parse_args()
    library = asked.library or asked.build / "preload/libtutti_openmp.so"
    if not library.is_file():
        print(f"packages.py: there is no {library}; build it first", file=sys.stderr)
        return 1
    ours = collections.defaultdict(set)
    for _, section, name, version in symbols_of(library):
        if section != "UND":
            ours[name].add(version)

    depending = [] if asked.packages else dependants()
    packages = asked.packages or installed(depending)
    if depending:
        print(f"{len(depending)} packages depend on libgomp1; {len(packages)} are installed.")
    taken, stopped, without = [], [], []
    for package in packages:
        name, imports = read(package)
        missing = sorted(
            (symbol, version, file)
            for (symbol, version), file in imports.items()
            if symbol not in ours or (version and version not in ours[symbol])
        )
        if not imports:
            without.append(name)
        elif missing:
            stopped.append((name, missing))
        else:
            taken.append(name)
    print(f"{len(taken) + len(stopped)} import OpenMP; tutti takes {len(taken)} over: "
          f"{', '.join(taken)}.")
    for name, missing in stopped:
        symbol, version, file = missing[0]
        if version:
            symbol += f"@{version}"
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        print(f"{name} runs untouched: {file} imports {symbol}{more}.")
    if without:
        print(f"{len(without)} import nothing of OpenMP: {', '.join(without)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
