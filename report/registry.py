# SPDX-License-Identifier: Apache-2.0
"""The names of the library's lists, read from the headers with their entries."""

from __future__ import annotations

import re
from pathlib import Path

_HEADERS = Path(__file__).parent.parent / "include" / "tutti"
_ENTRY = re.compile(r'constexpr \w+ info\{\s*"(\w+)"')


def _names(*lists: str) -> tuple[str, ...]:
    texts = [(_HEADERS / path).read_text(encoding="utf-8") for path in lists]
    return tuple(name for text in texts for name in _ENTRY.findall(text))


WAITS = _names("wait/list.hpp")
DETECTORS = _names("termination/list.hpp", "termination/protocol/algorithms.hpp")
