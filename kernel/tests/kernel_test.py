#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Boots the kernel under QEMU by `tutti kernel run` and checks what it prints and how it ends.

usage: kernel_test.py [--long | --keep] TUTTI FOLDER_OF_IMAGES COMPILER

kernel/exact.jsonl keeps what the bench and the pool print under icount: it is the same wherever
this compiler has built the kernel and this QEMU runs it. --keep writes that file anew, and tests
nothing.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

LONG = "--long" in sys.argv
KEEP = "--keep" in sys.argv
TUTTI, IMAGES, COMPILER = [a for a in sys.argv[1:] if a not in ("--long", "--keep")][:3]
# The other programs stand in the folder of the build, which has the images in a folder of its own.
BUILD = pathlib.Path(IMAGES).parent
SOURCES = pathlib.Path(__file__).resolve().parents[2]
RECORDED = SOURCES / "vcode" / "tests" / "programs"
KEPT = pathlib.Path(__file__).resolve().parent.parent / "exact.jsonl"
# The statuses of `tutti kernel run`.
SUCCESS, CHECK_FAILED, WRONG_USAGE, PANIC, TIME_LIMIT = 0, 1, 2, 3, 4


def run(*options: str, image: str = "kernel.elf", limit: int = 100) -> subprocess.CompletedProcess:
    path = str(pathlib.Path(IMAGES) / image)
    command = [TUTTI, "kernel", "run", "--image", path, "--time-limit", str(limit), "--json"]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=limit + 30)


def lines_of(result: subprocess.CompletedProcess) -> list[dict]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def runs(process: int) -> bool:
    """Whether a process of this number exists and has not ended."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def exact_text() -> str:
    """What KEPT keeps: what made the lines, and the lines."""
    qemu = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True)
    version = qemu.stdout.splitlines()[0].split()[3]
    head = {"type": "kernel_run", "emulator": f"QEMU {version}", "compiler": COMPILER}
    text = json.dumps(head) + "\n"
    for program in ("bench", "pool"):
        result = run("--program", program, "--cpus", "4", "--accel", "icount")
        assert result.returncode == SUCCESS, result.stdout + result.stderr
        text += result.stdout
    return text


class Boot(unittest.TestCase):
    def check_machine(self, cpus: int, *options: str, image: str = "kernel.elf") -> list[dict]:
        result = run("--program", "describe", "--cpus", str(cpus), *options, image=image)
        self.assertEqual(result.returncode, SUCCESS, result.stdout + result.stderr)
        lines = lines_of(result)
        machine = next(line for line in lines if line["type"] == "machine")
        self.assertEqual(machine["cores"], cpus)
        self.assertEqual(machine["cores_that_ran"], cpus)
        self.assertTrue(machine["virtual"])
        ids = [line["hardware_id"] for line in lines if line["type"] == "core"]
        self.assertEqual(len(set(ids)), cpus)
        return lines

    def test_numbers_of_cpus(self) -> None:
        for cpus in (1, 2, 4, 8, 16):
            with self.subTest(cpus=cpus):
                self.check_machine(cpus)

    def test_both_loaders(self) -> None:
        for image, loader in (("kernel.elf", "multiboot"), ("kernel-pvh.elf", "pvh")):
            with self.subTest(loader=loader):
                machine = self.check_machine(2, image=image)[1]
                self.assertEqual(machine["loader"], loader)

    def test_no_tick_of_an_emulator_is_a_cycle(self) -> None:
        # The image for real machines asks for cycles by itself.
        command = "qemu-system-x86_64 -nodefaults -no-reboot -display none -serial stdio -m 64"
        command += " -smp 2 -device isa-debug-exit,iobase=0xf4,iosize=4 -accel tcg -cpu max"
        image = [
            "-kernel", f"{IMAGES}/kernel-pvh.elf", "-append", "program=bench unit=cycles trials=3",
        ]
        result = subprocess.run(
            [*command.split(), *image], capture_output=True, text=True, timeout=100
        )
        units = {
            line["unit"] for line in map(json.loads, result.stdout.splitlines()) if "unit" in line
        }
        self.assertEqual(units, {"emulated_ticks"}, result.stderr)

    def test_numa_nodes(self) -> None:
        lines = self.check_machine(4, "--nodes", "2")
        nodes = [line["node"] for line in lines if line["type"] == "core"]
        self.assertEqual(nodes, [0, 0, 1, 1])
        memory = [line["free_mib"] for line in lines if line["type"] == "node"]
        self.assertEqual(len(memory), 2)
        self.assertTrue(all(mib > 60 for mib in memory), memory)

    def test_nodes_without_memory_for_the_kernel(self) -> None:
        # The kernel itself takes the memory of the first node.
        lines = self.check_machine(16, "--nodes", "16", "--memory", "64")
        memory = [line["free_mib"] for line in lines if line["type"] == "node"]
        self.assertEqual(len(memory), 16)
        self.assertEqual(memory[0], 0)


class Failures(unittest.TestCase):
    def check_panic(self, how: str, what: str, function: str) -> None:
        result = run("--program", "panic", "--arguments", f"how={how}", "--cpus", "4")
        self.assertEqual(result.returncode, PANIC, result.stdout + result.stderr)
        self.assertIn(what, result.stderr)
        self.assertIn(function, result.stderr)
        self.assertIn("thread_entry", result.stderr)

    def test_panics_name_their_functions(self) -> None:
        self.check_panic("asked", "this was asked for", "provoke_panic")
        self.check_panic("fault", "page fault", "write_to_nowhere")
        self.check_panic("opcode", "invalid opcode", "provoke_panic")
        self.check_panic("stack", "the stack of thread overflow is too small", "reschedule")

    def test_an_unknown_program_is_a_panic(self) -> None:
        result = run("--program", "nothing")
        self.assertEqual(result.returncode, PANIC)
        self.assertIn("names no program of this image", result.stderr)

    def test_a_hang_ends_at_the_limit(self) -> None:
        result = run("--program", "panic", "--arguments", "how=hang", limit=3)
        self.assertEqual(result.returncode, TIME_LIMIT)
        self.assertIn("3 s", result.stderr)

    def test_qemu_ends_with_the_command(self) -> None:
        image = str(pathlib.Path(IMAGES) / "kernel.elf")
        command = [TUTTI, "kernel", "run", "--image", image, "--program", "panic"]
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number), subprocess.Popen(
                [*command, "--arguments", "how=hang"], stdout=subprocess.PIPE
            ) as process:
                assert process.stdout is not None
                # The first line comes when QEMU has been started.
                self.assertNotEqual(process.stdout.readline(), b"")
                tasks = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}")
                children = [int(word) for word in (tasks / "children").read_text().split()]
                self.assertEqual(len(children), 1)
                process.send_signal(number)
                process.wait(30)
                end = time.monotonic() + 20
                while runs(children[0]) and time.monotonic() < end:
                    time.sleep(0.02)
                still_runs = runs(children[0])
                if still_runs:
                    os.kill(children[0], signal.SIGKILL)
                self.assertFalse(still_runs)

    def test_wrong_usage(self) -> None:
        for options, sentence in (
            (["--cpus", "65"], "cpus"),
            (["--cpus", "0"], "cpus"),
            (["--accel", "hvf"], "accel"),
            (["--image", "/nothing/there.elf"], "there.elf"),
            (["--image", TUTTI], "no kernel"),
            (["--image", __file__], "no kernel"),
            (["--program", "two words"], "program"),
        ):
            with self.subTest(options=options):
                command = [TUTTI, "kernel", "run", *options]
                result = subprocess.run(command, capture_output=True, text=True)
                self.assertNotEqual(result.returncode, SUCCESS)
                self.assertEqual(result.stdout, "")
                self.assertIn(sentence, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_words_that_a_program_does_not_take(self) -> None:
        for program, words in (
            ("check-events", "trails=5"),
            ("bench", "trials=x"),
            ("describe", "posts=1"),
            ("check-events", f"posts={2**64}"),
            ("check-events", f"posts={2**64 * 10}"),
        ):
            with self.subTest(words=words):
                result = run("--program", program, "--arguments", words)
                self.assertEqual(result.returncode, PANIC)
                self.assertIn(f"{program} does not take the word {words}", result.stderr)
        result = run("--program", "bench", "--arguments", "trials=0")
        self.assertEqual(result.returncode, CHECK_FAILED)

    def test_kvm(self) -> None:
        # Where KVM is nested it may take longer than the limit, and cannot run the C++ library.
        if os.access("/dev/kvm", os.R_OK | os.W_OK) and not LONG:
            self.skipTest("it takes more than half a minute; --long runs it")
        run_kvm = [TUTTI, "kernel", "run", "--accel", "kvm", "--time-limit", "100"]
        result = subprocess.run(run_kvm, capture_output=True, text=True, timeout=150)
        if not os.access("/dev/kvm", os.R_OK | os.W_OK):
            self.assertEqual(result.returncode, CHECK_FAILED)
            self.assertIn("there is no KVM", result.stderr)
            return
        self.assertIn(result.returncode, (SUCCESS, TIME_LIMIT), result.stderr)
        hosted = [*run_kvm, "--image", f"{IMAGES}/kernel.elf", "--program", "check-library"]
        result = subprocess.run(hosted, capture_output=True, text=True, timeout=150)
        if result.returncode != SUCCESS:
            self.assertIn("nested KVM", result.stderr.splitlines()[-1])

    def test_a_part_of_an_image_is_refused(self) -> None:
        with tempfile.NamedTemporaryFile(suffix=".elf") as part:
            part.write((pathlib.Path(IMAGES) / "kernel.elf").read_bytes()[:20_000])
            part.flush()
            command = [TUTTI, "kernel", "run", "--image", part.name]
            result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_no_qemu(self) -> None:
        result = subprocess.run(
            [TUTTI, "kernel", "run", "--image", f"{IMAGES}/kernel.elf"],
            capture_output=True,
            text=True,
            env={"PATH": "/nowhere"},
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn("qemu-system-x86", result.stderr)


class Programs(unittest.TestCase):
    def check_program(
        self, program: str, cpus: int, arguments: str = "", accel: str = "tcg", limit: int = 100
    ) -> str:
        options = ["--program", program, "--cpus", str(cpus), "--accel", accel]
        result = run(*options, "--arguments", arguments, limit=limit)
        self.assertEqual(result.returncode, SUCCESS, result.stdout + result.stderr)
        return result.stdout

    def test_threads(self) -> None:
        for cpus, quick in ((1, 3_000), (2, 5_000)):
            wakeups = 100_000 if LONG else quick
            with self.subTest(cpus=cpus):
                limit = 600 if LONG else 60
                self.check_program("check-threads", cpus, f"wakeups={wakeups}", limit=limit)

    def test_barriers(self) -> None:
        # An episode of many emulated CPUs waits for the host's processors to run each of them.
        # There the runs with fewer participants than CPUs are left out.
        for cpus, episodes, words in (
            ((2, 300, ""), (3, 60, ""), (8, 2, "participants=8"), (16, 2, "participants=16"))
            if LONG
            else ((4, 20, ""),)
        ):
            with self.subTest(cpus=cpus):
                arguments = f"episodes={episodes} {words}".rstrip()
                limit = 900 if LONG else 100
                self.check_program("check-barriers", cpus, arguments, limit=limit)

    def test_barriers_are_those_of_the_registry(self) -> None:
        registry = (SOURCES / "include" / "tutti" / "registry.hpp").read_text("utf-8")
        names = re.findall(r'algorithm_info info\{\s*"(\w+)"', registry)
        self.assertGreater(len(names), 10)
        checks = (SOURCES / "kernel" / "programs" / "check_barriers.cpp").read_text("utf-8")
        for name in names:
            self.assertIn(f'(c, "{name}", ', checks)

    def test_events(self) -> None:
        posts = 1_000_000 if LONG else 100_000
        for cpus in (2, 5, 16):
            with self.subTest(cpus=cpus):
                arguments = f"posts={posts} broadcasts={20_000 if LONG else 300}"
                self.check_program("check-events", cpus, arguments, limit=600 if LONG else 60)

    def test_the_same_under_icount(self) -> None:
        for program, arguments in (
            ("check-events", "posts=20000 broadcasts=100"),
            ("check-threads", "wakeups=200"),
            ("bench", "trials=61"),
        ):
            with self.subTest(program=program):
                outputs = {
                    self.check_program(program, 4, arguments, accel="icount") for _ in range(2)
                }
                self.assertEqual(len(outputs), 1)

    def test_the_kept_counts(self) -> None:
        kept, now = KEPT.read_text("utf-8").splitlines(), exact_text().splitlines()
        if kept[0] != now[0]:
            self.skipTest(f"kept: {kept[0]}; here: {now[0]}")
        self.assertEqual(kept, now, "kernel_test.py --keep writes the file anew")

    def test_the_bench_with_one_receiver(self) -> None:
        self.check_program("bench", 2, "trials=20", accel="icount")

    def test_the_order_of_the_mechanisms(self) -> None:
        output = self.check_program("bench", 4, "trials=61", accel="icount")
        lines = [json.loads(line) for line in output.splitlines()]
        results = [line for line in lines if line["type"] == "result"]
        self.assertTrue(all(line["unit"] == "instructions" for line in results))
        medians = {
            (line["metric"], line["name"]): line["median"]
            for line in results
            if "receiver" not in line
        }
        order = ["polling", "event_shortcut", "interrupt", "event", "condition_kick", "condition"]
        for metric in ("unicast", "broadcast_first", "broadcast"):
            counts = [medians[metric, name] for name in order]
            self.assertEqual(counts, sorted(counts), f"{metric}: {order}")
            self.assertEqual(len(set(counts)), len(counts))
        parts = next(line for line in lines if line["type"] == "parts")
        sum_of_parts = parts["source"] + parts["flight"] + parts["destination"]
        self.assertEqual(sum_of_parts, parts["interrupt"])
        self.assertLess(parts["system_call"], parts["destination"])


def linux_output(program: pathlib.Path) -> bytes | None:
    """What `tutti vcode` prints, or None if it fails."""
    command = [TUTTI, "vcode", "--strict", "--zero-timers", str(program)]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return result.stdout if result.returncode == SUCCESS else None


def ends_well(program: pathlib.Path) -> bool:
    """Whether no status but 0 was recorded."""
    status = program.with_suffix(".rc")
    return not status.exists() or status.read_text().strip() == "0"


def vcode_programs() -> list[pathlib.Path]:
    """Recorded programs that end well within seconds, also in an emulator; a few for the quick
    test."""
    slow = ("_1e6", "_1e7", "batcher", "jacobi_256", "spmv", "2e18", "nascg", "1e5")
    compiled = sorted((RECORDED / "nesl-compiled").glob("*.vcode"))
    compiled = [p for p in compiled if not any(part in p.stem for part in slow)]
    small = sorted((RECORDED / "conformance").glob("*.vcode"))
    chosen = compiled + small if LONG else compiled[:20] + small[::25]
    return [p for p in chosen if ends_well(p)]


class Hosted(unittest.TestCase):
    """The programs that need the C++ library."""

    def run_hosted(self, program: str, cpus: int, *options: str, limit: int = 100) -> list[dict]:
        result = run("--program", program, "--cpus", str(cpus), *options, limit=limit)
        if "names no program of this image" in result.stderr:
            self.skipTest("the image was built without the C++ library")
        self.assertEqual(result.returncode, SUCCESS, result.stdout + result.stderr)
        return lines_of(result)

    def test_the_library(self) -> None:
        for cpus, accel in ((1, "tcg"), (4, "tcg"), (2, "icount")):
            with self.subTest(cpus=cpus, accel=accel):
                self.run_hosted("check-library", cpus, "--accel", accel)

    def test_reductions_teams_and_events(self) -> None:
        for cpus in (2, 3, 4, 8, 16) if LONG else (4,):
            with self.subTest(cpus=cpus):
                rounds = 30 if LONG and cpus <= 4 else 3
                limit = 900 if LONG else 100
                words = ("--arguments", f"rounds={rounds}")
                self.run_hosted("check-teams", cpus, *words, limit=limit)

    def test_impossible_numbers_of_threads(self) -> None:
        for program in ("synthetic", "streamcluster", "vcode"):
            for count in (0, 65536, 2**32):
                with self.subTest(program=program, count=count):
                    words = f"threads={count}"
                    result = run("--program", program, "--arguments", words)
                    if "names no program of this image" in result.stderr:
                        self.skipTest("the image was built without the C++ library")
                    self.assertEqual(result.returncode, PANIC, result.stdout + result.stderr)
                    self.assertIn(f"{program} does not take the word {words}", result.stderr)

    def test_synthetic_regions(self) -> None:
        sums = set()
        for cpus, words in ((1, "threads=1"), (2, "threads=2"), (2, "threads=3 slice_us=500")):
            with self.subTest(cpus=cpus, words=words):
                words += " regions=100 length=200"
                lines = self.run_hosted("synthetic", cpus, "--arguments", words)
                sums |= {line["sum"] for line in lines if line["type"] == "synthetic"}
        self.assertEqual(len(sums), 1)

    def test_synthetic_regions_are_the_same_under_icount(self) -> None:
        options = ("--accel", "icount", "--arguments", "regions=50 length=50")
        self.assertEqual(
            self.run_hosted("synthetic", 4, *options), self.run_hosted("synthetic", 4, *options)
        )

    def test_streamcluster_has_the_result_of_linux(self) -> None:
        program = BUILD / "tutti-streamcluster"
        if not program.exists():
            self.skipTest("tutti-streamcluster was not built")
        command = [str(program), "--input", "simsmall", "--threads", "2", "--json"]
        command += ["--barrier", "default"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
        linux = next(
            line
            for line in map(json.loads, result.stdout.splitlines())
            if "fingerprint" in line
        )
        for cpus in (1, 2, 4) if LONG else (2,):
            with self.subTest(cpus=cpus):
                lines = self.run_hosted("streamcluster", cpus, limit=900 if LONG else 100)
                ours = next(line for line in lines if line["type"] == "streamcluster")
                self.assertEqual(int(ours["fingerprint"], 16), int(linux["fingerprint"], 16))
                self.assertEqual(ours["points"], 4096)

    def test_vcode_prints_what_it_prints_under_linux(self) -> None:
        programs = vcode_programs()
        self.assertGreaterEqual(len(programs), 20)
        with tempfile.TemporaryDirectory() as folder:
            image = pathlib.Path(folder) / "programs.tar"
            count = 0
            with tarfile.open(image, "w", format=tarfile.USTAR_FORMAT) as archive:
                for program in programs:
                    output = linux_output(program)
                    self.assertIsNotNone(output, program)
                    kept = pathlib.Path(folder) / f"{program.stem}.out"
                    kept.write_bytes(output or b"")
                    archive.add(program, program.name)
                    archive.add(kept, kept.name)
                    count += 1
            runs = [("lazy", 2), ("spmd", 2)]
            runs += [("workers", 2), ("lazy", 4), ("spmd", 1)] if LONG else []
            for engine, cpus in runs:
                with self.subTest(engine=engine, cpus=cpus):
                    words = ("--arguments", f"engine={engine}", "--file", str(image))
                    limit = 900 if LONG else 100
                    lines = self.run_hosted("vcode", cpus, *words, limit=limit)
                    done = next(line for line in lines if line["type"] == "vcode")
                    self.assertEqual(done["programs"], count)


    def test_files_with_long_names(self) -> None:
        program = vcode_programs()[0]
        # With the ending .vcode: a name of 100 bytes, which nothing terminates, one with a prefix,
        # and one with a prefix and a name of 100 bytes.
        names = ["a" * 94, "b" * 60 + "/" + "c" * 80, "d" * 60 + "/" + "e" * 94]
        with tempfile.TemporaryDirectory() as folder:
            image = str(pathlib.Path(folder) / "programs.tar")
            kept = pathlib.Path(folder) / "output"
            kept.write_bytes(linux_output(program) or b"")

            def write_image(form: int) -> None:
                with tarfile.open(image, "w", format=form) as archive:
                    for name in names:
                        archive.add(program, f"{name}.vcode")
                        archive.add(kept, f"{name}.out")

            write_image(tarfile.USTAR_FORMAT)
            lines = self.run_hosted("vcode", 2, "--file", image)
            done = next(line for line in lines if line["type"] == "vcode")
            self.assertEqual(done["programs"], len(names))
            # These formats keep such names in entries of their own.
            for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
                with self.subTest(form=form):
                    write_image(form)
                    result = run("--program", "vcode", "--file", image)
                    self.assertEqual(result.returncode, CHECK_FAILED)
                    self.assertIn("cannot be read", result.stderr)


class Pool(unittest.TestCase):
    def test_in_the_kernel(self) -> None:
        for cpus, accel in ((2, "tcg"), (4, "icount")):
            with self.subTest(cpus=cpus, accel=accel):
                options = ("--program", "pool", "--cpus", str(cpus), "--accel", accel)
                result = run(*options, "--arguments", "tasks=50")
                self.assertEqual(result.returncode, SUCCESS, result.stdout + result.stderr)
                names = [line["name"] for line in lines_of(result) if line["type"] == "pool"]
                self.assertEqual(names, ["condition", "condition_kick", "event", "action"])

    def test_in_user_space(self) -> None:
        program = BUILD / "tutti-pool"
        command = [str(program), "3", "500"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, SUCCESS, result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 2)
        for words in (["0"], ["65"], ["2", "0"], ["a"], ["1", "1", "1"]):
            wrong = subprocess.run([str(program), *words], capture_output=True, text=True)
            self.assertEqual(wrong.returncode, WRONG_USAGE, words)


if __name__ == "__main__":
    if KEEP:
        KEPT.write_text(exact_text(), "utf-8")
        sys.exit()
    unittest.main(argv=sys.argv[:1], verbosity=2)
