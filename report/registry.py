# SPDX-License-Identifier: Apache-2.0
"""The names of the library's lists, read from the headers with their entries, and those of the
simulated machines.
"""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path

_HEADERS = Path(__file__).parent.parent / "include" / "tutti"
_ENTRY = re.compile(r'constexpr \w+ info\{\s*"(\w+)"')


def _names(*lists: str) -> tuple[str, ...]:
    texts = [(_HEADERS / path).read_text(encoding="utf-8") for path in lists]
    return tuple(name for text in texts for name in _ENTRY.findall(text))


WAITS = _names("wait/list.hpp")
DETECTORS = _names("termination/list.hpp", "termination/protocol/algorithms.hpp")


def _cpus(description: Path) -> int:
    """The hardware threads of a simulated machine."""
    with description.open("rb") as file:
        table = tomllib.load(file)
    topology, small = table["topology"], table.get("small", {"clusters": 0, "cores": 0})
    large = math.prod(topology[key] for key in ("nodes", "clusters", "cores", "threads"))
    return large + small["clusters"] * small["cores"]


SIMULATED_MACHINES = {
    path.stem: _cpus(path)
    for path in sorted((_HEADERS.parent.parent / "sim" / "machines").glob("*.toml"))
}
