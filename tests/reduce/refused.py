#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a reduction of a type that it cannot use gives one sentence, and few lines.

usage: refused.py COMPILER INCLUDE_FOLDER
"""

import subprocess
import sys

MOST_LINES = 30
PROGRAM = """
#include <string>
#include "tutti/reduce/reduction.hpp"
#include "tutti/team/team.hpp"
struct unknown {{ long value; }};
int main() {{
  [[maybe_unused]] tutti::team some;
  {statement}
}}
"""
COMBINE = "the operation cannot combine two values of this type"
# The statement, the same without the mistake, and the sentence.
CASES = [
    (
        "tutti::reduction<unknown> r(2); r.all(0, unknown{});",
        "tutti::reduction<long> r(2); r.all(0, 1);",
        COMBINE,
    ),
    (
        'tutti::reduction<std::string> r(2); r.all(0, "");',
        "tutti::reduction<char> r(2); r.all(0, 'a');",
        "T must be trivially copyable",
    ),
    (
        "some.parallel_reduce(0, 9, tutti::plus{}, [](std::size_t) { return unknown{}; });",
        "some.parallel_reduce(0, 9, tutti::plus{}, [](std::size_t) { return 1; });",
        COMBINE,
    ),
    (
        "some.parallel_reduce_any(0, 9, tutti::plus{}, [](std::size_t) { return unknown{}; });",
        "some.parallel_reduce_any(0, 9, tutti::plus{}, [](std::size_t) { return 1; });",
        COMBINE,
    ),
    (
        "some.parallel_reduce_in_order(0, 9, tutti::plus{},"
        " [](std::size_t) { return unknown{}; });",
        "some.parallel_reduce_in_order(0, 9, tutti::plus{}, [](std::size_t) { return 1; });",
        COMBINE,
    ),
    (
        "some.run_reduce(tutti::plus{}, [](tutti::member&) { return unknown{}; });",
        "some.run_reduce(tutti::plus{}, [](tutti::member&) { return 1; });",
        COMBINE,
    ),
    (
        "some.run([](tutti::member& me) { me.reduce(tutti::minimum{}, unknown{}); });",
        "some.run([](tutti::member& me) { me.reduce(tutti::minimum{}, 1); });",
        COMBINE,
    ),
    (
        "some.run([](tutti::member& me) { me.inclusive_scan(tutti::bit_or{}, 1.0); });",
        "some.run([](tutti::member& me) { me.inclusive_scan(tutti::bit_or{}, 1); });",
        COMBINE,
    ),
]


def compile_statement(compiler: str, include: str, statement: str) -> tuple[int, str]:
    done = subprocess.run(
        [compiler, "-std=c++20", f"-I{include}", "-fsyntax-only", "-x", "c++", "-"],
        input=PROGRAM.format(statement=statement), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def main() -> int:
    compiler, include = sys.argv[1:3]
    failures = 0
    for wrong, right, sentence in CASES:
        status, text = compile_statement(compiler, include, wrong)
        lines = text.count("\n")
        if status == 0 or sentence not in text or lines > MOST_LINES:
            print(f"refused.py: status {status}, {lines} lines for: {wrong}\n{text[:2000]}")
            failures += 1
    # One program has all of them without the mistakes.
    status, text = compile_statement(compiler, include, "".join(f"{{ {c[1]} }}" for c in CASES))
    if status != 0:
        print(f"refused.py: this must compile:\n{text[:2000]}")
        failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
