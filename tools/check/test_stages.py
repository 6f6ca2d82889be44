# SPDX-License-Identifier: Apache-2.0
"""Runs tools/test-all on a repository of its own with stages that pass and fail."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "test-all"


def load():
    loader = importlib.machinery.SourceFileLoader("test_all", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("test_all", loader))
    loader.exec_module(module)
    return module


class StagesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.git("init", "--quiet")
        (self.root / ".gitignore").write_text("build/\ncount\n")
        self.commit()
        self.program = load()
        self.program.ROOT = self.root
        self.program.LOGS = self.root / "build" / "test-all"

    def git(self, *arguments: str) -> None:
        names = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", *names, *arguments], cwd=self.root, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a commit")

    def stage(self, name: str, *commands: str):
        return self.program.Stage(name, "a stage of a test", commands)

    def run_stages(self, *stages, again: bool = False) -> tuple[int, str]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = self.program.run_all(list(stages), again)
        return status, said.getvalue()

    def runs(self) -> int:
        """How often a stage that writes to the file `count` ran."""
        file = self.root / "count"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def test_a_stage_that_passed_is_skipped_on_the_same_commit_only(self) -> None:
        counted = self.stage("counted", "echo >> count")
        self.assertEqual(self.run_stages(counted)[0], 0)
        status, said = self.run_stages(counted)
        self.assertEqual((status, self.runs()), (0, 1))
        self.assertIn("passed before", said)
        self.run_stages(counted, again=True)
        self.assertEqual(self.runs(), 2)
        self.commit()
        self.run_stages(counted)
        self.assertEqual(self.runs(), 3)

    def test_a_failed_stage_is_named_and_runs_again(self) -> None:
        failing = self.stage("failing", "echo >> count", "false", "echo >> count")
        status, said = self.run_stages(failing, self.stage("after", "true"))
        self.assertEqual((status, self.runs()), (1, 1))
        self.assertIn("1 of 2 stages failed: failing", said)
        self.run_stages(failing)
        self.assertEqual(self.runs(), 2)

    def test_a_tree_with_changes_gets_no_stamps(self) -> None:
        (self.root / "changed").write_text("1")
        counted = self.stage("counted", "echo >> count")
        said = self.run_stages(counted)[1]
        self.assertIn("no stage is skipped or stamped", said)
        self.run_stages(counted)
        self.assertEqual(self.runs(), 2)

    def test_each_long_test_belongs_to_one_stage(self) -> None:
        for test in ("model.long_share_1", "network_namespaces.long_percent_20", "stress",
                     "network_namespaces.long_percent_5", "kernel.long", "mpi_long",
                     "install.chroot", "hardware.tree.mutate"):  # fmt: skip
            stages = [
                name
                for name, _, wanted, unwanted in self.program.LONG
                if re.search(wanted, test) and not (unwanted and re.search(unwanted, test))
            ]
            self.assertEqual(len(stages), 1, f"{test}: {stages}")


if __name__ == "__main__":
    unittest.main()
