# SPDX-License-Identifier: Apache-2.0
"""What events are meant to take at most: the lines of `tutti bench event --bounds`."""

from __future__ import annotations

from typing import Iterable

from report.lines import Dataset
from report.statistics import format_time
from report.tables.verdict import Verdict, unknown


def verdicts(data: Dataset) -> Iterable[Verdict]:
    found = [line for line in data.kernel if line["type"] == "bound"]
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
        yield Verdict(target, measured, line["kept"])
