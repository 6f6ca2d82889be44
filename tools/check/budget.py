#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the seconds that each folder takes to build and to test with its budget.

The budgets are a table of docs/HACKING.md. Build times are those of the last compilation of each
file in ninja's log, summed, so that they do not depend on how many jobs ran; test times are ctest's
mean costs. A folder may take twice its budget and ten seconds, because machines differ: beyond that
the check warns, and beyond four times it fails. A folder without a budget fails.

  tools/check/budget.py --build build          compares
  tools/check/budget.py --build build --table  prints the table as measured, for docs/HACKING.md

What a compiler cache answered takes no time: a table is to be made of a build without it.
"""

import collections
import json
import math
import pathlib
import re
import subprocess
import sys

import sources

PAGE = pathlib.Path("docs/HACKING.md")
OPENING, CLOSING = "<!-- budget: seconds -->", "<!-- /budget -->"
# These folders have a budget for each folder inside.
DEEPER = ("tests", "workloads", "hardware", "src")
WARN, FAIL, GRACE = 2, 4, 10


def folder_of(path: pathlib.PurePath, is_folder) -> str:
    """The folder whose budget a file of the build or a CMakeLists.txt belongs to."""
    parts = path.parts
    if parts[0] in DEEPER and len(parts) > 1 and is_folder("/".join(parts[:2])):
        return "/".join(parts[:2])
    return parts[0]


def built_by_default(build: pathlib.Path) -> set[str]:
    """The files that a build makes or reads if no target is named."""
    command = ["ninja", "-C", build, "-t", "graph", "all"]
    graph = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r'\[label="([^"]*)"', graph))


def build_seconds(root: pathlib.Path, build: pathlib.Path) -> dict[str, float]:
    """Seconds of the last run of each step of ninja's log, by folder.

    Targets that are built by name alone, such as large models, do not count.
    """
    default = built_by_default(build)
    last: dict[str, tuple[str, float]] = {}  # by output, whose command may have changed
    for line in (build / ".ninja_log").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        start, end, _, output, command = line.split("\t")
        if output in default:
            last[output] = (command, (int(end) - int(start)) / 1000)
    sums: dict[str, float] = collections.defaultdict(float)
    counted = set()
    for output, (command, seconds) in last.items():
        path = pathlib.PurePath(output)
        if path.is_absolute() or not (root / path.parts[0]).is_dir() or "build" in path.parts[:1]:
            continue
        # A step with several outputs has a line for each.
        if command not in counted:
            counted.add(command)
            sums[folder_of(path, lambda name: (root / name).is_dir())] += seconds
    return sums


def test_seconds(root: pathlib.Path, build: pathlib.Path) -> dict[str, float]:
    """ctest's mean costs of the quick tests, by the folder whose CMakeLists.txt adds them."""
    costs = {}
    for line in (build / "Testing/Temporary/CTestCostData.txt").read_text().splitlines():
        words = line.split()
        if len(words) == 3 and int(words[1]) > 0:
            costs[words[0]] = float(words[2])
    command = ["ctest", "--test-dir", build, "--show-only=json-v1", "-LE", "long"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    listed = json.loads(said.stdout)
    graph = listed["backtraceGraph"]
    sums: dict[str, float] = collections.defaultdict(float)
    for test in listed["tests"]:
        if "backtrace" not in test:
            continue  # ctest's own entry for a test program that is not built yet
        node = graph["nodes"][test["backtrace"]]
        while "parent" in node and "CMakeLists.txt" not in graph["files"][node["file"]]:
            node = graph["nodes"][node["parent"]]
        file = pathlib.Path(graph["files"][node["file"]])
        relative = file.relative_to(root).parent if file.is_relative_to(root) else pathlib.Path(".")
        if relative.parts:
            folder = folder_of(relative, lambda name: (root / name).is_dir())
            sums[folder] += costs.get(test["name"], 0)
    return sums


def budgets(page: str) -> dict[str, tuple[float, float]]:
    """Folder: seconds to build, seconds to test."""
    begin, end = page.find(OPENING), page.find(CLOSING)
    if begin < 0 or end < begin:
        raise SystemExit(f"budget: error: {PAGE} has no table between {OPENING} and {CLOSING}")
    rows = re.findall(r"^\| `([^`]+)/` \| (\d+) \| (\d+) \|$", page[begin:end], re.MULTILINE)
    return {folder: (float(build), float(tests)) for folder, build, tests in rows}


def verdicts(allowed: dict, built: dict, tested: dict) -> tuple[list[str], list[str]]:
    """What is too much, and what is far too much or has no budget."""
    warnings, failures = [], []
    for what, measured, place in (("build", built, 0), ("test", tested, 1)):
        for folder, seconds in sorted(measured.items()):
            if folder not in allowed:
                failures.append(f"{folder}/ takes {seconds:.0f} s to {what} and has no budget")
                continue
            budget = allowed[folder][place]
            if seconds <= WARN * budget + GRACE:
                continue
            said = f"{folder}/ takes {seconds:.0f} s to {what}; its budget is {budget:.0f} s"
            (failures if seconds > FAIL * budget + GRACE else warnings).append(said)
    return warnings, failures


def table(built: dict[str, float], tested: dict[str, float]) -> str:
    lines = ["| folder | build | tests |", "|---|--:|--:|"]
    for folder in sorted({*built, *tested}):
        times = [math.ceil(sums.get(folder, 0)) for sums in (built, tested)]
        lines.append(f"| `{folder}/` | {times[0]} | {times[1]} |")
    return "\n".join(lines)


def main() -> int:
    parser = sources.parser(__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the folder of the build")
    parser.add_argument("--table", action="store_true", help="print what was measured")
    asked = parser.parse_args()
    root, build = asked.root.resolve(), asked.build.resolve()
    if not (build / ".ninja_log").exists():
        print(f"budget: SKIPPED: {build} has no log of ninja")
        return 77
    built = build_seconds(root, build)
    has_costs = (build / "Testing/Temporary/CTestCostData.txt").exists()
    tested = test_seconds(root, build) if has_costs else {}
    if asked.table:
        print(table(built, tested))
        return 0
    allowed = budgets((root / PAGE).read_text(encoding="utf-8"))
    warnings, failures = verdicts(allowed, built, tested)
    for said in warnings:
        print(f"budget: warning: {said}")
    for said in failures:
        print(f"budget: error: {said}", file=sys.stderr)
    total = sum(built.values()), sum(tested.values())
    print(f"budget: {total[0]:.0f} s to build and {total[1]:.0f} s to test, of one processor")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
