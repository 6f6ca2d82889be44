# SPDX-License-Identifier: Apache-2.0
"""What `tutti network testbed` has measured between hosts in namespaces, for the page."""

from __future__ import annotations

from report.lines import Dataset
from report.select import Row, rows

NAME = "network"
# The topologies by their names in the lines: colour and marker.
TOPOLOGIES = {
    "ring": ("color:pthread", "circle"),
    "tree": ("color:libgomp", "square"),
    "star": ("color:tutti", "diamond"),
    "butterfly": ("color:boost", "triangle-up"),
    "dissemination": ("color:std", "triangle-down"),
    "switch": ("color:libomp", "cross"),
}
PACKET_PATH, USER_SPACE = "tutti", "udp"
NEEDS = (
    "Needed are root, network namespaces and XDP, and, when tutti is built, libbpf and clang; "
    "`tutti network check` says what this machine lacks."
)


def results(data: Dataset, provider: str, metric: str) -> dict[str, list[Row]]:
    """The results of each topology, with more hosts from one to the next."""
    found = sorted(
        rows(data, benchmark=NAME, provider=provider, metric=metric),
        key=lambda row: row["threads"],
    )
    by_name = {name: [row for row in found if row["name"] == name] for name in TOPOLOGIES}
    return {name: mine for name, mine in by_name.items() if mine}


def missing(data: Dataset) -> list[str]:
    return [*data.not_measured(NAME), NEEDS] if data.why_failed(NAME) else [
        "Not measured: these lines have none of `tutti network testbed --json`.", NEEDS
    ]
