# SPDX-License-Identifier: Apache-2.0
"""The report's page: one HTML file with everything in it, readable without a network."""

from __future__ import annotations

import json
import math
from html import escape
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from report import style
from report.choice import METRIC_WORDS, Choice, choices, in_short, missing
from report.facts import facts, mixture, warning
from report.lines import Dataset
from report.model import Cell, Figure, Table
from report.plotly_render import render
from report.sections import CHAPTERS, Section
from report.select import Row, scenario_words
from report.statistics import Comparison, extent, format_ratio, format_time

WEB = Path(__file__).parent / "web"

HOW_TO_READ = (
    "Every time is for one episode, one region or one run, as the plot says: the dot is the "
    "median, the thin line runs from the minimum to the 99th percentile (between the quartiles "
    "where the lines have only these), and time axes are logarithmic, lower (or further left) is "
    "better. tutti is blue, its default "
    "bold; each peer keeps its colour everywhere. All contenders of one plot were interleaved in "
    "one run, round by round, and two "
    'of them are called "within noise" when each median lies inside the other\'s spread.'
)

FEW_ALARMS = 5
# The long table of choices follows these sections of the first chapter, which are plots.
FIRST_PICTURES = 2

RATIO_NOTE = (
    "Between two contenders that both cost only a few line transfers, the ratio compares their "
    "multiples of the floor measured "
    "in the same rounds, and so it can differ from the quotient of the two medians shown."
)


def build(data: Dataset, sections: list[Section]) -> str:
    """The whole page. The figures' PNGs and the raw lines are expected beside it."""
    figures = [section for section in sections if isinstance(section, Figure)]
    panels = {
        f"{figure.name}_{i}": render(panel) for figure in figures for i,
        panel in enumerate(figure.panels)
    }
    machine = data.machine.get("cpu", "unknown machine")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',
            f"<title>tutti on {escape(str(machine))}</title>",
            f"<style>{_asset('page.css')}</style></head><body>",
            _header(data),
            _navigation(sections),
            *_chapters(sections, _choice_table(data)),
            _numbers(data),
            _embedded("figures", panels),
            _embedded("palettes", {"light": style.LIGHT, "dark": style.DARK}),
            f"<script>{get_plotlyjs()}</script>",
            f"<script>{_asset('page.js')}</script>",
            "</body></html>",
            "",
        ]
    )


def _asset(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")


def _embedded(name: str, value: Any) -> str:
    # "<" inside a script element could end it.
    text = json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _header(data: Dataset) -> str:
    entries = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts(data)
    )
    alarms = [
        mixture(data), warning(data),
        *[f"Not measured: {failure}" for failure in data.failed[:FEW_ALARMS]],
    ]
    if len(data.failed) > FEW_ALARMS:
        alarms.append(f"{len(data.failed) - FEW_ALARMS} more calls failed; their figures say so.")
    caution = "".join(f'<p class="caution">{escape(alarm)}</p>' for alarm in alarms if alarm)
    return (
        "<header><h1>Synchronisation on this machine</h1>"
        '<p class="muted">What tutti and its peers cost here, measured side by side.</p>'
        f'{caution}<dl class="facts">{entries}</dl>'
        f"<p><b>How to read.</b> {escape(HOW_TO_READ)}</p></header>"
    )


def _navigation(sections: list[Section]) -> str:
    titles = {section.name: section.title for section in sections}
    chapters = [
        (words, [(name, titles[name]) for name in names if name in titles])
        for words, names in CHAPTERS.items()
    ]
    chapters[0][1].insert(FIRST_PICTURES, ("choice", "Which barrier should I use here"))
    chapters[0][1].append(("all_numbers", "All numbers"))
    return f"<nav>{''.join(_chapter_links(words, entries) for words, entries in chapters)}</nav>"


def _chapter_links(words: str, entries: list[tuple[str, str]]) -> str:
    links = "".join(f'<a href="#{name}">{escape(title)}</a>' for name, title in entries)
    return f"<h4>{escape(words)}</h4><p>{links}</p>"


CHOICE_HEADS = (
    "situation", "what", "best of tutti", "tutti's default", "best peer",
    "default against best peer",
    "default against best of tutti",
)


def _choice_table(data: Dataset) -> str:
    made = choices(data)
    kind = "bad" if any(choice.loses for choice in made) else "good"
    summary = f'<p class="{kind}">{escape(in_short(made))}</p>'
    head = "".join(f"<th>{escape(text)}</th>" for text in CHOICE_HEADS)
    body = "".join(_choice_row(choice) for choice in made)
    notes = "".join(
        f'<p class="missing">{escape(note)}</p>' for note in (RATIO_NOTE, *missing(made))
    )
    return (
        '<section id="choice"><h2>Which barrier should I use here</h2>'
        f'{summary}<div class="scroll"><table class="choices"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{notes}</section>"
    )


def _choice_row(choice: Choice) -> str:
    peer, tutti = choice.against_peer, choice.against_tutti
    kind = (
        "bad" if choice.loses and peer and peer.ratio < 1 else "good" if peer and peer.wins else ""
    )
    against_peer = (
        f'<span class="{kind}">{escape(_versus(choice, choice.best_peer, peer))}</span>'
        if peer
        else "–"
    )
    against_tutti = "is the best"
    if choice.default is None:
        against_tutti = "–"
    elif tutti is not None:
        colour = "warn" if tutti.loses else ""
        said = escape(_versus(choice, choice.best_tutti, tutti))
        against_tutti = f'<span class="{colour}">{said}</span>'
    cells = (
        escape(choice.situation), escape(choice.metric), _contender(choice.best_tutti),
        _cost(choice.default, choice.reason),
        _contender(choice.best_peer) + _dearer(choice), against_peer, against_tutti,
    )
    row = "".join(
        f'<td data-label="{escape(head)}"><span>{cell}</span></td>'
        for head, cell in zip(CHOICE_HEADS, cells)
    )
    return f'<tr class="{"loses" if choice.loses else ""}">{row}</tr>'


def _versus(choice: Choice, other: Row, comparison: Comparison) -> str:
    """How the default stands against another one; times to recover differ by a time, as some are
    nothing at all.
    """
    if choice.metric != METRIC_WORDS["recover"]:
        return comparison.text()
    apart = choice.default["median"] - other["median"]
    return f"{format_time(abs(apart))} {'later' if apart > 0 else 'earlier'}"


def _dearer(choice: Choice) -> str:
    """Who is ahead on this side because he pays on the other."""
    if choice.dearer is None:
        return ""
    price = "is slower" if choice.metric == METRIC_WORDS["cpu_time"] else "burns more"
    return (
        f"<small>{escape(style.label(choice.dearer))}, which {price}: "
        f"{escape(format_time(choice.dearer['median']))}</small>"
    )


def _cost(row: Row | None, reason: str = "") -> str:
    if row is None:
        return f"skipped<small>{escape(reason)}</small>" if reason else "not measured"
    return f"{format_time(row['median'])}<small>{escape(extent(row) or '')}</small>"


def _contender(row: Row | None) -> str:
    return (
        "not measured"
        if row is None
        else f"{escape(style.label(row))}<small>{escape(format_time(row['median']))}</small>"
    )


def _chapters(sections: list[Section], choice: str) -> list[str]:
    """The sections; each chapter but the first, which is the head of the page, begins with its
    name. The table of choices follows the first plots.
    """
    begins = {names[0]: words for words, names in list(CHAPTERS.items())[1:]}
    parts = []
    for section in sections:
        if section.name in begins:
            parts.append(f'<p class="chapter">{escape(begins[section.name])}</p>')
        parts.append(_section(section) if isinstance(section, Figure) else _table(section))
    parts.insert(FIRST_PICTURES, choice)
    return parts


def _section(figure: Figure) -> str:
    parts = [
        f'<section id="{figure.name}"><h2>{escape(figure.title)}</h2>'
        f'<p class="question">{escape(figure.question)}</p>'
    ]
    if figure.panels:
        parts.append('<div class="panels">')
        for i, panel in enumerate(figure.panels):
            parts.append(
                f'<div class="panel"><h3>{escape(panel.title)}</h3>'
                f'<div class="plot" id="{figure.name}_{i}" data-kind="{panel.kind}" '
                f'style="height:{panel.height}px"></div></div>'
            )
        parts.append("</div>")
    parts += [_captions(figure), _missing(figure)]
    if figure.panels:
        parts.append(f'<p class="files"><a href="{figure.name}.png">PNG</a></p>')
    parts.append("</section>")
    return "".join(parts)


def _captions(section: Section) -> str:
    if not section.captions:
        return ""
    return (
        '<ul class="captions">'
        + "".join(f"<li>{escape(text)}</li>" for text in section.captions)
        + "</ul>"
    )


def _table(table: Table) -> str:
    parts = [
        f'<section id="{table.name}"><h2>{escape(table.title)}</h2>'
        f'<p class="question">{escape(table.question)}</p>'
    ]
    if table.rows:
        above = "".join(
            f'<th colspan="{width}">{escape(words)}</th>' for words, width in table.groups
        )
        heads = "".join(f"<th>{escape(head)}</th>" for head in table.heads)
        body = "".join(
            f"<tr>{''.join(_table_cell(cell) for cell in row)}</tr>" for row in table.rows
        )
        groups = f'<tr class="groups">{above}</tr>' if above else ""
        parts.append(
            f'<div class="scroll"><table class="measured"><thead>{groups}<tr>{heads}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )
    return "".join([*parts, _captions(table), _missing(table), "</section>"])


def _table_cell(cell: Cell) -> str:
    tint = f' style="--tint:{_tint(cell.tint)}"' if cell.tint is not None else ""
    kind = " ".join(filter(None, (cell.kind, "tint" if tint else "")))
    note = f"<small>{escape(cell.note)}</small>" if cell.note else ""
    return f'<td class="{kind}"{tint}>{escape(cell.text)}{note}</td>'


def _tint(ratio: float) -> str:
    """0 % at the best of a column, 45 % at four times it and beyond."""
    share = math.log(max(ratio, 1.0)) / math.log(4)
    return f"{45 * min(share, 1.0):.0f}%"


def _missing(figure: Section) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in figure.missing)
    if not notes:
        return ""
    if figure.empty or len(figure.missing) <= SHORT_LIST:
        return f'<ul class="missing">{notes}</ul>'
    return (
        f'<details class="missing"><summary>{len(figure.missing)} not measured '
        f'or not drawn</summary>'
        f'<ul>{notes}</ul></details>'
    )


# Up to this many notes are shown without a click.
SHORT_LIST = 3
COLUMNS = (
    "benchmark", "what", "provider", "name", "wait", "threads", "ranks", "pinned", "scenario",
    "session", "metric",
)
NUMBERS = ("min", "median", "p99")


def _numbers(data: Dataset) -> str:
    found = data.results.sort(
        ["benchmark", "what", "metric", "scenario", "ranks", "threads", "median"]
    ).to_dicts()
    heads = [*COLUMNS, *NUMBERS, "x floor", "samples", "raw lines"]
    head = "".join(f'<th><button type="button">{escape(text)}</button></th>' for text in heads)
    choosers = "".join(
        _chooser(found, column, place)
        for place, column in enumerate(COLUMNS)
        if column not in ("name",)
    )
    links = ", ".join(
        f'<a href="{escape(path.name)}">{escape(path.name)}</a>' for path in data.sources
    )
    body = "".join(_number_row(row) for row in found)
    return (
        '<section id="all_numbers"><h2>All numbers</h2>'
        '<p class="question">Click a head to sort. Times are sorted in nanoseconds; "x floor" is '
        'the median as a multiple of '
        "the one-way line transfer of the same rounds.</p>"
        f'<div class="controls"><input id="search" type="search" placeholder="filter: words" '
        f'aria-label="filter">{choosers}'
        '<span id="count" class="muted"></span></div>'
        f'<div id="numbers"><table><thead><tr>{head}</tr></thead>'
        f'<tbody>{body}</tbody></table></div>'
        f'<p class="files">Raw lines: {links}</p></section>'
    )


def _shown(row: Row, column: str) -> str:
    if column == "pinned":
        return "pinned" if row["pinned"] else "not pinned"
    if column == "what":
        return _what(row) or "–"
    return str(row[column] if row[column] not in (None, "") else "–")


def _what(row: Row) -> str:
    """All that tells two measurements apart and has no column of its own."""
    mpi = f", {style.PEER_LABELS.get(row['mpi'], row['mpi'])}" if row["mpi"] else ""
    processes = f"{row['processes']} processes{mpi}" if row["processes"] else ""
    detector = f"detector {row['detector']}" if row["detector"] not in (None, "default") else ""
    return ", ".join(filter(None, (row["what"], processes, row["graph"], detector)))


def _chooser(found: list[Row], column: str, place: int) -> str:
    values = {_shown(row, column): row[column] for row in found}
    ordered = sorted(
        values, key=lambda text: (values[text] if isinstance(values[text], int) else 0, text)
    )
    if len(ordered) < 2:
        return ""
    options = "".join(f"<option>{escape(text)}</option>" for text in ordered)
    return (
        f'<select data-column="{place}" aria-label="{column}">'
        f'<option value="">{column}: all</option>{options}</select>'
    )


def _number_row(row: Row) -> str:
    cells = []
    for column in COLUMNS:
        value = (
            f' data-value="{row[column]}" class="number"' if column in ("threads", "ranks") else ""
        )
        words = scenario_words(row["scenario"], row["session"])
        title = f' title="{escape(words)}"' if column == "scenario" else ""
        cells.append(f"<td{value}{title}>{escape(_shown(row, column))}</td>")
    for column in NUMBERS:
        cells.append(_number_cell(row[column], format_time(row[column])))
    multiple = row["ratio_median"] or (
        row["median"] / row["floor_median"] if row["floor_median"] else None
    )
    cells.append(_number_cell(multiple, format_ratio(multiple) if multiple else "–"))
    cells.append(_number_cell(row["samples"], str(row["samples"] or "–")))
    cells.append(f'<td><a href="{escape(row["run"])}.jsonl">{escape(row["run"])}</a></td>')
    return f'<tr class="{"ours" if style.is_default(row) else ""}">{"".join(cells)}</tr>'


def _number_cell(value: float | None, text: str) -> str:
    return f'<td class="number" data-value="{"" if value is None else value}">{escape(text)}</td>'
