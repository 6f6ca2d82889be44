# SPDX-License-Identifier: Apache-2.0
"""The tables of the report: what was aimed at, and the paper's tables for this machine."""

from __future__ import annotations

from typing import Callable

from report.lines import Dataset
from report.model import Table
from report.tables import (
    berger, graphs, hardware, kernel, messages, network, paper, pool, simulated, sums,
    targets, vcode,
)

TABLES: dict[str, Callable[[Dataset], Table]] = {
    "targets": targets.build,
    "table_1": paper.build_1,
    "table_2": paper.build_2,
    "table_3": paper.build_3,
    "table_4": paper.build_4,
    "phylo_counts": berger.build_counts,
    "pinning": berger.build_pinning,
    "sums": sums.build,
    "message": messages.build,
    "processes": messages.build_processes,
    "graph_ceiling": graphs.build,
    "vcode": vcode.build,
    "kernel_parts": kernel.build,
    "pool": pool.build,
    "network_growth": network.build,
    "hardware_checks": hardware.build_checks,
    "hardware_detection": hardware.build_detection,
    "hardware_network": hardware.build_network,
    "hardware_area": hardware.build_area,
    "sim_choices": simulated.build_choices,
    "sim_agreement": simulated.build_agreement,
}
