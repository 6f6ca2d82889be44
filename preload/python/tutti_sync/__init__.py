# SPDX-License-Identifier: Apache-2.0
"""The command `tutti` as a Python package installs it: `tutti` or `python -m tutti_sync`."""

import os
import pathlib
import signal
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent / "bin" / "tutti"


def main() -> None:
    """Becomes the command, which gets the arguments, the streams and the process of this one."""
    # Python ignores these two, and a program that it becomes would go on ignoring them.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execv(PROGRAM, ["tutti", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"tutti: error: cannot start {PROGRAM}: {error.strerror}")
