# SPDX-License-Identifier: Apache-2.0
"""The programs that programs.py runs, where they are, and what they read."""

import pathlib
import random
import shutil
import subprocess
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
OPENBLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp"
GROMACS = "/usr/share/gromacs/top/spc216.gro"


@dataclass(frozen=True)
class Program:
    """`command` has {n} for the number of threads. `results` finds what is compared in the output;
    without it the whole output is. `files` are compared too, `needs` must exist."""

    name: str
    package: str
    command: str
    results: str = ""
    files: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    # Whether it refuses to run with more threads than there are CPUs.
    wants_cpus: bool = False

    @property
    def is_job(self) -> bool:
        return "jobs.py" in self.command


def job(name: str, package: str, **more: object) -> Program:
    return Program(name, package, f"{{python}} {{here}}/jobs.py {name}", r"^result .*", **more)


PROGRAMS = (
    job("scikit_learn", "PyPI's scikit-learn"),
    job("pytorch", "PyPI's torch"),
    job("xgboost", "PyPI's xgboost-cpu"),
    job("lightgbm", "PyPI's lightgbm"),
    job("faiss", "PyPI's faiss-cpu"),
    job("pyscf", "PyPI's pyscf"),
    Program(
        "openblas", "Debian's libopenblas0-openmp and python3-numpy",
        "/usr/bin/python3 {here}/jobs.py openblas", r"^result .*",
        needs=(f"{OPENBLAS}/libblas.so.3", "/usr/lib/python3/dist-packages/numpy"),
        settings=(("LD_LIBRARY_PATH", OPENBLAS),),
    ),
    job("fftw", "Debian's libfftw3-double3", needs=(
        "/usr/lib/x86_64-linux-gnu/libfftw3_omp.so.3",)),
    Program(
        "iqtree2", "Debian's iqtree",
        "iqtree2 -s dna.phy -m GTR+G -nt {n} -seed 1 -n 5 -redo -pre iqtree",
        r"^(?:BEST SCORE|Optimal log-likelihood).*", files=("iqtree.treefile",),
        wants_cpus=True,
    ),
    Program("fasttree", "Debian's fasttree", "fasttreeMP -quiet -nopr -nt -gtr -seed 1 dna.fa"),
    Program("clustalo", "Debian's clustalo", "clustalo -i protein.fa --threads={n}"),
    Program("primecount", "Debian's primecount-bin", "primecount 1e14 --threads={n}"),
    Program(
        "xtb", "Debian's xtb (Fortran)", "xtb water.xyz --gfn 2 -P {n} --norestart --grad",
        r"TOTAL ENERGY.*|GRADIENT NORM.*", files=("water.engrad",),
    ),
    Program(
        "gromacs", "Debian's gromacs",
        "gmx -quiet mdrun -s water.tpr -deffnm water -ntmpi 1 -ntomp {n} -reprod -nb cpu -pin off",
        r"^$", files=("water.gro",), needs=(GROMACS,), settings=(("GMX_MAXBACKUP", "-1"),),
    ),
    Program(
        "graphicsmagick", "Debian's graphicsmagick",
        "gm convert picture.ppm -blur 0x1 -sharpen 0x1 -median 1 ppm:-",
    ),
    Program("gmic", "Debian's gmic", "gmic picture.ppm -blur 3 -median 5 -o ppm:-"),
)


def python_with(module: str, candidates: list[str]) -> str:
    """The first Python that has the module, or an empty string."""
    for each in candidates:
        done = subprocess.run(
            [each, "-c", f"import importlib.util as u; exit(u.find_spec('{module}') is None)"],
            check=False, stderr=subprocess.DEVNULL,
        )
        if done.returncode == 0:
            return each
    return ""


MODULES = {"scikit_learn": "sklearn", "fftw": "numpy", "pytorch": "torch"}


def arguments_of(program: Program, threads: int, pythons: list[str]) -> list[str] | None:
    """The program's command line, or None if it is not installed."""
    python = ""
    if "{python}" in program.command:
        python = python_with(MODULES.get(program.name, program.name), pythons)
    words = program.command.format(n=threads, here=HERE, python=python or "absent").split()
    missing = shutil.which(words[0]) is None or not all(
        pathlib.Path(each).exists() for each in program.needs
    )
    return None if missing else words


# ---- inputs


def make_inputs(folder: pathlib.Path) -> None:
    """Writes the inputs of all programs, which are the same each time."""
    folder.mkdir(parents=True, exist_ok=True)
    source = random.Random(1)

    def evolve(sequence: str, letters: str, rate: float) -> str:
        return "".join(source.choice(letters) if source.random() < rate else c for c in sequence)

    def family(count: int, sequence: str) -> list[str]:
        if count == 1:
            return [sequence]
        left = source.randint(1, count - 1)
        parts = (left, count - left)
        return [
            each
            for part in parts
            for each in family(part, evolve(sequence, "ACGT", 0.05 + 0.1 * source.random()))
        ]

    dna = family(30, "".join(source.choice("ACGT") for _ in range(1200)))
    (folder / "dna.fa").write_text("".join(f">t{i}\n{s}\n" for i, s in enumerate(dna)))
    rows = "".join(f"t{i} {s}\n" for i, s in enumerate(dna))
    (folder / "dna.phy").write_text(f"{len(dna)} {len(dna[0])}\n{rows}")
    acids = "ACDEFGHIKLMNPQRSTVWY"
    root = "".join(source.choice(acids) for _ in range(200))
    proteins = [evolve(root, acids, 0.4) for _ in range(30)]
    (folder / "protein.fa").write_text("".join(f">p{i}\n{s}\n" for i, s in enumerate(proteins)))
    width, height = 900, 700
    (folder / "picture.ppm").write_bytes(
        f"P6 {width} {height} 255\n".encode()
        + bytes(
            (x * y * (c + 1) // 97 + (source.random() < 0.1) * 80) % 256
            for y in range(height)
            for x in range(width)
            for c in range(3)
        )
    )
    atoms = []
    for x, y, z in ((3.0 * (i % 3), 3.0 * (i // 3 % 3), 3.0 * (i // 9)) for i in range(27)):
        atoms += [f"O {x} {y} {z}", f"H {x + 0.96} {y} {z}", f"H {x - 0.24} {y + 0.93} {z}"]
    (folder / "water.xyz").write_text(f"{len(atoms)}\n\n" + "\n".join(atoms) + "\n")
    make_gromacs_input(folder)


def make_gromacs_input(folder: pathlib.Path) -> None:
    if shutil.which("gmx") is None or not pathlib.Path(GROMACS).exists():
        return
    (folder / "water.top").write_text(
        '#include "oplsaa.ff/forcefield.itp"\n#include "oplsaa.ff/spce.itp"\n'
        "[ system ]\nwater\n[ molecules ]\nSOL 216\n"
    )
    (folder / "water.mdp").write_text(
        "integrator = md\ndt = 0.002\nnsteps = 400\nnstlist = 10\ncoulombtype = PME\n"
        "rcoulomb = 0.9\nrvdw = 0.9\nfourierspacing = 0.12\ngen-vel = yes\ngen-temp = 300\n"
        "gen-seed = 1\n"
    )
    subprocess.run(
        ["gmx", "grompp", "-f", "water.mdp", "-c", GROMACS, "-p", "water.top", "-o", "water.tpr"],
        cwd=folder, check=True, capture_output=True,
    )
