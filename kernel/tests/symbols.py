#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints, as a table, the symbols that the objects of kernel/library/ give to the C++ library.

A symbol that the image does not contain is an error: no program needs it.
usage: symbols.py IMAGE OBJECT...
"""

import pathlib
import subprocess
import sys


def symbols_of(path: str) -> set[str]:
    command = ["nm", "--defined-only", "--extern-only", "--format=posix", path]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    # Names of C++ begin with _Z.
    return {line.split()[0] for line in lines.splitlines() if not line.startswith("_Z")}


def main(image: str, objects: list[str]) -> None:
    linked = symbols_of(image)
    unused = []
    print("| file | symbols |\n|---|---|")
    for path in sorted(objects):
        given = sorted(symbols_of(path), key=lambda name: name.strip("_").lower())
        unused += [name for name in given if name not in linked]
        if given:
            name = pathlib.Path(path).name.split(".")[0]
            print(f"| `{name}.cpp` | {' '.join(f'`{each}`' for each in given)} |")
    if unused:
        sys.exit("symbols: no program of the image needs " + ", ".join(unused))


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    main(sys.argv[1], sys.argv[2:])
