# SPDX-License-Identifier: Apache-2.0
"""The sections of the page in the order in which a reader meets them: figures, and tables between
them.
"""

from __future__ import annotations

from report.errors import ReportError
from report.figures import FIGURES
from report.lines import Dataset
from report.model import Figure, Table
from report.tables import TABLES

Section = Figure | Table

# Each chapter with its sections.
CHAPTERS: dict[str, tuple[str, ...]] = {
    "Overview": ("overview", "line_transfer", "targets"),
    "Barriers": (
        "threads", "cycles", "multiples", "last_in_last_out", "oversubscription", "neighbour",
        "imbalance", "waits", "recover", "unpinned",
    ),
    "Regions and reductions": (
        "regions", "gaps", "reductions", "sums", "streamcluster", "phylo_peers", "table_1",
        "table_2", "access", "pinning", "table_3", "table_4", "phylo_counts",
    ),
    "Messages": ("idle", "detectors", "message", "processes"),
    "Graphs": ("graphs", "detector_speedup", "prediction", "worst_case", "graph_ceiling"),
    "Vector machine": ("instruction", "granularity", "vcode"),
    "Events": ("event_unicast", "event_broadcast", "event_sigma"),
    "Events in a kernel": (
        "kernel_unicast", "kernel_broadcast", "kernel_sigma", "kernel_paths", "pool",
        "kernel_parts",
    ),
    "Barriers in the network": (
        "network_average", "network_least", "network_nodes", "network_growth",
    ),
    "Hardware": (
        "hardware_cycles", "projection", "hardware_hbs", "hardware_isa", "hardware_machine",
        "hardware_detection_rate", "hardware_network_cycles", "photonic", "hardware_detection",
        "hardware_network", "hardware_area", "hardware_checks",
    ),
    "Simulated machines": (
        "sim_choices", "sim_agreement", "sim_barriers", "sim_machines", "sim_streamcluster",
        "sim_instruction", "sim_harp", "sim_structures", "sim_unicast", "sim_broadcast",
        "sim_sigma", "sim_knees", "sim_trips", "sim_gain", "sim_modes", "sim_paths",
    ),
}
# What was measured on the machine of the report: all but counts of an emulator, simulations, and
# what is computed.
MEASURED = tuple(
    name
    for chapter, names in CHAPTERS.items()
    if chapter not in ("Events in a kernel", "Hardware", "Simulated machines")
    for name in names
    if name != "prediction"
)
# Where the last section of the chapter already says that there is nothing, the others need not.
SILENT = tuple(
    name
    for chapter in (
        "Events in a kernel", "Barriers in the network", "Hardware", "Simulated machines",
    )
    for name in CHAPTERS[chapter][:-1]
)


def built(name: str, data: Dataset) -> Section:
    """One section; a key that some line lacks is an error that names the section and the files."""
    build = {**FIGURES, **TABLES}[name]
    try:
        return build(data)
    except KeyError as error:
        # Nobody has checked the keys of lines that are taken as they are.
        sources = ", ".join(str(path) for path in data.sources)
        raise ReportError(
            f'section {name}: a line lacks the key "{error.args[0]}"; another version of tutti has '
            f"written it, or it was cut. The lines are of {sources}."
        ) from error


def build_all(data: Dataset) -> list[Section]:
    made = [built(name, data) for names in CHAPTERS.values() for name in names]
    return [section for section in made if not (section.empty and section.name in SILENT)]
