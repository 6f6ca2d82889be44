#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that words which once had several meanings name one thing, or nothing.

A word is looked for in names of the code, C++ and Python, as a part between underscores or
capitals: `crew` is in run_crew and in RunCrew. Comments and strings are free. docs/glossary.md says
what the project's words mean.
"""

import dataclasses
import pathlib
import re
import sys

import sources
from sources import Violation


@dataclasses.dataclass(frozen=True)
class Word:
    pattern: str  # of the code
    instead: str  # what to write
    where: str = ""  # the files in which the one meaning that is left stands


def part(word: str) -> str:
    """The word as a part of a name, singular or plural."""
    return rf"(?<![a-zA-Z]){word}s?(?![a-z])|(?<=[a-z]){word.capitalize()}s?(?![a-z])"


def type_named(word: str) -> str:
    return rf"\b(?:class|struct|enum class|using)\s+(?:alignas\([^)]*\)\s*)?{word}\b(?!\s*::)"


WORDS = {
    "crew": Word(part("crew"), "runtime (under test), executor, or threads"),
    "meeting": Word(part("meeting"), "barrier, episode, group_sync or collectives"),
    "seat": Word(part("seat"), "wait_state (of a wait policy) or rank_slot"),
    "habit": Word(part("habit"), "cpu_hints or thread_state"),
    "use": Word(type_named("use"), "exclusive_use_check"),
    "share": Word(type_named("share"), "a part, or what it is a part of"),
    "share_t": Word(type_named("share_t"), "another name", r"graph_apps/programs/exact\.hpp"),
    "participant": Word(
        type_named("participant"), "rank_state, machine_base or what it does",
        r"include/tutti/(barrier|graph)/participant\.hpp",
    ),  # the second forwards an older spelling
    "tally": Word(part("tally"), "message_counts"),
    "foresight": Word(part("foresight"), "message_predictor"),
    "assembly": Word(type_named("assembly"), "shared_state"),
    "bell": Word(part("bell"), "wake_word"),
    "door": Word(part("door"), "wait_point"),
}
CHECKERS = re.compile(r"tools/check/(test_checks|words)\.py")


def code_of(path: pathlib.Path, text: str) -> list[str]:
    if path.suffix == ".py":
        plain = re.sub(r'("""|\'\'\')(?:.|\n)*?\1', lambda m: sources.blank(m.group()), text)
        return [
            re.sub(r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')|#.*", "", line)
            for line in plain.split("\n")
        ]
    lines = [line.code for line in sources.lines_of(text)]
    return ["" if line.lstrip().startswith("#") else line for line in lines]


def check(root: pathlib.Path, path: pathlib.Path) -> list[Violation]:
    relative = path.relative_to(root).as_posix()
    found = []
    for number, line in enumerate(code_of(path, path.read_text(encoding="utf-8")), 1):
        for name, word in WORDS.items():
            if not re.search(word.pattern, line) or (
                word.where and re.fullmatch(word.where, relative)
            ):
                continue
            found.append(
                Violation(path, number, f"{name} has had several meanings; write {word.instead}")
            )
    return found


def run(root: pathlib.Path) -> int:
    paths = [
        path
        for folder in sources.FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in sources.SUFFIXES | {".py"} and path.is_file()
        and not CHECKERS.fullmatch(path.relative_to(root).as_posix())
    ]
    return sources.report(
        "words", root, len(paths), [v for path in paths for v in check(root, path)]
    )


if __name__ == "__main__":
    sys.exit(sources.main(__doc__, run))
