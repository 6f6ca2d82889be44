# SPDX-License-Identifier: Apache-2.0
"""What the scripts share that turn measurements of a unit into the tables of its README."""

from __future__ import annotations

import json
import pathlib
import re
import sys
from collections.abc import Callable, Iterator


def lines(path: pathlib.Path) -> Iterator[dict]:
    """Yields the JSON objects of a file, one a line.

    Raises ValueError with the file and the line.
    """
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}:{number}: not JSON: {error.msg}") from error
        if isinstance(row, dict):
            yield row


def write_readme(path: pathlib.Path, tables: dict[str, str]) -> None:
    """Replaces the text between `<!-- table.py: NAME -->` and `<!-- end -->`.

    Raises ValueError if a marker is missing.
    """
    text = path.read_text()
    for name, table in tables.items():
        pattern = rf"(<!-- table\.py: {name} -->\n).*?(\n<!-- end -->)"
        text, count = re.subn(pattern, lambda m, t=table: m.group(1) + t + m.group(2), text,
            flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"{path}: {count} places for '<!-- table.py: {name} -->', not one")
    path.write_text(text)


def status_of(script: Callable[[], None]) -> int:
    """Runs a script; returns 1 after an error, which it prints as one sentence, and otherwise 0."""
    try:
        script()
    except (OSError, ValueError) as error:
        print(f"table.py: {error}", file=sys.stderr)
        return 1
    return 0
