# SPDX-License-Identifier: Apache-2.0
"""Writes programs for the vector machine that double vectors of so many elements again and again:
python -m report.granularity FOLDER. What one thread and two take for them tells from how many
elements on an instruction pays with two threads.
"""

from __future__ import annotations

import sys
from pathlib import Path

ELEMENTS = (64, 256, 1024, 4096, 16384, 65536)
# Additions in a turn of the program's loop; each needs the result of the one before.
A_TURN = 10
# Elements that a program adds in all, within these numbers of turns.
ALL, LEAST, MOST = 1 << 22, 20, 1000
PREFIX = "double_"
LOOP = """FUNC MAIN
CONST INT 0
CONST INT 1
CONST INT {elements}
MAKE_SEGDES
INDEX
CONST INT {turns}
CALL LOOP
POP 1 0
POP 1 0
RET
FUNC LOOP
COPY 1 0
CONST INT 0
= INT
IF
ELSE
CONST INT 1
- INT
COPY 1 1
{additions}POP 1 2
CPOP 1 1
CALL LOOP
ENDIF
RET
"""


def turns(elements: int) -> int:
    return min(MOST, max(LEAST, ALL // (A_TURN * elements)))


def additions(elements: int) -> int:
    """Instructions on the vector in a run."""
    return A_TURN * turns(elements)


def program(elements: int) -> str:
    body = "COPY 1 0\n+ INT\n" * A_TURN
    return LOOP.format(elements=elements, turns=turns(elements), additions=body)


def files(folder: Path) -> list[Path]:
    return [folder / f"{PREFIX}{elements}.vcode" for elements in ELEMENTS]


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for elements, path in zip(ELEMENTS, files(folder)):
        path.write_text(program(elements), encoding="utf-8")


if __name__ == "__main__":
    main()
