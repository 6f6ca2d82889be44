# SPDX-License-Identifier: Apache-2.0
"""The command `tutti` of the package, for `python -m tutti_sync`. The program `tutti` that comes
with the package starts the same command without Python."""

import os
import pathlib
import signal
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent / "bin" / "tutti"


def given_environment() -> "dict[bytes, bytes]":
    """The environment without Python's own LC_CTYPE, which it sets in the locale C."""
    environment = dict(os.environb)
    try:
        given = pathlib.Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return environment
    environment.pop(b"LC_CTYPE", None)
    for line in given:
        name, _, value = line.partition(b"=")
        if name == b"LC_CTYPE":
            environment[name] = value
    return environment


def main() -> None:
    """Becomes the command, which gets the arguments, the streams and the process of this one."""
    # Python ignores these two, whatever its parent did, and a program that it becomes would go on
    # ignoring them.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execve(PROGRAM, ["tutti", *sys.argv[1:]], given_environment())
    except OSError as error:
        sys.exit(f"tutti: error: cannot start {PROGRAM}: {error.strerror}")
