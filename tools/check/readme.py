#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a Markdown page, compiles its C++, and compares what they print with what
the page says.

  ```sh           is run by bash in the project's folder and must succeed; not after a line <!--
  no-run --> ```cpp          is compiled against tutti and run; if it has no main(), its lines after
  the includes become one, below
                  the usual standard headers; not after <!-- no-run -->
  ```text         directly after one of these: exactly what it printed
  ```text approx  the same, but any number matches any number, any run of spaces or rules (---)
  matches any
                  other, and a line `...` matches any lines
  ```console      and every other block is only shown
Commands that would run these checks again or that need a network or root (make test, make report,
git clone, sudo ...) are skipped, with a line that says so.
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import sources
from sources import Violation

TIMEOUT_S = 600
SKIPPED = re.compile(
    r"^\s*(make( (test|test-all|report|bootstrap|install|lint|help))?|\.ci/run"
    r"|git clone|cd|sudo|apt)\b.*$"
)
NOT_MAKE = re.compile(r"^\s*make (build|package|format|clean)\b")
USUAL_HEADERS = ("#include <chrono>", "#include <cstdio>", "#include <vector>")
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?"


@dataclasses.dataclass
class Block:
    line: int
    language: str
    options: str
    text: str
    is_run: bool = True


def blocks_of(page: str) -> list[Block | None]:
    """The fenced blocks in order; None stands for prose between two of them."""
    found: list[Block | None] = []
    open_block: Block | None = None
    no_run = False
    for number, line in enumerate(page.split("\n"), 1):
        fence = re.match(r"```(\w*)\s*(.*)$", line)
        if open_block is not None:
            if line.startswith("```"):
                found.append(open_block)
                open_block = None
            else:
                open_block.text += line + "\n"
        elif fence:
            open_block = Block(number, fence[1], fence[2].strip(), "", is_run=not no_run)
            no_run = False
        elif line.strip():
            no_run = line.strip() == "<!-- no-run -->"
            if not no_run:
                found.append(None)
    return found


def runnable(script: str) -> tuple[str, list[str]]:
    """The commands to run, and those that are skipped; a line that ends in \\ goes on in the next.
    """
    kept, skipped = [], []
    for command in re.sub(r"\\\n\s*", " ", script).split("\n"):
        plain = command.split("#")[0].strip()
        is_skipped = SKIPPED.match(plain) and not NOT_MAKE.match(plain)
        (skipped if is_skipped else kept).append(command)
    return "\n".join(kept), [command for command in skipped if command.strip()]


def pattern_of(expected: str) -> str:
    lines = []
    for line in expected.strip("\n").split("\n"):
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
            continue
        text = re.escape(re.sub(r"\s+", " ", line.strip()))
        text = re.sub(r"(?:\\[-+])?\d[\d,]*(?:\\\.\d+)?", lambda _: NUMBER, text)
        text = re.sub(r"(?:\\-|─|━){2,}", lambda _: "[-─━]+", text)
        lines.append(text.replace(r"\ ", " *") + r"\n")
    return "".join(lines)


def matches(expected: str, actual: str, is_approximate: bool) -> bool:
    if not is_approximate:
        return expected.strip("\n") == actual.strip("\n")
    squeezed = (
        "\n".join(re.sub(r"\s+", " ", line.strip()) for line in actual.strip("\n").split("\n"))
        + "\n"
    )
    return re.fullmatch(pattern_of(expected), squeezed) is not None


class Page:
    def __init__(self, path: pathlib.Path, root: pathlib.Path, build: pathlib.Path) -> None:
        self.path, self.root, self.build = path, root, build
        self.violations: list[Violation] = []
        self.ran = 0

    def fail(self, block: Block, message: str) -> None:
        self.violations.append(Violation(self.path, block.line, message))

    def execute(self, block: Block, command: list[str]) -> str | None:
        """Standard output of the command, or None after a failure."""
        # Programs that respect NO_COLOR print plain text, whatever terminal runs the check.
        environment = {**os.environ, "NO_COLOR": "1"}
        try:
            done = subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, text=True,
                check=False, timeout=TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            self.fail(block, f"did not end within {TIMEOUT_S} s")
            return None
        if done.returncode != 0:
            self.fail(
                block,
                f"failed with status {done.returncode}:\n"
                f"{done.stdout[-1500:]}{done.stderr[-1500:]}",
            )
            return None
        return done.stdout

    def run_shell(self, block: Block) -> str | None:
        script, skipped = runnable(block.text)
        for command in skipped:
            print(f"readme: {self.path.name}:{block.line}: not run here: {command.strip()}")
        if not script.strip():
            return None
        self.ran += 1
        return self.execute(block, ["bash", "-euo", "pipefail", "-c", script])

    def run_cpp(self, block: Block) -> str | None:
        self.ran += 1
        is_program = re.search(r"\bint\s+main\s*\(", block.text) is not None
        text = block.text
        if not is_program:
            lines = text.split("\n")
            includes = [line for line in lines if line.startswith("#")]
            body = [line for line in lines if not line.startswith("#")]
            text = "\n".join([*USUAL_HEADERS, *includes, "int main() {", *body, "}"])
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "snippet.cpp"), pathlib.Path(folder, "snippet")
            source.write_text(text, encoding="utf-8")
            library = [str(p) for p in (self.build / "libtutti.a",) if p.exists()]
            needed = subprocess.run(
                ["pkg-config", "--libs", "hwloc", "libhwy"], capture_output=True, text=True,
                check=False,
            )
            command = [
                "g++", "-std=c++20", "-O2", "-Wall", "-Wextra", f"-I{self.root / 'include'}",
                str(source),
            ]
            command += [
                "-o", str(program), *library, *needed.stdout.split(), "-lboost_context", "-pthread",
            ]
            if self.execute(block, command) is None:
                return None
            return self.execute(block, [str(program)])

    def check(self) -> list[Violation]:
        output: str | None = None
        for block in blocks_of(self.path.read_text(encoding="utf-8")):
            if block is None:
                continue  # Prose may stand between a command and its output.
            if block.language == "text":
                if output is not None and not matches(
                    block.text, output, "approx" in block.options
                ):
                    self.fail(block, f"the output differs; it is now:\n{output}")
                output = None
            elif block.language == "sh" and block.is_run:
                output = self.run_shell(block)
            elif block.language == "cpp" and block.is_run:
                output = self.run_cpp(block)
            else:
                output = None
        return self.violations


def main() -> int:
    parser = sources.parser(__doc__)
    parser.add_argument("--build", type=pathlib.Path, help="the build folder (default: build/)")
    parser.add_argument(
        "pages", nargs="*", type=pathlib.Path, help="pages to check (default: README.md)"
    )
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    build = (arguments.build or root / "build").resolve()
    paths = [path.resolve() for path in arguments.pages] or [root / "README.md"]
    violations = []
    for path in paths:
        if not path.is_file():
            print(f"readme: error: {path} does not exist", file=sys.stderr)
            return 1
        page = Page(path, root, build)
        violations += page.check()
        print(f"readme: {path.name}: ran {page.ran} blocks")
    return sources.report("readme", root, len(paths), violations)


if __name__ == "__main__":
    sys.exit(main())
