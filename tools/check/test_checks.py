# SPDX-License-Identifier: Apache-2.0
"""Gives each check of sources inputs that it must refuse and inputs that it must accept: a check
that cannot fail checks nothing.
"""

import pathlib
import shutil
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import budget  # noqa: E402
from check_test import OPENING, CheckTest  # noqa: E402
import english  # noqa: E402
import format as format_check  # noqa: E402
import header_lines  # noqa: E402
import includes  # noqa: E402
import memory_orders  # noqa: E402
import one_definition  # noqa: E402
import platform_parameter  # noqa: E402
import self_contained  # noqa: E402
import sources  # noqa: E402
import words  # noqa: E402


class IncludesTest(CheckTest):
    def verdict(self, path: str, text: str) -> str:
        return self.verdict_of(includes.run, path, text)

    def test_accepts_downwards_and_own_layer(self) -> None:
        text = '#include <atomic>\n#include "tutti/wait/spin.hpp"\n#include "tutti/barrier/b.hpp"\n'
        self.assertNotIn("violations", self.verdict("include/tutti/barrier/a.hpp", text))

    def test_refuses_folders_that_depend_on_each_other(self) -> None:
        self.write("cli/a.hpp", '#pragma once\n#include "command/b.hpp"\n')
        said = self.verdict("command/b.hpp", '#pragma once\n#include "cli/a.hpp"\n')
        self.assertIn(
            "cli/a.hpp:2: cli and command depend on each other: see also command/b.hpp:2", said
        )

    def test_refuses_python_packages_that_depend_on_each_other(self) -> None:
        self.write("report/a.py", "from hardware.flow import b\n")
        said = self.verdict("hardware/flow/b.py", "\nfrom report.a import c\n")
        self.assertIn(
            "hardware/flow/b.py:2: hardware/flow and report depend on each other: see also "
            "report/a.py:1",
            said,
        )

    def test_refuses_a_second_include_root(self) -> None:
        self.write("bench/floors/a.hpp", "#pragma once\n")
        said = self.verdict("bench/floors/a.cpp", '#include "a.hpp"\n')
        self.assertIn(
            'bench/floors/a.cpp:1: include of "a.hpp": write its path from the root', said
        )
        self.assertNotIn(
            "violations", self.verdict("bench/floors/a.cpp", '#include "bench/floors/a.hpp"\n')
        )

    def test_refuses_upwards_with_file_and_line(self) -> None:
        said = self.verdict(
            "include/tutti/wait/spin.hpp", '#pragma once\n#include "tutti/barrier/a.hpp"\n'
        )
        self.assertIn(
            "include/tutti/wait/spin.hpp:2: wait includes tutti/barrier/a.hpp upwards", said
        )

    def test_refuses_a_private_file_in_a_public_header(self) -> None:
        self.assertIn(
            "not part of include/",
            self.verdict("include/tutti/wait/a.hpp", '#include "detail.hpp"\n'),
        )

    def test_refuses_an_unknown_layer(self) -> None:
        self.assertIn("'magic' is unknown", self.verdict("include/tutti/magic/a.hpp", "int a;\n"))

    def test_refuses_the_machine_outside_platform(self) -> None:
        for text in (
            '#include <sys/syscall.h>\n',
            "#if defined(__x86_64__)\n#endif\n",
            'void f() { asm volatile("pause"); }\n',
            "void f() { _mm_pause(); }\n",
            "void f() { __builtin_ia32_pause(); }\n",
            "void f() { syscall(202); }\n",
        ):
            with self.subTest(text):
                self.assertIn(
                    "outside include/tutti/platform/",
                    self.verdict("include/tutti/wait/a.hpp", text),
                )
                (self.root / "include/tutti/wait/a.hpp").unlink()
                self.assertNotIn("violations", self.verdict("include/tutti/platform/a.hpp", text))

    def test_looks_at_code_only(self) -> None:
        text = (
            '// #include "tutti/registry.hpp"\n/* asm volatile("") */\n'
            'const char* s = "_mm_pause()";\n'
        )
        self.assertNotIn("violations", self.verdict("include/tutti/wait/a.hpp", text))

    def test_refuses_a_circle(self) -> None:
        self.write("include/tutti/wait/a.hpp", '#include "tutti/wait/b.hpp"\n')
        said = self.verdict("include/tutti/wait/b.hpp", '#include "tutti/wait/a.hpp"\n')
        self.assertIn("in a circle: tutti/wait/a.hpp -> tutti/wait/b.hpp -> tutti/wait/a.hpp", said)


class PlatformParameterTest(CheckTest):
    def verdict(self, path: str, text: str) -> str:
        return self.verdict_of(platform_parameter.run, path, text)

    def test_refuses_what_reaches_around_the_platform(self) -> None:
        for code in (
            "std::thread worker;", "std::this_thread::yield();", "thread_local int mine = 0;",
            "const auto now = std::chrono::steady_clock::now();", "platform::now_ns();",
            "std::atomic<int> word{0};", "std::mutex lock;", "platform::usable_cpus();",
            "native::relax();", "platform::nap(word, changed);",
        ):  # fmt: skip
            with self.subTest(code=code):
                said = self.verdict("include/tutti/team/a.hpp", f"{OPENING}{code}\n")
                self.assertIn("a.hpp:3: ", said)
                self.assertIn("reaches around the platform; write Memory::", said)

    def test_accepts_the_platform(self) -> None:
        code = (
            "typename Memory::template atomic<int> word;\nusing std::chrono::steady_clock;\n"
            "template <class Memory = native>\nvoid f() { Memory::now_ns(); }  // std::thread\n"
        )
        self.assertNotIn("violations", self.verdict("include/tutti/team/a.hpp", code))
        self.assertNotIn("violations", self.verdict("src/threads.cpp", "std::thread worker;\n"))

    def test_refuses_an_exception_that_nothing_needs(self) -> None:
        said = self.verdict("vcode/machine/context.cpp", "int nothing;\n")
        self.assertIn("no line needs", said)


class EnglishTest(CheckTest):
    def found(self, name: str, text: str) -> list[str]:
        return [v.message for v in english.check_file(self.root / name, text)]

    def test_refuses_fragments(self) -> None:
        for name, text in (
            ("a.hpp", "// Of the ranks that arrive.\n"),
            ("a.py", "# Whoever arrives last.\n"),
            ("a.cpp", 'option("--seed", "{} the random order");\n'.format("Of")),
            ("a.md", "* So many ranks wait.\n"),
        ):
            with self.subTest(text):
                self.assertEqual(len(self.found(name, text)), 1)

    def test_accepts_sentences(self) -> None:
        for name, text in (
            ("a.hpp", "// The last\n// of the ranks wakes the others as soon as it arrives.\n"),
            ("a.cpp", 'option("--seed", "Seed of the random order");\n'),
            ("a.md", "As many ranks as there are cores wait.\n"),
        ):
            with self.subTest(text):
                self.assertEqual(self.found(name, text), [])


class SourcesTest(CheckTest):
    def test_a_check_that_finds_no_files_fails(self) -> None:
        status, said = self.run_quietly(memory_orders.run, self.root)
        self.assertEqual(status, 1)
        self.assertIn("memory_orders: there are no files to check", said)

    def test_a_folder_that_a_check_names_has_to_be_there(self) -> None:
        with self.assertRaisesRegex(SystemExit, "absent: a check names this folder"):
            list(sources.source_files(sources.ROOT, ["absent"]))


class MemoryOrdersTest(CheckTest):
    def messages(self, text: str) -> list[str]:
        return [
            f"{v.line}: {v.message}" for v in memory_orders.check_file(self.root / "a.hpp", text)
        ]

    def test_accepts_each_place_of_a_reason(self) -> None:
        for text in (
            "// acquire: pairs with arrive.\nx.load(acquire);\n",
            "x.load(std::memory_order_acquire);  // acquire: pairs with arrive.\n",
            '// relaxed: a hint only.\n// release: publishes the data.\nx.store(y.load(relaxed),\n'
            '  Memory::order("s", release));\n',
            "// relaxed: two hints.\na.load(relaxed);\nb.load(relaxed);\n",
            '// seq_cst: before the look.\nMemory::fence("s", seq_cst);\n',
            "// acq_rel: joins the chain. relaxed: a retry.\n"
            "x.compare_exchange_weak(a, b, acq_rel, relaxed);\n",
            "bool until(std::memory_order order) { return x.load(order); }\n",
        ):
            with self.subTest(text):
                self.assertEqual(self.messages(text), [])

    def test_refuses_an_operation_without_order(self) -> None:
        for operation in (
            "load()", "store(1)", "fetch_add(1)", "exchange(f(1, 2))", "test_and_set()",
        ):
            with self.subTest(operation):
                self.assertIn("without a memory order", self.messages(f"x.{operation};\n")[0])
        self.assertIn(
            "1: atomic_thread_fence() without", self.messages("std::atomic_thread_fence(o);\n")[0]
        )

    def test_refuses_a_compare_exchange_with_one_order(self) -> None:
        text = "// acq_rel: joins the chain.\nx.compare_exchange_strong(a, b, acq_rel);\n"
        self.assertEqual(
            self.messages(text), ["2: compare_exchange_strong() without the order of its failure"]
        )

    def test_refuses_an_order_without_its_reason(self) -> None:
        for text in (
            "x.load(acquire);\n",
            "// acquire: pairs with arrive.\n\nx.load(acquire);\n",
            "// release: publishes the data.\nx.load(acquire);\n",
            "// acquire:\nx.load(acquire);\n",
            "// we acquire here\nx.load(acquire);\n",
            '// "acquire" is in a string only\n'
            'x.load(Memory::order("acquire: not a reason", acquire));\n',
            "  // acquire: pairs with g.\n  f() {\n    x.load(acquire);\n  }\n"
            "  g() {\n    y.load(acquire);\n  }\n",
        ):
            with self.subTest(text):
                found = self.messages(text)
                self.assertEqual(len(found), 1, found)
                self.assertIn("acquire without a reason", found[0])

    def test_refuses_functions_of_c_without_order(self) -> None:
        for call in ("atomic_fetch_add(&n, 1)", "std::atomic_load(&n)", "atomic_flag_clear(&f)"):
            with self.subTest(call):
                self.assertIn("without a memory order", self.messages(f"{call};\n")[0])
        text = "// relaxed: a hint.\natomic_load_explicit(&n, memory_order_relaxed);\n"
        self.assertEqual(self.messages(text), [])

    def test_knows_each_way_to_declare_an_atomic(self) -> None:
        for declared in (
            "std::atomic<int> b{0}, n{0};", "std::atomic<int> n = 0;", "std::atomic_int n;",
            "typename Memory::template setting<int> a_{0}, n{1};", "static atomic_uint n;",
            "static _Atomic(struct waits*) n;", "_Atomic int n;", "std::atomic<int*> n[3] = {};",
            "void f(std::atomic<std::uint32_t>& n) {",
        ):  # fmt: skip
            for use in (
                "++n;", "n = 1;", "int x = n;", "f(a, n++);", "return n + 1;", "x = n == 3;",
            ):  # fmt: skip
                with self.subTest(declared + use):
                    found = self.messages(f"{declared}\n  {use}\n")
                    self.assertEqual(found, ["2: operator on the atomic 'n'"])

    def test_knows_what_is_no_atomic(self) -> None:
        for text in (
            "std::atomic<int>& f(int n);\n++n;\n",
            "std::atomic<int> a{0};\nstd::uint64_t n = 0;\n++n;\n",
            "std::atomic<int> n{0};\nvoid f() {\n  int x = 0, n = 0;\n  ++n;\n}\n",
            "std::atomic<int> n{0};\nstd::atomic<int>& m = n;\n",
            "std::atomic<int> n{0};\nwait(n, 1);\nauto* p = &n;\n",
            "std::atomic<int>* n = nullptr;\nn = p;\n",
        ):
            with self.subTest(text):
                self.assertEqual(self.messages(text), [])
        text = "std::atomic<int> n{0}, m_{0};\nvoid f(int n, int m_) {\n  a.n = 1;\n  ++m_;\n}\n"
        self.assertEqual(len(self.messages(text)), 2)

    def test_refuses_operators(self) -> None:
        declared = "std::atomic<int> count_{0};\nMemory::template atomic<bool> flag;\n"
        for use in (
            "  ++count_;", "  count_ = 1;", "  count_ += 2;", "  node.flag = true;",
            "  if (count_) f();",
        ):
            with self.subTest(use):
                self.assertIn("3: operator on the atomic", self.messages(declared + use + "\n")[0])

    def test_knows_what_is_no_order(self) -> None:
        text = (
            "node.release.f();\nrelease(1);\n"
            "constexpr std::memory_order release = std::memory_order_release;\n"
        )
        self.assertEqual(self.messages(text), [])


class OneDefinitionTest(CheckTest):
    def verdict(self, text: str, name: str = "a.hpp") -> tuple[int, str]:
        self.write(f"include/tutti/{name}", "#pragma once\n" + text)
        return self.run_quietly(one_definition.run, self.root, ["g++"])

    def test_accepts_the_same_text(self) -> None:
        self.assertEqual(self.verdict("inline int f() { return __LINE__; }\n")[0], 0)

    def test_refuses_a_layout_that_depends_on_ndebug(self) -> None:
        status, said = self.verdict("struct a {\n#ifndef NDEBUG\n  int count;\n#endif\n};\n")
        self.assertEqual(status, 1)
        self.assertIn("include/tutti/a.hpp:4: another text for g++ with NDEBUG: int count;", said)

    def test_refuses_an_inline_function_with_assert(self) -> None:
        text = "#include <cassert>\ninline void f(int i) { assert(i > 0); }\n"
        self.assertEqual(self.verdict(text)[0], 1)

    def test_refuses_code_for_a_processor(self) -> None:
        text = "#ifdef __AVX2__\ninline int f() { return 2; }\n#endif\n"
        self.assertIn("for another processor", self.verdict(text)[1])

    def test_allows_the_setting_of_a_call(self) -> None:
        setting = "#ifdef NDEBUG\n#define C 0\n#else\n#define C 1\n#endif\n"
        text = setting + "int f(\nbool checks = C != 0) noexcept {\nreturn 1; }\n"
        self.assertEqual(self.verdict(text, "platform/misuse.hpp")[0], 0)
        self.assertEqual(self.verdict(text.replace("f(", "g("), "platform/other.hpp")[0], 1)


class SelfContainedTest(CheckTest):
    def verdict(self, text: str, name: str = "a.hpp") -> tuple[int, str]:
        self.write(f"include/tutti/{name}", text)
        return self.run_quietly(self_contained.run, self.root, ["g++"])

    def test_accepts_a_whole_header(self) -> None:
        self.assertEqual(
            self.verdict(
                "#pragma once\n#include <cstddef>\ninline std::size_t f() { return 1; }\n"
            )[0],
            0,
        )

    def test_refuses_a_missing_include(self) -> None:
        status, said = self.verdict("#pragma once\ninline std::size_t f() { return 1; }\n")
        self.assertEqual(status, 1)
        self.assertIn("include/tutti/a.hpp:1: does not compile alone with g++", said)

    def test_refuses_a_missing_guard(self) -> None:
        self.assertEqual(self.verdict("inline int f() { return 1; }\n")[0], 1)

    def test_refuses_a_warning(self) -> None:
        self.assertEqual(
            self.verdict("#pragma once\ninline int f(int unused) { return 1; }\n")[0], 1
        )

    def test_refuses_a_c_header_that_is_cpp(self) -> None:
        self.assertEqual(
            self.verdict("#pragma once\ninline int f(int& a) { return a; }\n", "a.h")[0], 1
        )

    def test_says_when_no_compiler_is_there(self) -> None:
        self.write("include/a.hpp", "")
        status, said = self.run_quietly(self_contained.run, self.root, ["no-such-compiler"])
        self.assertEqual(status, 1)
        self.assertIn("SKIPPED no-such-compiler", said)


class HeaderLinesTest(CheckTest):
    def verdict(self, lines: int) -> tuple[int, str]:
        self.write("include/tutti/wait/a.hpp", "".join(f"extern int v{i};\n" for i in range(lines)))
        return self.run_quietly(header_lines.run, self.root)

    def test_the_first_matching_pattern_gives_the_limit(self) -> None:
        self.assertLess(
            header_lines.limit_of("tutti/barrier/ticket.hpp"),
            header_lines.limit_of("tutti/barrier/barrier.hpp"),
        )
        self.assertEqual(header_lines.limit_of("tutti/graph/run.hpp"), header_lines.LIMITS["*"])

    @unittest.skipUnless(
        header_lines.is_measured_compiler(), "the limits hold for another compiler"
    )
    def test_refuses_a_header_above_its_limit(self) -> None:
        limit = header_lines.limit_of("tutti/wait/a.hpp")
        self.assertEqual(self.verdict(limit)[0], 0)
        status, said = self.verdict(limit + 1)
        self.assertEqual(status, 1)
        self.assertIn(
            f"include/tutti/wait/a.hpp:1: {limit + 1:,} preprocessed lines; its limit is {limit:,}",
            said,
        )

    def test_is_skipped_with_another_compiler(self) -> None:
        with mock.patch.object(header_lines, "is_measured_compiler", return_value=False):
            self.assertEqual(self.verdict(1)[0], 77)


class FormatTest(CheckTest):
    def verdict(self, text: str) -> tuple[int, str]:
        shutil.copy(sources.ROOT / ".clang-format", self.root)
        self.write("src/a.cpp", text)
        return self.run_quietly(format_check.run, self.root)

    def test_refuses_a_file_without_licence_or_purpose(self) -> None:
        self.assertIn("src/a.cpp:1: the first line", self.verdict("int a;\n")[1])
        self.assertIn(
            "src/a.cpp:2: the second line",
            self.verdict("// SPDX-License-Identifier: Apache-2.0\n\nint a;\n")[1],
        )

    def test_refuses_an_include_as_the_purpose_unless_it_is_the_files_own_header(self) -> None:
        licence = "// SPDX-License-Identifier: Apache-2.0\n"
        said = self.verdict(licence + '#include "src/b.hpp"\n')[1]
        self.assertIn("src/a.cpp:2: the second line", said)
        self.assertNotIn("second line", self.verdict(licence + '#include "src/a.hpp"\n')[1])

    def test_refuses_a_wide_line_of_python(self) -> None:
        self.write("tools/a.py", f"x = {'1' * 97}\n")
        self.write("tools/b", f"#!/usr/bin/env python3\nx = {'1' * 97}\n")
        said = self.verdict(OPENING + "int a;\n")[1]
        self.assertIn("tools/a.py:1: this line has 101 columns", said)
        self.assertIn("tools/b:2: this line has 101 columns", said)

    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_refuses_another_layout(self) -> None:
        self.assertEqual(self.verdict(OPENING + "int a;\n")[0], 0)
        status, said = self.verdict(OPENING + "int     a;\n")
        self.assertEqual(status, 1)
        self.assertIn("src/a.cpp:3: layout differs", said)

    def test_is_skipped_without_clang_format(self) -> None:
        with mock.patch("shutil.which", return_value=None):
            self.assertEqual(self.verdict(OPENING + "int     a;\n")[0], 77)


class BudgetTest(CheckTest):
    def test_warns_beyond_twice_and_fails_beyond_four_times(self) -> None:
        allowed = {"bench": (100.0, 10.0)}
        self.assertEqual(budget.verdicts(allowed, {"bench": 210}, {"bench": 30}), ([], []))
        warnings, failures = budget.verdicts(allowed, {"bench": 211}, {"bench": 51})
        self.assertEqual(warnings, ["bench/ takes 211 s to build; its budget is 100 s"])
        self.assertEqual(failures, ["bench/ takes 51 s to test; its budget is 10 s"])

    def test_fails_for_a_folder_without_a_budget(self) -> None:
        _, failures = budget.verdicts({}, {"new": 1}, {})
        self.assertEqual(failures, ["new/ takes 1 s to build and has no budget"])

    def test_sums_the_last_run_of_each_step_by_folder(self) -> None:
        self.write("bench/a.cpp", "")
        self.write("tests/unit/a.cpp", "")
        log = "# ninja log v5\n0\t9000\t1\tbench/a.o\told\n0\t2000\t1\tbench/a.o\tx\n"
        log += "5\t1005\t1\ttests/unit/a.o\ty\n0\t99\t1\tlibtutti.a\tz\n"
        log += "0\t3000\t1\tbench/b.h\tv\n0\t3000\t1\tbench/b.c\tv\n"
        log += "0\t5000\t1\tbench/by_name.o\tw\n"
        self.write("build/.ninja_log", log)
        outputs = ("bench/a.o", "bench/b.c bench/b.h", "tests/unit/a.o", "libtutti.a")
        ninja = "rule make\n  command = true\n"
        ninja += "".join(f"build {output}: make\n" for output in (*outputs, "bench/by_name.o"))
        ninja += f"build all: phony {' '.join(outputs)}\n"
        self.write("build/build.ninja", ninja)
        found = budget.build_seconds(self.root, self.root / "build")
        self.assertEqual(found, {"bench": 5.0, "tests/unit": 1.0})

    def test_reads_the_table(self) -> None:
        page = f"{budget.OPENING}\n| `tests/unit/` | 80 | 12 |\n{budget.CLOSING}\n"
        self.assertEqual(budget.budgets(page), {"tests/unit": (80.0, 12.0)})


class WordsTest(CheckTest):
    def verdict(self, path: str, text: str) -> str:
        return self.verdict_of(words.run, path, text)

    def test_refuses_a_word_that_had_several_meanings(self) -> None:
        self.assertIn("src/a.cpp:1: crew", self.verdict("src/a.cpp", "int run_crew();\n"))
        self.assertIn("src/a.cpp:1: meeting", self.verdict("src/a.cpp", "class meeting_point;\n"))
        self.assertIn("report/a.py:2: seat", self.verdict("report/a.py", "\nseats = 1\n"))

    def test_accepts_the_one_meaning_that_is_left(self) -> None:
        allowed = "struct alignas(cache_line) participant {};\n"
        self.assertNotIn(
            "participant", self.verdict("include/tutti/barrier/participant.hpp", allowed)
        )
        self.assertIn("src/a.cpp:1: participant", self.verdict("src/a.cpp", "class participant;\n"))

    def test_accepts_words_inside_others_and_in_prose(self) -> None:
        text = (
            '// They use it at a meeting.\nint total, usage, shared; // crew\n'
            'const char* s = "seat";\n'
        )
        self.assertNotIn("violations", self.verdict("src/a.cpp", text))


if __name__ == "__main__":
    unittest.main()
