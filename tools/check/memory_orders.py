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
# The functions of C. They take an order if their names end by _explicit.
FREE_OPERATION = re.compile(
    r"\b(atomic_(?:load|store|exchange|fetch_(?:add|sub|and|or|xor)"
    r"|compare_exchange_(?:weak|strong)|flag_(?:test_and_set|clear|test))(_explicit)?)\s*\("
)
# What begins the declaration of an atomic object; a class template's arguments follow.
ATOMIC_TYPE = re.compile(
    r"\b(?:(?:atomic|told_atomic|setting)(<)|_Atomic(\()|_Atomic\s+\w+"
    r"|atomic_(?:flag|bool|[su]?char|u?short|u?int(?:\d+_t)?|u?l?long|u?intptr_t|size_t)\b)"
)
DECLARATOR = re.compile(r"\s*(?:const\s+)?&?\s*(\w+)\s*((?:\[[^\]]*\]\s*)*)")
# What declares an object of another type: without an object before it, such a name tells nothing.
PLAIN = re.compile(
    r"(?<!_Atomic )"
    r"\b(?:auto|bool|char|double|float|int|long|unsigned|string|u(?:8|16|32|64)|\w+_t)\b"
    r"[\s&]+(\w+)(?=((?:\s*(?:=[^,;(){}]*)?,\s*\w+)*))"
)
REFERENCE = re.compile(r"&\s*\w+\s*=\s*$")
NOT_A_NAME = {"const", "operator", "return"}


def past(code: str, start: int, ends: str) -> int:
    """The index of the first of the characters `ends` outside of brackets, or the end."""
    depth = 0
    for index in range(start, len(code)):
        if depth == 0 and code[index] in ends:
            return index
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(code[index], 0)
    return len(code)


def atomic_names(code: str) -> set[str]:
    """The names of atomic objects, arrays of them and references to them that the code declares."""
    names: set[str] = set()
    for match in ATOMIC_TYPE.finditer(code):
        at = match.end()
        if match[1]:
            depth = 1
            while at < len(code) and depth and code[at] not in ";{":
                depth += {"<": 1, ">": -1}.get(code[at], 0)
                at += 1
        elif match[2]:
            at = past(code, at, ")") + 1
        while declared := DECLARATOR.match(code, at):
            end = declared.end()
            # A function, its parameter, or the argument of a template declares no list.
            if declared[1] in NOT_A_NAME or end == len(code) or code[end] in "(<>.:-":
                break
            names.add(declared[1])
            if code[end] == ")":
                break
            at = past(code, end, ",;)")
            before = code[max(0, match.start() - 200) : match.start()]
            if at == len(code) or code[at] != "," or is_parameter(before):
                break
            at += 1
    return names


def plain_names(code: str) -> set[str]:
    """The names that the code also declares as objects of other types. One that ends by an
    underscore is a member.
    """
    names: set[str] = set()
    for match in PLAIN.finditer(code):
        names.update([match[1], *re.findall(r",\s*(\w+)", match[2])])
    return {name for name in names if not name.endswith("_")}


def is_parameter(before: str) -> bool:
    """Whether what follows this code stands in parentheses that are still open."""
    depth = 0
    for letter in reversed(before):
        if letter in ";{}":
            return False
        depth += {")": 1, "(": -1}.get(letter, 0)
        if depth < 0:
            return True
    return False


def line_at(code: str, index: int) -> int:
    return code.count("\n", 0, index) + 1


def check_operations(path: pathlib.Path, code: str) -> list[Violation]:
    """Every operation writes its order; a compare-exchange writes both."""
    found = []
    carried = re.compile(rf"\b(?:{'|'.join(['memory_order_', *PARAMETER.findall(code)])})\b")
    for match in OPERATION.finditer(code):
        name = next(group for group in match.groups() if group)
        arguments = code[match.end() : past(code, match.end(), ")")]
        written = len(ORDER.findall(arguments)) + len(carried.findall(arguments))
        line = line_at(code, match.start())
        if not written:
            found.append(Violation(path, line, f"{name}() without a memory order"))
        elif name.startswith("compare_exchange") and written < 2:
            found.append(Violation(path, line, f"{name}() without the order of its failure"))
    for match in FREE_OPERATION.finditer(code):
        if not match[2]:
            line = line_at(code, match.start())
            found.append(Violation(path, line, f"{match[1]}() without a memory order"))
    return found


def check_operators(path: pathlib.Path, code: str) -> list[Violation]:
    """No operator on an atomic: each would be seq_cst without saying so. The names declared here
    identify atomics.
    """
    declared = atomic_names(code)
    if not declared:
        return []
    names = "|".join(sorted(declared))
    plain = plain_names(code)
    element = rf"(?:{names})\b(?:\s*\[[^\]]*\])?"
    operator = re.compile(
        rf"(?:^\s*|[.;{{}})]\s*|->)({element})\s*(?:\+\+|--|[-+&|^]?=(?!=))"
        rf"|(?:\+\+|--)[\w.\[\]>-]*\b({element})|\b({element})\s*(?:\+\+|--)"
        rf"|\b(?:if|while)\s*\(\s*!?\s*({element})\s*\)"
        rf"|(?:\breturn|[^=!<>]=)\s+({element})\s*(?:;|[-+*/%|^]\s|&&?\s|[<>=!]=)",
        re.MULTILINE,
    )
    found = []
    for match in operator.finditer(code):
        start = match.start(match.lastindex)
        before = code[max(0, start - 100) : start]
        use = match[match.lastindex]
        is_plain = not before.endswith((".", "->")) and re.match(r"\w+", use)[0] in plain
        if not is_plain and not REFERENCE.search(before):
            found.append(Violation(path, line_at(code, start), f"operator on the atomic '{use}'"))
    return found


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
