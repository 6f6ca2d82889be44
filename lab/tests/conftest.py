# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a file of made-up lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.lines import Dataset, load
from lab.tests import synthetic


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return synthetic.write(tmp_path / "stored.jsonl")


@pytest.fixture
def data(stored: Path) -> Dataset:
    return load([stored])
