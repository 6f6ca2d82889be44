# SPDX-License-Identifier: Apache-2.0
"""The tables of programs.py: what other runtimes do better than tutti, and the times of all."""

import collections
import statistics
import sys

from program_list import PROGRAMS
from runtimes import REPRODUCIBLE

Records = list[dict[str, object]]
# A program's own runtime, by its names in the tables.
OWN = ("libgomp", "active", "passive")
WRONG = "WRONG"


def seconds_text(value: float) -> str:
    return f"{value:.2f}" if value >= 0.995 else f"{value:.3f}"


def typical(records: Records, what: str) -> float | None:
    """The median; None if a run took too long or there is none."""
    values = [float(each[what]) for each in records if what in each]
    return None if any("over" in each for each in records) or not values else (
        statistics.median(values)
    )


def comparison(records: Records) -> str:
    """What the results with one number of threads say."""
    kinds = collections.defaultdict(set)
    for each in records:
        if "result" in each:
            kinds["libgomp" if each["runtime"] in OWN else each["runtime"]].add(each["result"])
    own, ours = kinds["libgomp"], kinds["tutti"]
    if not own or not ours:
        return "not compared"
    if len(own) > 1:
        return "libgomp's differ"
    return "same" if ours == own else WRONG


def print_tables(records: Records) -> int:
    """Prints the losses, and a table for each situation. Returns the number of wrong results."""
    cells = collections.defaultdict(list)
    by_threads = collections.defaultdict(list)
    for each in records:
        cells[each["situation"], each["program"], each["runtime"]].append(each)
        by_threads[each["program"], str(each["situation"]).partition("+")[0]].append(each)
    names = [p.name for p in PROGRAMS if any(key[1] == p.name for key in cells)]
    situations = list(dict.fromkeys(key[0] for key in cells))
    columns = [
        each
        for each in ("libgomp", "active", "passive", "libomp", "tutti")
        if any(key[2] == each for key in cells)
    ]
    losses, tables, wrong = [], [], 0
    for situation in situations:
        here = [each for each in records if each["situation"] == situation]
        used = [float(each["others"]) for each in here if "others" in each]
        while_others = f"; other programs used {statistics.mean(used):.2f} CPUs" if used else ""
        tables += ["", f"*{situation}{while_others}*", ""]
        tables += ["| program | " + " | ".join(columns) + " | best other / tutti | results |"]
        tables += ["|---|" + "--:|" * (len(columns) + 1) + "---|"]
        for name in names:
            row = {each: cells.get((situation, name, each), []) for each in columns}
            if not any(row.values()):
                continue
            times = {each: typical(runs, "wall") for each, runs in row.items()}
            said = comparison(by_threads[name, situation.partition("+")[0]])
            wrong += said == WRONG
            others = {k: v for k, v in times.items() if v is not None and k != "tutti"}
            ratio = ""
            over = next((each["over"] for each in row.get("tutti", []) if "over" in each), None)
            if over is not None and others:
                best = min(others, key=others.get)
                losses.append(
                    f"* {name}, {situation}: {best} {seconds_text(others[best])} s, "
                    f"tutti > {over:g} s"
                )
            if times.get("tutti") and others:
                best = min(others, key=others.get)
                ratio = f"{others[best] / times['tutti']:.2f}"
                if times["tutti"] > 1.03 * others[best]:
                    losses.append(
                        f"* {name}, {situation}: {best} {seconds_text(others[best])} s, "
                        f"tutti {seconds_text(times['tutti'])} s"
                    )
            texts = [cell_text(runs) for runs in row.values()]
            tables.append(f"| {name} | " + " | ".join(texts) + f" | {ratio} | {said} |")
    costs, differing = costs_of_order(cells)
    wrong += differing
    if not costs or columns != ["tutti"]:
        print("Where another runtime is more than 3 % faster than tutti:" if losses else
              "No other runtime is more than 3 % faster than tutti.")
        print("\n".join([*losses, *tables]))
    if costs:
        print("\n".join(costs))
    for each in records:
        if "failure" in each:
            print(each["failure"], file=sys.stderr)
    return wrong


def costs_of_order(cells: dict[tuple[str, str, str], Records]) -> tuple[list[str], int]:
    """The table of what `tutti run --reproducible` costs, and how many programs differ there."""
    rows, differing = [], 0
    for (situation, name, runtime), runs in cells.items():
        if runtime != REPRODUCIBLE:
            continue
        usual = cells.get((situation, name, "tutti"), [])
        results = [each["result"] for each in runs if "result" in each]
        is_same = len(set(results)) <= 1
        differing += not is_same
        before, after = typical(usual, "wall"), typical(runs, "wall")
        ratio = f"{after / before:.2f}" if before and after else ""
        usual_results = len({each["result"] for each in usual if "result" in each})
        rows.append(
            f"| {name} | {situation} | {cell_text(usual)} | {cell_text(runs)} | {ratio} | "
            f"{max(each.get('in_turn', 0) for each in runs)} | {usual_results} | "
            f"{len(results)}, {'the same' if is_same else 'DIFFERENT'} |"
        )
    if not rows:
        return [], 0
    head = [
        "", "*What `tutti run --reproducible` costs*", "",
        "| program | threads | tutti | reproducible | ratio | functions in turn | "
        "results of tutti | results |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    return head + rows, differing


def cell_text(records: Records) -> str:
    over = next((each["over"] for each in records if "over" in each), None)
    if over is not None:
        return f"> {over:g}"
    wall, processor = typical(records, "wall"), typical(records, "processor")
    if any("failure" in each for each in records):
        return "fails"
    return "" if wall is None else f"{seconds_text(wall)} ({seconds_text(processor)})"
