# SPDX-License-Identifier: Apache-2.0
"""python3 -m hardware.photonic: a table for the machines of Hetland et al. 2019 or another one,
or JSON lines.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys

from . import model
from .parts import MACHINES, Machine, Optics, settings


def table(machines: list, optics: Optics) -> str:
    """Returns a Markdown table with one row for each machine."""
    text = [
        "| machine | threads | electronic, cycles | light: cycles, best to worst | ns "
        "| its laser, mW light | on a waveguide | regenerated in each socket: cycles, mW |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for machine in machines:
        f = model.figures(machine, optics)
        light = f"{f.laser_light_mw:.3g}"
        if f.laser_light_mw >= 1e4:
            light = f"10^{math.log10(f.laser_light_mw):.0f}"
        most = model.most_barriers(machine, optics)
        again = "-"
        if machine.sockets > 1:
            again = f"{f.regenerated_cycles:.1f}, {f.regenerated_light_mw:.3g}"
        text.append(
            f"| {machine.name} | {machine.sockets} x {machine.participants} "
            f"| {f.electronic_cycles:.0f} "
            f"| {f.best_cycles:.1f} to {f.worst_cycles:.1f} | {f.worst_ns:.2f} | {light} "
            f"| {f'{most} barriers' if most else 'too much light'} | {again} |"
        )
    return "\n".join(text)


def main(arguments: list) -> int:
    """Returns 0, or 2 for bad arguments."""
    parser = argparse.ArgumentParser(prog="python3 -m hardware.photonic",
        description=model.__doc__.split("\n")[0])
    parser.add_argument("--machine", action="append", default=[], choices=sorted(MACHINES),
        help="default: all")
    parser.add_argument("--with", dest="changes", action="append", default=[], metavar="NAME=VALUE",
        help="change a value of the machine")
    parser.add_argument("--optics", action="append", default=[], metavar="NAME=VALUE",
        help="change a value of the optical devices")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    chosen = parser.parse_args(arguments)
    try:
        optics = Optics(**settings(chosen.optics, Optics, "--optics"))
        changes = settings(chosen.changes, Machine, "--with")
        names = chosen.machine or MACHINES
        machines = [dataclasses.replace(MACHINES[name], **changes) for name in names]
        if chosen.json:
            for machine in machines:
                values = {**dataclasses.asdict(machine),
                    **dataclasses.asdict(model.figures(machine, optics))}
                print(json.dumps({"type": "photonic", **values}))
        else:
            print(table(machines, optics))
    except ValueError as error:
        print(f"hardware.photonic: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
