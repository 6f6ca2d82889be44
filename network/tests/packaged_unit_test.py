#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unpacks the Debian package of the command and checks the unit for systemd in it: its commands are
files of the package, systemd accepts and enables it, and the commands do what the unit is for. The
package's files lie over /usr in a mount namespace of this test, as if it were installed.

usage: packaged_unit_test.py BUILD SCRATCH
(BUILD is configured with CPack, and all of it is built)
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

SKIPPED = 77
BUILD, SCRATCH = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
ROOT = SCRATCH / "root"
UNIT = pathlib.Path("lib/systemd/system/tutti-network@.service")


def run(*words: str) -> tuple[int, str]:
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def commands() -> dict[str, list[str]]:
    lines = (ROOT / "usr" / UNIT).read_text().splitlines()
    pairs = (line.split("=", 1) for line in lines if line.startswith("Exec"))
    return {key: value.replace("%I", "one0").split() for key, value in pairs}


class PackagedUnit(unittest.TestCase):
    def works(self, *words: str) -> str:
        status, text = run(*words)
        self.assertEqual(status, 0, f"{' '.join(words)}: {text}")
        return text

    def test_its_commands_are_files_of_the_package(self) -> None:
        self.assertEqual(set(commands()), {"ExecStart", "ExecStop"})
        for words in commands().values():
            self.assertNotIn("/", words[0], "the package may be installed elsewhere")
            self.assertTrue(os.access(ROOT / "usr/bin" / words[0], os.X_OK), words[0])

    def test_systemd_accepts_it(self) -> None:
        self.assertEqual(self.works("systemd-analyze", "verify", "tutti-network@one0.service"), "")

    def test_systemd_enables_it(self) -> None:
        self.works("systemctl", f"--root={ROOT}", "enable", "tutti-network@one0")
        wanted = ROOT / "etc/systemd/system/multi-user.target.wants/tutti-network@one0.service"
        self.assertEqual(pathlib.Path(os.readlink(wanted)), pathlib.Path("/") / "usr" / UNIT)
        self.works("systemctl", f"--root={ROOT}", "disable", "tutti-network@one0")
        self.assertFalse(wanted.is_symlink())

    def test_its_commands_attach_and_detach(self) -> None:
        self.works(*"ip link add one0 type veth peer name two0".split())
        self.addCleanup(run, *"ip link del one0".split())
        for device in ("one0", "two0"):
            self.works("ip", "link", "set", device, "up")
        status = [commands()["ExecStart"][0], "network", "status", "one0"]
        self.works(*commands()["ExecStart"])
        self.assertIn("one0: tutti", self.works(*status))
        self.works(*commands()["ExecStop"])
        self.assertNotEqual(run(*status)[0], 0)


def why_not() -> str:
    if os.geteuid() != 0:
        return "it needs root"
    missing = [
        word for word in ("dpkg-deb", "ip", "systemctl", "unshare") if shutil.which(word) is None
    ]
    if missing:
        return f"there is no command {missing[0]}"
    if run("unshare", "--net", "--mount", "true")[0] != 0:
        return "no namespaces here"
    return ""


def unpack() -> None:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir(parents=True)
    package = SCRATCH / "package"
    pack = ["cpack", "--config", str(BUILD / "CPackConfig.cmake"), "-B", str(package)]
    subprocess.run(pack, stdout=subprocess.DEVNULL, check=True)
    (command,) = package.glob("tutti_*.deb")
    subprocess.run(["dpkg-deb", "-x", str(command), str(ROOT)], check=True)


def main() -> int:
    if os.environ.get("TUTTI_IN_NAMESPACE") != "1":
        if reason := why_not():
            print(f"SKIPPED: {reason}")
            return SKIPPED
        unpack()
        os.environ["TUTTI_IN_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv])
    over = f"lowerdir={ROOT}/usr:/usr"
    status, text = run("mount", "-t", "overlay", "overlay", "-o", over, "/usr")
    if status != 0:
        print(f"SKIPPED: the package cannot lie over /usr here: {text}")
        return SKIPPED
    unittest.main(argv=[sys.argv[0]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
