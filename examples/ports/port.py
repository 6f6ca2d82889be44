# SPDX-License-Identifier: Apache-2.0
"""What the scripts of the ports share: sources, patches, a busy neighbour, contenders that take
turns, and their results as a table and as JSON lines."""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from cli.result_line import result_line  # noqa: E402

SKIPPED = 77
# Variables that could change how a contender waits. Only a contender's own settings may do that.
SETTINGS = (
    "OMP_", "GOMP_", "KMP_", "LIBOMP_", "OPENBLAS_", "GOTO_", "GGML_", "TUTTI_", "LD_PRELOAD",
)


class Failure(Exception):
    """The program cannot go on. The message is one sentence."""


class Absent(Failure):
    """Something is missing without which a test cannot run."""


def say(text: str) -> None:
    print(f"run: {text}", file=sys.stderr, flush=True)


def call(command: list[str | os.PathLike[str]], what: str, **options: object) -> str:
    """Runs a command and returns its output, which it prints only if the command fails."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-8000:])
        raise Failure(f"{what} failed: {' '.join(map(str, command))}")
    return done.stdout


def python() -> pathlib.Path:
    """The Python of the project's environment, or this one."""
    own = ROOT / ".venv/bin/python"
    return own if own.exists() else pathlib.Path(sys.executable)


def environment(settings: dict[str, str] | None = None) -> dict[str, str]:
    """The environment of a contender: nothing of this one decides how it waits."""
    return {k: v for k, v in os.environ.items() if not k.startswith(SETTINGS)} | (settings or {})


# ---- sources


def patch(tree: pathlib.Path, by: pathlib.Path) -> None:
    if shutil.which("patch") is None:
        raise Absent("the program `patch` is missing; install the package of that name")
    call(
        ["patch", "--strip=1", "--fuzz=0", "--silent", "--directory", tree, "--input", by],
        "the patch",
    )


def lines_added(by: pathlib.Path) -> int:
    """The number of lines that a patch adds."""
    return sum(
        line.startswith("+") and not line.startswith("+++")
        for line in by.read_text(encoding="utf-8").splitlines()
    )


def renew(old: pathlib.Path, new: pathlib.Path) -> None:
    """Copies changed files from `new` to `old`, so that little is compiled again."""
    for path in sorted(p for p in new.rglob("*") if p.is_file()):
        kept = old / path.relative_to(new)
        if not kept.exists() or not filecmp.cmp(path, kept, shallow=False):
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, kept)


# ---- measuring

SCENARIOS = ("free", "neighbour", "neighbour_session")


@contextmanager
def neighbour(scenario: str) -> Iterator[None]:
    """Runs a process that is always busy on the first CPU: in this session, or in one of its own.

    The scheduler gives another session as much processor time as all processes of this one."""
    if scenario == "free":
        yield
        return
    cpu = min(os.sched_getaffinity(0))
    busy = (
        f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)\n"
        f"parent = {os.getpid()}\n"
        "while os.getppid() == parent:\n    for _ in range(100000): pass\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", busy], stdout=subprocess.PIPE,
        start_new_session=scenario == "neighbour_session",
    )
    try:
        child.stdout.readline()
        yield
    finally:
        child.kill()
        child.wait()


@dataclass(frozen=True)
class Contender:
    """One way to run the program. `label` is its name in the table."""

    provider: str
    name: str
    label: str
    wait: str = ""
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Situation:
    threads: int
    scenario: str
    job: str


@dataclass
class Series:
    """What one contender did in one situation: times, and processor times, in nanoseconds."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    timed_out: bool = False

    @property
    def ns(self) -> float | None:
        return statistics.median(self.wall) if self.wall else None


Results = dict[tuple[Contender, Situation], Series]
# Runs a contender once and returns its times and its processor times; None: it took too long.
Run = Callable[[Contender, Situation], tuple[list[float], list[float]] | None]


def take_turns(rows: list[Contender], where: list[Situation], rounds: int, run: Run) -> Results:
    """Each round runs every contender once in every situation, and begins with another one."""
    results: Results = {(c, s): Series() for s in where for c in rows}
    for done in range(rounds):
        say(f"round {done + 1} of {rounds}")
        first = done % len(rows)
        for s in where:
            with neighbour(s.scenario):
                for c in rows[first:] + rows[:first]:
                    series = results[c, s]
                    if series.timed_out:
                        continue
                    times = run(c, s)
                    if times is None:
                        series.timed_out = True
                        continue
                    series.wall += times[0]
                    series.processor += times[1]
    return results


# ---- results


def machine(**more: object) -> dict[str, object]:
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    commit = subprocess.run(
        ["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True
    )
    compiler = subprocess.run(
        [os.environ.get("CC", "gcc"), "--version"], capture_output=True, text=True
    )
    return {
        "type": "machine", "commit": commit.stdout.strip() or "unknown", "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": f"{platform.system()} {platform.release()}",
        "compiler": compiler.stdout.split("\n")[0], **more,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "load": os.getloadavg()[0],
    }


def lines(results: Results, benchmark: str, limit_s: float, **more: object) -> Iterator[str]:
    yield json.dumps(machine(**more))
    for (c, s), series in results.items():
        facts = {
            "benchmark": benchmark, "provider": c.provider, "name": c.name, "wait": c.wait,
            "threads": s.threads, "scenario": s.scenario, "program": s.job,
        }
        if series.timed_out:
            yield json.dumps(
                {"type": "skipped", **facts, "reason": f"no end within {limit_s:g} s"}
            )
        for metric, values in (("wall", series.wall), ("cpu_time", series.processor)):
            if values:
                yield result_line(
                    **facts, cores=len(os.sched_getaffinity(0)), metric=metric, min=min(values),
                    median=statistics.median(values), max=max(values), samples=len(values),
                )


def is_rival(c: Contender) -> bool:
    return c.provider != "tutti"


def name_of(s: Situation) -> str:
    return f"{s.job}, {s.threads} threads, {s.scenario}"


def losses(results: Results, digits: Callable[[float], str],
           rivals: Callable[[Contender], bool] = is_rival,
           name: Callable[[Situation], str] = name_of) -> Iterator[str]:
    """Where a rival is more than 5 % faster than tutti's default, or tutti did not end in time."""
    ours = next(c for c, _ in results if c.provider == "tutti")
    for s in dict.fromkeys(s for _, s in results):
        times = {
            c: series.ns
            for (c, at), series in results.items()
            if at == s and series.ns and rivals(c)
        }
        if not times:
            continue
        if results[ours, s].timed_out:
            yield f"* {name(s)}: tutti did not end in time"
            continue
        best = min(times, key=times.get)
        if results[ours, s].ns > 1.05 * times[best]:
            yield (
                f"* {name(s)}: {best.label} {digits(times[best])}, "
                f"tutti {digits(results[ours, s].ns)}"
            )


def verdict(lost: list[str]) -> Iterator[str]:
    yield (
        "Where tutti is not within 1.05 times of the best:"
        if lost
        else "tutti is within 1.05 times of the best everywhere."
    )
    yield from lost


def table(results: Results, digits: Callable[[float], str],
          rivals: Callable[[Contender], bool] = is_rival) -> Iterator[str]:
    """The losses, and for each scenario a table of medians, processor times in brackets."""
    yield from verdict(list(losses(results, digits, rivals)))
    rows = list(dict.fromkeys(c for c, _ in results))
    for scenario in dict.fromkeys(s.scenario for _, s in results):
        columns = [s for s in dict.fromkeys(s for _, s in results) if s.scenario == scenario]
        yield ""
        yield (
            f"| {scenario} | " + " | ".join(f"{s.job}, {s.threads} threads" for s in columns) + " |"
        )
        yield "|---|" + "--:|" * len(columns)
        for c in rows:
            cells = []
            for s in columns:
                series = results[c, s]
                if series.ns is None:
                    cells.append("-")
                    continue
                burned = digits(statistics.median(series.processor))
                cells.append(f"{digits(series.ns)} ({burned})")
            yield f"| {c.label} | " + " | ".join(cells) + " |"


# ---- the command line


def numbers(kind: type) -> Callable[[str], list[float]]:
    def list_of_numbers(text: str) -> list[float]:
        return [kind(word) for word in text.split(",")]

    return list_of_numbers


def choice(known: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        words = tuple(text.split(","))
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(f"'{word}' is not one of {', '.join(known)}")
        return words

    return parse


def run_main(main: Callable[[], None]) -> None:
    """Calls main and turns failures into one sentence and a status; 77 is what CTest skips."""
    try:
        main()
    except Absent as absent:
        say(str(absent))
        sys.exit(SKIPPED)
    except Failure as failure:
        say(str(failure))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
