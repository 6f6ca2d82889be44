# SPDX-License-Identifier: Apache-2.0
"""A figure as a PNG by matplotlib, which needs no browser; for the README, for slides and for
paper.
"""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator  # noqa: E402

from report import style  # noqa: E402
from report.layout import (  # noqa: E402
    bounds, dodged, ends_early, fraction, labels_beside, small_ticks, spread_out, ticks, value_at,
)
from report.model import Axis, Figure, Panel, Series  # noqa: E402

DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
MARKERS = {
    "circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "triangle-down": "v",
    "cross": "P", "x": "X",
}
PIXELS_PER_INCH = 90
PANEL_WIDTH = 7.0
# In inches, whatever the height of the figure.
TITLE_TOP, TITLE_HEIGHT, FOOT_HEIGHT, FOOT_RIGHT, RIGHT = 0.1, 0.36, 0.2, 0.06, 0.05
DPI = 130


def color(token: str) -> str:
    return style.resolve(token, style.LIGHT)


def write(figure: Figure, path: Path, foot: str = "") -> None:
    """Draws all panels of a figure, two beside each other, and `foot` below them."""
    count = len(figure.panels)
    columns = min(2, count)
    lines = math.ceil(count / columns)
    height = (
        sum(
            max(p.height for p in figure.panels[row * columns : (row + 1) * columns])
            for row in range(lines)
        )
        / PIXELS_PER_INCH
    )
    page, axes = plt.subplots(
        lines, columns, figsize=(PANEL_WIDTH * columns, height + 0.5), squeeze=False
    )
    flat = [axis for row in axes for axis in row]
    for panel, axis in zip(figure.panels, flat):
        _draw(panel, axis)
    for axis in flat[count:]:
        axis.set_visible(False)
    # A bold letter of size 1 takes less than 0.0084 inches: a long title is set smaller.
    size = min(13, PANEL_WIDTH * columns / (0.0084 * len(figure.title)))
    page.suptitle(
        figure.title, y=1 - TITLE_TOP / page.get_figheight(), va="top", fontsize=size,
        fontweight="bold", color=color("color:text"),
    ).set_in_layout(False)
    bottom = FOOT_HEIGHT / page.get_figheight() if foot else 0
    if foot:
        page.text(
            1 - FOOT_RIGHT / page.get_figwidth(), FOOT_RIGHT / page.get_figheight(), foot,
            ha="right", va="bottom", fontsize=7.5, color=color("color:muted"),
        )
    page.tight_layout(rect=(0, bottom, 1 - RIGHT / page.get_figwidth(),
                            1 - TITLE_HEIGHT / page.get_figheight()))
    page.savefig(path, dpi=DPI, facecolor=color("color:ground"), format="png")
    plt.close(page)


def _draw(panel: Panel, axes: Axes) -> None:
    _axis(panel.x, bounds(panel, True), axes, along_x=True)
    _axis(panel.y, bounds(panel, False), axes, along_x=False)
    axes.set_title(panel.title, fontsize=10.5, color=color("color:text"), loc="left")
    axes.grid(True, color=color("color:grid"), linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    draw = {
        "lines": _lines, "dots": _dots, "pairs": _pairs, "scatter": _scatter,
        "histogram": _histogram, "cdf": _cdf,
    }
    draw[panel.kind](panel, axes)
    if panel.shade is not None:
        _shade(panel, axes)
    for rule in panel.rules:
        (axes.axvline if rule.vertical else axes.axhline)(
            rule.at, color=color(rule.color), linestyle="--", linewidth=1
        )
        where = {
            "xy": (rule.at, 1), "xycoords": ("data", "axes fraction"), "ha": "right", "va": "top",
            "rotation": 90, "xytext": (-2, -2),
        }
        if not rule.vertical:
            where = {
                "xy": (0, rule.at), "xycoords": ("axes fraction", "data"), "ha": "left",
                "va": "top", "xytext": (2, -2),
            }
        axes.annotate(
            rule.label, **where, textcoords="offset points", fontsize=8, color=color(rule.color)
        )


def _axis(axis: Axis, span: tuple[float, float], axes: Axes, along_x: bool) -> None:
    if axis.log:
        (axes.set_xscale if along_x else axes.set_yscale)("log")
    (axes.set_xlim if along_x else axes.set_ylim)(*span)
    (axes.set_xlabel if along_x else axes.set_ylabel)(axis.title, fontsize=9)
    places = ticks(axis, span)
    target = axes.xaxis if along_x else axes.yaxis
    target.set_tick_params(labelsize=8.5)
    if places:
        target.set_major_locator(FixedLocator([v for v, _ in places]))
        target.set_ticklabels([text for _, text in places], fontsize=8.5)
        small = small_ticks(axis, span)
        target.set_minor_locator(FixedLocator(small) if small else NullLocator())
        target.set_minor_formatter(NullFormatter())


def _whiskers(series: Series, along_x: bool) -> list[list[float]] | None:
    points = series.points
    if all(p.low is None and p.high is None for p in points):
        return None
    at = [p.x if along_x else p.y for p in points]
    low = [max(v - p.low, 0) if p.low is not None else 0 for v, p in zip(at, points)]
    high = [max(p.high - v, 0) if p.high is not None else 0 for v, p in zip(at, points)]
    return [low, high]


def _lines(panel: Panel, axes: Axes) -> None:
    for series in sorted(panel.series, key=lambda s: s.emphasis):
        axes.errorbar(
            dodged(panel, series), [p.y for p in series.points], yerr=_whiskers(series, False),
            color=color(series.color), linestyle=DASHES[series.dash] if series.line else "none",
            linewidth=3 if series.emphasis else 1.2, marker=MARKERS[series.marker],
            markersize=6 if series.emphasis else 3.5, elinewidth=1.2 if series.emphasis else 0.5,
            zorder=5 if series.emphasis else 3,
        )
    named = [series for series in panel.series if series.direct_label and series.points]
    if not named:
        return
    span = bounds(panel, False)
    places = spread_out(
        [fraction(panel.y, span, s.points[-1].y) for s in named], 13 / (panel.height - 60)
    )
    for series, place in zip(named, places):
        if ends_early(panel, series):
            # The name stands far from its line.
            end = dodged(panel, series)[-1], series.points[-1].y
            axes.annotate(
                "", (1.01, value_at(panel.y, span, place)), end, ("axes fraction", "data"), "data",
                arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": color(series.color),
                            "alpha": 0.6, "shrinkA": 4, "shrinkB": 0},
                annotation_clip=False,
            )
        axes.annotate(
            series.label, (1.015, value_at(panel.y, span, place)),
            xycoords=("axes fraction", "data"), va="center",
            fontsize=8.5 if series.emphasis else 7.5,
            fontweight="bold" if series.emphasis else "normal",
            color=color(series.color), annotation_clip=False,
        )


def _dots(panel: Panel, axes: Axes) -> None:
    for series in panel.series:
        point = series.points[0]
        if point.box is not None:
            low, high = point.box
            axes.barh(point.y, high - low, 0.56, low, color=color(series.color), alpha=0.3)
        axes.errorbar(
            [point.x], [point.y], xerr=_whiskers(series, True), color=color(series.color),
            marker="o", capsize=2,
            markersize=8 if series.emphasis else 5.5, elinewidth=2 if series.emphasis else 1,
            linestyle="none",
        )
        text = point.text.split("median ")[-1].split(" (")[0]
        axes.annotate(
            text, (1.01, point.y), xycoords=("axes fraction", "data"), va="center", fontsize=7.5,
            color=color("color:tutti" if series.emphasis else "color:muted"), annotation_clip=False,
        )
    for tick, series in zip(axes.get_yticklabels(), panel.series):
        tick.set_fontweight("bold" if series.emphasis else "normal")
        tick.set_color(color("color:tutti" if series.emphasis else "color:text"))


def _pairs(panel: Panel, axes: Axes) -> None:
    for series in panel.series:
        tone, size = color(series.color), 8 if series.emphasis else 5.5
        axes.plot(
            [p.x for p in series.points], [p.y for p in series.points], color=tone,
            linewidth=2 if series.emphasis else 1,
        )
        for place, point in enumerate(series.points):
            hollow = series.marker == "circle-open" or (place == 0 and len(series.points) == 2)
            ground = color("color:ground") if hollow else tone
            axes.plot(
                [point.x], [point.y], marker="o", markersize=size, color=tone,
                markerfacecolor=ground, linestyle="none",
            )
        axes.annotate(
            series.note, (1.01, series.points[0].y), xycoords=("axes fraction", "data"),
            va="center", fontsize=7.5,
            color=color("color:tutti" if series.emphasis else "color:muted"), annotation_clip=False,
        )
    for tick, series in zip(axes.get_yticklabels(), panel.series):
        tick.set_fontweight("bold" if series.emphasis else "normal")
        tick.set_color(color("color:tutti" if series.emphasis else "color:text"))


def _shade(panel: Panel, axes: Axes) -> None:
    last = bounds(panel, True)[1]
    axes.axvspan(
        panel.shade.begin, last, color=color("color:floor"), alpha=0.09, linewidth=0, zorder=0
    )
    middle = math.sqrt(panel.shade.begin * last) if panel.x.log else (panel.shade.begin + last) / 2
    axes.annotate(
        panel.shade.label, (middle, 0.01), xycoords=("data", "axes fraction"), ha="center",
        va="bottom", fontsize=8,
        color=color("color:floor"),
    )


def _scatter(panel: Panel, axes: Axes) -> None:
    width, height = PANEL_WIDTH * PIXELS_PER_INCH - 120, panel.height - 60
    for series, (right, up) in zip(panel.series, labels_beside(panel, width, height)):
        point = series.points[0]
        axes.plot(
            [point.x], [point.y], marker="o", color=color(series.color),
            markersize=8 if series.emphasis else 5.5, zorder=5 if series.emphasis else 3,
        )
        axes.annotate(
            series.label,
            (point.x, point.y),
            xytext=(right * 0.8 if right > 0 else -6, up * 0.8),
            textcoords="offset points",
            fontsize=7.5,
            color=color(series.color),
            va="center",
            ha="left" if right > 0 else "right",
            fontweight="bold" if series.emphasis else "normal",
            arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": color(series.color)}
            if abs(up) > 8 or right > 10
            else None,
        )


def _histogram(panel: Panel, axes: Axes) -> None:
    series = panel.series[0]
    axes.bar(
        [p.x for p in series.points], [p.y for p in series.points],
        width=[p.high - p.low for p in series.points],
        color=color(series.color),
    )


def _cdf(panel: Panel, axes: Axes) -> None:
    for series in panel.series:
        axes.plot(
            [p.x for p in series.points], [p.y for p in series.points], drawstyle="steps-post",
            color=color(series.color), linestyle=DASHES[series.dash], linewidth=2,
            label=series.label,
        )
    axes.legend(
        fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=3
    )
