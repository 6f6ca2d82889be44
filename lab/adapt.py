# SPDX-License-Identifier: Apache-2.0
"""Lines of programs that say less than `tutti bench`, filled up with what earlier lines of the same output said."""

from __future__ import annotations

from typing import Any

Line = dict[str, Any]

NANOSECONDS = {"s": 1e9, "ms": 1e6, "us": 1e3}
TIMES = ("min", "p1", "p25", "median", "p75", "p99", "max", "mean")
# What stands beside message passing in tutti-graph-compare: shared memory, no messages.
CEILINGS = ("pull", "delta_stepping")


class Adapter:
    """One for each output. A machine line begins a new program: what was known before is forgotten."""

    def __init__(self) -> None:
        self._mpi: str | None = None
        self._graph: Line = {}

    def filled(self, line: Line) -> Line:
        """The line as the report wants it; another object if anything was added."""
        kind = line.get("type")
        if kind == "machine":
            self._mpi, self._graph = line.get("mpi"), {}
            return line
        if kind == "graph":
            if "application" in line:
                return _run_of(line)
            self._graph = line
            return line
        return self._result(line) if kind == "result" else line

    def _result(self, line: Line) -> Line:
        made = dict(line)
        if self._mpi is not None:
            made.setdefault("mpi", self._mpi)
        if self._graph and made.get("benchmark") in ("pagerank", "sssp"):
            for key in ("graph", "vertices", "edges", "threads"):
                if key in self._graph:
                    made.setdefault(key, self._graph[key])
            made.setdefault("provider", "ceiling" if made.get("name") in CEILINGS else "tutti")
            made.setdefault("metric", "wall")
        return _in_nanoseconds(made)


def _in_nanoseconds(line: Line) -> Line:
    factor = NANOSECONDS.get(str(line.get("unit")))
    if factor is None:
        return line
    scaled = {key: line[key] * factor for key in TIMES if isinstance(line.get(key), (int, float))}
    return line | scaled | {"unit": "ns"}


def _run_of(line: Line) -> Line:
    """A run of `tutti graph` as a result with one sample."""
    seconds = line.get("seconds")
    time = seconds * 1e9 if isinstance(seconds, (int, float)) else None
    return line | {
        "type": "result", "benchmark": "graph", "provider": "tutti", "name": line.get("mode"), "metric": "wall", "unit": "ns",
        "threads": line.get("participants") or 1, "min": time, "median": time, "p99": time, "samples": 1,
    }
