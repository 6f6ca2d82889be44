# SPDX-License-Identifier: Apache-2.0
"""Results of `make hardware`: brought in beside the measured lines, and read for the page."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from report.errors import ReportError
from report.lines import Dataset

NAME = "hardware"
# Cycles and cells of `make hardware`, which are the same on every machine: kept with the sources,
# and compared with a sample made anew by `python3 -m hardware.flow.exact --sample`, a test.
KEPT = Path(__file__).resolve().parent.parent / "hardware" / "exact.jsonl"
# Cycles of the barriers on the simulated machine; hardware/machine/kept.py compares a sample of
# them with one made anew.
MACHINE = KEPT.parent / "machine" / "measured.jsonl"
WITH_SOURCES = "with the sources"
# What "gigabit" in a line of a network says of its links.
LINKS = {
    False: "links that pass whole frames", True: "links of a byte a cycle, with preamble and gap",
}
HOW = (
    "`make hardware` checks and measures the units (three quarters of an hour on two cores); the "
    "next report shows what it found"
)


def results_beside(tutti: Path) -> Path:
    """Where `make hardware` leaves its lines: in the build folder, beside the command."""
    return tutti.parent / "hardware" / "results.jsonl"


def text_of(results: Path) -> str:
    """The lines, after one that says when they were made."""
    try:
        made = datetime.fromtimestamp(results.stat().st_mtime, timezone.utc).strftime(
            "%Y-%m-%d %H:%M UTC"
        )
        if results == KEPT:
            made = WITH_SOURCES
        text = results.read_text(encoding="utf-8")
        machine = MACHINE.read_text(encoding="utf-8")
    except OSError as error:
        raise ReportError(f"{results}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise ReportError(f"{results}: not a text file in UTF-8.") from None
    # `make hardware` does not run the simulated cores.
    cores = machine if results == KEPT else KEPT.read_text(encoding="utf-8") + machine
    text += "".join(
        line for line in cores.splitlines(keepends=True) if '"type": "result"' in line
    )
    return json.dumps({"type": "hardware_run", "made": made}) + "\n" + text


def made(data: Dataset) -> str | None:
    return next(
        (line.get("made") for line in data.hardware if line["type"] == "hardware_run"), None
    )


def jobs(data: Dataset) -> list[dict[str, Any]]:
    return [line for line in data.hardware if line["type"] == "hardware"]


def cycles(data: Dataset) -> list[dict[str, Any]]:
    return [line for line in data.hardware if line["type"] == "cycles"]


def missing(data: Dataset) -> list[str]:
    why = data.why_failed(NAME)
    return [f"Not made: {text}" for text in why] if why else [f"Not made yet: {HOW}."]
