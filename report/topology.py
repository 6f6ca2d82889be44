# SPDX-License-Identifier: Apache-2.0
"""Pairs of CPUs by how near they are, as Linux describes them."""

from __future__ import annotations

from pathlib import Path

CPUS = Path("/sys/devices/system/cpu")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _distance(first: int, second: int, root: Path) -> tuple:
    """What two CPUs share: their core, each level of cache, their socket."""
    def same(name: str) -> bool:
        values = [_text(root / f"cpu{cpu}" / name) for cpu in (first, second)]
        return bool(values[0]) and values[0] == values[1]

    caches = [
        same(f"cache/index{index}/shared_cpu_list")
        for index in range(8)
        if (root / f"cpu{first}/cache/index{index}").is_dir()
    ]
    return (same("topology/thread_siblings_list"), *caches, same("topology/physical_package_id"))


def pairs(cpus: list[int], root: Path = CPUS) -> list[tuple[int, int]]:
    """The first pair of each way of being near, from the first CPU on."""
    found: dict[tuple, tuple[int, int]] = {}
    for other in cpus[1:]:
        found.setdefault(_distance(cpus[0], other, root), (cpus[0], other))
    return list(found.values())
