# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/many-cores.md, made from the lines in docs/many-cores.jsonl and
docs/many-cores-calm.jsonl, which were measured on a machine with more cores than the others of the
documentation.

`python -m report.many_cores --write` makes them, `--check` compares, which a test does. `--keep
FILES` and `--keep-calm FILES` first take the lines of these files in place of the kept ones: what
`tutti bench`, `tutti-streamcluster`, bench/openmp/epcc.py, bench/openmp/programs.py and
bench/mpi/preload.py print with --json.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Callable, Iterable, Sequence

from report.errors import ReportError
from report.lines import checked, json_object, kept_text, text_of
from report.measured import DASH, short, table
from report.output import write_text
from report.statistics import format_time

KEPT, PAGE = Path("docs/many-cores.jsonl"), Path("docs/many-cores.md")
# The same situations on a host that left the machine its CPUs.
CALM = Path("docs/many-cores-calm.jsonl")
PART = re.compile(r"(<!-- many cores: (\w+) -->\n)(.*?)(<!-- /many cores -->)", re.DOTALL)
KEYS = (
    "type", "benchmark", "kind", "provider", "name", "wait", "threads", "processes", "mpi",
    "scenario", "session", "metric", "p25", "median", "p75", "quantity", "cpu", "cores",
    "virtual_machine", "kernel", "compiler", "commit", "situation", "runtime", "us", "program",
    "wall", "processor",
)
Line = dict[str, Any]
Lines = list[Line]


def shortened(line: Line) -> Line:
    kept = {key: line[key] for key in KEYS if line.get(key) not in (None, "")}
    if "us" in kept:
        kept["us"] = {key: short(value) for key, value in kept["us"].items()}
    return {key: short(value) if isinstance(value, float) else value for key, value in kept.items()}


def kept_lines(files: Sequence[Path]) -> str:
    """The machine of the first line, the floors of lines and wake-ups, and all results, each with
    its run, the name of its file up to an underscore if the line does not tell it."""
    made, has_machine = [], False
    for file in files:
        run = file.stem.partition("_")[0]
        for line in read_lines(file):
            kind = line.get("type", "run")
            if kind == "machine" and has_machine:
                continue
            has_machine = has_machine or kind == "machine"
            is_floor = kind == "floor" and line.get("quantity") in (
                "line_one_way", "wake_idle_core", "context_switch",
            )
            if kind in ("machine", "result", "run") or is_floor:
                of_run = {"run": line.get("run", run)} if kind == "result" else {}
                made.append(shortened(line) | of_run)
    return kept_text(made, files)


def found(lines: Lines, *runs: str, **wanted: Any) -> Lines:
    """The results with these values, of these runs if any is named."""
    return [
        line
        for line in lines
        if line.get("type") == "result"
        and (not runs or line["run"] in runs)
        and all(line.get(key) == value for key, value in wanted.items())
    ]


def fastest(lines: Lines) -> Line | None:
    return min(lines, key=lambda line: line["median"], default=None)


def time_of(line: Line | None) -> str:
    return format_time(line["median"]) if line else DASH


def named_time(line: Line | None) -> str:
    return f"{label(line)} {time_of(line)}" if line else DASH


def label(line: Line) -> str:
    own = {"std": "std::barrier", "pthread": "pthread", "handwritten": "by hand"}
    return own.get(line["provider"], f"{line['provider']} {line['name']}")


def columns(lines: Lines, *providers: str) -> list[Line | None]:
    """The best form of each provider."""
    return [fastest([line for line in lines if line["provider"] == each]) for each in providers]


def cells(shown: list[Line | None], words: Callable[[Line | None], str] = time_of) -> list[str]:
    """What `words` says of each, the fastest in bold."""
    best = fastest([line for line in shown if line])
    return [f"**{words(line)}**" if line and line is best else words(line) for line in shown]


def is_default(line: Line) -> bool:
    return line["provider"] == "tutti" and line["name"] == "default"


def machine(lines: Lines) -> str:
    told = next(line for line in lines if line["type"] == "machine")
    floors = {
        quantity: statistics.median(
            line["median"] for line in lines if line.get("quantity") == quantity
        )
        for quantity in ("line_one_way", "wake_idle_core", "context_switch")
    }
    return (
        f"{told['cores']} cores of {told['cpu']}"
        + (" in a virtual machine" if told.get("virtual_machine") else "")
        + f": a cache line takes {format_time(floors['line_one_way'])} from core to core, a thread "
        f"that sleeps on an idle core runs {format_time(floors['wake_idle_core'])} after its "
        f"wake-up, and a switch between threads of a core takes "
        f"{format_time(floors['context_switch'])}. {told['compiler']}, {told['kernel']}, commit "
        f"{told['commit'][:8]}.\n"
    )


def barriers(lines: Lines) -> str:
    made = []
    for threads in (2, 4, 8, 12, 16, 32, 64):
        here = found(
            lines, "threads", benchmark="barrier", scenario="free", metric="loop", threads=threads
        )
        default = fastest([line for line in here if is_default(line)])
        named = fastest(
            [line for line in here if line["provider"] == "tutti" and "default" not in line["name"]]
        )
        made.append(
            [
                str(threads),
                *cells(
                    [default, named, *columns(here, "libgomp", "libomp", "std", "pthread")],
                    lambda line: (f"`{line['name']}` " if line and line is named else "")
                    + time_of(line),
                ),
            ]
        )
    heads = [
        "tutti", "best by name", "libgomp, best", "LLVM libomp, best", "std::barrier", "pthread",
    ]
    return table("threads", heads, made)


def regions(lines: Lines) -> str:
    made = []
    for kind, words in (("empty", "empty"), ("reduce2", "sum of two doubles")):
        for threads in (2, 4, 8, 16):
            here = found(
                lines, "regions", benchmark="region", kind=kind, threads=threads, scenario="free",
                metric="loop",
            )
            default = fastest([line for line in here if is_default(line)])
            peers = columns(here, "handwritten", "forkunion", "libomp", "libgomp", "tbb")
            made.append([f"{threads}, {words}", *cells([default, *peers])])
    heads = ["tutti", "by hand", "ForkUnion", "LLVM libomp, best", "libgomp, best", "oneTBB"]
    return table("threads", heads, made)


SITUATIONS = (
    ("barrier", "free", "last_in_last_out", "barrier, back to back"),
    ("barrier", "imbalance_60us", "last_in_last_out", "barrier, one thread 60 µs late"),
    (
        "barrier", "imbalance_200us_rotating", "last_in_last_out",
        "barrier, another thread 200 µs late each time",
    ),
    (
        "barrier", "work_1us_100us", "last_in_last_out",
        "barrier, random work of 1 to 100 µs",
    ),
    ("barrier", "imbalance_1ms", "last_in_last_out", "barrier, one thread 1 ms late"),
    ("barrier", "background_light", "loop", "barrier, light background load"),
    ("barrier", "background_heavy", "loop", "barrier, a busy process on each core"),
    ("region", "free", "loop", "region, back to back"),
    ("region", "gap_60us", "latency", "region after 60 µs of serial code"),
    ("region", "gap_200us", "latency", "region after 200 µs of serial code"),
    ("region", "gap_1ms", "latency", "region after 1 ms of serial code"),
    ("region", "background_light", "loop", "region, light background load"),
    ("region", "background_heavy", "loop", "region, a busy process on each core"),
)


def spins(line: Line, lines: Lines) -> bool:
    """Whether a contender keeps its processors through the waits of this situation."""
    used = found(
        lines, metric="cpu_time",
        **{key: line.get(key) for key in ("benchmark", "scenario", "threads", "provider", "name",
                                          "wait")},
    )
    return bool(used) and used[0]["median"] > 500_000


def situations(lines: Lines) -> str:
    made = []
    for benchmark, scenario, metric, words in SITUATIONS:
        here = found(
            lines, "waits", "gaps", "beside", benchmark=benchmark, scenario=scenario,
            metric=metric, threads=16,
        )
        default = fastest([line for line in here if is_default(line)])
        others = [line for line in here if not is_default(line)]
        calm = [line for line in others if not spins(line, lines)]
        spinning = fastest([line for line in others if spins(line, lines)])
        made.append(
            [
                words,
                *cells(
                    [default, fastest(calm), spinning],
                    lambda line: time_of(line) if line is default else named_time(line),
                ),
            ]
        )
    heads = ["tutti", "best other", "best that polls for the whole millisecond"]
    return table("16 threads", heads, made)


def epcc(lines: Lines) -> str:
    taken: dict[tuple, list[float]] = defaultdict(list)
    constructs: dict[str, None] = {}
    for line in lines:
        for construct, value in (line.get("us") or {}).items():
            constructs[construct] = None
            runtime = line["runtime"]
            taken[construct, line["situation"], runtime].append(value)
    made = []
    for construct in constructs:
        row = [construct]
        for threads in ("2", "4", "8", "16"):
            of = {
                runtime: statistics.median(values)
                for runtime in ("libgomp", "active", "passive", "libomp", "tutti")
                if (values := taken.get((construct, threads, runtime)))
            }
            own = [of[each] for each in ("libgomp", "active", "passive") if each in of]
            shown = (of.get("tutti"), min(own, default=None), of.get("libomp"))
            row.append(" / ".join(DASH if each is None else f"{each:.2f}" for each in shown))
        made.append(row)
    heads = (f"{n} threads: tutti / libgomp / libomp, µs" for n in (2, 4, 8, 16))
    return table("construct", heads, made)


def programs(lines: Lines) -> str:
    taken: dict[tuple, list[float]] = defaultdict(list)
    for line in lines:
        if "wall" in line:
            taken[line["program"], line["situation"], line["runtime"], "wall"].append(line["wall"])
            taken[line["program"], line["situation"], line["runtime"], "processor"].append(
                line.get("processor", 0)
            )

    def cell(*key: str) -> str:
        walls = taken.get((*key, "wall"))
        if not walls:
            return DASH
        used = statistics.median(taken[(*key, "processor")])
        wall = format_time(statistics.median(walls) * 1e9)
        return f"{wall} ({format_time(used * 1e9)})" if used else wall

    made = [
        [f"{program}, {threads} threads",
         *(cell(program, threads, runtime) for runtime in ("tutti", "libgomp", "libomp"))]
        for program, threads in dict.fromkeys(key[:2] for key in taken)
    ]
    return table("program", ["tutti", "libgomp", "LLVM libomp"], made)


def mpi(lines: Lines) -> str:
    made = []
    for family, words in (("openmpi", "Open MPI"), ("mpich", "MPICH")):
        for ranks in (2, 4, 8, 16):
            for call in ("MPI_Barrier", "MPI_Allreduce"):
                here = found(
                    lines, benchmark="mpi_preload", mpi=family, processes=ranks, metric="loop",
                    name=call,
                )
                own = [line for line in here if line["provider"] == family]
                ours = [line for line in here if line["provider"] == "tutti"]
                made.append(
                    [f"{words}, {ranks} ranks, `{call}`", *cells([fastest(ours), fastest(own)])]
                )
    return table("", ["with tutti preloaded", "its own"], made)


def streamcluster(lines: Lines) -> str:
    made = []
    for threads in (1, 2, 4, 8, 16):
        here = found(lines, benchmark="streamcluster", threads=threads)
        shown = [
            fastest([line for line in here if line["name"] == name])
            for name in ("default", "counting", "ticket", "pthread", "std")
        ]
        made.append([str(threads), *cells(shown)])
    return table("threads", ["tutti", "`counting`", "`ticket`", "pthread", "std::barrier"], made)


PARTS: dict[str, Callable[[Lines], str]] = {
    "machine": machine, "barriers": barriers, "regions": regions, "situations": situations,
    "taken": situations, "epcc": epcc, "programs": programs, "mpi": mpi,
    "streamcluster": streamcluster,
}


def filled(text: str, lines: Lines, calm: Lines) -> str:
    def made(part: re.Match) -> str:
        shown = PARTS[part[2]](calm if part[2] == "situations" else lines)
        return f"{part[1]}\n{shown}\n{part[4]}"

    return PART.sub(made, text)


def read_lines(path: Path) -> Lines:
    """All lines of one file. Those of programs have no type; what cannot be read is an error that
    names the line."""
    made = []
    for number, text in enumerate(text_of(path).splitlines(), start=1):
        where = f"{path}:{number}"
        line = json_object(text, where)
        made.append(checked(line, where) if "type" in line else line)
    if not made:
        raise ReportError(f"{path}: the file has no lines.")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        return _main(arguments)
    except ReportError as error:
        print(f"report: {error}", file=sys.stderr)
        return 2


def _main(arguments: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    do = parser.add_mutually_exclusive_group(required=True)
    do.add_argument("--write", action="store_true")
    do.add_argument("--check", action="store_true")
    parser.add_argument("--keep", nargs="+", type=Path, metavar="FILE", default=[])
    parser.add_argument("--keep-calm", nargs="+", type=Path, metavar="FILE", default=[])
    asked = parser.parse_args(arguments)
    if asked.check and (asked.keep or asked.keep_calm):
        parser.error("--check compares what is kept; --keep and --keep-calm belong to --write")
    # Both are read before anything is replaced.
    kept = {path: kept_lines(files) for path, files in ((KEPT, asked.keep), (CALM, asked.keep_calm))
            if files}
    for path, lines in kept.items():
        write_text(path, lines)
    text = text_of(PAGE)
    made = filled(text, read_lines(KEPT), read_lines(CALM))
    if asked.write:
        write_text(PAGE, made)
        return 0
    if made != text:
        print(f"{PAGE}: its tables differ from {KEPT}; `python -m report.many_cores --write` makes "
              "them anew.", file=sys.stderr)
    return 1 if made != text else 0


if __name__ == "__main__":
    sys.exit(main())
