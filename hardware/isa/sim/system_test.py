# SPDX-License-Identifier: Apache-2.0
"""system_test.py FOLDER SOURCE...: the system's tests (tests.cpp) on a model made of these sources.

hardware/flow judges mutants by it; CMake builds the same tests from the sources that are here. The
exit status is 0 if all tests pass, 1 if one fails, 3 if something does not build, and 77 if a tool
is missing.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

ISA = pathlib.Path(__file__).resolve().parents[1]
CORE = "pythondata_cpu_picorv32/verilog/picorv32.v"


def build(command: list, folder: pathlib.Path, extra: dict | None = None) -> None:
    """Runs a command; a failure ends this program."""
    made = subprocess.run([str(word) for word in command], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **(extra or {})},
        check=False)  # fmt: skip
    if made.returncode != 0:
        print(made.stdout)
        sys.exit(3)


def main(folder: pathlib.Path, sources: list) -> int:
    core = pathlib.Path(sysconfig.get_path("purelib")) / CORE
    missing = [tool for tool in ("verilator", "riscv64-unknown-elf-gcc") if not shutil.which(tool)]
    if missing or not core.is_file():
        print(f"{' and '.join(missing) or 'picorv32.v'}: not installed")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build(["sh", ISA / "software" / "build.sh", folder / "image", "tests",
        ISA / "software" / "tests.c"], folder)  # fmt: skip
    # No name of this folder stands in what the compiler reads, so that ccache knows it again.
    (folder / "image.h").write_text('#define TUTTI_ISA_TESTS_IMAGE "image/tests.bin"\n')
    flags = f"-std=c++20 -O1 -DVM_TRACE=0 -include ../image.h -I{ISA / 'sim'}"
    cached = {"OBJCACHE": "ccache", "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}
    build(["verilator", "--cc", "--exe", "--build", "-j", "1", "-O3", "--x-assign", "fast",
        "--x-initial", "0", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--Mdir", "model",
        "--top-module", "tutti_isa_system", "-o", "harness", "-MAKEFLAGS",
        "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1", "-CFLAGS", flags,
        "-LDFLAGS", "-lgtest -lgtest_main -lpthread", ISA / "sim" / "waive.vlt", *sources, core,
        ISA / "sim" / "tests.cpp", ISA / "sim" / "system.cpp"],
        folder, cached if shutil.which("ccache") else None)  # fmt: skip
    tests = subprocess.run(["model/harness", "--gtest_fail_fast", "--gtest_brief=1"], cwd=folder,
        check=False)  # fmt: skip
    return 1 if tests.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]))
