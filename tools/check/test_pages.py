# SPDX-License-Identifier: Apache-2.0
"""Gives each check of pages inputs that it must refuse and inputs that it must accept."""

import contextlib
import io
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from check_test import CheckTest  # noqa: E402
import generated  # noqa: E402
import measured  # noqa: E402
import pages  # noqa: E402
import papers  # noqa: E402
import readme  # noqa: E402
import sources  # noqa: E402


class PagesTest(CheckTest):
    def said(self, text: str) -> list[str]:
        (self.root / "Makefile").write_text("build: x\n\tcc\n", encoding="utf-8")
        (self.root / "b.md").write_text("# A *head*, `code`\n", encoding="utf-8")
        page = self.root / "a.md"
        page.write_text(text, encoding="utf-8")
        pages.anchors.cache_clear()
        checker = pages.Checker(self.root, None)
        checker.page(page)
        return [violation.message for violation in checker.violations]

    def test_follows_links_and_anchors(self) -> None:
        self.assertEqual(
            self.said("# Top\n[b](b.md) [c](b.md#a-head-code) [d](#top) [e](https://a.b/c)\n"), []
        )
        self.assertIn("leads to nothing", self.said("[b](c.md)\n")[0])
        self.assertIn("no heading #x", self.said("[b](b.md#x)\n")[0])

    def test_counts_the_cells_of_tables(self) -> None:
        self.assertEqual(self.said("| a | b |\n|---|--:|\n| `x|y` | 2 |\n"), [])
        self.assertIn("1 cells, the table 2", self.said("| a | b |\n|---|--:|\n| 1 |\n")[0])

    def test_adds_up_the_orders_that_are_caught(self) -> None:
        (self.root / "docs").mkdir()
        (self.root / "docs" / "model-checking.md").write_text(
            "| ticket | 100 | 2 | 5 | 5 | 5 data race | 1 |\n| idle | 100 | 2 | 5 | 3 | x | 1 |\n",
            encoding="utf-8",
        )
        self.assertEqual(self.said("weakened in turn must be caught: 8 of\n10 are\n"), [])
        self.assertIn("adds up to 8 of 10", self.said("must be caught: 9 of\n10 are\n")[0])

    def test_knows_the_targets_of_the_makefile(self) -> None:
        self.assertEqual(
            self.said("`make build`, `make TARGET`\n```sh\nmake build JOBS=2\n```\n"), []
        )
        self.assertIn("no target biuld", self.said("```sh\nmake biuld\n```\n")[0])
        self.assertIn("no target biuld", self.said("```sh\nmake build && make biuld\n```\n")[0])


class MissingFilesTest(CheckTest):
    """Each names what is missing, in one line."""

    def refusal(self, run, *arguments: str) -> str:
        with self.assertRaises(SystemExit) as refused:
            run(list(arguments))
        return str(refused.exception.code)

    def test_names_a_page_that_is_missing(self) -> None:
        absent = str(self.root / "absent.md")
        self.assertIn(f"{absent}: cannot be read", self.refusal(generated.main, absent, "true"))
        self.assertIn(
            f"{absent}: cannot be read",
            self.refusal(measured.main, "--build", str(self.root), absent),
        )

    def test_names_a_command_that_is_missing_or_fails(self) -> None:
        text = f"{generated.BEGIN}x -->\n{generated.END}\n"
        page, absent = str(self.write("a.md", text)), str(self.root / "absent")
        self.assertIn(f"{absent}: cannot be run", self.refusal(generated.main, page, absent))
        self.assertIn("`false` ends with status 1", self.refusal(generated.main, page, "false"))


class ReadmeTest(CheckTest):
    def violations(self, text: str) -> list[str]:
        page = readme.Page(self.write("README.md", text), self.root, self.root)
        with contextlib.redirect_stdout(io.StringIO()) as self.said:
            return [f"{v.line}: {v.message}" for v in page.check()]

    def test_accepts_what_is_true(self) -> None:
        self.assertEqual(self.violations("```sh\necho a 1\n```\nprints\n```text\na 1\n```\n"), [])

    def test_refuses_a_failing_command(self) -> None:
        found = self.violations("```sh\necho before && false\n```\n")
        self.assertIn("1: failed with status 1:\nbefore", found[0])

    def test_refuses_another_output(self) -> None:
        self.assertIn(
            "5: the output differs",
            self.violations("```sh\necho a 1\n```\n\n```text\na 2\n```\n")[0],
        )

    def test_compares_approximately_on_demand(self) -> None:
        page = (
            "```sh\nprintf 'head\\nx   12.5 ns\\n-----\\nmore\\nend\\n'\n```\n"
            "```text approx\n{}\n```\n"
        )
        self.assertEqual(self.violations(page.format("head\nx 7 ns\n---\n...\nend")), [])
        self.assertEqual(len(self.violations(page.format("head\nx 7 us\n---\n...\nend"))), 1)

    def test_compiles_and_runs_cpp(self) -> None:
        program = (
            '```cpp\n#include <cstdio>\nint main() {{ std::puts("{}"); }}\n```\n'
            '```text\nhello\n```\n'
        )
        self.assertEqual(self.violations(program.format("hello")), [])
        self.assertIn("the output differs", self.violations(program.format("goodbye"))[0])
        self.assertIn("failed with status", self.violations("```cpp\nint i = nothing;\n```\n")[0])
        self.assertEqual(
            self.violations("```cpp\n#include <vector>\nstd::vector<int> v(3);\nv[0] = 1;\n```\n"),
            [],
        )

    def test_runs_nothing_that_would_recurse_or_is_marked(self) -> None:
        self.assertEqual(
            self.violations("```sh\nmake test\nmake report  # minutes\nmake\n.ci/run\n```\n"), []
        )
        self.assertIn("not run here: make report", self.said.getvalue())
        self.assertEqual(
            self.violations("<!-- no-run -->\n```sh\nfalse\n```\n```console\n$ false\n```\n"), []
        )
        self.assertEqual(len(self.violations("```sh\nmake build-nothing\n```\n")), 1)


class PapersTest(CheckTest):
    def page(self, rows: list[str], section: str = "Naylor et al. 2020") -> str:
        path = self.write("docs/papers.md", f"## {section}\n\n" + "\n".join(rows) + "\n")
        return "\n".join(v.message for v in papers.check_rows(path)[0])

    def test_refuses_a_number_and_a_folder_that_readers_do_not_have(self) -> None:
        for bad in (f"paper {4:03}", f"Papers {0:03}", f"paper_{2:03}", "see ../" + "shared/x"):
            self.assertEqual(
                len(papers.check_names(self.write("a.cpp", f"// {bad} says\n"))), 1, bad
            )

    def test_accepts_authors_and_other_numbers(self) -> None:
        self.assertEqual(
            papers.check_names(
                self.write("a.cpp", "// Naylor et al. 2020, a paper of 8 pages; 004\n")
            ),
            [],
        )

    def test_counts_rows_and_names_those_that_are_absent(self) -> None:
        rows = [f"| Figure {n} | x | y |" for n in range(1, 8)]
        said = self.page([*rows, "| Figure 8 (a) | x | y |"])
        self.assertNotIn("'Naylor et al. 2020' has no row", said)
        self.assertIn("'Naylor et al. 2020' has no row for Figure 8", self.page(rows))
        self.assertIn("'Arap et al.' has no row for Figure 1, Figure 2", said)

    def test_runs_each_command_once_and_names_the_one_that_fails(self) -> None:
        program = self.write("build/program", "#!/bin/sh\necho run >> build/runs; exit $1\n")
        program.chmod(0o755)
        row = "| Figure 1 | what | `build/program {}` | there | theirs | ours | why |"
        self.page([row.format(0), row.format(3), row.format(0)])
        status, said = self.run_quietly(papers.run_commands, self.root, "all", 10)
        self.assertEqual(status, 1)
        self.assertIn("status 3", said)
        self.assertIn("2 commands of docs/papers.md run, 1 failed", said)
        self.assertEqual((self.root / "build/runs").read_text().count("run"), 2)

    def test_runs_the_commands_of_one_paper(self) -> None:
        row = "| Figure 1 | what | `build/program` | there | theirs | ours | why |"
        self.page([row])
        self.write("build/program", "#!/bin/sh\nexit 0\n").chmod(0o755)
        for paper, status in (("naylor", 0), ("arap", 1)):
            done, said = self.run_quietly(papers.run_commands, self.root, "all", 10, paper)
            self.assertEqual(done, status, said)

    def test_each_paper_has_a_test_of_its_commands(self) -> None:
        listed = (sources.ROOT / "tools/check/CMakeLists.txt").read_text()
        (names,) = re.findall(r"foreach\(paper ([a-z ]+)\)", listed)
        self.assertEqual(names.split(), list(papers.PAPERS))

    def test_builds_first_what_commands_need(self) -> None:
        self.write("Makefile", "unoptimised:\n\tmkdir -p build; cp /bin/true build/late\n")
        row = "| Figure 1 | what | `{}` | there | theirs | ours | why |"
        self.page([row.format("build/late"), row.format("make unoptimised")])
        self.assertEqual(self.run_quietly(papers.run_commands, self.root, "all", 10)[0], 0)

    def test_measures_before_it_simulates_and_runs_nothing_beside(self) -> None:
        script = "#!/bin/sh\ntest ! -e running && touch running && sleep 0.1 && rm running && "
        self.write("build/measure", f"{script} test ! -e simulated\n").chmod(0o755)
        self.write("build/hardware/simulate", f"{script} touch simulated\n").chmod(0o755)
        row = "| Figure 1 | what | `build/{}` | there | theirs | ours | why |"
        self.page([row.format("hardware/simulate"), row.format("measure")])
        self.assertEqual(self.run_quietly(papers.run_commands, self.root, "all", 10)[0], 0)

    def wrong(self, command: str) -> list[str]:
        return list(papers.Commands(sources.ROOT, None).cell(command))

    def test_accepts_commands_that_exist(self) -> None:
        for command in (
            "`.venv/bin/python -m hardware.flow simulate --unit counting --match measure --out "
            "build/x.jsonl`",
            "`build/tutti-phylo optimize` as in figure 3", "the same", papers.NOTHING,
        ):
            self.assertEqual(self.wrong(command), [], command)

    def test_refuses_commands_that_do_not(self) -> None:
        self.assertIn(
            "no unit", self.wrong("`.venv/bin/python -m hardware.flow simulate --unit none`")[0]
        )
        self.assertIn(
            "has 'none' in its name",
            self.wrong("`.venv/bin/python -m hardware.flow prove --unit hbs --match none`")[0],
        )
        self.assertIn("makes no", self.wrong("`build/tutti-nothing --json`")[0])
        self.assertIn("there is no", self.wrong("`.venv/bin/python -m hardware.nothing`")[0])
        self.assertIn("neither code", self.wrong("somehow")[0])

    def test_refuses_an_empty_cell_and_a_missing_page(self) -> None:
        self.assertIn("empty cell", self.page(["| Figure 1 | | y |"]))
        self.assertIn("missing", papers.check_rows(self.root / "none.md")[0][0].message)


class MeasuredTest(unittest.TestCase):
    TABLE = "a machine, commit 0123abc\n\n| who | ms |\n|---|--:|\n"

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = pathlib.Path(self.folder.name)
        self.page, self.build = root / "page.md", root
        # With --form it leaves the figures out, and its rows come in another order.
        self.prints(self.TABLE + "| a | 1 |\n| b | 2 |\n", self.TABLE + "| b | |\n| a | |\n")

    def prints(self, usual: str, form: str) -> None:
        command = self.build / "compare"
        command.write_text(
            "#!/bin/bash\n"
            f"if [ \"$1\" = --form ]; then printf '{form}'; else printf '{usual}'; fi\n",
            encoding="utf-8",
        )
        command.chmod(0o755)

    def stands(self, text: str) -> None:
        self.page.write_text(
            f"above\n<!-- measured by `compare` -->\n{text}<!-- end of measured -->\nbelow\n",
            encoding="utf-8",
        )

    def run_check(self, *options: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            measured.main([*options, "--build", str(self.build), str(self.page)])

    def test_accepts_other_figures_and_another_order(self) -> None:
        self.stands(self.TABLE + "| b | 70 |\n| a | 80 |\n")
        self.run_check()

    def test_refuses_rows_heads_cells_and_machines_that_are_not_those_of_today(self) -> None:
        for text, complaint in (
            (self.TABLE + "| a | 1 |\n", "'b, 2 cells' where the page has 'nothing'"),
            (self.TABLE + "| a | 1 |\n| c | 2 |\n", "'b, 2 cells' where the page has 'c, 2 cells'"),
            (self.TABLE + "| a | 1 |\n| b | 2 | 3 |\n", "has 'b, 3 cells'"),
            (self.TABLE.replace("ms", "s") + "| a | 1 |\n| b | 2 |\n", "has '| who | s |'"),
            ("a machine\n| who | ms |\n|---|--:|\n| a | 1 |\n| b | 2 |\n", "no machine"),
        ):
            self.stands(text)
            with self.assertRaisesRegex(SystemExit, re.escape(complaint)):
                self.run_check()

    def test_refuses_pages_without_parts_and_parts_without_ends(self) -> None:
        self.page.write_text("nothing\n", encoding="utf-8")
        with self.assertRaisesRegex(SystemExit, "no measured part"):
            self.run_check()
        self.page.write_text("<!-- measured by `compare` -->\n", encoding="utf-8")
        with self.assertRaisesRegex(SystemExit, "has no end"):
            self.run_check()

    def test_writes_what_the_command_prints(self) -> None:
        self.stands("old\n")
        self.run_check("--write", "other")
        self.assertIn("old", self.page.read_text(encoding="utf-8"))
        self.run_check("--write")
        self.assertIn(self.TABLE + "| a | 1 |\n", self.page.read_text(encoding="utf-8"))
        self.run_check()


class GeneratedTest(unittest.TestCase):
    def test_sees_a_stale_table_and_a_missing_mark_and_can_write(self) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            page = pathlib.Path(folder) / "page.md"
            page.write_text(
                "above\n<!-- generated by `echo` -->\nold\n<!-- end of generated -->\nbelow\n",
                encoding="utf-8",
            )
            with self.assertRaisesRegex(SystemExit, r"page\.md:3: not what `echo new` prints"):
                generated.main([str(page), "echo", "new"])
            generated.main(["--write", str(page), "echo", "new"])
            generated.main([str(page), "echo", "new"])
            self.assertIn(
                "above\n<!-- generated by `echo` -->\nnew\n", page.read_text(encoding="utf-8")
            )
            page.write_text("no marks\n", encoding="utf-8")
            with self.assertRaisesRegex(SystemExit, "needs one line"):
                generated.main([str(page), "echo", "new"])
