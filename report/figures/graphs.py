# SPDX-License-Identifier: Apache-2.0
"""Graph applications after Naylor et al. 2020: time and messages of their forms (figure 8), and
what the detector changes (figure 7).
"""

from __future__ import annotations

from report import style
from report.figures.common import DOT_FRAME, ROW_HEIGHT, drawable, without_result
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.select import Row, rows
from report.statistics import format_ratio, format_time, overlap, safe_ratio

NAME = "graphs"
TITLE = "Synchronous or asynchronous graph applications (figure 8 of Naylor et al. 2020)"
QUESTION = (
    "Steps that all vertices make together, ended by detection, or vertices that wait for their "
    "neighbours only (shortest paths: "
    "for nobody): which is faster, and how many messages does it take?"
)
PAPER = (
    "In the paper (6 M vertices, 600 M edges, 48 FPGAs): PageRank and heat send the same messages "
    "in both forms, and the "
    "asynchronous one is a little slower; multi-source paths and spikes need far more messages "
    "without steps; shortest paths "
    "are faster without. The paper draws times over one x86 thread, as here, and messages a time "
    "step, which it leaves out for shortest paths; the messages here are those of a whole run. It "
    "prints no numbers."
)
WORDS = {
    "pagerank": "PageRank", "heat": "heat transfer", "mssp": "paths from 64 vertices",
    "spiking": "spiking neurons",
    "sssp": "shortest paths",
}

DETECTORS_NAME = "detector_speedup"
DETECTORS_TITLE = "What a better detector gains an application (figure 7 of Naylor et al. 2020)"
DETECTORS_QUESTION = (
    "Heat transfer in steps, each ended by a detection: how many times as long does a run take "
    "with another detector than with "
    "tutti's default? The less a step computes, the more its end matters."
)
DETECTORS_PAPER = (
    "The paper predicts the same from round trips: the speed-up is large for small graphs and "
    "falls as more vertices are mapped "
    "to a thread."
)


def _runs(data: Dataset, run: str) -> list[Row]:
    return rows(data, benchmark="graph", run=run)


def build(data: Dataset) -> Figure:
    found, notes = drawable(row for row in _runs(data, NAME) if row["what"] in WORDS)
    cells = {app: {row["name"]: row for row in found if row["what"] == app} for app in WORDS}
    cells = {app: forms for app, forms in cells.items() if "sync" in forms and "async" in forms}
    if not cells:
        return without_result(
            data, NAME, "tutti graph in modes sync and async", NAME, TITLE, QUESTION
        )
    panels = [panel for panel in (_times(cells), _messages(cells)) if panel]
    captions = [_caption(app, forms) for app, forms in cells.items()]
    return Figure(
        NAME, TITLE, QUESTION, panels, [*captions, _extent(cells), PAPER],
        notes + data.not_measured(NAME),
    )


def _rows_panel(title: str, axis: Axis, series: list[Series], rules: list[Rule]) -> Panel:
    axis_y = Axis(
        "", ticks=[(place, s.label) for place, s in enumerate(series)], lowest=-0.7,
        highest=len(series) - 0.3,
    )
    return Panel(
        title, axis, axis_y, series, rules, "pairs", DOT_FRAME + 2 * ROW_HEIGHT * len(series)
    )


def _times(cells: dict[str, dict[str, Row]]) -> Panel | None:
    series = []
    for place, (app, forms) in enumerate(
        reversed([pair for pair in cells.items() if "sequential" in pair[1]])
    ):
        alone = forms["sequential"]["median"]
        points = [
            Point(
                forms[form]["median"] / alone, place,
                text=f"{WORDS[app]}, {words}: median {format_time(forms[form]['median'])}",
            )
            for form, words in (("sync", "synchronous"), ("async", "asynchronous"))
        ]
        note = " → ".join(format_time(forms[form]["median"]) for form in ("sync", "async"))
        series.append(Series(WORDS[app], "color:tutti", points, line=False, note=note))
    axis = Axis("time over that of a plain loop: ○ synchronous, ● asynchronous", log=True)
    return (
        _rows_panel("time", axis, series, [Rule(1, "plain loop, one thread", True)])
        if series
        else None
    )


def _messages(cells: dict[str, dict[str, Row]]) -> Panel | None:
    series = []
    for app, forms in reversed(cells.items()):
        sent = [forms[form]["messages"] for form in ("sync", "async")]
        if not all(sent):
            continue
        points = [
            Point(count, len(series), text=f"{WORDS[app]}, {words}: {count:,} messages")
            for count, words in zip(sent, ("synchronous", "asynchronous"))
        ]
        series.append(
            Series(
                WORDS[app], "color:tutti", points, line=False, note=format_ratio(sent[1] / sent[0])
            )
        )
    axis = Axis("messages along edges: ○ synchronous, ● asynchronous", log=True, counts=True)
    return _rows_panel("messages", axis, series, []) if series else None


def _caption(app: str, forms: dict[str, Row]) -> str:
    sync, other = forms["sync"], forms["async"]
    first = "the synchronous form" if sync["median"] <= other["median"] else "the asynchronous form"
    ratio = max(sync["median"], other["median"]) / min(sync["median"], other["median"])
    relation = (
        "the two forms cannot be told apart"
        if overlap(sync, other)
        else f"{first} is {format_ratio(ratio)} faster"
    )
    text = f"{WORDS[app][:1].upper()}{WORDS[app][1:]}: {relation}"
    if sync["messages"] and other["messages"]:
        sent = format_ratio(other["messages"] / sync["messages"])
        text += (
            "; the asynchronous one sends "
            f"{'as many messages' if sent == '1.00x' else f'{sent} the messages'}"
        )
    alone = forms.get("sequential")
    if alone:
        best = min(sync["median"], other["median"])
        against = safe_ratio(alone["median"], best)
        words = (
            f"{format_ratio(against)} faster"
            if against >= 1
            else f"{format_ratio(1 / against)} slower"
        )
        text += f"; the better one is {words} than the plain loop"
    return f"{text}."


def _extent(cells: dict[str, dict[str, Row]]) -> str:
    row = next(iter(cells.values()))["sync"]
    several = row["samples"] and row["samples"] > 1
    runs = (
        f"median of {row['samples']} runs of each, in random order"
        if several
        else "one run of each"
    )
    return (
        f"Cut for a short report: {row['vertices']:,} vertices in the plane, {row['edges']:,} "
        "edges to near ones, "
        f"{row['threads']} participants; {runs}."
    )


def build_detectors(data: Dataset) -> Figure:
    found, notes = drawable(_runs(data, "detectors"))
    usual = {row["vertices"]: row for row in found if row["detector"] == "default"}
    names = sorted({row["detector"] for row in found} - {"default"})
    sizes = sorted({row["vertices"] for row in found} & set(usual))
    if not names or not sizes:
        return without_result(
            data, "detectors", "tutti graph with several detectors",
            DETECTORS_NAME, DETECTORS_TITLE, DETECTORS_QUESTION,
        )
    series = []
    for place, name in enumerate(names):
        mine = [row for row in found if row["detector"] == name and row["vertices"] in usual]
        points = [
            _gain(row, usual[row["vertices"]], name)
            for row in sorted(mine, key=lambda row: row["vertices"])
        ]
        dash, marker = style.look(place)
        series.append(Series(name, style.tutti_shade(place), points, dash=dash, marker=marker))
    axis_x = Axis("vertices of the graph", log=True, ticks=[(size, f"{size:,}") for size in sizes])
    axis_y = Axis("time over that with tutti's default", log=True)
    panel = Panel(
        "heat transfer in steps", axis_x, axis_y, series, [Rule(1, "tutti's default", False)],
        height=460,
    )
    captions = [_gains(found, usual, sizes), DETECTORS_PAPER]
    missing = notes + data.not_measured("detectors")
    return Figure(DETECTORS_NAME, DETECTORS_TITLE, DETECTORS_QUESTION, [panel], captions, missing)


def _gain(row: Row, usual: Row, name: str) -> Point:
    ratio, step = row["median"] / usual["median"], row["median"] / (row["time_steps"] or 1)
    text = (
        f"{name}, {row['vertices']:,} vertices: {format_time(step)} a step, {format_ratio(ratio)}"
    )
    return Point(row["vertices"], ratio, text=text)


def _gains(found: list[Row], usual: dict[int, Row], sizes: list[int]) -> str:
    parts = []
    for size in sizes:
        cell = [row for row in found if row["vertices"] == size and row["detector"] != "default"]
        ratios = {row["detector"]: row["median"] / usual[size]["median"] for row in cell}
        last = max(ratios, key=ratios.get)
        step = usual[size]["median"] / (usual[size]["time_steps"] or 1)
        parts.append(
            f"{size:,} vertices ({format_time(step)} a step): up to {format_ratio(ratios[last])} "
            f"as long, with {last}"
        )
    graph = f"{usual[sizes[0]]['threads']} participants"
    return f"{graph}; {'; '.join(parts)}."
