# SPDX-License-Identifier: Apache-2.0
"""Figure 7 of Naylor et al. 2020: what detection in hardware gains an application, predicted from
round trips alone; and how well the same arithmetic predicts what is measured here.
"""

from __future__ import annotations

from report import hardware, style
from report.figures.common import DOT_FRAME, ROW_HEIGHT
from report.lines import Dataset
from report.model import Axis, Figure, Panel, Point, Rule, Series
from report.select import Row, rows
from report.statistics import format_ratio, format_time

NAME = "prediction"
TITLE = "Predicted gain of detection in hardware (figure 7 of Naylor et al. 2020)"
QUESTION = (
    "An application in n steps takes t with detection in hardware. With a software tree it would "
    "take t - 3n rtt_h + 3n rtt_s, as each detection is three round trips. How many times as long "
    "is that? And does such arithmetic predict what is measured?"
)
# Cycles that a thread spends on a message: 15 instructions of a core that 16 threads share.
MESSAGE = 240
TREE = f"tree_{MESSAGE}"
PHASES = 3
VERTICES = (1, 2, 4, 8, 16, 32, 64, 128)
FAN_OUTS = (4, 20, 100)
DETECTORS = "detectors"


def slowdown(vertices: int, fan_out: int, line: dict) -> float:
    """What the software tree costs a step beside the hardware: a vertex receives a message from
    each neighbour and sends one to all of them."""
    work = vertices * (fan_out + 1) * MESSAGE
    return (work + PHASES * line[TREE]) / (work + PHASES * line["detect"])


def _mesh(data: Dataset) -> dict | None:
    """The largest simulated mesh, its master at the origin, as in the paper."""
    found = [
        line
        for line in hardware.cycles(data)
        if line.get("unit") == "detector" and line.get("master") == "origin" and TREE in line
    ]
    return max(found, key=lambda line: line["Columns"] * line["Rows"], default=None)


def build(data: Dataset) -> Figure:
    panels, captions, missing = [], [], []
    line = _mesh(data)
    if line:
        panels.append(_computed(line))
        captions.append(_computed_words(line))
    else:
        missing += hardware.missing(data)
    found = _checked(data)
    if found:
        panels.append(_beside(found))
        captions.append(_beside_words(found))
    else:
        missing.append("Not measured: the arithmetic needs the runs detectors and idle.")
    return Figure(NAME, TITLE, QUESTION, panels, captions, missing)


def _computed(line: dict) -> Panel:
    series = []
    for place, fan_out in enumerate(FAN_OUTS):
        points = []
        for vertices in VERTICES:
            ratio = slowdown(vertices, fan_out, line)
            text = f"{vertices} vertices a thread, fan-out {fan_out}: {format_ratio(ratio)}"
            points.append(Point(vertices, ratio, text=text))
        series.append(
            Series(
                f"fan-out {fan_out}", style.tutti_shade(place), points, dash=style.DASHES[place],
                marker=style.MARKERS[place],
            )
        )
    axis_x = Axis("vertices a thread", log=True, ticks=[(n, str(n)) for n in VERTICES])
    axis_y = Axis("time with a software tree over that with hardware", log=True)
    title = f"computed for {line['Columns']} x {line['Rows']} FPGAs of the paper"
    return Panel(title, axis_x, axis_y, series, [Rule(1, "no difference", False)])


def _computed_words(line: dict) -> str:
    most, least = slowdown(1, FAN_OUTS[0], line), slowdown(VERTICES[-1], FAN_OUTS[-1], line)
    return (
        f"The projection for the paper's FPGAs: rtt_h = {line['detect']:,} cycles and rtt_s = "
        f"{line[TREE]:,}, both simulated ({line['Columns']} x {line['Rows']} nodes, links of "
        f"{line['HopLatency']} cycles), and {MESSAGE} cycles of a thread for each message, which "
        f"the paper does not give. The gain falls from {format_ratio(most)} with one vertex a "
        f"thread and fan-out {FAN_OUTS[0]} to {format_ratio(least)} with {VERTICES[-1]} and "
        f"{FAN_OUTS[-1]}; the paper prints no number, and says that it falls in the same way."
    )


def _episodes(data: Dataset, threads: int) -> dict[str, float]:
    """An empty episode of each detector, in ns: all phases of a detection."""
    return {
        row["name"]: row["median"]
        for row in rows(data, benchmark="idle", metric="empty_episode", provider="tutti")
        if row["threads"] == threads and row["ranks"] == threads and not row["processes"]
    }


def _checked(data: Dataset) -> list[tuple[Row, float, float]]:
    """(row of a detector, its predicted ratio to the default, its measured one)."""
    found = rows(data, benchmark="graph", run=DETECTORS)
    usual = {row["vertices"]: row for row in found if row["detector"] == "default"}
    made = []
    for row in sorted(found, key=lambda row: (-row["vertices"], row["detector"])):
        base = usual.get(row["vertices"])
        episodes = _episodes(data, row["threads"])
        if base is None or row is base or not {"default", row["detector"]} <= episodes.keys():
            continue
        steps = base["detections"] or base["time_steps"]
        more = steps * (episodes[row["detector"]] - episodes["default"])
        made.append((row, (base["median"] + more) / base["median"], row["median"] / base["median"]))
    return made


def _beside(found: list[tuple[Row, float, float]]) -> Panel:
    series = []
    for place, (row, predicted, measured) in enumerate(found):
        label = f"{row['detector']}, {row['vertices']:,} vertices"
        points = [
            Point(ratio, place, text=f"{label}, {words}: {format_ratio(ratio)}")
            for ratio, words in ((predicted, "predicted"), (measured, "measured"))
        ]
        note = f"{format_ratio(predicted)} → {format_ratio(measured)}"
        series.append(Series(label, "color:tutti", points, line=False, note=note))
    axis_x = Axis("time over that with tutti's default: ○ predicted, ● measured", log=True)
    axis_y = Axis(
        "", ticks=[(place, each.label) for place, each in enumerate(series)], lowest=-0.7,
        highest=len(series) - 0.3,
    )
    return Panel(
        "this machine: other detectors", axis_x, axis_y, series,
        [Rule(1, "tutti's default", True)], "pairs", DOT_FRAME + ROW_HEIGHT * len(series),
    )


def _beside_words(found: list[tuple[Row, float, float]]) -> str:
    errors = sorted(
        ((abs(predicted / measured - 1), row) for row, predicted, measured in found),
        key=lambda error: error[0],
    )
    middle, (worst, row) = errors[len(errors) // 2][0], errors[-1]
    step = row["median"] / (row["time_steps"] or 1)
    return (
        "The arithmetic checked on this machine: the run with tutti's default, minus n of its "
        "empty episodes, plus n of the other detector's. The prediction misses what is measured "
        f"by {middle:.0%} in the median of {len(found)} cells and by {worst:.0%} at most "
        f"({row['detector']} with {row['vertices']:,} vertices, {format_time(step)} a step)."
    )
