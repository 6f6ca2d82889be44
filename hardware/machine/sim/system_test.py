# SPDX-License-Identifier: Apache-2.0
"""system_test.py FOLDER SOURCE...: the tests of the machine (system_tests.cpp) and of the programs
on it (software_tests.cpp), on models made of these sources.

hardware/flow judges mutants by it; CMake builds the same tests from the sources that are here. The
exit status is 0 if all tests pass, 1 if one fails, 3 if something does not build, and 77 if a tool
is missing.
"""

import os
import pathlib
import shutil
import subprocess
import sys

MACHINE = pathlib.Path(__file__).resolve().parents[1]
ROOT = MACHINE.parents[1]
# Threads and sockets of the models, whether they have mailboxes, and threads of a core.
SIZES = ((4, 1, 0, 1), (4, 2, 0, 1), (4, 1, 1, 1), (4, 4, 1, 1), (16, 1, 1, 4))
PROGRAMS = ("bench", "change_over", "conformance", "costs", "litmus", "messages", "streamcluster",
    "tests")  # fmt: skip


def build(command: list, folder: pathlib.Path, extra: dict | None = None) -> str:
    """Runs a command and returns what it says; a failure ends this program."""
    made = subprocess.run([str(word) for word in command], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **(extra or {})},
        check=False)  # fmt: skip
    if made.returncode != 0:
        print(made.stdout)
        sys.exit(3)
    return made.stdout


def main(folder: pathlib.Path, sources: list) -> int:
    missing = [tool for tool in ("verilator", "riscv64-unknown-elf-g++") if not shutil.which(tool)]
    if missing:
        print(f"{' and '.join(missing)}: not installed")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    images = folder / "images"
    images.mkdir(parents=True)
    software = MACHINE / "software"
    for program in PROGRAMS:
        build([software / "build.sh", images, program, software / f"{program}.cpp"], folder)
    build(["riscv64-unknown-elf-gcc", "-march=rv32ima", "-misa-spec=2.2", "-mabi=ilp32",
        "-nostdlib", "-Wl,-Ttext=0", software / "devices.S", "-o", "images/devices.elf"],
        folder)  # fmt: skip
    build(["riscv64-unknown-elf-objcopy", "-O", "binary", "images/devices.elf",
        "images/devices.bin"], folder)  # fmt: skip

    verilator = build(["verilator", "--getenv", "VERILATOR_ROOT"], folder).strip() + "/include"
    cached = {"OBJCACHE": "ccache", "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}
    cached = cached if shutil.which("ccache") else {}
    compiler = (["ccache"] if cached else []) + ["g++", "-std=c++20", "-O1", f"-I{ROOT}",
        f"-I{ROOT}/include", "-isystem", verilator, "-isystem", f"{verilator}/vltstd",
        '-DTUTTI_MACHINE_IMAGES="images"']  # fmt: skip
    common = [f"{verilator}/verilated.cpp", f"{verilator}/verilated_threads.cpp"]
    common += [MACHINE / "sim" / name for name in ("system.cpp", "change_over.cpp",
        "checked_run.cpp")]  # fmt: skip
    objects = []
    for cores, sockets, messages, threads in SIZES:
        name = f"Vmachine_{cores}_{sockets}" + ("_messages" if messages else "")
        name += f"_{threads}_threads" if threads > 1 else ""
        build(["verilator", "--cc", "--build", "-j", "1", "-O3", "--expand-limit", "4096",
            "--x-assign", "fast", "--x-initial", "0", "-Wno-fatal", "-Wno-lint", "-Wno-style",
            "--Mdir", name, "--prefix", name, "--top-module", "tutti_machine_system",
            f"-GCores={cores // threads}", f"-GSockets={sockets}", f"-GMessages={messages}",
            f"-GThreads={threads}", "-MAKEFLAGS",
            "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1", MACHINE / "sim" / "machine.vlt",
            *sources], folder, cached)  # fmt: skip
        build([*compiler, f"-DTUTTI_MODEL={name}", f"-DTUTTI_MODEL_CORES={cores}",
            f"-DTUTTI_MODEL_SOCKETS={sockets}", "-DTUTTI_MODEL_IDEAL=0",
            f"-DTUTTI_MODEL_MESSAGES={messages}", f"-DTUTTI_MODEL_THREADS={threads}", "-I", name,
            "-c", MACHINE / "sim" / "model.cpp", "-o", f"{name}.o"], folder, cached)  # fmt: skip
        objects += [f"{name}.o", f"{name}/{name}__ALL.a"]
    for number, source in enumerate(common):
        build([*compiler, "-c", source, "-o", f"common{number}.o"], folder, cached)
        objects.append(f"common{number}.o")
    for tests in ("system_tests", "software_tests", "message_tests", "thread_tests"):
        build([*compiler, "-c", MACHINE / "sim" / f"{tests}.cpp", "-o", f"{tests}.o"], folder,
            cached)  # fmt: skip
        build(["g++", f"{tests}.o", *objects, "-lgtest", "-lgtest_main", "-pthread", "-o", tests],
            folder)  # fmt: skip
        try:
            ended = subprocess.run([folder / tests, "--gtest_fail_fast", "--gtest_brief=1"],
                cwd=folder, timeout=600, check=False)  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"{tests}: no end in 600 s")
            return 1
        if ended.returncode != 0:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]))
