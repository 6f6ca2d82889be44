# SPDX-License-Identifier: Apache-2.0
"""Runs tools/test-all on a repository of its own with stages that pass and fail."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
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
        self.program.RECORD = self.root / "docs" / "test-all.jsonl"
        self.program.RECORD.parent.mkdir()

    def git(self, *arguments: str) -> None:
        names = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", *names, *arguments], cwd=self.root, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a commit")

    def stage(self, name: str, *commands: str, unread: tuple[str, ...] = ()):
        return self.program.Stage(name, "a stage of a test", commands, unread)

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
        (self.root / "read").touch()
        self.commit()
        self.run_stages(counted)
        self.assertEqual(self.runs(), 3)

    def test_a_stage_counts_for_commits_that_differ_in_folders_that_it_does_not_read(self) -> None:
        first = self.program.commit()
        counted = self.stage("counted", "echo >> count", unread=("docs",))
        everything = self.stage("everything", "true")
        self.run_stages(counted, everything)
        (self.root / "docs" / "page").touch()
        self.commit()
        said = self.run_stages(counted, everything)[1]
        self.assertEqual(self.runs(), 1)
        self.assertIn(f"passed before on {first}, the same for it, ", said)
        self.assertNotRegex(said, "everything .* passed before")
        (self.root / "read").touch()
        self.commit()
        self.run_stages(counted)
        self.assertEqual(self.runs(), 2)

    def table(self, stages: list) -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(self.program.markdown(stages), 0)
        return said.getvalue()

    def record(self, stages: list) -> int:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return self.program.record(stages)

    def test_unread_folders_are_there(self) -> None:
        for stage in self.program.stages(600):
            for folder in stage.unread:
                found = any(PROGRAM.parents[1].glob(folder))
                self.assertTrue(found, f"{stage.name}: {folder}")

    def test_the_stages_that_passed_are_recorded_and_are_a_table(self) -> None:
        stages = [self.stage("counted", "echo >> count"), self.stage("failing", "false")]
        self.assertEqual(self.record(stages), 1)
        self.run_stages(*stages)
        first = self.program.commit()
        self.assertEqual(self.record(stages), 0)
        self.assertEqual(
            self.table(stages).splitlines()[2:],
            [
                f"| `counted` | a stage of a test | 0.0 | 0 | {first} |",
                "| `failing` | a stage of a test | | | not passed yet |",
                "| all | 1 of 2 stages passed once | 0 | | |",
            ],
        )

    def test_a_recorded_stage_counts_on_another_machine(self) -> None:
        counted = self.stage("counted", "echo >> count")
        self.run_stages(counted)
        first = self.program.commit()
        self.record([counted])
        self.commit()
        # The record is all that the other machine has.
        shutil.rmtree(self.program.LOGS)
        said = self.run_stages(counted)[1]
        self.assertEqual(self.runs(), 1, said)
        self.assertIn(f"passed before on {first}, the same for it, ", said)
        (self.root / "read").touch()
        self.commit()
        self.run_stages(counted)
        self.assertEqual(self.runs(), 2)
        # Its own stamp is newer than the recorded one, which has gone from its commits.
        second = self.program.commit()
        self.record([counted])
        self.assertEqual([stamp.commit for stamp in self.program.recorded()], [second])

    def test_a_line_of_the_record_that_is_no_stamp_is_named(self) -> None:
        counted = self.stage("counted", "echo >> count")
        self.run_stages(counted)
        self.record([counted])
        with self.program.RECORD.open("a") as lines:
            lines.write('{"stage": "counted"}\n')
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(len(self.program.recorded()), 1)
        self.assertIn("test-all.jsonl:2: this line is no stamp", said.getvalue())

    def test_the_page_for_developers_has_the_recorded_stages(self) -> None:
        page = (PROGRAM.parents[1] / "docs" / "HACKING.md").read_text(encoding="utf-8")
        program = load()
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            program.markdown(program.stages(fuzz_seconds=600))
        self.assertIn(f"\n\n{said.getvalue()}\n", page)

    def test_a_failed_stage_is_named_and_runs_again(self) -> None:
        failing = self.stage("failing", "echo >> count", "false", "echo >> count")
        status, said = self.run_stages(failing, self.stage("after", "true"))
        self.assertEqual((status, self.runs()), (1, 1))
        self.assertIn("1 of 2 stages failed: failing", said)
        self.run_stages(failing)
        self.assertEqual(self.runs(), 2)

    def test_a_stage_that_failed_goes_on_with_the_tests_that_have_not_passed(self) -> None:
        tests = {
            "good.one": "echo good.one >> count",
            "good_one": "echo good_one >> count; test -e build/mended",
            "typed.A<b/C.  # T = tutti::a<b, 0> >+(x|y)[z]^$": "echo typed >> count",
            "left.out": "echo left.out >> count",
        }
        (self.root / "build").mkdir()
        (self.root / "build" / "CTestTestfile.cmake").write_text(
            "".join(
                f"add_test([=[{name}]=] bash -c [=[cd ..; {command}]=])\n"
                for name, command in tests.items()
            )
        )
        stage = self.stage("tests", "echo build", "ctest --test-dir build -E '^left' -j1")
        status, said = self.run_stages(stage)
        self.assertEqual((status, self.runs()), (1, 3), said)
        (self.root / "build" / "mended").touch()
        status, said = self.run_stages(stage)
        self.assertEqual((status, self.runs()), (0, 4), said)
        self.assertIn("tests: goes on after 2 tests that have passed on this commit", said)
        self.assertEqual((self.root / "count").read_text().split()[-1], "good_one")
        self.run_stages(stage, again=True)
        self.assertEqual(self.runs(), 7)

    def test_what_passed_before_the_tree_changed_does_not_count(self) -> None:
        (self.root / "build").mkdir()
        (self.root / "build" / "CTestTestfile.cmake").write_text(
            "add_test(good bash -c [=[echo >> ../count]=])\n"
        )
        stage = self.stage("tests", "ctest --test-dir build", "echo > changed; false")
        self.assertEqual((self.run_stages(stage)[0], self.runs()), (1, 1))
        (self.root / "changed").unlink()
        self.run_stages(stage)
        self.assertEqual(self.runs(), 2)

    def test_a_commit_of_what_a_stage_does_not_read_may_come_while_it_runs(self) -> None:
        commit = "git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m a"
        for path, runs in (("docs/page", 1), ("read", 2)):
            stage = self.stage(
                f"commits_{runs}",
                f"echo >> count; echo > {path}; git add --all; {commit}",
                unread=("docs",),
            )
            (self.root / "count").unlink(missing_ok=True)
            self.run_stages(stage)
            self.run_stages(stage)
            self.assertEqual(self.runs(), runs)

    def test_a_graph_format_whose_fuzzer_finds_something_fails_its_stage(self) -> None:
        folder = self.root / "build" / "fuzz" / "tests" / "graph"
        folder.mkdir(parents=True)
        fuzzer = folder / "graph_data_fuzz"
        fuzzer.write_text('#!/bin/sh\necho "$*"; echo Done; test "$1" != "$(cat ../bad)"\n')
        fuzzer.chmod(0o755)
        bad = folder.parents[1] / "found" / "bad"
        bad.parent.mkdir()
        bad.write_text("none")
        stage = self.stage("fuzz", self.program.fuzz_graph(5))
        self.assertEqual(self.run_stages(stage)[0], 0)
        bad.write_text("--format=gap")
        status, said = self.run_stages(stage, again=True)
        self.assertEqual(status, 1)
        self.assertIn("--format=gap -max_total_time=5", said)

    def test_a_stage_that_is_cut_leaves_nothing_running(self) -> None:
        def cut(_self) -> None:
            if self.runs() == 1:
                raise KeyboardInterrupt

        self.program.Progress.tick = cut
        slow = self.stage("slow", "sleep 1000 & echo $! > count; wait")
        status, said = self.run_stages(slow, self.stage("after", "true"))
        self.assertEqual(status, 130)
        self.assertIn("interrupted; run it again to go on", said)
        self.assertRegex(said, r"after .* not run\n")
        child = pathlib.Path("/proc", (self.root / "count").read_text().strip())
        deadline = time.monotonic() + 10
        while child.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(child.exists(), "the child of the stage's command runs on")

    def test_a_tree_with_changes_gets_no_stamps(self) -> None:
        (self.root / "changed").write_text("1")
        counted = self.stage("counted", "echo >> count")
        said = self.run_stages(counted)[1]
        self.assertIn("no stage is skipped or stamped", said)
        self.run_stages(counted)
        self.assertEqual(self.runs(), 2)

    def test_the_progress_names_failed_tests_and_the_end_of_the_log(self) -> None:
        status, said = self.run_stages(
            self.stage(
                "failing",
                "echo '[7/9] Linking a'",
                "echo '1/2 Test  #5: good .......   Passed    0.01 sec'",
                "echo '2/2 Test #16: bad ........***Failed    0.02 sec'; echo the end; false",
            )
        )
        self.assertEqual(status, 1)
        self.assertIn("failing: 2/2 Test #16: bad ........***Failed", said)
        where = "==> test-all: failing: all of its output is in build/test-all/"
        self.assertIn(f"the end\n{where}", said)
        self.assertNotIn("failing: 1/2 Test", said)

    def test_the_progress_counts(self) -> None:
        progress = self.program.Progress("a stage", False)
        progress.SECONDS_BETWEEN_LINES = 0
        for line, expected in (
            ("[7/9] Linking a", "step 7 of 9 of the build"),
            ("      Start  5: slow", "step 7 of 9 of the build, slow runs"),
            ("1/2 Test  #4: skipped ....***Skipped   0.01 sec", "test 1 of 2, slow runs"),
            ("2/2 Test  #5: slow ......***Timeout  0.01 sec", "test 2 of 2, slow runs, 1 failed"),
        ):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                progress.read(line)
                said.truncate(0)
                said.seek(0)
                progress.tick()
            self.assertIn(f"a stage, 0 min 00 s: {expected}\n", said.getvalue())

    def test_a_stamp_names_the_tests_that_were_skipped(self) -> None:
        tested = self.stage(
            "tested",
            "echo '1/3 Test  #4: needs_mpi .......***Skipped   0.01 sec'",
            "echo '2/3 Test  #5: good ............   Passed    0.01 sec'",
            "echo '3/3 Test  #6: needs_a_network .***Skipped   0.01 sec'",
        )
        status, said = self.run_stages(tested)
        self.assertEqual(status, 0)
        self.assertIn("passed, 0 min 00 s, 2 skipped: needs_a_network, needs_mpi", said)
        said = self.run_stages(tested)[1]
        self.assertIn("passed before, 0 min 00 s, 2 skipped: needs_a_network, needs_mpi", said)
        with contextlib.redirect_stdout(io.StringIO()):
            self.program.record([tested])
        self.assertEqual(self.program.recorded()[0].skipped, ["needs_a_network", "needs_mpi"])
        table = io.StringIO()
        with contextlib.redirect_stdout(table):
            self.program.markdown([tested])
        self.assertRegex(table.getvalue(), r"\| `tested` \| a stage of a test \| 0\.0 \| 2 \|")

    def test_a_stage_of_which_every_test_was_skipped_has_not_passed(self) -> None:
        skipped = self.stage("skipped", "echo '1/1 Test  #4: needs_mpi ..***Skipped   0.01 sec'")
        status, said = self.run_stages(skipped)
        self.assertEqual(status, 1)
        self.assertIn("skipped: all of its 1 tests were skipped here", said)
        self.assertIsNone(self.program.passed_on(self.program.commit(), skipped))

    def test_a_stage_that_goes_on_to_a_skipped_test_passes(self) -> None:
        failing = self.stage(
            "tested",
            "echo '1/2 Test #5: good .....   Passed    0.01 sec'",
            "test -e count",
            "echo '2/2 Test #4: needs_mpi .***Skipped   0.01 sec'",
        )
        self.assertEqual(self.run_stages(failing)[0], 1)
        (self.root / "count").touch()
        self.assertEqual(self.run_stages(failing)[0], 0)

    def test_a_stage_that_passed_on_another_commit_has_a_forecast(self) -> None:
        counted = self.stage("counted", "true")
        self.run_stages(counted)
        (self.root / "read").touch()
        self.commit()
        said = self.run_stages(counted)[1]
        self.assertRegex(said, r"a stage of a test \(0 min 00 s on \w{12}\)")

    def test_each_stage_builds_what_it_tests(self) -> None:
        for stage in self.program.stages(600):
            built = [command.startswith("cmake --build ") for command in stage.commands]
            self.assertIn(True, built, stage.name)
            self.assertFalse(
                any(command.startswith("ctest ") for command in stage.commands[: built.index(True)])
            )

    def test_each_long_test_belongs_to_one_stage(self) -> None:
        for test in ("model.long_share_1", "network_namespaces.long_percent_20.1_of_6", "stress",
                     "network_fuzz.long", "kernel.long", "mpi_long",
                     "install.chroot", "hardware.tree.mutate", "openmp.task.often",
                     "check.papers.run_naylor", "check.self_contained_all"):  # fmt: skip
            stages = [
                name
                for name, _, wanted, unwanted, _ in self.program.LONG
                if re.search(wanted, test) and not (unwanted and re.search(unwanted, test))
            ]
            self.assertEqual(len(stages), 1, f"{test}: {stages}")


if __name__ == "__main__":
    unittest.main()
