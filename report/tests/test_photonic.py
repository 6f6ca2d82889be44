# SPDX-License-Identifier: Apache-2.0
"""The plot of the barrier by light, whose numbers are hardware/photonic's and tested there."""

from __future__ import annotations

from pathlib import Path

import pytest

from report.figures.photonic import main


def test_the_plot_is_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "photonic.png"
    assert main([str(path), "ring_off_db=0.02"]) == 0
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("arguments", [[], ["OUT.png", "no_such_value=1"]])
def test_wrong_arguments_are_one_sentence(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1
