#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the model weakens every named memory order of the headers, and that each documented
exception is tried.

usage: completeness.py TUTTI_MODEL FOLDER...
"""

import json
import pathlib
import re
import subprocess
import sys

SITE = re.compile(r'\bMemory::(?:order|fence)\(\s*"([^"]+)"')


def main() -> int:
    program, folders = sys.argv[1], [pathlib.Path(each) for each in sys.argv[2:]]
    named = {
        name
        for folder in folders
        for path in sorted(folder.rglob("*.hpp"))
        for name in SITE.findall(path.read_text())
    }
    # This few executions catch little, but here only the sites count.
    run = subprocess.run(
        [program, "--json", "--executions", "200", "--mutant-executions", "1"],
        stdout=subprocess.PIPE, text=True
    )
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    weakened = {mutant["site"] for line in lines for mutant in line.get("mutants", [])}
    for name in sorted(named - weakened):
        print(
            f'completeness.py: the memory order "{name}" is never weakened: no program reaches it',
            file=sys.stderr,
        )
    for name in sorted(weakened - named):
        print(f'completeness.py: the memory order "{name}" is in no header', file=sys.stderr)
    tried = {
        (mutant["site"], mutant["weakened"]) for line in lines for mutant in line.get("mutants", [])
    }
    excused = {(line["site"], line["weakened"]) for line in lines if line["type"] == "exception"}
    for site, order in sorted(excused - tried):
        print(
            f'completeness.py: the exception "{site}" to {order} is stale: there is no such order',
            file=sys.stderr,
        )
    print(f"{len(named & weakened)} memory orders are named, reached and weakened")
    return 0 if named and named == weakened and excused <= tried else 1


if __name__ == "__main__":
    sys.exit(main())
