# SPDX-License-Identifier: Apache-2.0
"""A panel as the JSON that plotly.js draws. Colours stay tokens, so that the page can follow light
and dark.
"""

from __future__ import annotations

import math
from typing import Any

from report.layout import (
    bounds, dodged, ends_early, fraction, labels_beside, small_ticks, spread_out, ticks, value_at,
)
from report.model import Axis, Panel, Series

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
SMALL = 11
# Half the height of a box of quartiles; a row is one high.
BOX = 0.28
# The names beside points are placed for a panel of this width; a narrower one still has the hover
# text.
NOMINAL_WIDTH = 590
NAME_WIDTH = 6.4


def render(panel: Panel) -> dict[str, Any]:
    """{data, layout} for Plotly.newPlot."""
    draw = {
        "lines": _lines, "dots": _dots, "pairs": _pairs, "scatter": _scatter,
        "histogram": _histogram, "cdf": _cdf,
    }[panel.kind]
    layout = _layout(panel)
    data = draw(panel, layout)
    _rules(panel, layout)
    _shade(panel, layout)
    return {"data": data, "layout": layout}


def _axis(axis: Axis, span: tuple[float, float]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "title": {"text": axis.title, "standoff": 8},
        "gridcolor": "color:grid",
        "linecolor": "color:grid",
        "zeroline": False,
        "automargin": True,
        "range": [math.log10(span[0]), math.log10(span[1])] if axis.log else list(span),
    }
    if axis.log:
        made["type"] = "log"
    places = ticks(axis, span)
    if places:
        made |= {
            "tickmode": "array", "tickvals": [v for v, _ in places],
            "ticktext": [text for _, text in places],
        }
    if small := small_ticks(axis, span):
        made["minor"] = {
            "tickmode": "array", "tickvals": small, "ticks": "outside", "ticklen": 3,
            "tickcolor": "color:grid",
        }
    return made


def _layout(panel: Panel) -> dict[str, Any]:
    span_x, span_y = bounds(panel, True), bounds(panel, False)
    return {
        "height": panel.height,
        "margin": {"l": 58, "r": 16, "t": 34, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": "color:text"},
        "showlegend": False,
        "hovermode": "closest",
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)", "color": "color:grid", "activecolor": "color:muted",
        },
        "xaxis": _axis(panel.x, span_x),
        "yaxis": _axis(panel.y, span_y),
        "shapes": [],
        "annotations": [],
    }


def _error(series: Series) -> dict[str, Any]:
    points = series.points
    return {
        "type": "data",
        "symmetric": False,
        "array": [
            max((p.high if p.high is not None else 0) - _along(p, series), 0) for p in points
        ],
        "arrayminus": [
            max(_along(p, series) - (p.low if p.low is not None else math.inf), 0) for p in points
        ],
        "thickness": 1.8 if series.emphasis else 0.6,
        "width": 0 if series.line else 3,
        "color": series.color,
    }


def _along(point: Any, series: Series) -> float:
    return point.y if series.line else point.x


def _trace(series: Series, mode: str, size: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": mode,
        "name": series.label,
        "x": [p.x for p in series.points],
        "y": [p.y for p in series.points],
        "text": [p.text or series.label for p in series.points],
        "hovertemplate": "%{text}<extra></extra>",
        "line": {
            "color": series.color, "width": 3.5 if series.emphasis else 1.4, "dash": series.dash,
        },
        "marker": {"color": series.color, "size": size, "symbol": series.marker},
    }


def _lines(panel: Panel, layout: dict[str, Any]) -> list[dict[str, Any]]:
    data = []
    # The emphasised line is drawn last, on top of the others.
    for series in sorted(panel.series, key=lambda s: s.emphasis):
        trace = _trace(
            series, "lines+markers" if series.line else "markers", 9 if series.emphasis else 5
        )
        trace["x"] = dodged(panel, series)
        if series.line and any(p.high is not None for p in series.points):
            trace["error_y"] = _error(series)
        data.append(trace)
    named = [series for series in panel.series if series.direct_label and series.points]
    if named:
        layout["margin"]["r"] = 22 + NAME_WIDTH * max(len(series.label) for series in named)
        layout["annotations"] += _end_labels(panel, named)
        layout["shapes"] += [
            _leader(panel, series, label)
            for series, label in zip(named, layout["annotations"]) if ends_early(panel, series)
        ]
    return data


def _end_labels(panel: Panel, named: list[Series]) -> list[dict[str, Any]]:
    """The name of each line at its right end, moved apart where lines end together."""
    span = bounds(panel, False)
    inner = panel.height - 34 - 48
    ends = [fraction(panel.y, span, series.points[-1].y) for series in named]
    places = spread_out(ends, 13.5 / inner)
    labels = []
    for series, place in zip(named, places):
        y = value_at(panel.y, span, place)
        labels.append(
            {
                "xref": "paper", "x": 1, "xanchor": "left", "xshift": 4, "showarrow": False,
                "yref": "y", "y": math.log10(y) if panel.y.log else y, "yanchor": "middle",
                "text": f"<b>{series.label}</b>" if series.emphasis else series.label,
                "font": {"size": 12 if series.emphasis else SMALL, "color": series.color},
            }
        )
    return labels


def _leader(panel: Panel, series: Series, label: dict[str, Any]) -> dict[str, Any]:
    """A thin line from where a line ends early to its name at the right end."""
    end = series.points[-1]
    return {
        "type": "line", "layer": "below", "opacity": 0.6,
        "line": {"color": series.color, "width": 0.6},
        "xref": "x", "x0": dodged(panel, series)[-1], "x1": bounds(panel, True)[1],
        "yref": "y", "y0": end.y, "y1": 10 ** label["y"] if panel.y.log else label["y"],
    }


def _dots(panel: Panel, layout: dict[str, Any]) -> list[dict[str, Any]]:
    data = []
    for series in panel.series:
        trace = _trace(series, "markers", 11 if series.emphasis else 8)
        trace["error_x"] = _error(series)
        data.append(trace)
        layout["shapes"] += [
            {
                "type": "rect", "layer": "below", "line": {"width": 0},
                "fillcolor": series.color, "opacity": 0.3, "xref": "x", "x0": point.box[0],
                "x1": point.box[1], "yref": "y", "y0": point.y - BOX, "y1": point.y + BOX,
            }
            for point in series.points
            if point.box is not None
        ]
    axis = layout["yaxis"]
    axis["ticktext"] = [
        f"<b>{series.label}</b>" if series.emphasis else series.label for series in panel.series
    ]
    layout["xaxis"]["title"]["text"] = panel.x.title
    layout["margin"]["r"] = 66
    layout["annotations"] += [
        {
            "xref": "paper", "x": 1, "xanchor": "left", "xshift": 6, "showarrow": False,
            "yref": "y", "y": series.points[0].y,
            "text": _short(series.points[0].text),
            "font": {"size": SMALL, "color": series.color if series.emphasis else "color:muted"},
        }
        for series in panel.series
    ]
    return data


def _pairs(panel: Panel, layout: dict[str, Any]) -> list[dict[str, Any]]:
    data = []
    for series in panel.series:
        trace = _trace(series, "lines+markers", 11 if series.emphasis else 8)
        trace["line"] = {"color": series.color, "width": 2.5 if series.emphasis else 1.2}
        trace["marker"]["symbol"] = (
            ["circle-open", "circle"] if len(series.points) == 2 else series.marker
        )
        data.append(trace)
    layout["yaxis"]["ticktext"] = [
        f"<b>{s.label}</b>" if s.emphasis else s.label for s in panel.series
    ]
    layout["margin"]["r"] = 16 + NAME_WIDTH * max((len(s.note) for s in panel.series), default=0)
    layout["annotations"] += [
        {
            "xref": "paper", "x": 1, "xanchor": "left", "xshift": 6, "showarrow": False,
            "yref": "y", "y": series.points[0].y, "text": series.note,
            "font": {"size": SMALL, "color": series.color if series.emphasis else "color:muted"},
        }
        for series in panel.series
        if series.note
    ]
    return data


def _short(text: str) -> str:
    """The median out of a hover text."""
    return text.split("median ")[-1].split(" (")[0]


def _scatter(panel: Panel, layout: dict[str, Any]) -> list[dict[str, Any]]:
    width, height = NOMINAL_WIDTH - 90, panel.height - 34 - 48
    for series, (right, up) in zip(panel.series, labels_beside(panel, width, height)):
        point = series.points[0]
        layout["annotations"].append(
            {
                "x": math.log10(point.x) if panel.x.log else point.x,
                "y": math.log10(point.y) if panel.y.log else point.y,
                "ax": right if right > 0 else -8, "ay": -up,
                "xanchor": "left" if right > 0 else "right",
                "text": f"<b>{series.label}</b>" if series.emphasis else series.label,
                "font": {"size": 12 if series.emphasis else SMALL, "color": series.color},
                "showarrow": True, "arrowhead": 0, "arrowwidth": 0.6, "arrowcolor": series.color,
                "standoff": 5,
            }
        )
    return [
        _trace(series, "markers", 13 if series.emphasis else 9)
        for series in sorted(panel.series, key=lambda s: s.emphasis)
    ]


def _histogram(panel: Panel, layout: dict[str, Any]) -> list[dict[str, Any]]:
    series = panel.series[0]
    bars = {
        "type": "bar",
        "x": [p.x for p in series.points],
        "y": [p.y for p in series.points],
        "width": [p.high - p.low for p in series.points],
        "text": [p.text for p in series.points],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"color": series.color},
    }
    layout["bargap"] = 0
    return [bars]


def _cdf(panel: Panel, layout: dict[str, Any]) -> list[dict[str, Any]]:
    layout["showlegend"] = True
    layout["legend"] = {
        "orientation": "h", "x": 0.5, "xanchor": "center", "y": -0.18, "yanchor": "top",
        "bgcolor": "rgba(0,0,0,0)", "font": {"size": SMALL},
    }
    layout["margin"]["b"] = 110
    data = []
    for series in panel.series:
        trace = _trace(series, "lines", 0)
        trace["line"] |= {"shape": "hv", "width": 2.5}
        data.append(trace)
    return data


def _rules(panel: Panel, layout: dict[str, Any]) -> None:
    for rule in panel.rules:
        along, across = ("x", "y") if rule.vertical else ("y", "x")
        axis = panel.x if rule.vertical else panel.y
        line = {"color": rule.color, "width": 1.2, "dash": "dash"}
        layout["shapes"].append(
            {
                "type": "line", "layer": "below", "line": line,
                f"{along}ref": along, f"{along}0": rule.at, f"{along}1": rule.at,
                f"{across}ref": "paper", f"{across}0": 0, f"{across}1": 1,
            }
        )
        place = math.log10(rule.at) if axis.log else rule.at
        text = {
            "text": rule.label, "showarrow": False, "font": {"size": SMALL, "color": rule.color},
        }
        if rule.vertical:
            text |= {"x": place, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom"}
        else:
            text |= {
                "y": place, "yref": "y", "x": 0, "xref": "paper", "xanchor": "left",
                "yanchor": "top",
            }
        layout["annotations"].append(text)


def _shade(panel: Panel, layout: dict[str, Any]) -> None:
    if panel.shade is None:
        return
    last = bounds(panel, True)[1]
    layout["shapes"].append(
        {
            "type": "rect", "layer": "below", "line": {"width": 0}, "fillcolor": "color:floor",
            "opacity": 0.09,
            "xref": "x", "x0": panel.shade.begin, "x1": last, "yref": "paper", "y0": 0, "y1": 1,
        }
    )
    middle = math.sqrt(panel.shade.begin * last) if panel.x.log else (panel.shade.begin + last) / 2
    layout["annotations"].append(
        {
            "text": panel.shade.label, "showarrow": False,
            "font": {"size": SMALL, "color": "color:floor"},
            "x": math.log10(middle) if panel.x.log else middle, "xref": "x", "y": 0,
            "yref": "paper", "yanchor": "bottom",
        }
    )
