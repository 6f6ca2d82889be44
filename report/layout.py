# SPDX-License-Identifier: Apache-2.0
"""Where things stand in a panel, for both renderers: ranges, ticks, and labels that do not cover
each other.
"""

from __future__ import annotations

import math
from typing import Iterable, Sequence

from report.model import Axis, Panel, Series
from report.statistics import format_count, format_time

Range = tuple[float, float]
# How wide a letter of a small name is, in pixels; names are placed before anything is drawn.
NAME_PIXELS = 6.4
# By how much, as a factor, the lines of one panel are moved along x in all.
DODGE = 0.12
# With fewer, nobody can read a value between them.
FEWEST_TICKS = 3


def _values(panel: Panel, along_x: bool) -> list[float]:
    """Everything that must be visible along one direction."""
    whiskers_along_x = panel.kind in ("dots", "histogram")
    values = []
    for series in panel.series:
        for point in series.points:
            values.append(point.x if along_x else point.y)
            if whiskers_along_x == along_x:
                values += [v for v in (point.low, point.high) if v is not None]
                values += point.box or ()
    values += [rule.at for rule in panel.rules if rule.vertical == along_x]
    return values


def bounds(panel: Panel, along_x: bool) -> Range:
    """The axis range with a margin; logarithmic axes get theirs as a factor and leave out what is
    not positive.
    """
    axis = panel.x if along_x else panel.y
    if axis.lowest is not None and axis.highest is not None:
        return axis.lowest, axis.highest
    values = _values(panel, along_x)
    if not axis.log:
        low, high = min(values), max(values)
        margin = 0.04 * (high - low or 1)
        return (0 if panel.kind == "histogram" else low - margin), high + margin
    values = [v for v in values if v > 0]
    low, high = min(values), max(values)
    factor = max((high / low) ** 0.05, 1.12)
    return low / factor, high * factor


def ticks(axis: Axis, span: Range) -> list[tuple[float, str]]:
    """The axis' own ticks, or for a logarithm the powers of ten or what lies between, with units.
    """
    if axis.ticks or not axis.log:
        return axis.ticks
    decades = math.log10(span[1] / span[0])
    choices = [(2.2, (1,)), (0.7, (1, 2, 5)), (0.0, (1, 1.5, *range(2, 10)))]
    found = (_inside(span, steps) for least, steps in choices if decades > least or least < 2.2)
    places = next((each for each in found if len(each) >= FEWEST_TICKS), None) or _evenly(span)
    return [(v, _tick_text(axis, v)) for v in places]


def small_ticks(axis: Axis, span: Range) -> list[float]:
    """Where a logarithmic axis without ticks of its own has marks without words, which show that
    it is one.
    """
    return _inside(span, range(1, 10)) if axis.log and not axis.ticks else []


def _inside(span: Range, steps: Iterable[float]) -> list[float]:
    """These multiples of powers of ten between the ends of an axis."""
    first, last = math.floor(math.log10(span[0])), math.ceil(math.log10(span[1]))
    places = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return [place for place in places if span[0] <= place <= span[1]]


def _evenly(span: Range) -> list[float]:
    """Round numbers between the ends of a short axis, at equal distances."""
    low, high = span
    size = 10.0 ** math.floor(math.log10(high - low))
    step = next(
        each for each in (2 * size, size, size / 2, size / 5, size / 10)
        if len(_multiples(each, span)) >= FEWEST_TICKS or each == size / 10
    )
    return _multiples(step, span)


def _multiples(step: float, span: Range) -> list[float]:
    # Rounded, as 3 * 0.1 is not 0.3.
    return [
        round(count * step, 12)
        for count in range(math.ceil(span[0] / step), math.floor(span[1] / step) + 1)
    ]


def _tick_text(axis: Axis, value: float) -> str:
    if not axis.time and not axis.counts:
        return f"{value:g}x"
    number, *unit = (format_time if axis.time else format_count)(value).split()
    return " ".join([f"{float(number):g}", *unit])


def fraction(axis: Axis, span: Range, value: float) -> float:
    """Where a value stands between the ends of its axis, 0 to 1."""
    if axis.log:
        return math.log(value / span[0]) / math.log(span[1] / span[0])
    return (value - span[0]) / (span[1] - span[0])


def value_at(axis: Axis, span: Range, place: float) -> float:
    if axis.log:
        return span[0] * (span[1] / span[0]) ** place
    return span[0] + (span[1] - span[0]) * place


def spread_out(places: Sequence[float], gap: float) -> list[float]:
    """Moves places apart to at least `gap`, each as little as it takes, keeping their order (pool
    adjacent violators).
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    clusters: list[tuple[float, list[int]]] = []
    for index in order:
        clusters.append((places[index], [index]))
        while len(clusters) > 1 and _touch(clusters[-2], clusters[-1], gap):
            clusters[-2:] = [_merge(clusters[-2], clusters[-1])]
    moved = [0.0] * len(places)
    for centre, members in clusters:
        for k, index in enumerate(members):
            moved[index] = centre + (k - (len(members) - 1) / 2) * gap
    return _kept_inside(moved, gap)


def _kept_inside(places: list[float], gap: float) -> list[float]:
    """Pushes what sticks out above 1 down, and then what sticks out below 0 up, keeping the gaps.
    """
    kept = list(places)
    order = sorted(range(len(places)), key=lambda i: places[i])
    limit = 1.0
    for index in reversed(order):
        kept[index] = min(kept[index], limit)
        limit = kept[index] - gap
    limit = 0.0
    for index in order:
        kept[index] = max(kept[index], limit)
        limit = kept[index] + gap
    return kept


def _touch(low: tuple[float, list[int]], high: tuple[float, list[int]], gap: float) -> bool:
    return high[0] - low[0] < gap * (len(low[1]) + len(high[1])) / 2


def _merge(low: tuple[float, list[int]], high: tuple[float, list[int]]) -> tuple[float, list[int]]:
    members = low[1] + high[1]
    centre = (low[0] * len(low[1]) + high[0] * len(high[1])) / len(members)
    return centre, members


def dodged(panel: Panel, series: Series) -> list[float]:
    """The places of a line's points along x, moved aside a little so that the error bars of two
    lines stand apart.
    """
    lines = [other for other in panel.series if other.line and not other.emphasis]
    if not panel.x.log or series not in lines or len(lines) < 2:
        return [point.x for point in series.points]
    step = min(DODGE / len(lines), 0.02)
    factor = 1 + step * (lines.index(series) - (len(lines) - 1) / 2)
    return [point.x * factor for point in series.points]


def ends_early(panel: Panel, series: Series) -> bool:
    """True for a line that ends far from the right end of its panel, where its name stands."""
    return fraction(panel.x, bounds(panel, True), series.points[-1].x) < 0.85


def beside_points(
    points: Sequence[tuple[float, float, str]], width: float, height: float
) -> list[tuple[float, float]]:
    """Offsets in pixels (right, up) for names beside points given in pixels, chosen so that names
    do not overlap.
    """
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
    offsets = []
    for x, y, text in points:
        size = NAME_PIXELS * len(text)
        candidates = [
            (x, y, right, up, size)
            for up in range(-196, 197, 14)
            for right in (8, 45, 90, -8 - size, -45 - size)
        ]
        _, _, right, up, _ = min(
            candidates, key=lambda candidate: _crowding(candidate, taken, width, height)
        )
        offsets.append((right, up))
        taken.append(_name_box(x, y, right, up, size))
    return offsets


Box = tuple[float, float, float, float]


def _name_box(x: float, y: float, right: float, up: float, size: float) -> Box:
    return x + right, y + up - 7, x + right + size, y + up + 7


def _crowding(
    candidate: tuple[float, float, float, float, float], taken: Sequence[Box], width: float,
    height: float,
) -> float:
    """Far from the point is bad, on top of another name or point is worse, outside the panel is
    worst.
    """
    x, y, right, up, size = candidate
    box = _name_box(x, y, right, up, size)
    outside = box[0] < 0 or box[2] > width or box[1] < 0 or box[3] > height
    distance = math.hypot(right if right > 0 else right + size, up)
    return distance + 1000 * sum(_overlap(box, other) for other in taken) + 5000 * outside


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def labels_beside(panel: Panel, width: float, height: float) -> list[tuple[float, float]]:
    """beside_points() for a panel of single points, drawn `width` by `height` large."""
    span_x, span_y = bounds(panel, True), bounds(panel, False)
    spots = [
        (
            fraction(panel.x, span_x, s.points[0].x) * width,
            fraction(panel.y, span_y, s.points[0].y) * height, s.label,
        )
        for s in panel.series
    ]
    return beside_points(spots, width, height)
