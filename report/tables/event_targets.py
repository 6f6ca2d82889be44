# SPDX-License-Identifier: Apache-2.0
"""What events are meant to take at most: the lines of `tutti bench event --bounds`."""

from __future__ import annotations

from typing import Iterable

from report.lines import Dataset
from report.statistics import format_time
from report.tables.verdict import Verdict, unknown


def verdicts(data: Dataset) -> Iterable[Verdict]:
    lines = [line for line in data.kernel if line["type"] == "bound"]
    found = [line for line in lines if not line.get("floor_of")]
    floors = {
        (line["floor_of"], line["limit"]): line["share"]
        for line in lines if line.get("floor_of") and line["sweeps"]
    }
    if not found:
        yield unknown("Events on two cores: the bounds of `tutti bench event --bounds`")
    for line in found:
        target = f"Event, {line['what']}: at most {line['limit']}"
        if not line["sweeps"]:
            yield unknown(target)
            continue
        measured = (
            f"{line['share']:.2f} of the limit: {format_time(line['median'])} against "
            f"{format_time(line['limit_median'])}"
        )
        floor = floors.get((line["what"], line["limit"]))
        if floor is not None:
            measured += f"; a bare word that is polled without tutti: {floor:.2f}"
        yield Verdict(target, measured, line["kept"])
