# SPDX-License-Identifier: Apache-2.0
"""What `tutti network testbed` has measured between hosts in namespaces, for the page."""

from __future__ import annotations

from typing import Iterable

from report.lines import Dataset
from report.select import Row, rows
from report.style import MPIS, TOPOLOGIES

NAME = "network"
PACKET_PATH, USER_SPACE = "tutti", "udp"
NEEDS = (
    "Needed are root, network namespaces and XDP, and, when tutti is built, libbpf and clang; "
    "`tutti network check` says what this machine lacks."
)


def results(data: Dataset, provider: str, metric: str) -> dict[str, list[Row]]:
    """The results of each topology, with more hosts from one to the next."""
    found = rows(data, benchmark=NAME, provider=provider, metric=metric)
    return _by_name(found, "name", TOPOLOGIES)


def results_of_mpis(data: Dataset) -> dict[str, list[Row]]:
    """The latencies of each MPI over TCP, with more hosts from one to the next."""
    found = rows(data, benchmark=NAME, name="MPI_Barrier", metric="latency")
    return _by_name(found, "provider", MPIS)


def _by_name(found: list[Row], key: str, names: Iterable[str]) -> dict[str, list[Row]]:
    found = sorted(found, key=lambda row: row["threads"])
    by_name = {name: [row for row in found if row[key] == name] for name in names}
    return {name: mine for name, mine in by_name.items() if mine}


def missing(data: Dataset) -> list[str]:
    return [*data.not_measured(NAME), NEEDS] if data.why_failed(NAME) else [
        "Not measured: these lines have none of `tutti network testbed --json`.", NEEDS
    ]
