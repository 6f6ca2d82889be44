#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every atomic operation writes its memory order, and that each order has a reason.

It reads the library, the benches, the programs and the workloads, but not their tests.

An order is written as `Memory::order("site", acquire)`, `acquire`, or `std::memory_order_acquire`;
a parameter of type memory_order carries one that the caller writes. Its reason is a comment
  // acquire: pairs with ...
on the line itself or above it in the same paragraph (no blank line, no end of an enclosing block
between), so that one comment can serve several statements in a row.
"""

import pathlib
import re
import sys

import sources
from sources import Line, Violation

FOLDERS = (
    "include/tutti src cli vcode bench graph_apps kernel network preload command workloads examples"
).split()
ORDERS = "relaxed|consume|acquire|release|acq_rel|seq_cst"
# An order as a value: no member (x.release), no function (release(...)), no object
# (release.load(...)).
ORDER = re.compile(
    rf"(?<![\w.>])(?:(?:std|tutti)::)?(?:memory_order_|memory_order::)?({ORDERS})\b(?!\s*[\w.(\[])"
)
REASON = re.compile(rf"(?:^|[\s/*(])({ORDERS}): \S+ \S+")
DEFINITION = re.compile(r"constexpr\s+(?:std::)?memory_order\s+\w+\s*=")
# A parameter that carries an order: the caller writes it.
PARAMETER = re.compile(r"\bmemory_order\s+(\w+)\s*[,)=]")

OPERATION = re.compile(
    r"(?:\.|->)\s*(load|store|exchange|fetch_\w+|compare_exchange_weak"
    r"|compare_exchange_strong|test_and_set)\s*\("
    r"|\b(atomic_thread_fence|atomic_signal_fence)\s*\("
    r"|\bMemory::(fence)\s*\("
)
ATOMIC_NAME = re.compile(r"\batomic<[^;={}()]*>\s+&?(\w+)\s*(?:\{[^}]*\}|\[[^\]]*\])?\s*;")


def closing(code: str, start: int) -> int:
    """The index of the parenthesis that closes the one just before `start`."""
    depth = 1
    for index in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[index], 0)
        if depth == 0:
            return index
    return len(code)


def line_at(code: str, index: int) -> int:
    return code.count("\n", 0, index) + 1


def check_operations(path: pathlib.Path, code: str) -> list[Violation]:
    """Every operation writes its order; a compare-exchange writes both."""
    found = []
    carried = re.compile(rf"\b(?:{'|'.join(['memory_order_', *PARAMETER.findall(code)])})\b")
    for match in OPERATION.finditer(code):
        name = next(group for group in match.groups() if group)
        arguments = code[match.end() : closing(code, match.end())]
        written = len(ORDER.findall(arguments)) + len(carried.findall(arguments))
        line = line_at(code, match.start())
        if not written:
            found.append(Violation(path, line, f"{name}() without a memory order"))
        elif name.startswith("compare_exchange") and written < 2:
            found.append(Violation(path, line, f"{name}() without the order of its failure"))
    return found


def check_operators(path: pathlib.Path, code: str) -> list[Violation]:
    """No operator on an atomic: each would be seq_cst without saying so. The names declared here
    identify atomics.
    """
    names = "|".join(sorted(set(ATOMIC_NAME.findall(code))))
    if not names:
        return []
    element = rf"(?:{names})\b(?:\s*\[[^\]]*\])?"
    operator = re.compile(
        rf"(?:^\s*|[.;{{}})]\s*|->)({element})\s*(?:\+\+|--|[-+&|^]?=(?!=))"
        rf"|(?:\+\+|--)[\w.\[\]>-]*\b({element})"
        rf"|\b(?:if|while)\s*\(\s*!?\s*({element})\s*\)|\breturn\s+({element})\s*;",
        re.MULTILINE,
    )
    return [
        Violation(
            path, line_at(code, match.start(index)),
            f"operator on the atomic '{match.group(index)}'",
        )
        for match in operator.finditer(code)
        for index in [match.lastindex]
    ]


def indentation(code: str) -> int:
    return len(code) - len(code.lstrip())


def has_reason(lines: list[Line], index: int, order: str) -> bool:
    depth = indentation(lines[index].code)
    for line in reversed(lines[: index + 1]):
        if not line.code and not line.comment:
            return False
        if re.match(r"\s*\}[;,)]*$", line.code) and indentation(line.code) < depth:
            return False  # The end of another function or class.
        if order in REASON.findall(line.comment):
            return True
    return False


def check_reasons(path: pathlib.Path, lines: list[Line]) -> list[Violation]:
    found = []
    for index, line in enumerate(lines):
        if DEFINITION.search(line.code) or line.code.lstrip().startswith("using tutti::"):
            continue
        for order in ORDER.findall(line.code):
            if not has_reason(lines, index, order):
                found.append(
                    Violation(path, line.number, f"{order} without a reason ('// {order}: ...')")
                )
    return found


def check_file(path: pathlib.Path, text: str) -> list[Violation]:
    lines = sources.lines_of(text)
    code = "\n".join(line.code for line in lines)
    found = check_operations(path, code) + check_operators(path, code) + check_reasons(path, lines)
    return sorted(found, key=lambda violation: violation.line)


def run(root: pathlib.Path) -> int:
    def check(path: pathlib.Path, text: str) -> list[Violation]:
        return [] if "tests" in path.relative_to(root).parts else check_file(path, text)

    return sources.check_files("memory_orders", root, FOLDERS, check)


if __name__ == "__main__":
    sys.exit(sources.main(__doc__, run))
