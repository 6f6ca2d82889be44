# SPDX-License-Identifier: Apache-2.0
"""Results as lines of JSON, and progress on stderr."""

from __future__ import annotations

import json
import pathlib
import sys
import threading
import time

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def result(unit: str, stage: str, name: str, status: str, seconds: float = 0.0, **more) -> dict:
    """Makes one line: {"type":"hardware", "unit":..., "stage":..., "name":..., "status":...,
    "seconds":..., ...}."""
    return {
        "type": "hardware",
        "unit": unit,
        "stage": stage,
        "name": name,
        "status": status,
        "seconds": round(seconds, 2),
        **more,
    }


class Collector:
    """Counts, shows and writes results as they arrive; any thread may call it."""

    def __init__(self, path: pathlib.Path, total: int):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w")
        self._total = total
        self._done = 0
        self._start = time.monotonic()
        self._lock = threading.Lock()
        self.all: list = []

    def take(self, lines: list) -> None:
        """Adds the results of one job."""
        with self._lock:
            self._done += 1
            for line in lines:
                self.all.append(line)
                self._file.write(json.dumps(line) + "\n")
                if line["type"] == "hardware":
                    self._show(line)
            self._file.flush()

    def _show(self, line: dict) -> None:
        elapsed = time.monotonic() - self._start
        text = f"[{self._done}/{self._total} {elapsed:.0f}s] {line['unit']} {line['stage']} "
        text += f"{line['name']}: {line['status']}"
        if line.get("note"):
            text += f" ({line['note']})"
        print(text, file=sys.stderr, flush=True)
        if line["status"] == FAILED and line.get("log"):
            print("    " + line["log"].replace("\n", "\n    "), file=sys.stderr, flush=True)

    def count(self, status: str) -> int:
        return sum(1 for line in self.all if line.get("status") == status)
