#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how the project names the five papers that it builds.

  names     No tracked file names a paper by a number of three digits, or points at a folder outside
            of the project that only its authors have: readers know authors and year.
  rows      docs/papers.md has a row for each of the papers' figures and tables, and no row has an
            empty cell.
  commands  Every row names a command, refers to that of another row, or says that nothing makes it
            yet. A job of hardware.flow exists (`--list`), and so does a script and a program's
            target. With --build, the programs in the build folder know the options. No command is
            run, unless --run says so.

With --run, nothing of that is checked; the page's commands are run instead, as they stand there,
each once and one after the other, and must end with status 0: first the builds, then those that
measure time, then those that simulate and prove. "--run quick" takes those that need only
the build and seconds, "--run all" takes all, without the mutants of the hardware: the tests
hardware.UNIT.mutate run the same ones. "--paper NAME" takes those of one paper's section.

pages.py checks the options of `tutti` on this page as on every other one.
"""

import pathlib
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache

import sources
from sources import Violation

PAGE = "docs/papers.md"
NUMBER = re.compile(r"\bpapers?[ _-]?0\d\d\b", re.IGNORECASE)
OUTSIDE = re.compile(r"\.\./shared/|/shared[/]papers")
# The sections of the page: how many figures and tables the paper has.
WANTED = {
    "Hetland et al. 2019": (9, 0),
    "Arap et al.": (9, 0),
    "Berger and Stamatakis 2010": (3, 4),
    "Hale and Dinda 2018": (20, 0),
    "Naylor et al. 2020": (8, 0),
}
ROMAN = ("", "I", "II", "III", "IV")
ROW = re.compile(r"\| *((?:Figure|Table) [0-9IVX]+)\b")
NOTHING = "Nothing makes this yet."
FLOW = ".venv/bin/python -m hardware.flow "
# The commands that `--run quick` runs: seconds each.
QUICK = re.compile(
    r"build/tutti (graph|kernel run --program describe"
    r"|bench barrier --threads 2 --algorithms ticket)"
)
# What the other commands need and `make build` leaves out.
BUILDS = re.compile(r"cmake --build build --target \w+$|make unoptimised$")
# The commands of which nothing depends on time: simulations and proofs.
COUNTS = re.compile(
    r"\.venv/bin/python -m (hardware|unittest hardware)\.|build/hardware/|build/tutti sim "
)
# The name that --paper takes for each section.
PAPERS = {section.split()[0].lower(): section for section in WANTED}
STAGES = {"lint", "elaborate", "prove", "cover", "mutate", "simulate", "synthesise"}


def files(root: pathlib.Path) -> Iterator[pathlib.Path]:
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    yield from (
        path
        for path in (root / name for name in listed.stdout.split("\n") if name)
        if path.is_file()
    )


def check_names(path: pathlib.Path) -> list[Violation]:
    text = path.read_text(encoding="utf-8", errors="replace")
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if name := NUMBER.search(line):
            found.append(
                Violation(path, number, f"'{name[0]}': name the paper by its authors and year")
            )
        if place := OUTSIDE.search(line):
            found.append(Violation(path, number, f"'{place[0]}': readers do not have this folder"))
    return found


def check_rows(page: pathlib.Path) -> tuple[list[Violation], int]:
    """The violations, and the number of rows of figures and tables."""
    if not page.is_file():
        return [Violation(page, 1, "the page is missing")], 0
    seen: dict[str, set[str]] = {name: set() for name in WANTED}
    found, rows, section = [], 0, ""
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("## "):
            section = line[3:].strip()
        elif line.startswith("| "):
            if any(not cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))):
                found.append(Violation(page, number, "this row has an empty cell"))
            if name := ROW.match(line):
                rows += 1
                seen.setdefault(section, set()).add(name[1])
    for paper, (figures, tables) in WANTED.items():
        wanted = [f"Figure {n}" for n in range(1, figures + 1)] + [
            f"Table {ROMAN[n]}" for n in range(1, tables + 1)
        ]
        absent = [name for name in wanted if name not in seen[paper]]
        if absent:
            found.append(
                Violation(page, 1, f"the section '{paper}' has no row for {', '.join(absent)}")
            )
    return found, rows


class Commands:
    """Checks the command of each row without running what it says."""

    def __init__(self, root: pathlib.Path, build: pathlib.Path | None) -> None:
        self.root, self.build, self.checked = root, build, 0

    @cache
    def targets(self) -> set[str]:
        """The names of the executables that the build makes."""
        found: set[str] = set()
        for path in files(self.root):
            if path.name == "CMakeLists.txt" or path.suffix == ".cmake":
                text = path.read_text(encoding="utf-8", errors="replace")
                found |= set(
                    re.findall(
                        r"(?:OUTPUT_NAME|add_executable\(|add_test\(NAME"
                        r"|tutti_add_test\(NAME)\s*([\w-]+)",
                        text,
                    )
                )
        return found

    @cache
    def output(self, command: tuple[str, ...]) -> tuple[int, str]:
        done = subprocess.run(
            command, cwd=self.root, capture_output=True, text=True, check=False, timeout=60
        )
        return done.returncode, done.stdout + done.stderr

    def cell(self, text: str) -> Iterator[str]:
        """What is wrong with the third cell of a row."""
        spans = re.findall(r"`([^`]+)`", text)
        if not spans and not text.startswith((NOTHING, "the same")):
            yield f"the command '{text}' is neither code, nor 'the same ...', nor '{NOTHING}'"
        for span in spans:
            if not re.match(r"build/|\.venv/bin/python ", span):
                continue
            self.checked += 1
            words = shlex.split(span)
            if span.startswith(FLOW):
                yield from self.flow(span)
            elif words[0].endswith("python"):
                yield from self.python(words)
            else:
                yield from self.program(words)

    def flow(self, span: str) -> Iterator[str]:
        arguments = shlex.split(span.removeprefix(FLOW))
        if "--out" in arguments:
            del arguments[arguments.index("--out") : arguments.index("--out") + 2]
        stages = [word for word in arguments if word in STAGES]
        options = arguments[len(stages) :]
        for stage in stages or [""]:
            status, said = self.output(
                (sys.executable, "-m", "hardware.flow", *filter(None, [stage]), *options, "--list")
            )
            if status:
                yield f"`{span}`: no job of {stage or 'any stage'}: {said.strip()}"

    def python(self, words: list[str]) -> Iterator[str]:
        name = words[2] if words[1] == "-m" else words[1]
        if name == "unittest":
            name = words[3]
        places = [name] if "/" in name else [name.replace(".", "/"), name.replace(".", "/") + ".py"]
        if words[2:3] == ["unittest"]:
            places = [name.rpartition(".")[0].replace(".", "/") + ".py"]
        if not any((self.root / place).exists() for place in places):
            yield f"there is no {name}"

    def program(self, words: list[str]) -> Iterator[str]:
        name = pathlib.PurePath(words[0]).name
        if name not in self.targets():
            yield f"the build makes no {name}"
        if self.build is None or name == "tutti":
            return
        program = self.build / pathlib.PurePath(words[0]).relative_to("build")
        options = {word.split("=")[0] for word in words if word.startswith("--")}
        if not program.is_file() or not options:
            return
        deeper = [word for word in words[1:2] if re.fullmatch(r"[a-z]+", word)]
        status, said = self.output((str(program), *deeper, "--help"))
        for option in sorted(options):
            if status or not re.search(rf"{re.escape(option)}\b", said):
                yield f"`{name}` has no option {option}"

    def page(self, page: pathlib.Path) -> Iterator[Violation]:
        for number, _, cell in command_cells(page):
            yield from (Violation(page, number, message) for message in self.cell(cell))


def command_cells(page: pathlib.Path) -> Iterator[tuple[int, str, str]]:
    """The number of each row's line, its section, and its cell with the command."""
    section = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("## "):
            section = line[3:].strip()
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if line.startswith("| ") and len(cells) == 7 and cells[0] != "in the paper":
            yield number, section, cells[2]


def run_command(root: pathlib.Path, span: str, seconds: float) -> bool:
    start = time.monotonic()
    try:
        done = subprocess.run(
            shlex.split(span), cwd=root, capture_output=True, text=True, timeout=seconds,
            check=False,
        )  # fmt: skip
        said = (done.stdout + done.stderr).strip().split("\n")[-1]
        status = f"status {done.returncode}: {said}" if done.returncode else "ok"
    except subprocess.TimeoutExpired:
        status = f"still running after {seconds:g} s"
    except OSError as error:
        status = error.strerror
    print(f"{time.monotonic() - start:7.1f} s  {status}  `{span}`\n", end="", flush=True)
    return status == "ok"


def run_commands(
    root: pathlib.Path, which: str, seconds: float, paper: str | None = None
) -> int:
    """Runs the commands of the page, or of one paper's section, and returns 1 if one fails."""
    commands: dict[str, None] = {}
    for _, section, cell in command_cells(root / PAGE):
        if paper and section != PAPERS[paper]:
            continue
        for span in re.findall(r"`([^`]+)`", cell):
            if re.match(r"build/[\w./-]+ |\.venv/bin/python ", span + " ") or BUILDS.match(span):
                commands.setdefault(span)
    chosen = [
        span.replace(" mutate ", " ") if span.startswith(FLOW) else span
        for span in commands
        if which == "all" or QUICK.match(span)
    ]
    # A command may need the files of an earlier one, which is of the same kind.
    chosen.sort(key=lambda span: 0 if BUILDS.match(span) else 2 if COUNTS.match(span) else 1)
    failed = [run_command(root, span, seconds) for span in chosen].count(False)
    print(f"papers: {len(chosen)} commands of {PAGE} run, {failed} failed")
    return 1 if failed or not chosen else 0


def main() -> int:
    parser = sources.parser(__doc__)
    parser.add_argument(
        "--build", type=pathlib.Path, help="the build folder, to check options of programs with"
    )
    parser.add_argument("--run", choices=("quick", "all"), help="run the commands of the page")
    parser.add_argument("--paper", choices=PAPERS, help="run those of this paper's section only")
    parser.add_argument(
        "--seconds", type=float, default=1800, help="how long one command may run (default: 1800)"
    )
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if arguments.paper and not arguments.run:
        parser.error("--paper is for --run")
    if arguments.run:
        return run_commands(root, arguments.run, arguments.seconds, arguments.paper)
    paths = list(files(root))
    violations = [violation for path in paths for violation in check_names(path)]
    absent, rows = check_rows(root / PAGE)
    commands = Commands(root, arguments.build.resolve() if arguments.build else None)
    if (root / PAGE).is_file():
        absent += commands.page(root / PAGE)
    least = sum(figures + tables for figures, tables in WANTED.values())
    print(
        f"papers: {rows} rows of figures and tables, at least {least} wanted; {commands.checked} "
        "commands"
    )
    return sources.report("papers", root, len(paths), violations + absent)


if __name__ == "__main__":
    sys.exit(main())
