# SPDX-License-Identifier: Apache-2.0
"""One target: what was aimed at, what was measured, and whether it is met."""

from __future__ import annotations

from dataclasses import dataclass

from report.model import Cell
from report.statistics import format_ratio

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Verdict:
    """`met` is None when it could not be measured. What is only `shown` has no limit: met says that
    tutti is the faster.
    """

    target: str
    measured: str
    met: bool | None
    shown: bool = False

    def state(self) -> Cell:
        if self.met is None:
            return Cell("?", kind="muted")
        words = ("faster", "slower") if self.shown else ("yes", "no")
        return Cell(words[0], kind="good") if self.met else Cell(words[1], kind="bad")

    def rank(self) -> tuple[bool, int]:
        """Limits first, and of them what was missed."""
        return self.shown, {False: 0, True: 1, None: 2}[self.met]


def unknown(target: str, shown: bool = False) -> Verdict:
    return Verdict(target, NOT_MEASURED, None, shown)


def at_most(target: str, ratio: float | None, limit: float, note: str = "") -> Verdict:
    if ratio is None:
        return unknown(target)
    return Verdict(target, f"{format_ratio(ratio)}{note}", ratio <= limit)
