#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times one optimisation of all branch lengths by tutti-phylo, libpll and RAxML, interleaved, on
the same data.

Every round runs each program once, in a random order. A run optimises --repeat times, each time
from lengths of 0.1. tutti-phylo and phylo-libpll follow the same procedure. RAxML has its own: it
uses Newton-Raphson too, but it continues until no length changes by more than a little, whereas the
others end when the log-likelihood gains less than --epsilon. That is why RAxML takes so much
longer.

`raxmlHPC -f n` finds a model on the first tree of a file and then optimises only the lengths of
each further tree. So it is given copies of one tree, and the time between the lines that it prints
is that of one optimisation. The others compute with the model that RAxML finds, which it prints to
six digits.

JSON lines go to standard output, a table to standard error. With --neighbour everything is also
measured beside a busy process on the first CPU. A program that is not installed or built is left
out, with a line that says so.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from cli.result_line import result_line  # noqa: E402

# Taxa and patterns; two are those of Berger and Stamatakis.
SHAPES = {"404": (404, 7429), "1481": (1481, 1241), "150": (150, 1200)}
EXAMPLE = pathlib.Path("/usr/share/doc/iqtree/examples/example.phy")
SIMULATED_MODEL = "GTR{1,2.5,1,1,2.5,1}+F{0.3,0.2,0.2,0.3}+G4{0.7}"


class Failed(Exception):
    pass


def run(command: list[str], folder: pathlib.Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(
            f"{' '.join(command)}: status {done.returncode}: "
            f"{(done.stderr or done.stdout)[-500:].strip()}"
        )
    return done.stdout


class Data:
    """An alignment and a tree in `folder`, and the model with which all programs compute."""

    def __init__(self, name: str, tutti: str, raxml: str | None, folder: pathlib.Path) -> None:
        self.name, self.folder, self.model = name, folder, SIMULATED_MODEL
        self.alignment, self.tree = str(folder / "data.phy"), str(folder / "data.nwk")
        if name in SHAPES:
            taxa, patterns = SHAPES[name]
            shape = ["--taxa", str(taxa), "--patterns", str(patterns)]
            run(
                [
                    tutti, "simulate", *shape, "--seed", "1", "--model", self.model, "--output",
                    "data",
                ],
                folder,
            )
        elif name == "example":
            if raxml is None or not EXAMPLE.is_file():
                raise Failed(f"--data example needs RAxML and {EXAMPLE}")
            self.alignment = str(EXAMPLE)
            run(
                [
                    raxml, "-T", "2", "-y", "-m", "GTRGAMMA", "-p", "1", "-s", self.alignment, "-n",
                    "start",
                ],
                folder,
            )
            self.tree = str(folder / "RAxML_parsimonyTree.start")
        else:
            parts = name.split(",")
            if len(parts) != 2:
                raise Failed(
                    f"--data: '{name}' is not {', '.join(SHAPES)}, example, or ALIGNMENT,TREE"
                )
            self.alignment, self.tree = (str(pathlib.Path(part).resolve()) for part in parts)


class Raxml:
    def __init__(self, program: str, data: Data) -> None:
        self.program, self.data = program, data

    def optimise(self, threads: int, repeat: int) -> tuple[list[float], float, str]:
        """Times in ns, the log-likelihood, and everything that the program printed."""
        folder = self.data.folder
        for old in folder.glob("RAxML_*.timed"):
            old.unlink()
        (folder / "copies.nwk").write_text(
            (pathlib.Path(self.data.tree).read_text().strip() + "\n") * (1 + repeat)
        )
        command = [
            "stdbuf", "-oL", self.program, "-T", str(threads), "-f", "n", "-m", "GTRGAMMA", "-p",
            "1",
        ]
        command += ["-s", self.data.alignment, "-z", "copies.nwk", "-n", "timed"]
        stamps, lines = [], []
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                lines.append(line)
                if line.startswith("Tree ") and "Likelihood" in line:
                    stamps.append(time.perf_counter_ns())
        if process.returncode != 0 or len(stamps) != 1 + repeat:
            raise Failed(f"{' '.join(command)}: {''.join(lines)[-500:]}")
        value = float(re.findall(r"Tree \d+ Likelihood (-?[\d.]+)", "".join(lines))[-1])
        return (
            [float(b - a) for a, b in zip(stamps, stamps[1:], strict=False)], value, "".join(lines),
        )

    def find_model(self) -> str:
        """The model that `-f e` finds on the data, in tutti-phylo's notation; `-f n` finds the
        same.
        """
        folder, data = self.data.folder, self.data
        command = [self.program, "-T", "2", "-f", "e", "-m", "GTRGAMMA", "-p", "1"]
        run([*command, "-s", data.alignment, "-t", data.tree, "-n", "model"], folder)
        info = (folder / "RAxML_info.model").read_text()

        def value(pattern: str) -> str:
            match = re.search(pattern + r"\s*([\d.]+)", info)
            if match is None:
                raise Failed(f"RAxML did not print '{pattern}'")
            return match.group(1)

        pairs = ("A <-> C", "A <-> G", "A <-> T", "C <-> G", "C <-> T", "G <-> T")
        rates = ",".join(value(f"rate {pair}:") for pair in pairs)
        frequencies = ",".join(value(rf"freq pi\({base}\):") for base in "ACGT")
        return f"GTR{{{rates}}}+F{{{frequencies}}}+G4{{{value('alpha:')}}}"


Outcome = tuple[list[float], dict[str, float]]


def tutti_runner(
    program: str, data: Data, o: argparse.Namespace, barrier: str
) -> Callable[[int], Outcome]:
    def once(threads: int) -> Outcome:
        command = [
            program, "optimize", "--alignment", data.alignment, "--tree", data.tree, "--model",
            data.model,
        ]
        command += [
            "--threads", str(threads), "--repeat", str(o.repeat), "--epsilon", str(o.epsilon),
            "--json",
        ]
        said = run([*command, *(["--barrier", barrier] if barrier else [])], data.folder)
        line = json.loads(said.splitlines()[-1])
        return line["values"], {
            key: line[key] for key in ("log_likelihood", "cycles", "regions", "reductions")
        }

    return once


def libpll_runner(
    program: str, data: Data, o: argparse.Namespace, runtime: str
) -> Callable[[int], Outcome]:
    def once(threads: int) -> Outcome:
        command = [
            program, data.alignment, data.tree, data.model, runtime, str(threads), str(o.repeat),
            str(o.epsilon),
        ]
        lines = [json.loads(line) for line in run(command, data.folder).splitlines()]
        return [line["median"] for line in lines], {
            k: lines[-1][k] for k in ("log_likelihood", "cycles", "regions")
        }

    return once


def raxml_runner(raxml: Raxml, o: argparse.Namespace) -> Callable[[int], Outcome]:
    def once(threads: int) -> Outcome:
        times, value, _ = raxml.optimise(threads, o.repeat)
        return times, {"log_likelihood": value}

    return once


@contextlib.contextmanager
def busy_neighbour() -> Iterator[None]:
    cpu = min(os.sched_getaffinity(0))
    # The busy process ends by itself if this process dies.
    code = (
        f"import os\nos.sched_setaffinity(0, {{{cpu}}})\n"
        f"while os.getppid() == {os.getpid()}: sum(range(10**5))"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    time.sleep(0.5)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def progress(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


def measure(o: argparse.Namespace, data: Data, runners: dict, scenario: str) -> None:
    cases = [(key, threads) for key in runners for threads in o.threads]
    times: dict = {case: [] for case in cases}
    facts: dict = {}
    for turn in range(o.rounds):
        for case in random.sample(cases, len(cases)):
            (provider, name), threads = case
            progress(f"round {turn + 1}/{o.rounds} {scenario}: {provider} {name} {threads}")
            samples, facts[case] = runners[provider, name](threads)
            times[case] += samples
    progress("")
    for case in cases:
        (provider, name), threads = case
        line = {"benchmark": "phylo", "provider": provider, "name": name, "data": data.name}
        line |= {
            "threads": threads, "scenario": scenario, "metric": "wall", "unit": "ns",
            "min": min(times[case]),
        }
        line |= {
            "median": statistics.median(times[case]), "max": max(times[case]),
            "samples": len(times[case]),
        }
        print(result_line(**line, **facts[case]), flush=True)
        print(
            f"{scenario:9} {provider:6} {name:14} {threads} threads  median "
            f"{line['median'] / 1e6:10.3f} ms"
            f"  min {line['min'] / 1e6:10.3f}  max {line['max'] / 1e6:10.3f}  "
            f"{facts[case]['log_likelihood']:.4f}",
            file=sys.stderr,
        )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--build", type=pathlib.Path, default=pathlib.Path("build"), help="build folder"
    )
    parser.add_argument(
        "--data", default="404", help=f"{', '.join(SHAPES)} (simulated), example, or ALIGNMENT,TREE"
    )
    parser.add_argument(
        "--threads", default=[1, 2], type=lambda s: [int(n) for n in s.split(",")],
        help="numbers of threads, e.g. 1,2",
    )
    parser.add_argument("--rounds", type=int, default=5, help="number of runs of each program")
    parser.add_argument("--repeat", type=int, default=1, help="number of optimisations in a run")
    parser.add_argument(
        "--epsilon", type=float, default=1e-4,
        help="gain of the log-likelihood at which tutti-phylo and libpll end",
    )
    parser.add_argument(
        "--barriers", default="",
        help="names of tutti's barriers to measure besides its choice, e.g. flags,central",
    )
    parser.add_argument(
        "--neighbour", action="store_true", help="measure also beside a busy process"
    )
    return parser.parse_args()


def main() -> None:
    o = parse_arguments()
    tutti = str((o.build / "tutti-phylo").resolve())
    libpll = (o.build / "workloads/phylo/compare/phylo-libpll").resolve()
    names = (
        "raxmlHPC-PTHREADS-AVX2", "raxmlHPC-PTHREADS-AVX", "raxmlHPC-PTHREADS-SSE3",
        "raxmlHPC-PTHREADS",
    )
    program = next((path for name in names if (path := shutil.which(name))), None)
    with tempfile.TemporaryDirectory() as name:
        data = Data(o.data, tutti, program, pathlib.Path(name))
        runners: dict = {}
        if program is None:
            print("compare.py: RAxML is left out: it is not installed", file=sys.stderr)
        else:
            raxml = Raxml(program, data)
            data.model = raxml.find_model()
            runners["raxml", pathlib.Path(program).name.removeprefix("raxmlHPC-")] = raxml_runner(
                raxml, o
            )
        for barrier in ["", *filter(None, o.barriers.split(","))]:
            runners["tutti", barrier or "default"] = tutti_runner(tutti, data, o, barrier)
        if libpll.is_file():
            for runtime in ("pthread", "tutti"):
                runners["libpll", runtime] = libpll_runner(str(libpll), data, o, runtime)
        else:
            print("compare.py: libpll is left out: phylo-libpll is not built", file=sys.stderr)
        asked = ["--alignment", data.alignment, "--tree", data.tree, "--json"]
        machine = run(
            [tutti, "optimize", *asked, "--repeat", "1", "--epsilon", "1000"], data.folder
        )
        print(machine.splitlines()[0], flush=True)
        measure(o, data, runners, "free")
        if o.neighbour:
            with busy_neighbour():
                measure(o, data, runners, "neighbour")


if __name__ == "__main__":
    try:
        main()
    except (Failed, OSError) as e:
        sys.exit(f"compare.py: {e}")
