# SPDX-License-Identifier: Apache-2.0
"""The figures of the report, in the order of the page; each module turns a data set into one figure."""

from __future__ import annotations

from typing import Callable

from lab.figures import imbalance, latency, line_transfer, neighbour, oversubscription, threads, unpinned
from lab.lines import Dataset
from lab.model import Figure

FIGURES: dict[str, Callable[[Dataset], Figure]] = {
    "line_transfer": line_transfer.build,
    "threads": threads.build,
    "multiples": threads.build_multiples,
    "last_in_last_out": latency.build,
    "oversubscription": oversubscription.build,
    "neighbour": neighbour.build,
    "imbalance": imbalance.build,
    "unpinned": unpinned.build,
}


def build_all(data: Dataset) -> list[Figure]:
    return [build(data) for build in FIGURES.values()]
