#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `tutti run`: what passes through to the program, what it refuses, and which runtime runs
the program."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

TUTTI = PROGRAM = OPENACC = STATIC = OTHERS = ""


def environment(**changes: str) -> dict[str, str]:
    removed = ("LD_PRELOAD", "TUTTI_VERBOSE")
    kept = {name: value for name, value in os.environ.items() if name not in removed}
    return dict(kept, OMP_NUM_THREADS="2", **changes)


def run(*arguments: str, stdin: str = "", **changes: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [TUTTI, "run", *arguments],
        input=stdin,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


RESTARTS = (
    "tutti: runtime libgomp: the program imports acc_get_num_devices, which tutti does not have\n"
)


def start(*command: str, **changes: str) -> "subprocess.CompletedProcess[str]":
    """Starts it without `tutti run`; a program alone exits with 42."""
    return subprocess.run(
        [*command, "exit", "42"] if len(command) == 1 else command,
        env=environment(TUTTI_VERBOSE="1", **changes),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


class PassesThrough(unittest.TestCase):
    def test_exit_status(self) -> None:
        for status in (0, 1, 42, 255):
            self.assertEqual(run("--", PROGRAM, "exit", str(status)).returncode, status)

    def test_signal(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.assertEqual(run("--", PROGRAM, "signal", str(int(number))).returncode, -number)

    def test_standard_streams(self) -> None:
        text = "first line\nsecond line without an end"
        done = run("--", PROGRAM, stdin=text)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, text, ""))

    def test_process_group(self) -> None:
        self.assertEqual(run("--", PROGRAM, "group").stdout, f"{os.getpgrp()}\n")

    def test_the_process_is_the_program(self) -> None:
        command = [TUTTI, "run", "--", PROGRAM]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            # The program's answer tells that it runs.
            process.stdin.write(b"x" * 100_000)
            process.stdin.flush()
            process.stdout.read(1)
            self.assertEqual(os.readlink(f"/proc/{process.pid}/exe"), os.path.realpath(PROGRAM))
            process.stdin.close()
            process.stdout.read()
            self.assertEqual(process.wait(60), 0)

    def test_arguments(self) -> None:
        words = ["[a,b]", "[]", '["c", "d"]', "", "--", "++", "--x=[e]", "-n"]
        echo = "import sys; print(sys.argv[1:])"
        done = run("--", sys.executable, "-c", echo, *words)
        self.assertEqual(done.stdout, f"{words}\n")

    def test_script_without_interpreter(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "script")
            with open(name, "w", encoding="utf-8") as file:
                file.write('echo "$0 $1"\n')
            os.chmod(name, 0o755)
            self.assertEqual(run("--", name, "a b").stdout, f"{name} a b\n")

    def test_other_preloads_stay(self) -> None:
        done = run("--", "/bin/sh", "-c", 'echo "$LD_PRELOAD"', LD_PRELOAD="libm.so.6")
        self.assertRegex(done.stdout, r"libtutti_openmp\.so:libm\.so\.6\n$")


class Refuses(unittest.TestCase):
    def refused(self, name: str, status: int, sentence: str) -> None:
        done = run("--", name)
        printed = f"tutti run: {name}: {sentence}\n"
        self.assertEqual((done.returncode, done.stdout, done.stderr), (status, "", printed))

    def test_missing_program(self) -> None:
        self.refused("/there/is/none", 127, "there is no such program")
        self.refused("no-program-has-this-name", 127, "there is no such program")

    def test_file_that_is_not_executable(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            self.refused(file.name, 126, "this file is not executable")

    def test_path_that_leads_nowhere(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            loop = os.path.join(folder, "loop")
            os.symlink("loop", loop)
            self.refused(loop, 126, "Too many levels of symbolic links")
        self.refused("/" + "x" * 300, 126, "File name too long")

    def test_program_of_another_architecture(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "other")
            with open("/bin/true", "rb") as file:
                program = bytearray(file.read())
            program[18:20] = b"\xf3\x00" if program[18:20] != b"\xf3\x00" else b"\x3e\x00"
            with open(name, "wb") as file:
                file.write(program)
            os.chmod(name, 0o755)
            done = run("--", name)
            self.assertEqual((done.returncode, done.stdout), (126, ""))
            self.assertIn("it is for another architecture than tutti", done.stderr)
            self.assertIn(f"tutti run: {name}: Exec format error", done.stderr)

    def test_script_whose_interpreter_is_missing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "script")
            with open(name, "w", encoding="utf-8") as file:
                file.write("#!/there/is/none -x\n")
            os.chmod(name, 0o755)
            self.refused(name, 126, "its interpreter /there/is/none does not exist")

    def test_nothing_after_the_dashes(self) -> None:
        done = run("--")
        sentence = "tutti: nothing is given for program; see `tutti run --help`\n"
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", sentence))

    def test_pipe(self) -> None:
        """Nothing waits for somebody who writes into it."""
        with tempfile.TemporaryDirectory() as folder:
            pipe, script = os.path.join(folder, "pipe"), os.path.join(folder, "script")
            os.mkfifo(pipe)
            os.chmod(pipe, 0o755)
            self.refused(pipe, 126, "Permission denied, because this is no regular file")
            with open(script, "w", encoding="utf-8") as file:
                file.write(f"#!{pipe}\n")
            os.chmod(script, 0o755)
            self.refused(script, 126, "Permission denied")

    def test_deadline_without_mpi(self) -> None:
        for options in ([], ["--pthread"]):
            done = run(*options, "--deadline", "5s", "--", PROGRAM)
            sentence = "tutti run: --deadline is for the calls of MPI, so give --mpi, too\n"
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", sentence))

    def test_reproducible_without_openmp(self) -> None:
        for option in ("--mpi", "--pthread"):
            done = run(option, "--reproducible", "--", PROGRAM)
            sentence = "tutti run: --reproducible is for OpenMP, so give --openmp, too\n"
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", sentence))

    def test_folder(self) -> None:
        self.refused("/", 126, "this is a folder, not a program")


class Runtimes(unittest.TestCase):
    def test_tutti(self) -> None:
        self.assertEqual(run("--", PROGRAM, TUTTI_VERBOSE="1").stderr, "tutti: runtime tutti\n")
        self.assertEqual(run("--verbose", "--", PROGRAM).stderr, "tutti: runtime tutti\n")
        self.assertEqual(run("--openmp", "--", PROGRAM, TUTTI_VERBOSE="0").stderr, "")

    def test_json(self) -> None:
        line = run("--", PROGRAM, TUTTI_VERBOSE="json").stderr
        self.assertEqual(json.loads(line), {"runtime": "tutti", "reason": ""})
        line = run("--", OPENACC, TUTTI_VERBOSE="json").stderr
        self.assertEqual(json.loads(line)["runtime"], "libgomp")
        self.assertIn("acc_get_num_devices", json.loads(line)["reason"])

    def test_missing_symbol(self) -> None:
        done = run("--", OPENACC, stdin="read after the second start", TUTTI_VERBOSE="1")
        self.assertEqual((done.returncode, done.stdout), (0, "read after the second start"))
        self.assertEqual(
            done.stderr,
            "tutti: runtime libgomp: the program imports acc_get_num_devices, "
            "which tutti does not have\n",
        )
        self.assertEqual(run("--", OPENACC, "exit", "42").returncode, 42)
        self.assertEqual(run("--", OPENACC).stderr, "")

    def test_missing_symbol_at_a_fixed_address(self) -> None:
        """Such a program exports nothing, so its table of hashes says nothing of its imports."""
        missing = "tutti: runtime libgomp: the program imports acc_get_num_devices"
        done = run("--", OPENACC + "_fixed", TUTTI_VERBOSE="1")
        self.assertEqual((done.returncode, done.stderr[: len(missing)]), (0, missing))

    def test_names_of_others(self) -> None:
        """kmp_search of another library is none of a runtime's, whenever the library comes."""
        library = os.path.join(OTHERS, "libopenmp_calls_alike.so")
        done = run("--", PROGRAM, "open", library, TUTTI_VERBOSE="1")
        self.assertEqual((done.returncode, done.stderr), (45, "tutti: runtime tutti\n"))
        done = run("--", PROGRAM, "open", library, TUTTI_VERBOSE="1", LD_PRELOAD=library)
        self.assertEqual((done.returncode, done.stderr), (45, "tutti: runtime tutti\n"))

    def test_runtime_in_the_program(self) -> None:
        done = run("--", PROGRAM + "_with_runtime", TUTTI_VERBOSE="1")
        sentence = "tutti: runtime libgomp: the program has a runtime of its own\n"
        self.assertEqual((done.returncode, done.stderr), (0, sentence))

    def test_names_of_this_library(self) -> None:
        """However LD_PRELOAD names it, the program starts again, and only once."""
        library = run("--", "/bin/sh", "-c", 'echo "$LD_PRELOAD"').stdout.strip()
        folder, name = os.path.split(library)
        with tempfile.TemporaryDirectory() as other:
            link = os.path.join(other, "link.so")
            os.symlink(library, link)
            os.symlink(library, os.path.join(other, name))
            for value in (name, link, f"{folder}/./{name}", f"{library} {link}"):
                done = start(OPENACC, LD_PRELOAD=value, LD_LIBRARY_PATH=other)
                with self.subTest(value=value):
                    self.assertEqual((done.returncode, done.stderr), (42, RESTARTS))

    def test_other_names(self) -> None:
        """A program that is linked with the library gets it again, so it does not start again."""
        library = run("--", "/bin/sh", "-c", 'echo "$LD_PRELOAD"').stdout.strip()
        folder = os.path.dirname(library)
        done = start(OPENACC + "_linked", LD_PRELOAD=library + ".1", LD_LIBRARY_PATH=folder)
        self.assertEqual(done.returncode, 127)
        self.assertIn("link the program with libgomp instead", done.stderr)

    def test_second_start_without_proc(self) -> None:
        library = run("--", "/bin/sh", "-c", 'echo "$LD_PRELOAD"').stdout.strip()
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script")
            with open(script, "w", encoding="utf-8") as file:
                file.write(f"#!{OPENACC} exit\n")
            os.chmod(script, 0o755)
            for command, status in ((f'"{OPENACC}" exit 42', 42), (f'"{script}" </dev/null', 0)):
                hidden = f'umount -l /proc && LD_PRELOAD="{library}" exec {command}'
                done = start("unshare", "-m", "sh", "-c", hidden)
                if "unshare" in done.stderr or "umount" in done.stderr:
                    self.skipTest(f"this user cannot hide /proc: {done.stderr}")
                self.assertEqual((done.returncode, done.stderr), (status, RESTARTS))

    def test_stub_in_the_program(self) -> None:
        """A function of OpenACC's that a program defines makes no runtime."""
        done = run("--", PROGRAM + "_with_stub", TUTTI_VERBOSE="1")
        self.assertEqual((done.returncode, done.stderr), (0, "tutti: runtime tutti\n"))

    def test_code_that_cannot_be_read(self) -> None:
        for option in ("--openmp", "--reproducible"):
            done = run(option, "--", PROGRAM + "_with_holes", "exit", "42")
            self.assertEqual((done.returncode, done.stderr), (42, ""))

    def test_arithmetic_beside_an_exchange(self) -> None:
        """An exchange of integers does not serialize a region that computes something else."""
        done = run("--reproducible", "--", PROGRAM + "_with_arithmetic", "exit", "42")
        self.assertEqual((done.returncode, done.stderr), (42, ""))

    def test_second_start(self) -> None:
        """The program keeps its name and its arguments, also under the dynamic linker."""
        with open(OPENACC, "rb") as file:
            found = re.search(rb"/[\w/.-]*ld[\w.-]*\.so\.\d", file.read())
        assert found is not None
        with tempfile.TemporaryDirectory() as folder:
            link, script = os.path.join(folder, "another"), os.path.join(folder, "script")
            os.symlink(OPENACC, link)
            self.assertEqual(run("--", link, "name").stdout, "another\n")
            with open(script, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nexec {found[0].decode()} "{OPENACC}" exit 42\n')
            os.chmod(script, 0o755)
            done = run("--", script, TUTTI_VERBOSE="1")
            self.assertEqual(done.returncode, 42)
            self.assertIn("tutti: runtime libgomp: the program imports", done.stderr)
            with open(script, "w", encoding="utf-8") as file:
                file.write(f"#!{OPENACC} exit\n")
            # The kernel adds the script to the arguments, but only once.
            done = run("--", script, stdin="text")
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_program_without_openmp(self) -> None:
        done = run("--", "/bin/cat", stdin="text", TUTTI_VERBOSE="1")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "text", ""))

    def test_static_program(self) -> None:
        if not STATIC:
            self.skipTest("the compiler cannot link statically")
        done = run("--", STATIC, "exit", "42")
        self.assertEqual(done.returncode, 42)
        self.assertEqual(
            done.stderr, f"tutti run: {STATIC} runs without tutti: it is statically linked\n"
        )

    def test_dynamic_linkers(self) -> None:
        with open("/bin/true", "rb") as file:
            program = file.read()
        found = re.search(rb"/[\w/.-]*ld[\w.-]*\.so\.\d", program)
        assert found is not None
        sentence = "runs without tutti: it is the dynamic linker; give the program without it"
        with tempfile.TemporaryDirectory() as folder:
            link = os.path.join(folder, "ld.so")
            os.symlink(found[0].decode(), link)
            for usual in (found[0].decode(), link):
                done = run("--", usual, "/bin/echo", "text")
                self.assertEqual((done.returncode, done.stdout), (0, "text\n"))
                self.assertEqual(done.stderr, f"tutti run: {usual} {sentence}\n")
        # No such file exists, so the program itself does not start.
        for other in ("ld-linux.so.2", "ld64.so.1", "ld64.so.2", "ld.so.1", "ld-musl.so.1"):
            with self.subTest(linker=other), tempfile.TemporaryDirectory() as folder:
                name = os.path.join(folder, "program")
                path = b"/none/" + other.encode()
                with open(name, "wb") as file:
                    file.write(program.replace(found[0], path.ljust(len(found[0]), b"\0"), 1))
                os.chmod(name, 0o755)
                done = run("--", name)
                self.assertEqual(done.returncode, 126)
                sentence = "its dynamic linker is /none/ld-musl.so.1, not glibc's"
                self.assertEqual(sentence in done.stderr, "musl" in other, done.stderr)
                self.assertIn(f"its dynamic linker /none/{other} does not exist", done.stderr)

    def test_script_with_capabilities(self) -> None:
        # The kernel ignores them. cap_net_raw, permitted and effective, as setcap writes it.
        capabilities = bytes.fromhex("0100000200200000000000000000000000000000")
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script")
            with open(script, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nexec "{PROGRAM}" exit 7\n')
            os.chmod(script, 0o755)
            try:
                os.setxattr(script, "security.capability", capabilities)
            except OSError as why:
                self.skipTest(f"this user, or this file system, gives no capabilities: {why}")
            done = run("--", script, TUTTI_VERBOSE="1")
        self.assertEqual((done.returncode, done.stderr), (7, "tutti: runtime tutti\n"))

    def test_script(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script")
            with open(script, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nexec "{PROGRAM}" exit 7\n')
            os.chmod(script, 0o755)
            done = run("--", "script", PATH=f"{folder}:{os.environ['PATH']}", TUTTI_VERBOSE="1")
        self.assertEqual((done.returncode, done.stderr), (7, "tutti: runtime tutti\n"))


if __name__ == "__main__":
    TUTTI, PROGRAM, OPENACC, STATIC, OTHERS = (
        os.path.abspath(each) if each else "" for each in sys.argv[1:6]
    )
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
