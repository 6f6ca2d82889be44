# SPDX-License-Identifier: Apache-2.0
"""The sections of the page in the order in which a reader meets them: figures, and tables between them."""

from __future__ import annotations

from lab.figures import FIGURES
from lab.lines import Dataset
from lab.model import Figure, Table
from lab.tables import TABLES

Section = Figure | Table

ORDER = (
    "targets", "line_transfer", "threads", "multiples", "last_in_last_out", "oversubscription", "neighbour", "imbalance",
    "unpinned", "regions", "reductions", "table_1", "table_2", "table_3", "table_4", "phylo_peers", "streamcluster",
)


def build_all(data: Dataset) -> list[Section]:
    builders = {**FIGURES, **TABLES}
    return [builders[name](data) for name in ORDER]
