# SPDX-License-Identifier: Apache-2.0
"""The figures of the report, in the order of the page; each module turns a data set into one
figure.
"""

from __future__ import annotations

from typing import Callable

from report.figures import (
    access,
    runtimes,
    events,
    granularity,
    graphs,
    hardware,
    hardware_networks,
    hardware_machine,
    hardware_paths,
    hetland,
    idle,
    imbalance,
    latency,
    line_transfer,
    neighbour,
    network,
    notifications,
    oversubscription,
    overview,
    photonic,
    phylo_peers,
    prediction,
    recover,
    simulated_barriers,
    simulated_boards,
    simulated_events,
    simulated_streamcluster,
    streamcluster,
    threads,
    unpinned,
    vcode,
    waits,
    worst_case,
)
from report.lines import Dataset
from report.model import Figure

Builder = Callable[[Dataset], Figure]


def _on(benchmark: str, build: Builder) -> Builder:
    """A figure sees only the results of its own benchmark."""
    return lambda data: build(data.of(benchmark))


FIGURES: dict[str, Builder] = {
    "overview": overview.build,
    "line_transfer": line_transfer.build,
    "threads": _on("barrier", threads.build),
    "cycles": _on("barrier", hetland.build),
    "multiples": _on("barrier", threads.build_multiples),
    "last_in_last_out": _on("barrier", latency.build),
    "oversubscription": _on("barrier", oversubscription.build),
    "neighbour": _on("barrier", neighbour.build),
    "imbalance": _on("barrier", imbalance.build),
    "waits": _on("barrier", waits.build),
    "recover": _on("barrier", recover.build),
    "unpinned": _on("barrier", unpinned.build),
    "regions": _on("region", runtimes.build_regions),
    "gaps": _on("region", waits.build_gaps),
    "reductions": _on("reduce", runtimes.build_reductions),
    "streamcluster": _on("streamcluster", streamcluster.build),
    "access": _on("synthetic", access.build),
    "phylo_peers": _on("phylo", phylo_peers.build),
    "idle": _on("idle", idle.build),
    "detectors": _on("idle", idle.build_rates),
    "graphs": _on("graph", graphs.build),
    "detector_speedup": _on("graph", graphs.build_detectors),
    "prediction": prediction.build,
    "worst_case": _on("graph", worst_case.build),
    "instruction": _on("instruction", vcode.build),
    "granularity": _on("vcode", granularity.build),
    "event_unicast": notifications.build_unicast,
    "event_broadcast": notifications.build_broadcast,
    "event_sigma": notifications.build_sigma,
    "kernel_unicast": events.build_unicast,
    "kernel_broadcast": events.build_broadcast,
    "kernel_sigma": events.build_sigma,
    "kernel_paths": events.build_paths,
    "network_average": network.build_average,
    "network_least": network.build_least,
    "network_nodes": network.build_nodes,
    "hardware_cycles": hardware.build,
    "projection": hetland.build_projection,
    "hardware_hbs": hardware_paths.build_hbs,
    "hardware_isa": hardware_paths.build_isa,
    "hardware_machine": hardware_machine.build,
    "hardware_detection_rate": hardware_networks.build_detection,
    "hardware_network_cycles": hardware_networks.build_passages,
    "photonic": lambda data: photonic.build(),
    "sim_barriers": simulated_barriers.build_software,
    "sim_machines": simulated_barriers.build_others,
    "sim_streamcluster": simulated_streamcluster.build,
    "sim_instruction": simulated_barriers.build_instruction,
    "sim_harp": simulated_barriers.build_harp,
    "sim_structures": simulated_barriers.build_structures,
    "sim_unicast": simulated_events.build_unicast,
    "sim_broadcast": simulated_events.build_broadcast,
    "sim_sigma": simulated_events.build_sigma,
    "sim_knees": simulated_events.build_knees,
    "sim_trips": simulated_boards.build_trips,
    "sim_gain": simulated_boards.build_gain,
    "sim_modes": simulated_boards.build_modes,
    "sim_paths": simulated_boards.build_paths,
}
