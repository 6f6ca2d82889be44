# SPDX-License-Identifier: Apache-2.0
"""What the tests share: files of made-up lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from report.lines import Dataset, load
from report.tests import synthetic


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return synthetic.write(tmp_path / "stored.jsonl")


@pytest.fixture
def all_stored(tmp_path: Path) -> list[Path]:
    return synthetic.write_runs(tmp_path)


@pytest.fixture
def data(all_stored: list[Path]) -> Dataset:
    return load(all_stored)
