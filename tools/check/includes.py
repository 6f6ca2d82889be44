#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes go downwards only, that no two folders include each other, and that only
platform/ depends on the machine.

The layers of the library, from the lowest to the highest; a file includes its own layer and those
before it:
  platform schedule wait barrier event message reduce team termination comm detect mpi graph
  registry tutti.h src workloads vcode
(detect has the headers of an older spelling, which forward to comm and termination.)
In the whole tree, C++ and Python, no two folders include each other; a folder and those inside it
count as one. A header that is not public is included by its path from the root. Assembly,
intrinsics, system calls and #if on an instruction set or operating system may only be in
include/tutti/platform/ (src/ may include system headers, as programs do).
"""

import pathlib
import re
import sys

import sources
from sources import Violation

LAYERS = (
    "platform schedule wait barrier event message reduce team termination comm detect mpi graph "
    "registry tutti.h "
    "src workloads vcode"
).split()
# Files directly in include/tutti/ that belong to a layer other than `registry`, the top of the C++
# API.
ROOT_HEADERS = {"version.h": "platform", "export.h": "platform"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
MACHINE_MACRO = re.compile(
    r"\b(__x86_64__|__i386__|__amd64__|__aarch64__|__arm__"
    r"|__riscv\w*|__powerpc\w*|__s390x?__|__loongarch\w*"
    r"|__SSE\w*|__AVX\w*|__WAITPKG__|__ARM_\w+|__linux__|__unix__|__APPLE__|__FreeBSD__"
    r"|_WIN32|__BYTE_ORDER__)\b"
)
MACHINE_CODE = re.compile(
    r"(?P<asm>\b(?:asm|__asm__?|__asm)\b\s*(?:volatile|goto|\())"
    r"|(?P<intrinsic>\b(?:_mm\w*_\w+|__builtin_(?:ia32|arm|aarch64|ppc)_\w+"
    r"|_umwait|_umonitor|_tpause|__rdtscp?)\b)"
    r"|(?P<syscall>\bsyscall\s*\()"
)
SYSTEM_HEADER = re.compile(
    r"^(linux/.*|asm/.*|sys/.*|unistd\.h|sched\.h|pthread\.h|time\.h|signal\.h"
    r"|fcntl\.h|poll\.h|dlfcn\.h"
    r"|cpuid\.h|[a-z0-9]*intrin\.h|arm_\w+\.h)$"
)

# The C interface beside tutti.h.
C_PARTS = (("include", "tutti", "messages.h"), ("include", "tutti", "graph.h"))


def layer_of(path: pathlib.PurePosixPath) -> str | None:
    """The layer of a path relative to the root of the project; None for a path without a layer."""
    parts = path.parts
    if parts[:1] in (("src",), ("workloads",), ("vcode",)):
        return parts[0]
    if parts == ("include", "tutti.h") or parts in C_PARTS:
        return "tutti.h"
    if parts[:2] != ("include", "tutti"):
        return None
    if len(parts) == 3:
        return ROOT_HEADERS.get(parts[2], "registry")
    return parts[2]


def check_layers(path: pathlib.Path, layer: str, target: str, line: int) -> Violation | None:
    target_layer = layer_of(pathlib.PurePosixPath("include") / target)
    if target_layer is None:
        return Violation(path, line, f'include of "{target}", which is not part of include/')
    if target_layer not in LAYERS:
        return Violation(
            path, line,
            f"layer '{target_layer}' is unknown; add it to LAYERS in tools/check/includes.py",
        )
    if LAYERS.index(target_layer) > LAYERS.index(layer):
        return Violation(
            path, line, f"{layer} includes {target} upwards: {target_layer} stands above it"
        )
    return None


def check_machine(path: pathlib.Path, line: sources.Line) -> Violation | None:
    if re.match(r"\s*#\s*(if|elif|ifdef|ifndef)", line.code) and (
        macro := MACHINE_MACRO.search(line.code)
    ):
        return Violation(
            path, line.number, f"#if on {macro.group()} outside include/tutti/platform/"
        )
    if code := MACHINE_CODE.search(line.code):
        return Violation(path, line.number, f"{code.lastgroup} outside include/tutti/platform/")
    return None


def check_file(root: pathlib.Path, path: pathlib.Path, text: str) -> list[Violation]:
    relative = pathlib.PurePosixPath(path.relative_to(root).as_posix())
    layer = layer_of(relative)
    if layer is None:
        return []
    if layer not in LAYERS:
        return [
            Violation(
                path, 1, f"layer '{layer}' is unknown; add it to LAYERS in tools/check/includes.py"
            )
        ]
    is_header = relative.parts[0] == "include"
    found: list[Violation | None] = []
    raw = text.split("\n")
    for line in sources.lines_of(text):
        # The name in an #include is a string, which lines_of() blanks; a commented one has no code.
        include = (
            INCLUDE.match(raw[line.number - 1]) if line.code.lstrip().startswith("#") else None
        )
        if include:
            quote, target = include.groups()
            if target.startswith("tutti/") or target == "tutti.h" or (is_header and quote == '"'):
                found.append(check_layers(path, layer, target, line.number))
            elif is_header and layer != "platform" and SYSTEM_HEADER.match(target):
                found.append(
                    Violation(path, line.number, f"<{target}> outside include/tutti/platform/")
                )
        elif layer != "platform":
            found.append(check_machine(path, line))
    return [violation for violation in found if violation]


def find_cycle(root: pathlib.Path) -> list[Violation]:
    """Headers of one layer may include each other, but not in a circle."""
    include = root / "include"
    edges = {
        path.relative_to(include).as_posix(): INCLUDES.findall(path.read_text(encoding="utf-8"))
        for path in sources.source_files(root, ["include"])
    }
    done: set[str] = set()

    def visit(header: str, trail: tuple[str, ...]) -> list[str] | None:
        if header in trail:
            return [*trail[trail.index(header) :], header]
        if header in done or header not in edges:
            return None
        done.add(header)
        return next((c for target in edges[header] if (c := visit(target, (*trail, header)))), None)

    for header in edges:
        if cycle := visit(header, ()):
            return [Violation(include / cycle[0], 1, "includes in a circle: " + " -> ".join(cycle))]
    return []


INCLUDES = re.compile(r'^\s*#\s*include\s*["<](tutti[/.][^">]+)[">]', re.MULTILINE)


# Their includes are relative: programs of users, and programs for a machine without this tree.
RELATIVE = ("examples", "hardware/isa", "tests/install")
IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+(\w+)|import\s+([\w.]+))", re.MULTILINE)
QUOTED = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def targets_of(path: pathlib.Path, root: pathlib.Path, every: set[str]) -> list[tuple[int, str]]:
    """The files of the tree that a source includes or imports, with the lines."""
    text = path.read_text(encoding="utf-8")
    found: list[tuple[int, str]] = []
    if path.suffix == ".py":
        for match in IMPORT.finditer(text):
            module = (match.group(1) or match.group(3)).replace(".", "/")
            names = (f"{module}/{match.group(2)}.py", f"{module}.py", f"{module}/__init__.py")
            found += [
                (text.count("\n", 0, match.end()) + 1, name) for name in names if name in every
            ][:1]
        return found
    for match in re.finditer(r'^\s*#\s*include\s*["<]([^">]+)[">]', text, re.MULTILINE):
        names = (match.group(1), f"include/{match.group(1)}")
        found += [(text.count("\n", 0, match.end()) + 1, name) for name in names if name in every][
            :1
        ]
    return found


def check_folders(root: pathlib.Path) -> tuple[int, list[Violation]]:
    """Two folders that depend on each other, and headers included by another path than that from
    the root.
    """
    paths = [
        path
        for folder in sources.FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in sources.SUFFIXES | {".py"} and path.is_file()
    ]
    every = {path.relative_to(root).as_posix() for path in paths}
    edges: dict[tuple[str, str], tuple[pathlib.Path, int]] = {}
    violations: list[Violation] = []
    for path in paths:
        relative = path.relative_to(root)
        mine = relative.parent.as_posix()
        for line, target in targets_of(path, root, every):
            theirs = pathlib.PurePosixPath(target).parent.as_posix()
            if not f"{mine}/".startswith(f"{theirs}/") and not f"{theirs}/".startswith(f"{mine}/"):
                edges.setdefault((mine, theirs), (path, line))
                top = mine.partition("/")[0], theirs.partition("/")[0]
                # What a folder's own tests include is no dependence of the folder.
                if top[0] != top[1] and "/tests/" not in f"{mine}/":
                    edges.setdefault(top, (path, line))
        if path.suffix == ".py" or relative.as_posix().startswith(RELATIVE):
            continue
        text = path.read_text(encoding="utf-8")
        for match in QUOTED.finditer(text):
            target = match.group(1)
            if (
                target not in every
                and f"include/{target}" not in every
                and (path.parent / target).is_file()
            ):
                line = text.count("\n", 0, match.end()) + 1
                violations.append(
                    Violation(path, line, f'include of "{target}": write its path from the root')
                )
    for (mine, theirs), (path, line) in sorted(edges.items()):
        if mine < theirs and (theirs, mine) in edges:
            back, there = edges[theirs, mine]
            other = f"{back.relative_to(root)}:{there}"
            violations.append(
                Violation(path, line, f"{mine} and {theirs} depend on each other: see also {other}")
            )
    return len(paths), violations


def run(root: pathlib.Path) -> int:
    files = list(sources.source_files(root, ["include", "src", "workloads", "vcode"]))
    violations = [
        v for path in files for v in check_file(root, path, path.read_text(encoding="utf-8"))
    ]
    checked, of_folders = check_folders(root)
    return sources.report("includes", root, checked, violations + find_cycle(root) + of_folders)


if __name__ == "__main__":
    sys.exit(sources.main(__doc__, run))
