# SPDX-License-Identifier: Apache-2.0
"""The OpenMP runtimes that are compared, and the situations in which they run."""

import argparse
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMMAND = pathlib.Path(sys.argv[0]).name
LLVM = ("/usr/lib/x86_64-linux-gnu/libomp.so.5", "/usr/lib/llvm-14/lib/libomp.so.5")
# tutti with `tutti run --reproducible`.
REPRODUCIBLE = "reproducible"
# Variables that could change how a runtime waits. Only a runtime's own settings may do that.
SETTINGS = ("OMP_", "GOMP_", "KMP_", "LIBOMP_", "OPENBLAS_", "TUTTI_", "LD_PRELOAD")


@contextlib.contextmanager
def busy_processes(cpus: list[int]) -> Iterator[None]:
    """Runs a process on each of the CPUs that is always busy, in a session of its own."""
    code = (
        "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nprint(flush=True)\n"
        "while os.getppid() == int(sys.argv[2]):\n    for _ in range(100000): pass\n"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(cpu), str(os.getpid())], stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for cpu in cpus
    ]
    try:
        for each in started:
            each.stdout.readline()
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()
            each.stdout.close()


def cpu_controller() -> tuple[pathlib.Path, bool]:
    """The folder of this process's control group of CPUs, and whether it is version 2."""
    groups = dict(
        line.split(":", 2)[1:] for line in pathlib.Path("/proc/self/cgroup").read_text().split("\n")
        if line
    )
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(maxsplit=2)
        mount = pathlib.Path(left.split()[4])
        if kind == "cgroup" and "cpu" in options.split(","):
            name = next((v for k, v in groups.items() if "cpu" in k.split(",")), "/")
            return mount / name.lstrip("/"), False
    return pathlib.Path("/sys/fs/cgroup") / groups.get("", "/").lstrip("/"), True


def group_in(parent: pathlib.Path, is_v2: bool) -> pathlib.Path:
    """Makes a control group there; a group of version 2 must give it the controller."""
    if is_v2:
        (parent / "cgroup.subtree_control").write_text("+cpu")
    group = parent / f"tutti-programs-{os.getpid()}"
    group.mkdir()
    return group


@contextlib.contextmanager
def quota(cpus: float) -> Iterator[pathlib.Path]:
    """Makes a control group with a quota of processor time; its list of members."""
    parent, is_v2 = cpu_controller()
    # The default action would leave the group behind.
    previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        try:
            group = group_in(parent, is_v2)
        except OSError:
            # A group with processes cannot give controllers to others: one beside it, then.
            if not is_v2:
                raise
            group = group_in(parent.parent, is_v2)
    except OSError as error:
        raise SystemExit(f"{COMMAND}: no control group can be made ({error})") from error
    try:
        if is_v2:
            (group / "cpu.max").write_text(f"{int(cpus * 100000)} 100000")
        else:
            (group / "cpu.cfs_period_us").write_text("100000")
            (group / "cpu.cfs_quota_us").write_text(str(int(cpus * 100000)))
        yield group / "cgroup.procs"
    finally:
        for _ in range(200):
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.01)
        signal.signal(signal.SIGTERM, previous)


def parse_situation(text: str) -> str:
    if re.fullmatch(r"[1-9][0-9]*(\+(one|all|quota))?", text) is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not like 2, 8, 2+one, 2+all or 2+quota")
    return text


@dataclass(frozen=True)
class Place:
    """Where programs run: with so many threads, beside so many busy processes, and in a control
    group, whose list of members this is, if there is one."""

    threads: int
    busy: int
    group: pathlib.Path | None

    def joining(self) -> Callable[[], object] | None:
        """What a child does before it becomes the program."""
        group = self.group
        return None if group is None else lambda: group.write_text(str(os.getpid()))


@contextlib.contextmanager
def in_situation(situation: str) -> Iterator[Place]:
    count, _, condition = situation.partition("+")
    cpus = sorted(os.sched_getaffinity(0))
    busy = {"one": cpus[:1], "all": cpus}.get(condition, [])
    limits = quota(1.5) if condition == "quota" else contextlib.nullcontext()
    with busy_processes(busy), limits as group:
        yield Place(int(count), len(busy), group)


def clean_environment() -> dict[str, str]:
    """The caller's, without what could change how a runtime waits."""
    return {k: v for k, v in os.environ.items() if not k.startswith(SETTINGS)}


@dataclass(frozen=True)
class Runtime:
    name: str
    library: str = ""
    settings: tuple[tuple[str, str], ...] = ()

    def environment(self, threads: int, more: dict[str, str] | None = None) -> dict[str, str]:
        """That of a program with so many threads, and with settings of its own."""
        kept = clean_environment() | {"OMP_NUM_THREADS": str(threads), "TUTTI_VERBOSE": "1"}
        kept |= (more or {}) | dict(self.settings)
        return kept | ({"LD_PRELOAD": self.library} if self.library else {})

    def has_run(self, said: str) -> bool:
        """Whether this runtime ran the program that has said this on standard error."""
        return not self.is_tutti or "tutti: runtime tutti" in said

    @property
    def is_tutti(self) -> bool:
        return self.name in ("tutti", REPRODUCIBLE)


def runtimes_of(tutti: pathlib.Path) -> list[Runtime]:
    llvm = next((each for each in LLVM if pathlib.Path(each).exists()), "")
    policy = "OMP_WAIT_POLICY"
    rows = [
        Runtime("libgomp"),
        Runtime("active", settings=((policy, "active"),)),
        Runtime("passive", settings=((policy, "passive"),)),
        Runtime("libomp", llvm),
        Runtime("tutti", str(tutti)),
        Runtime(REPRODUCIBLE, str(tutti), (("TUTTI_REPRODUCIBLE", "1"),)),
    ]
    if not llvm:
        print(f"{COMMAND}: LLVM's libomp is missing: Debian's libomp-dev", file=sys.stderr)
        rows = [each for each in rows if each.name != "libomp"]
    return rows


def in_turns(
    rows: list[Runtime], repeats: int, repeats_of_others: int | None = None
) -> Iterator[Runtime]:
    """Yields each runtime once in every round, in which another one begins each time. The last
    rounds have tutti alone if the others have fewer repeats."""
    for repeat in range(repeats):
        if repeat == repeats_of_others:
            rows = [each for each in rows if each.is_tutti]
        first = repeat % max(len(rows), 1)
        yield from rows[first:] + rows[:first]


def add_options(parser: argparse.ArgumentParser, situations: list[str]) -> None:
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--library", type=pathlib.Path, help="tutti's runtime (of the build)")
    parser.add_argument("--situations", nargs="+", type=parse_situation, default=situations)
    parser.add_argument("--runtimes", nargs="+", help="only these, by the names in the table; "
                        f"{REPRODUCIBLE} (tutti run --reproducible) runs only if it is named")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")


def wanted_runtimes(asked: argparse.Namespace) -> list[Runtime]:
    library = (asked.library or asked.build / "preload/libtutti_openmp.so").resolve()
    if not library.is_file():
        raise SystemExit(f"{COMMAND}: there is no {library}; build it first")
    return [
        each
        for each in runtimes_of(library)
        if (each.name in asked.runtimes if asked.runtimes else each.name != REPRODUCIBLE)
    ]
