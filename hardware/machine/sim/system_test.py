# SPDX-License-Identifier: Apache-2.0
"""system_test.py PART FOLDER SOURCE...: tests of the machine (`system`: system_tests.cpp and
software_tests.cpp), of its mailboxes (`messages`) or of several threads a core (`threads`), on
models made of these sources.

hardware/flow judges mutants by it; CMake builds the same tests from the sources that are here. The
exit status is 0 if all tests pass, 1 if one fails, 3 if something does not build, and 77 if a tool
is missing.
"""

import dataclasses
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

MACHINE = pathlib.Path(__file__).resolve().parents[1]
ROOT = MACHINE.parents[1]
# A mutant's program may run for ever.
SECONDS_OF_TESTS = 900


@dataclasses.dataclass(frozen=True)
class Size:
    """A model, as hardware/machine/CMakeLists.txt makes it: `cores` counts hardware threads, of
    which `threads` share a core."""

    cores: int
    sockets: int
    messages: int = 0
    threads: int = 1

    @property
    def name(self) -> str:
        name = f"Vmachine_{self.cores}_{self.sockets}" + ("_messages" if self.messages else "")
        return name + (f"_{self.threads}_threads" if self.threads > 1 else "")


@dataclasses.dataclass(frozen=True)
class Part:
    """Test programs, the models that they run on, and the programs that run on these."""

    tests: tuple
    sizes: tuple
    programs: tuple


PARTS = {
    "system": Part(("system_tests", "software_tests"), (Size(4, 1), Size(4, 2)),
        ("bench", "change_over", "conformance", "costs", "litmus", "streamcluster", "tests")),
    "messages": Part(("message_tests",),
        (Size(4, 1), Size(4, 1, messages=1), Size(4, 4, messages=1)), ("messages",)),
    "threads": Part(("thread_tests",), (Size(16, 1, messages=1, threads=4),),
        ("conformance", "litmus", "messages", "tests")),
}  # fmt: skip


class Builder:
    """Runs commands in a folder; one that fails ends this program."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.start = time.monotonic()
        cached = {"OBJCACHE": "ccache", "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}
        self.cached = cached if shutil.which("ccache") else {}
        include = self.run(["verilator", "--getenv", "VERILATOR_ROOT"]).strip() + "/include"
        self.runtime = [f"{include}/verilated.cpp", f"{include}/verilated_threads.cpp"]
        self.compiler = (["ccache"] if self.cached else []) + ["g++", "-std=c++20", "-O1",
            f"-I{ROOT}", f"-I{ROOT}/include", "-isystem", include, "-isystem",
            f"{include}/vltstd", '-DTUTTI_MACHINE_IMAGES="images"']  # fmt: skip

    def say(self, what: str) -> None:
        print(f"{time.monotonic() - self.start:5.0f} s  {what}", flush=True)

    def run(self, command: list) -> str:
        """Returns what a command says."""
        made = subprocess.run([str(word) for word in command], cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **self.cached},
            check=False)  # fmt: skip
        if made.returncode != 0:
            print(made.stdout)
            sys.exit(3)
        return made.stdout

    def images(self, programs: tuple) -> None:
        """Compiles the programs that run on the machine."""
        software = MACHINE / "software"
        (self.folder / "images").mkdir()
        for program in programs:
            self.run([software / "build.sh", self.folder / "images", program,
                software / f"{program}.cpp"])  # fmt: skip
        self.run(["riscv64-unknown-elf-gcc", "-march=rv32ima", "-misa-spec=2.2", "-mabi=ilp32",
            "-nostdlib", "-Wl,-Ttext=0", software / "devices.S", "-o", "images/devices.elf"])
        self.run(["riscv64-unknown-elf-objcopy", "-O", "binary", "images/devices.elf",
            "images/devices.bin"])  # fmt: skip
        self.say("programs compiled")

    def model(self, size: Size, sources: list) -> list:
        """Verilates the machine; returns what is linked."""
        name = size.name
        rules = ["machine.vlt"] + (["threads.vlt"] if size.threads > 1 else [])
        self.run(["verilator", "--cc", "--build", "-j", "1", "-O3", "--expand-limit", "4096",
            "--x-assign", "fast", "--x-initial", "0", "-Wno-fatal", "-Wno-lint", "-Wno-style",
            "--Mdir", name, "--prefix", name, "--top-module", "tutti_machine_system",
            f"-GCores={size.cores // size.threads}", f"-GSockets={size.sockets}",
            f"-GMessages={size.messages}", f"-GThreads={size.threads}", "-MAKEFLAGS",
            "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1",
            *(MACHINE / "sim" / rule for rule in rules), *sources])  # fmt: skip
        self.run([*self.compiler, f"-DTUTTI_MODEL={name}", f"-DTUTTI_MODEL_CORES={size.cores}",
            f"-DTUTTI_MODEL_SOCKETS={size.sockets}", "-DTUTTI_MODEL_IDEAL=0",
            f"-DTUTTI_MODEL_MESSAGES={size.messages}", f"-DTUTTI_MODEL_THREADS={size.threads}",
            "-I", name, "-c", MACHINE / "sim" / "model.cpp", "-o", f"{name}.o"])  # fmt: skip
        self.say(f"model {name} built")
        return [f"{name}.o", f"{name}/{name}__ALL.a"]

    def harness(self) -> list:
        """Compiles what all tests use; returns what is linked."""
        sources = self.runtime + [MACHINE / "sim" / name for name in ("system.cpp",
            "change_over.cpp", "checked_run.cpp")]  # fmt: skip
        for number, source in enumerate(sources):
            self.run([*self.compiler, "-c", source, "-o", f"common{number}.o"])
        self.say("harness compiled")
        return [f"common{number}.o" for number in range(len(sources))]

    def passes(self, tests: str, objects: list) -> bool:
        """Builds a test program, and runs it until a test fails."""
        self.run([*self.compiler, "-c", MACHINE / "sim" / f"{tests}.cpp", "-o", f"{tests}.o"])
        self.run(["g++", f"{tests}.o", *objects, "-lgtest", "-lgtest_main", "-pthread", "-o",
            tests])  # fmt: skip
        self.say(f"{tests} built")
        limit = (SECONDS_OF_TESTS, SECONDS_OF_TESTS + 60)
        ended = subprocess.run([self.folder / tests, "--gtest_fail_fast"], cwd=self.folder,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit),
            check=False).returncode  # fmt: skip
        if ended == -signal.SIGXCPU:
            print(f"{tests}: no end in {SECONDS_OF_TESTS} s of processor time")
        self.say(f"{tests} {'passed' if ended == 0 else 'failed'}")
        return ended == 0


def main(part: Part, folder: pathlib.Path, sources: list) -> int:
    missing = [tool for tool in ("verilator", "riscv64-unknown-elf-g++") if not shutil.which(tool)]
    if missing:
        print(f"{' and '.join(missing)}: not installed")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    builder = Builder(folder)
    builder.images(part.programs)
    objects = builder.harness()
    for size in part.sizes:
        objects += builder.model(size, sources)
    return 0 if all(builder.passes(tests, objects) for tests in part.tests) else 1


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in PARTS:
        sys.exit(__doc__)
    sys.exit(main(PARTS[sys.argv[1]], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]))
