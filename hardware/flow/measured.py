# SPDX-License-Identifier: Apache-2.0
"""What the scripts share that turn measurements of a unit into the tables of its README."""

from __future__ import annotations

import argparse
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


def svg_plots():
    """Returns matplotlib's pyplot, which writes the same file for the same figures.

    Raises ValueError without matplotlib.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise ValueError(
            "--plot needs matplotlib (pip install -r report/requirements.txt)"
        ) from error
    matplotlib.use("svg")
    # Text stays text, which is small and can be searched.
    matplotlib.rcParams["svg.hashsalt"] = "tutti"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    return pyplot


def tables_command(
    about: str | None, read: Callable, tables: Callable, write_plot: Callable
) -> None:
    """The command FILE [--readme FILE] [--plot FILE]: prints the tables of what `read` finds in the
    results, and writes them into a page and a plot. `about` is the script's docstring.
    """
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    arguments = parser.parse_args()
    found = read(arguments.results)
    made = tables(found)
    for name, table in made.items():
        print(f"{name}\n\n{table}\n")
    if arguments.readme:
        write_readme(arguments.readme, made)
    if arguments.plot:
        write_plot(arguments.plot, found)


def status_of(script: Callable[[], None]) -> int:
    """Runs a script; returns 1 after an error, which it prints as one sentence, and otherwise 0."""
    try:
        script()
    except (OSError, ValueError) as error:
        print(f"table.py: {error}", file=sys.stderr)
        return 1
    return 0
