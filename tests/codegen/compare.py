#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the code that the compiler made of the library's barriers with that of handwritten ones.

compare.py LIBRARY.o HANDWRITTEN.o FUNCTION...
compare.py --at-most COUNT LIBRARY.o FUNCTION...

The disassemblies, without addresses and names of symbols, must be equal. If the compiler chose
other registers or another order, the library's code must not have more instructions than the
handwritten code, and it must have the same expensive ones: locked instructions, fences, pauses,
calls. Both are printed. In the second form each function must have at most COUNT instructions: rare
cases must not be inlined. Exit status 77 (skipped) when objdump is not installed.
"""

import collections
import difflib
import re
import shutil
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>.*?)(?:\(.*)?>:$")
INSTRUCTION = re.compile(r"^\s+(?P<address>[0-9a-f]+):\s+(?P<code>\S.*?)\s*$")
TARGET = re.compile(r"\b[0-9a-f]+ <[^>].*>$")
COMMENT = re.compile(r"\s+[#;]\s.*$|\s+//\s.*$")
COSTLY = re.compile(
    r"(lock( \w+)?|xchg|[lsm]fence|pause|call|"  # x86-64
    r"ld[ax]\w+|st[lx]\w+|cas\w*|swp\w*|ldadd\w*|d[ms]b|isb|bl)\b"  # AArch64
)
# These instructions fill the space between loops.
PADDING = re.compile(r"^(nop|data16|cs nop|xchg\s+%ax,%ax)")


def disassemble(path: str) -> dict[str, list[str]]:
    """The instructions of each function. A jump inside it names the index of its target
    instruction.
    """
    command = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    functions: dict[str, list[tuple[int, str]]] = {}
    current: list[tuple[int, str]] = []
    for line in text.splitlines():
        if start := FUNCTION.match(line):
            current = functions.setdefault(start["name"], [])
        elif instruction := INSTRUCTION.match(line):
            code = COMMENT.sub("", instruction["code"])
            if not PADDING.match(code):
                current.append((int(instruction["address"], 16), code))
    return {name: normalise(code) for name, code in functions.items()}


def normalise(instructions: list[tuple[int, str]]) -> list[str]:
    index_of = {address: index for index, (address, _) in enumerate(instructions)}
    addresses = sorted(index_of)

    def label(match: re.Match) -> str:
        target = int(match.group().split()[0], 16)
        # A jump may go to the padding before an instruction.
        after = next((address for address in addresses if address >= target), None)
        return f"@{index_of[after]}" if after is not None else "@end"

    return [re.sub(r"\s+", " ", TARGET.sub(label, code)) for _, code in instructions]


def costly(instructions: list[str]) -> collections.Counter:
    return collections.Counter(
        match.group() for code in instructions if (match := COSTLY.match(code))
    )


def show(title: str, instructions: list[str]) -> None:
    print(f"  {title}: {len(instructions)} instructions")
    for index, code in enumerate(instructions):
        print(f"    {index:4}  {code}")


def compare(name: str, library: list[str], handwritten: list[str]) -> bool:
    print(f"{name}: library {len(library)} instructions, hand-written {len(handwritten)}")
    if library == handwritten:
        print("  equal, instruction by instruction:")
        show("both", library)
        return True
    show("library", library)
    show("hand-written", handwritten)
    if len(library) <= len(handwritten) and costly(library) == costly(handwritten):
        print("  no more instructions than by hand; the same atomics, fences, pauses and calls")
        return True
    print("  DIFFERENT:")
    print(
        "\n".join(
            difflib.unified_diff(library, handwritten, "library", "hand-written", lineterm="")
        )
    )
    return False


def count(most: int, path: str, names: list[str]) -> int:
    """0 if none of the functions has more than `most` instructions, 1 if one has, 2 if one does not
    exist.
    """
    functions = disassemble(path)
    result = 0
    for name in names:
        if not functions.get(name):
            print(f"{name}: error: no such function in {path}", file=sys.stderr)
            return 2
        length = len(functions[name])
        print(f"{name}: {length} instructions, at most {most} wanted")
        if length > most:
            show("TOO LONG", functions[name])
            result = 1
    return result


def main() -> int:
    if len(sys.argv) < 4 or (sys.argv[1] == "--at-most" and len(sys.argv) < 5):
        print(__doc__, file=sys.stderr)
        return 2
    if shutil.which("objdump") is None:
        print("SKIPPED: objdump is not installed (Debian: binutils)")
        return 77
    if sys.argv[1] == "--at-most":
        return count(int(sys.argv[2]), sys.argv[3], sys.argv[4:])
    library, handwritten = disassemble(sys.argv[1]), disassemble(sys.argv[2])
    equal = True
    for name in sys.argv[3:]:
        if not library.get(name) or not handwritten.get(name):
            print(
                f"{name}: error: no such function in {sys.argv[1]} or {sys.argv[2]}",
                file=sys.stderr,
            )
            return 2
        equal = compare(name, library[name], handwritten[name]) and equal
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
