#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual page of the command from its own --help, compressed: man.py TUTTI tutti.1.gz"""

import gzip
import pathlib
import re
import subprocess
import sys


def help_of(program: str, words: list[str]) -> str:
    done = subprocess.run(
        [program, *words, "--help"], capture_output=True, text=True, check=True,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )
    return done.stdout


def subcommands(text: str) -> list[str]:
    part = re.search(r"^Subcommands:\n((?:  .*\n?)+)", text, re.MULTILINE)
    return re.findall(r"^  (\S+)", part[1], re.MULTILINE) if part else []


def verbatim(text: str) -> str:
    lines = [line.replace("\\", "\\e").replace("-", "\\-") for line in text.rstrip().split("\n")]
    return "\n".join(("\\&" if line.startswith((".", "'")) else "") + line for line in lines)


def sections(program: str, words: list[str]) -> str:
    text = help_of(program, words)
    title = " ".join(["tutti", *words])
    made = f'.SS "{title}"\n.nf\n{verbatim(text)}\n.fi\n'
    return made + "".join(sections(program, [*words, name]) for name in subcommands(text))


def page(program: str) -> str:
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    text = help_of(program, [])
    described = text.split("\n", 1)[0]
    head = f'.TH TUTTI 1 "" "{version.stdout.strip()}" "User Commands"\n'
    head += f".SH NAME\ntutti \\- {described[0].lower()}{described[1:]}\n"
    head += ".SH SYNOPSIS\n.B tutti\n[\\fIOPTIONS\\fR] \\fISUBCOMMAND\\fR ...\n"
    head += ".SH DESCRIPTION\nEach part below is what the command prints with \\-\\-help.\n"
    return head + sections(program, [])


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    # Without a time, so that the same command gives the same file.
    data = gzip.compress(page(sys.argv[1]).encode(), compresslevel=9, mtime=0)
    pathlib.Path(sys.argv[2]).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
