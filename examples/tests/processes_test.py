#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that examples/processes.py ends, and tells why, if a participant dies before the first
meeting.

usage: processes_test.py PROCESSES.PY LIBTUTTI
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def main() -> int:
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    joins = "    barrier.join(rank)\n"
    # The others have joined by then: a process that comes to a barrier of the dead is refused.
    dies = """    import pathlib, time
    joined = pathlib.Path(__file__).parent
    (joined / f"joined_{rank}").touch()
    while rank == 1:
        if len(list(joined.glob("joined_*"))) == ranks:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.001)
"""
    if text.count(joins) != 1:
        print("processes.py does not join at one place")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        early = pathlib.Path(folder, "early.py")
        early.write_text(text.replace(joins, joins + dies), encoding="utf-8")
        before = set(os.listdir("/dev/shm"))
        done = subprocess.run(
            [sys.executable, early, sys.argv[2]],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    left = {name for name in os.listdir("/dev/shm") if name.endswith("_barrier")} - before
    said = re.findall(r"^rank (\d): rank 1 \(process \d+\) has died$", done.stdout, re.MULTILINE)
    print(done.stdout, done.stderr, sep="", end="")
    return 0 if done.returncode == 1 and said == ["0", "2"] and not left else 1


if __name__ == "__main__":
    sys.exit(main())
