#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts, for each hosted program, the lines that had to change so that it runs in the kernel.

The history says which lines of a program the change of CHANGE removed and added; lines that only
moved to another file count too. The driver is what starts the program in the kernel, as main() does
under Linux.
usage: changed_lines.py
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHANGE = "StreamCluster and the synthetic regions take the ranks of any platform"
# The program's folder, its parts that are other programs or tests, and its driver.
PROGRAMS = {
    "synthetic regions": ("workloads/synthetic", ("program", "tests"), "synthetic"),
    "StreamCluster": ("workloads/streamcluster", ("program", "tests"), "streamcluster"),
    "vector machine": ("vcode", ("tests",), "vcode"),
}


def git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def lines_in(path: pathlib.Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def main() -> None:
    commit = git("log", "-1", "--format=%H", f"--grep=^{CHANGE}").strip()
    if not commit:
        sys.exit(f"changed_lines: the history does not contain '{CHANGE}'")
    print("| program | its lines | removed | added | lines of its driver |\n|---|--:|--:|--:|--:|")
    for name, (folder, others, driver) in PROGRAMS.items():
        sources = [p for p in (ROOT / folder).rglob("*.[ch]pp")]
        own = [p for p in sources if p.relative_to(ROOT / folder).parts[0] not in others]
        excluded = [f":(exclude){folder}/{other}" for other in others]
        changed = git("show", "--format=", "--numstat", commit, "--", f"{folder}/*pp", *excluded)
        pairs = [line.split()[:2] for line in changed.splitlines()]
        removed, added = sum(int(b) for _, b in pairs), sum(int(a) for a, _ in pairs)
        driven = lines_in(ROOT / "kernel" / "programs" / f"{driver}.cpp")
        print(f"| {name} | {sum(map(lines_in, own))} | {removed} | {added} | {driven} |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__.strip())
    main()
