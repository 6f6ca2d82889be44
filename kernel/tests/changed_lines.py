#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts, for each hosted program, the lines that had to change so that it runs in the kernel.

The history says which lines of a program the change of CHANGE removed and added, and how many it
had then; lines that only moved to another file count too. The driver is what starts the program in
the kernel, as main() does under Linux. If the history does not have the change, as in a shallow
clone, the status is 77.
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


def main() -> None:
    commit = git("log", "-1", "--format=%H", f"--grep=^{CHANGE}").strip()
    if not commit:
        print(f"changed_lines: the history does not contain '{CHANGE}'", file=sys.stderr)
        sys.exit(77)
    print("| program | its lines | removed | added | lines of its driver |\n|---|--:|--:|--:|--:|")
    for name, (folder, others, driver) in PROGRAMS.items():
        own = [f"{folder}/*pp", *(f":(exclude){folder}/{other}" for other in others)]
        counts = git("grep", "--count", "", commit, "--", *own).splitlines()
        lines = sum(int(line.rsplit(":", 1)[1]) for line in counts)
        changed = git("show", "--format=", "--numstat", commit, "--", *own)
        pairs = [line.split()[:2] for line in changed.splitlines()]
        removed, added = sum(int(b) for _, b in pairs), sum(int(a) for a, _ in pairs)
        text = (ROOT / "kernel" / "programs" / f"{driver}.cpp").read_text("utf-8")
        print(f"| {name} | {lines} | {removed} | {added} | {len(text.splitlines())} |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__.strip())
    main()
