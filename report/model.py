# SPDX-License-Identifier: Apache-2.0
"""What a figure is, before anyone draws it: the page (plotly) and the PNGs (matplotlib) are made
from the same value.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    text: str = ""
    # "dots" only: the quartiles, drawn as a box.
    box: tuple[float, float] | None = None


@dataclass
class Series:
    label: str
    color: str
    points: list[Point]
    emphasis: bool = False
    line: bool = True
    dash: str = "solid"
    marker: str = "circle"
    direct_label: bool = True
    # "pairs" only: a few words at the right end of the row.
    note: str = ""


@dataclass(frozen=True)
class Rule:
    """A straight mark across a panel with a few words on it."""

    at: float
    label: str
    vertical: bool
    color: str = "color:floor"


@dataclass(frozen=True)
class Shade:
    """The part of a panel to the right of a place, with a few words on it."""

    begin: float
    label: str


@dataclass
class Axis:
    title: str
    log: bool = False
    # True for nanoseconds, which are shown with the unit that reads best.
    time: bool = False
    # True for numbers of things, or of things a second: k, M, G.
    counts: bool = False
    # Where the ticks stand, and what they say; empty for the renderer's own.
    ticks: list[tuple[float, str]] = field(default_factory=list)
    lowest: float | None = None
    highest: float | None = None


@dataclass
class Panel:
    title: str
    x: Axis
    y: Axis
    series: list[Series]
    rules: list[Rule] = field(default_factory=list)
    # "lines": error bars along y, names at the right end; "dots": a row for each contender, error
    # bars along x; "pairs": the same with two dots a row, the first hollow; "scatter": names beside
    # the points; "histogram": bars of counts; "cdf": steps from point to point, with a legend.
    kind: str = "lines"
    height: int = 460
    shade: Shade | None = None


@dataclass(frozen=True)
class Cell:
    """One cell of a table. `kind` is "", "good", "bad", "warn" or "muted"."""

    text: str
    note: str = ""
    kind: str = ""
    # How far above the best of its column: 1 is the best; drawn as a tint.
    tint: float | None = None


@dataclass
class Table:
    """A table of the page; the first cell of a row is its name."""

    name: str
    title: str
    question: str
    # (words, number of columns): a line of heads above the heads.
    groups: list[tuple[str, int]]
    heads: list[str]
    rows: list[list[Cell]]
    captions: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not self.rows


@dataclass
class Figure:
    name: str
    title: str
    question: str
    panels: list[Panel]
    captions: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not self.panels
