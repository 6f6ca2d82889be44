# SPDX-License-Identifier: Apache-2.0
"""The run about barriers between hosts in network namespaces."""

from __future__ import annotations

from report import network
from report.runs import Command, Programs, Run

HOSTS = (2, 3, 4, 5, 6, 7, 8)
FEW_HOSTS = (2, 4)
# A test bed of eight hosts loads its programs for five seconds; calls take tens of microseconds.
CALLS = 1500
# The report spends no more on it, whatever the machine.
LIMIT = 110.0


def run(quick: bool, programs: Programs) -> Run:
    hosts = FEW_HOSTS if quick else HOSTS

    def bed(nodes: int, *options: str) -> Command:
        return (
            str(programs.tutti), "network", "testbed", "--nodes", str(nodes), *options, "--json",
        )

    calls = ("--calls", str(CALLS))
    # Starting an MPI among eight hosts takes some ten seconds.
    mpis = (2,) if quick else (2, 8, 4)
    # What the page can do without comes last.
    user_space = sorted(hosts, key=lambda nodes: (nodes % 2, -nodes))
    return Run(
        network.NAME, "barriers between hosts in network namespaces, in the kernel's packet path",
        20 if quick else 95, programs.tutti,
        (
            *(bed(n, *calls) for n in hosts), *(bed(n, *calls, "--mpi") for n in mpis),
            *(bed(n, *calls, "--udp") for n in user_space),
        ),
        # Fails in a sentence where there can be no test bed.
        (bed(1, "--topology", "star", "--calls", "1"),),
        limit=LIMIT,
    )
