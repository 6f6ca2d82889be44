# SPDX-License-Identifier: Apache-2.0
"""What `tutti sim` has simulated, for the page: the machines, the looks of the contenders, and the
times by machine, contender and number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable

from report.lines import Dataset
from report.model import Figure, Panel, Table
from report.statistics import format_count

# Its runs.
BARRIERS, VCODE, EVENTS, BOARDS, CHOICES = RUNS = (
    "simulated_barriers", "simulated_vcode", "simulated_events", "simulated_boards",
    "simulated_choices",
)
# Stands before the question of each section.
WARNING = "Simulated, not measured."
MODEL = (
    "These are predictions of a model, the same in every run. docs/simulation.md says what is "
    "modelled and how large the errors are."
)

Line = dict[str, Any]
# (name, wait) of a contender.
Who = tuple[str, str]


@dataclass(frozen=True)
class Machine:
    name: str
    clock_ghz: float
    cpus: int
    description: str


@dataclass(frozen=True)
class Look:
    label: str
    color: str
    marker: str = "circle"
    dash: str = "solid"
    emphasis: bool = False


# tutti's templates are blue, also where they stand for the paper's algorithm of the same name.
BARRIER_LOOKS = {
    "default": Look("tutti default", "color:tutti", emphasis=True),
    "libgomp": Look("OMP (libgomp)", "color:libgomp"),
    "pthread_barrier": Look("pthread", "color:pthread", "square"),
    "tournament_one_word": Look("tournament, one word", "color:text", "diamond"),
    "tournament": Look("tutti's tournament", "color:tutti3", "triangle-up"),
    "counting": Look("counting", "color:tutti1", "square", "dash"),
    "pool": Look("pool", "color:tutti2", "triangle-down", "dot"),
    "ticket": Look("ticket", "color:tutti4", "cross", "dashdot"),
    "dissemination": Look("dissemination", "color:tutti3", "x", "dash"),
    "harp_counting": Look("registers both ways", "color:libomp", "circle"),
    "harp_counting_lines": Look("out by a line a thread", "color:boost", "square"),
    "harp_counting_line": Look("out by one line", "color:absl", "diamond"),
    "harp_counting_line_vl0": Look("out by one line, VL0 (QPI)", "color:std", "triangle-up"),
    "harp_counting_line_vh0": Look(
        "out by one line, VH0 (PCIe)", "color:mpich", "triangle-down", "dash"
    ),
    "harp_counting_memory": Look("in by lines polled", "color:tbb", "cross"),
    "harp_counting_memory_line": Look("in by lines, out by one", "color:forkunion", "x"),
    "harp_counting_message": Look("in by messages", "color:rayon", "square", "dot"),
}
# The algorithms of Hetland et al., by the names in the lines.
PAPERS_BARRIERS = (
    "libgomp", "pthread_barrier", "counting", "pool", "ticket", "dissemination",
    "tournament_one_word",
)
# Where the paper's barriers have other names than tutti's lines.
PAPERS_NAMES = {"libgomp": "OMP", "tournament_one_word": "tournament", "pthread_barrier": "pthread"}

# What notifies a thread.
NOTIFIER_LOOKS: dict[Who, Look] = {
    ("event", "spin"): Look("tutti::event, polled", "color:tutti", emphasis=True),
    ("event", "park"): Look("tutti::event, asleep", "color:tutti3", dash="dash"),
    ("condition_variable", ""): Look("condition variable of programs", "color:mutex_condvar"),
    ("futex", ""): Look("futex of programs", "color:other", dash="dash"),
    ("interrupt", ""): Look("interrupt (IPI)", "color:pthread"),
    ("action", ""): Look("action by interrupt", "color:tutti4", dash="dot"),
    ("action_payload", ""): Look("action with a payload", "color:tutti2", dash="dashdot"),
    ("remote_call", ""): Look("remote system call", "color:boost", dash="dash"),
    ("kernel_condition", ""): Look("kernel condition variable", "color:libomp"),
    ("kernel_condition_kick", ""): Look("kernel condition variable + IPI", "color:libgomp"),
}


def paper_name(name: str) -> str:
    return PAPERS_NAMES.get(name, name)


def machines(data: Dataset) -> dict[str, Machine]:
    return {
        line["name"]: Machine(
            line["name"], line["clock_ghz"], line["cpus"], line["description"]
        )
        for line in data.simulated
        if line["type"] == "sim_machine"
    }


def results(
    data: Dataset, benchmark: str, machine: str, setting: Iterable[str] = (), **wanted: Any
) -> list[Line]:
    """The result lines of a machine with these numbers replaced, by the number of threads."""
    setting = sorted(setting)
    found = [
        line
        for line in data.simulated
        if line.get("benchmark") == benchmark and line["machine"] == machine
        and sorted(line.get("set", [])) == setting
        and wanted.items() <= line.items()
    ]
    return sorted(found, key=lambda line: line["threads"])


def barriers(data: Dataset, machine: str, setting: Iterable[str] = ()) -> dict[str, list[Line]]:
    """The times of back-to-back episodes by barrier, for more threads from one to the next."""
    made: dict[str, dict[int, Line]] = {}
    for line in results(data, "sim_barrier", machine, setting, metric="loop"):
        # What was asked for twice is the same twice.
        made.setdefault(line["name"], {}).setdefault(line["threads"], line)
    return {name: list(lines.values()) for name, lines in made.items()}


def cycles(
    data: Dataset, machine: str, name: str, threads: int, setting: Iterable[str] = ()
) -> float | None:
    """The median of an episode in cycles of the machine."""
    found = barriers(data, machine, setting).get(name, [])
    known = machines(data)
    if machine not in known:
        return None
    return next(
        (line["median"] * known[machine].clock_ghz for line in found if line["threads"] == threads),
        None,
    )


def notifications(data: Dataset, machine: str, metric: str) -> dict[Who, Line]:
    """The lines of each mechanism with the most receivers."""
    found = results(data, "sim_event", machine, metric=metric)
    made = {(line["name"], line["wait"]): line for line in found}
    return {who: made[who] for who in NOTIFIER_LOOKS if who in made}


def graphs(data: Dataset, application: str, **wanted: Any) -> list[Line]:
    return [
        line
        for line in data.simulated
        if line["type"] == "sim_graph" and line["application"] == application
        and wanted.items() <= line.items()
    ]


def of_type(data: Dataset, kind: str) -> list[Line]:
    return [line for line in data.simulated if line["type"] == kind]


def figure(
    head: tuple[str, str, str], data: Dataset, run: str, panels: list[Panel], captions: list[str]
) -> Figure:
    name, title, question = head
    if not panels:
        return Figure(name, title, question, [], [], missing(data, run))
    return Figure(
        name, title, f"{WARNING} {question}", panels, [*captions, MODEL], _failures(data, run)
    )


def table(
    head: tuple[str, str, str], data: Dataset, runs: Iterable[str], made: Table
) -> Table:
    """The table with what stands above and below each."""
    name, title, question = head
    made.name, made.title, made.question = name, title, f"{WARNING} {question}"
    if made.rows:
        made.captions.append(MODEL)
        made.missing += [text for run in runs for text in _failures(data, run)]
    else:
        made.question = question
        made.missing += missing(data, *runs)
    return made


def _failures(data: Dataset, run: str) -> list[str]:
    return [f"Not simulated: {text}" for text in data.why_failed(run)]


def missing(data: Dataset, *runs: str) -> list[str]:
    known = [text for run in runs for text in _failures(data, run)]
    return known or ["Not simulated: these lines have none of `tutti sim ... --json`."]


def count(value: float) -> str:
    """A number of cycles as the texts print it: whole below ten thousand."""
    return f"{value:,.0f}" if value < 99_950 else format_count(value)


def percent(simulated: float, printed: float) -> str:
    return f"{simulated / printed - 1:+.0%}"
