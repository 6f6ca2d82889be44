# SPDX-License-Identifier: Apache-2.0
"""tools/bootstrap on machines that lack packages, sudo, or dpkg; its commands only pretend."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = (
    "bash awk cat cut dirname env grep head mkdir mktemp rm sed sha256sum sort tail true wc"
).split()
REQUIREMENTS = [f"{each}/requirements.txt" for each in ("report", "hardware", "graph_apps")]


class Bootstrap(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name).resolve()
        for each in ["tools", "bin", ".venv/bin", "report", "hardware", "graph_apps"]:
            (self.at / each).mkdir(parents=True)
        shutil.copy(ROOT / "tools/bootstrap", self.at / "tools/bootstrap")
        for each in TOOLS:
            (self.at / "bin" / each).symlink_to(shutil.which(each))
        for each in REQUIREMENTS:
            (self.at / each).write_text("")
        # .venv is ready.
        (self.at / ".venv/bin/python").symlink_to("/bin/true")
        version = subprocess.run(
            ["/usr/bin/python3", "--version"], capture_output=True, text=True, check=True
        ).stdout
        stamp = hashlib.sha256(f"{version}{self.at}\n".encode()).hexdigest()
        (self.at / ".venv/stamp").write_text(stamp + "\n")
        self.command("id", "echo 1000")

    def command(self, name: str, text: str) -> None:
        path = self.at / "bin" / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def lacks(self, package: str) -> None:
        self.command("dpkg-query", f'[[ $3 == {package} ]] || printf installed')

    def has_sudo(self) -> None:
        """With which apt-get installs nothing, and writes down what it was asked for."""
        self.command("sudo", 'exec "$@"')
        self.command("apt-get", f'echo "$*" >>{self.at}/asked\n[[ $* == *update* ]]')

    def run_it(self, *options: str) -> tuple[int, str]:
        done = subprocess.run(
            [self.at / "tools/bootstrap", *options], capture_output=True, text=True, timeout=60,
            env={"PATH": str(self.at / "bin"), "TMPDIR": os.environ.get("TMPDIR", "/tmp")},
        )
        return done.returncode, done.stdout + done.stderr

    def test_an_optional_package_needs_no_root(self) -> None:
        self.lacks("lammps")
        status, said = self.run_it()
        self.assertEqual(status, 0, said)
        self.assertIn("SKIPPED lammps: only root can install them", said)
        self.command("sudo", "exit 1")  # as for a user who may not use it
        status, said = self.run_it()
        self.assertEqual(status, 0, said)
        self.assertIn("SKIPPED lammps: only root can install them", said)

    def test_a_required_package_does(self) -> None:
        self.lacks("cmake")
        status, said = self.run_it()
        self.assertEqual(status, 1, said)
        self.assertIn("these packages are missing: cmake;", said)

    def test_apt_is_asked_once_for_what_it_cannot_install(self) -> None:
        self.lacks("lammps")
        self.has_sudo()
        status, said = self.run_it()
        self.assertEqual(status, 0, said)
        self.assertIn("SKIPPED lammps: apt-get could not install it", said)
        (self.at / "asked").unlink()
        status, said = self.run_it()
        self.assertEqual(status, 0, said)
        self.assertIn("remove build/bootstrap-skipped to try again", said)
        self.assertFalse((self.at / "asked").exists())

    def test_apt_is_asked_again_if_it_could_not_read_its_lists(self) -> None:
        self.lacks("lammps")
        self.has_sudo()
        self.command("apt-get", f'echo "$*" >>{self.at}/asked\necho "no network" >&2\nexit 100')
        for _ in range(2):
            status, said = self.run_it()
            self.assertEqual(status, 0, said)
            self.assertIn("SKIPPED lammps: apt-get could not install it; needed for", said)
            # Only in this mode does apt-get fail without a network.
            self.assertIn("Error-Mode=any", (self.at / "asked").read_text())
            (self.at / "asked").unlink()
        self.assertFalse((self.at / "build/bootstrap-skipped").exists())

    def test_what_apt_says_of_a_failure_is_shown(self) -> None:
        self.lacks("lammps")
        self.has_sudo()
        self.command(
            "apt-get", '[[ $* == *update* ]] || { echo "E: no package lammps" >&2; exit 100; }'
        )
        self.assertIn("E: no package lammps", self.run_it()[1])

    def test_a_package_of_two_architectures_is_installed(self) -> None:
        # dpkg-query prints the format once for each of them.
        self.command("dpkg-query", 'printf "${2#*=}${2#*=}" | sed "s/[$]{[^}]*}/installed/g"')
        status, said = self.run_it("--check")
        self.assertEqual(status, 0, said)
        self.assertIn("everything required is installed", said)

    def test_without_dpkg_it_makes_the_python_environment_alone(self) -> None:
        status, said = self.run_it()
        self.assertEqual(status, 0, said)
        self.assertIn("this is not Debian", said)
        self.assertIn("the Python packages in .venv are up to date", said)
        for option in ("--check", "--check-build"):
            self.assertEqual(self.run_it(option)[0], 0)


if __name__ == "__main__":
    unittest.main()
