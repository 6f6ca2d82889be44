# SPDX-License-Identifier: Apache-2.0
"""Makes the report's files from a data set: the raw lines, the PNGs, and last the page that links
to them.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Callable

from report import page, png_render
from report.errors import ReportError
from report.facts import machine_words
from report.lines import Dataset
from report.model import Figure
from report.output import write_text, write_with
from report.sections import MEASURED, build_all, built


def write(data: Dataset, out: Path, tell: Callable[[str], None]) -> Path:
    """Writes everything; the page comes last, so that a page never lacks what it links to. Returns
    the page's path.
    """
    tell("building the page")
    sections = build_all(data)
    text = page.build(data, sections)
    _keep_sources(data, out)
    for figure in (section for section in sections if isinstance(section, Figure)):
        path = out / f"{figure.name}.png"
        if figure.empty:
            path.unlink(missing_ok=True)
            continue
        tell(f"drawing {path.name}")
        _draw(data, figure, path)
    index = out / "index.html"
    write_text(index, text)
    return index


def _keep_sources(data: Dataset, out: Path) -> None:
    """The raw lines lie beside the page."""
    for name, times in Counter(path.name for path in data.sources).items():
        if times > 1:
            raise ReportError(
                f"{name}: given {times} times from different folders; the report needs different "
                "file names."
            )
    for path in data.sources:
        target = out / path.name
        if not (target.exists() and target.samefile(path)):
            write_with(target, lambda temporary, path=path: shutil.copyfile(path, temporary))


def write_figure(data: Dataset, name: str, out: Path) -> None:
    """One figure as a PNG."""
    figure = built(name, data)
    if figure.empty:
        raise ReportError(f"figure {name}: {' '.join(figure.missing)}")
    _draw(data, figure, out)


def _draw(data: Dataset, figure: Figure, path: Path) -> None:
    foot = machine_words(data) if figure.name in MEASURED else ""
    write_with(path, lambda temporary: png_render.write(figure, temporary, foot))
