# SPDX-License-Identifier: Apache-2.0
"""What the user sees while the report is made, on stderr: a bar on a terminal, plain lines
elsewhere.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn


# Checking and calibrating come on top of the measuring; used until the first run is done.
USUAL_PACE = 1.1


def clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Display:
    """Knows how much of the plan is done, and says what is measured and about how long the rest
    will take.

    Every run also checks and calibrates before it measures; how much longer than planned that makes
    it is learned from the runs that are done.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._now = now
        self._progress: Progress | None = None
        self._task = None
        self._total = 0.0
        self._done = 0.0
        self._runs = 0
        self._run = 0
        self._current = 0.0
        self._began = self._run_began = now()

    def tell(self, text: str) -> None:
        if self._console.is_terminal:
            self._console.print(text, markup=False)
        else:
            print(text, file=sys.stderr, flush=True)

    @contextmanager
    def measuring(self, seconds: float, runs: int) -> Iterator[None]:
        self._total, self._runs, self._began = seconds, runs, self._now()
        if not self._console.is_terminal:
            self.tell(f"measuring: {runs} runs, about {clock(seconds * self.pace())}")
            yield
            return
        columns = (
            TextColumn("{task.description}", markup=False), BarColumn(),
            TextColumn("{task.fields[left]}", markup=False),
        )
        with Progress(*columns, console=self._console, transient=True) as self._progress:
            self._task = self._progress.add_task("measuring", total=seconds, left="")
            yield
        self._progress = None

    def pace(self) -> float:
        """Seconds on the clock for each planned second."""
        return (self._run_began - self._began) / self._done if self._done else USUAL_PACE

    def begin(self, question: str, seconds: float) -> None:
        self._run += 1
        self._current, self._run_began = seconds, self._now()
        text = f"[{self._run}/{self._runs}] {question}"
        if self._progress is None:
            self.tell(
                f"{text}; about {clock((self._total - self._done) * self.pace())} left in all"
            )
            return
        self._progress.update(self._task, description=text)
        self.advance(None)

    def advance(self, fraction: float | None) -> None:
        """`fraction` of the current run is done; None: not known, so it is told from the time it
        takes.
        """
        if self._progress is None:
            return
        if fraction is None:
            fraction = min((self._now() - self._run_began) / (self._current * self.pace()), 0.95)
        done = self._done + self._current * fraction
        self._progress.update(
            self._task, completed=done,
            left=f"about {clock((self._total - done) * self.pace())} left",
        )

    def end(self, seconds: float) -> None:
        self._done += seconds
