#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs unmodified programs of Debian and PyPI under several OpenMP runtimes and prints tables.

In each situation the runtimes take turns: the program's own libgomp with its defaults, with
OMP_WAIT_POLICY=active and =passive, LLVM's libomp preloaded, and tutti preloaded. The command
compares what the programs compute, to the last bit: tutti's results are wrong if they differ from
libgomp's and all of libgomp's with this number of threads are the same. It counts a program only if
tutti has run it. A program that is not installed gives one line.

A situation is a number of threads, with a condition if there is one: `2`, `8`, `2+one` (a busy
process on one CPU), `2+all` (one on each CPU), `2+quota` (1.5 CPUs, in a control group).

--record appends what it measures to a file of JSON lines, which --print makes the tables of.
"""

import argparse
import collections
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import select
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
LLVM = ("/usr/lib/x86_64-linux-gnu/libomp.so.5", "/usr/lib/llvm-14/lib/libomp.so.5")
OPENBLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp"
GROMACS = "/usr/share/gromacs/top/spc216.gro"
# Variables that could change how a runtime waits. Only a runtime's own settings may do that.
SETTINGS = ("OMP_", "GOMP_", "KMP_", "LIBOMP_", "OPENBLAS_", "TUTTI_", "LD_PRELOAD")


# ---- programs


@dataclass(frozen=True)
class Program:
    """`command` has {n} for the number of threads. `results` finds what is compared in the output;
    without it the whole output is. `files` are compared too, `needs` must exist."""

    name: str
    package: str
    command: str
    results: str = ""
    files: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    # Whether it refuses to run with more threads than there are CPUs.
    wants_cpus: bool = False

    @property
    def is_job(self) -> bool:
        return "jobs.py" in self.command


def job(name: str, package: str, **more: object) -> Program:
    return Program(name, package, f"{{python}} {{here}}/jobs.py {name}", r"^result .*", **more)


PROGRAMS = (
    job("scikit_learn", "PyPI's scikit-learn"),
    job("xgboost", "PyPI's xgboost-cpu"),
    job("lightgbm", "PyPI's lightgbm"),
    job("faiss", "PyPI's faiss-cpu"),
    job("pyscf", "PyPI's pyscf"),
    Program(
        "openblas", "Debian's libopenblas0-openmp and python3-numpy",
        "/usr/bin/python3 {here}/jobs.py openblas", r"^result .*",
        needs=(f"{OPENBLAS}/libblas.so.3", "/usr/lib/python3/dist-packages/numpy"),
        settings=(("LD_LIBRARY_PATH", OPENBLAS),),
    ),
    job("fftw", "Debian's libfftw3-double3", needs=(
        "/usr/lib/x86_64-linux-gnu/libfftw3_omp.so.3",)),
    Program(
        "iqtree2", "Debian's iqtree",
        "iqtree2 -s dna.phy -m GTR+G -nt {n} -seed 1 -n 5 -redo -pre iqtree",
        r"^(?:BEST SCORE|Optimal log-likelihood).*", files=("iqtree.treefile",),
        wants_cpus=True,
    ),
    Program("fasttree", "Debian's fasttree", "fasttreeMP -quiet -nopr -nt -gtr -seed 1 dna.fa"),
    Program("clustalo", "Debian's clustalo", "clustalo -i protein.fa --threads={n}"),
    Program("primecount", "Debian's primecount-bin", "primecount 1e14 --threads={n}"),
    Program(
        "xtb", "Debian's xtb (Fortran)", "xtb water.xyz --gfn 2 -P {n} --norestart --grad",
        r"TOTAL ENERGY.*|GRADIENT NORM.*", files=("water.engrad",),
    ),
    Program(
        "gromacs", "Debian's gromacs",
        "gmx -quiet mdrun -s water.tpr -deffnm water -ntmpi 1 -ntomp {n} -reprod -nb cpu -pin off",
        r"^$", files=("water.gro",), needs=(GROMACS,), settings=(("GMX_MAXBACKUP", "-1"),),
    ),
    Program(
        "graphicsmagick", "Debian's graphicsmagick",
        "gm convert picture.ppm -blur 0x1 -sharpen 0x1 -median 1 ppm:-",
    ),
    Program("gmic", "Debian's gmic", "gmic picture.ppm -blur 3 -median 5 -o ppm:-"),
)


def python_with(module: str, candidates: list[str]) -> str:
    """The first Python that has the module, or an empty string."""
    for each in candidates:
        done = subprocess.run(
            [each, "-c", f"import importlib.util as u; exit(u.find_spec('{module}') is None)"],
            check=False, stderr=subprocess.DEVNULL,
        )
        if done.returncode == 0:
            return each
    return ""


MODULES = {"scikit_learn": "sklearn", "fftw": "numpy"}


def arguments_of(program: Program, threads: int, pythons: list[str]) -> list[str] | None:
    """The program's command line, or None if it is not installed."""
    python = ""
    if "{python}" in program.command:
        python = python_with(MODULES.get(program.name, program.name), pythons)
    words = program.command.format(n=threads, here=HERE, python=python or "absent").split()
    missing = shutil.which(words[0]) is None or not all(
        pathlib.Path(each).exists() for each in program.needs
    )
    return None if missing else words


# ---- inputs


def make_inputs(folder: pathlib.Path) -> None:
    """Writes the inputs of all programs, which are the same each time."""
    folder.mkdir(parents=True, exist_ok=True)
    source = random.Random(1)

    def evolve(sequence: str, letters: str, rate: float) -> str:
        return "".join(source.choice(letters) if source.random() < rate else c for c in sequence)

    def family(count: int, sequence: str) -> list[str]:
        if count == 1:
            return [sequence]
        left = source.randint(1, count - 1)
        parts = (left, count - left)
        return [
            each
            for part in parts
            for each in family(part, evolve(sequence, "ACGT", 0.05 + 0.1 * source.random()))
        ]

    dna = family(30, "".join(source.choice("ACGT") for _ in range(1200)))
    (folder / "dna.fa").write_text("".join(f">t{i}\n{s}\n" for i, s in enumerate(dna)))
    rows = "".join(f"t{i} {s}\n" for i, s in enumerate(dna))
    (folder / "dna.phy").write_text(f"{len(dna)} {len(dna[0])}\n{rows}")
    acids = "ACDEFGHIKLMNPQRSTVWY"
    root = "".join(source.choice(acids) for _ in range(200))
    proteins = [evolve(root, acids, 0.4) for _ in range(30)]
    (folder / "protein.fa").write_text("".join(f">p{i}\n{s}\n" for i, s in enumerate(proteins)))
    width, height = 900, 700
    (folder / "picture.ppm").write_bytes(
        f"P6 {width} {height} 255\n".encode()
        + bytes(
            (x * y * (c + 1) // 97 + (source.random() < 0.1) * 80) % 256
            for y in range(height)
            for x in range(width)
            for c in range(3)
        )
    )
    atoms = []
    for x, y, z in ((3.0 * (i % 3), 3.0 * (i // 3 % 3), 3.0 * (i // 9)) for i in range(27)):
        atoms += [f"O {x} {y} {z}", f"H {x + 0.96} {y} {z}", f"H {x - 0.24} {y + 0.93} {z}"]
    (folder / "water.xyz").write_text(f"{len(atoms)}\n\n" + "\n".join(atoms) + "\n")
    make_gromacs_input(folder)


def make_gromacs_input(folder: pathlib.Path) -> None:
    if shutil.which("gmx") is None or not pathlib.Path(GROMACS).exists():
        return
    (folder / "water.top").write_text(
        '#include "oplsaa.ff/forcefield.itp"\n#include "oplsaa.ff/spce.itp"\n'
        "[ system ]\nwater\n[ molecules ]\nSOL 216\n"
    )
    (folder / "water.mdp").write_text(
        "integrator = md\ndt = 0.002\nnsteps = 400\nnstlist = 10\ncoulombtype = PME\n"
        "rcoulomb = 0.9\nrvdw = 0.9\nfourierspacing = 0.12\ngen-vel = yes\ngen-temp = 300\n"
        "gen-seed = 1\n"
    )
    subprocess.run(
        ["gmx", "grompp", "-f", "water.mdp", "-c", GROMACS, "-p", "water.top", "-o", "water.tpr"],
        cwd=folder, check=True, capture_output=True,
    )


# ---- situations


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


@contextlib.contextmanager
def quota(cpus: float) -> Iterator[pathlib.Path]:
    """Makes a control group with a quota of processor time; its list of members."""
    parent, is_v2 = cpu_controller()
    group = parent / f"tutti-programs-{os.getpid()}"
    try:
        if is_v2:
            (parent / "cgroup.subtree_control").write_text("+cpu")
        group.mkdir()
    except OSError as error:
        raise SystemExit(f"programs.py: no control group can be made ({error})") from error
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


def parse_situation(text: str) -> str:
    if re.fullmatch(r"[1-9][0-9]*(\+(one|all|quota))?", text) is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not like 2, 8, 2+one, 2+all or 2+quota")
    return text


# ---- a run


@dataclass(frozen=True)
class Runtime:
    name: str
    library: str = ""
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Run:
    wall: float
    processor: float
    result: str
    # How many CPUs other programs used in the mean, the busy processes of this command included.
    others: float


def processor_time_of_all() -> float:
    """What all programs of the machine have used since it started."""
    names = "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"
    numbers = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    times = dict(zip(names, map(int, numbers), strict=False))
    busy = sum(v for k, v in times.items() if k not in ("idle", "iowait"))
    return busy / os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """A run did not succeed. The message is one sentence."""


def execute(
    program: Program, words: list[str], runtime: Runtime, threads: int, where: pathlib.Path,
    group: pathlib.Path | None, limit: float,
) -> Run | None:
    """Runs the program once; None: it took too long."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(SETTINGS)}
    environment |= {"OMP_NUM_THREADS": str(threads), "TUTTI_VERBOSE": "1"}
    environment |= dict(program.settings) | dict(runtime.settings)
    if runtime.library:
        environment["LD_PRELOAD"] = runtime.library
    for each in program.files:
        (where / each).unlink(missing_ok=True)
    join = None
    if group is not None:
        join = lambda: group.write_text(str(os.getpid()))
    output, errors = where / "output", where / "errors"
    with output.open("wb") as out, errors.open("wb") as err:
        before = processor_time_of_all()
        begun = time.perf_counter()
        child = subprocess.Popen(
            words, cwd=where, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            preexec_fn=join,
        )
        usage = wait_for(child, begun + limit)
        wall = time.perf_counter() - begun
        of_all = processor_time_of_all() - before
    if usage is None:
        return None
    status, spent = usage
    said = errors.read_text(encoding="utf-8", errors="replace")
    if status != 0:
        raise Failure(f"{program.name} under {runtime.name} ended with {status}: {said[-300:]}")
    if runtime.name == "tutti" and "tutti: runtime tutti" not in said:
        raise Failure(f"tutti has not run {program.name}: {said[-300:]}")
    text = output.read_bytes()
    others = max(of_all - spent, 0) / wall
    processor = spent
    if program.is_job:
        wall, processor = (float(each) for each in text.split()[1:3])
    return Run(wall, processor, result_of(program, text, where), others)


def wait_for(child: subprocess.Popen, deadline: float) -> tuple[int, float] | None:
    """The exit status and the processor time, or None if the deadline has passed."""
    process = os.pidfd_open(child.pid)
    try:
        ended = select.select([process], [], [], max(deadline - time.perf_counter(), 0))[0]
    finally:
        os.close(process)
    if not ended:
        child.kill()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return (child.returncode, used.ru_utime + used.ru_stime) if ended else None


def result_of(program: Program, text: bytes, where: pathlib.Path) -> str:
    """A digest of what the program has computed."""
    digest = hashlib.sha256()
    if program.results:
        for line in re.findall(program.results, text.decode(errors="replace"), re.MULTILINE):
            digest.update(line.encode())
    else:
        digest.update(text)
    for each in program.files:
        digest.update((where / each).read_bytes())
    return digest.hexdigest()[:16]


def runtimes_of(tutti: pathlib.Path) -> list[Runtime]:
    llvm = next((each for each in LLVM if pathlib.Path(each).exists()), "")
    policy = "OMP_WAIT_POLICY"
    rows = [
        Runtime("libgomp"),
        Runtime("active", settings=((policy, "active"),)),
        Runtime("passive", settings=((policy, "passive"),)),
        Runtime("libomp", llvm),
        Runtime("tutti", str(tutti)),
    ]
    if not llvm:
        print("programs.py: LLVM's libomp is missing: Debian's libomp-dev", file=sys.stderr)
        rows = [each for each in rows if each.name != "libomp"]
    return rows


def measure(asked: argparse.Namespace, rows: list[Runtime]) -> Iterator[dict[str, object]]:
    """Yields a record of each run."""
    begun = time.perf_counter()
    for situation in asked.situations:
        count, _, condition = situation.partition("+")
        threads, cpus = int(count), sorted(os.sched_getaffinity(0))
        busy = {"one": cpus[:1], "all": cpus}.get(condition, [])
        limits = quota(1.5) if condition == "quota" else contextlib.nullcontext()
        with busy_processes(busy), limits as group:
            for program in PROGRAMS:
                if program.name not in asked.programs:
                    continue
                words = arguments_of(program, threads, asked.python)
                if words is None or (program.wants_cpus and threads > len(cpus)):
                    continue
                slow: set[str] = set()
                for repeat in range(asked.repeats):
                    first = repeat % len(rows)
                    for runtime in rows[first:] + rows[:first]:
                        if runtime.name in slow or time.perf_counter() - begun > asked.seconds:
                            continue
                        record: dict[str, object] = {
                            "program": program.name, "situation": situation,
                            "runtime": runtime.name,
                        }
                        try:
                            done = execute(
                                program, words, runtime, threads, asked.work, group, asked.limit
                            )
                        except Failure as failure:
                            yield record | {"failure": str(failure)}
                            slow.add(runtime.name)
                            continue
                        if done is None:
                            slow.add(runtime.name)
                            yield record | {"over": asked.limit}
                            if asked.must_end and runtime.name == "tutti":
                                yield record | {"failure": f"{program.name} did not end in time"}
                        else:
                            yield record | {
                                "wall": done.wall, "processor": done.processor,
                                "result": done.result, "others": round(done.others, 2),
                            }


# ---- tables

Records = list[dict[str, object]]


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
            is_own = each["runtime"] in ("libgomp", "active", "passive")
            kinds["libgomp" if is_own else each["runtime"]].add(each["result"])
    own, ours = kinds["libgomp"], kinds["tutti"]
    if not own or not ours:
        return "not compared"
    if len(own) > 1:
        return "libgomp's differ"
    return "same" if ours == own else "WRONG"


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
            wrong += said == "WRONG"
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
    print("Where another runtime is more than 3 % faster than tutti:" if losses else
          "No other runtime is more than 3 % faster than tutti.")
    print("\n".join([*losses, *tables]))
    for each in records:
        if "failure" in each:
            print(each["failure"], file=sys.stderr)
    return wrong


def cell_text(records: Records) -> str:
    over = next((each["over"] for each in records if "over" in each), None)
    if over is not None:
        return f"> {over:g}"
    wall, processor = typical(records, "wall"), typical(records, "processor")
    if any("failure" in each for each in records):
        return "fails"
    return "" if wall is None else f"{seconds_text(wall)} ({seconds_text(processor)})"


# ---- the command line


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = [each.name for each in PROGRAMS]
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--library", type=pathlib.Path, help="tutti's runtime (of the build)")
    parser.add_argument("--programs", nargs="+", choices=known, default=known)
    parser.add_argument(
        "--situations", nargs="+", type=parse_situation,
        default=["2", "4", "8", "2+one", "2+all", "2+quota"],
    )
    parser.add_argument("--runtimes", nargs="+", help="only these, by the names in the table")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--limit", type=float, default=10, help="seconds a run may take (10)")
    parser.add_argument("--must-end", action="store_true",
                        help="a run of tutti that takes too long is a failure")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no run after them")
    parser.add_argument("--python", nargs="+", default=[sys.executable], metavar="PYTHON",
                        help="those that have the libraries of PyPI")
    parser.add_argument("--work", type=pathlib.Path, help="folder of inputs and outputs")
    parser.add_argument("--record", type=pathlib.Path, help="append the runs to this file")
    parser.add_argument("--print", nargs="+", type=pathlib.Path, metavar="FILE",
                        help="measure nothing; print the tables of these files")
    return parser.parse_args()


def main() -> int:
    asked = parse_arguments()
    if asked.print:
        lines = [line for file in asked.print for line in file.read_text().splitlines()]
        return 1 if print_tables([json.loads(line) for line in lines]) else 0
    library = (asked.library or asked.build / "preload/libtutti_openmp.so").resolve()
    if not library.is_file():
        print(f"programs.py: there is no {library}; build it first", file=sys.stderr)
        return 1
    asked.work = (asked.work or asked.build / "openmp-programs").resolve()
    absent = [
        each
        for each in PROGRAMS
        if each.name in asked.programs and arguments_of(each, 1, asked.python) is None
    ]
    for each in absent:
        print(f"programs.py: {each.name} is missing: {each.package}", file=sys.stderr)
    if len(absent) == len(asked.programs):
        return SKIPPED
    make_inputs(asked.work)
    rows = [
        each for each in runtimes_of(library) if not asked.runtimes or each.name in asked.runtimes
    ]
    records = []
    with open(asked.record or os.devnull, "a", encoding="utf-8") as file:
        for record in measure(asked, rows):
            records.append(record)
            print(json.dumps(record), file=file, flush=True)
    wrong = print_tables(records)
    return 1 if wrong or any("failure" in each for each in records) else 0


if __name__ == "__main__":
    sys.exit(main())
