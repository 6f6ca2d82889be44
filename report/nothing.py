# SPDX-License-Identifier: Apache-2.0
"""Writes a program for the vector machine whose instructions do nothing:
python -m report.nothing FILE. `tutti bench instruction` measures the same one.
"""

from __future__ import annotations

import sys
from pathlib import Path

INSTRUCTIONS = 100


def program() -> str:
    return "FUNC MAIN\n" + "COPY 0 0\n" * INSTRUCTIONS + "RET\n"


def main() -> None:
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(program(), encoding="utf-8")


if __name__ == "__main__":
    main()
