#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the log-likelihood of a real alignment with RAxML's and IQ-TREE's.

The alignment is the one that Debian's package iqtree installs as an example (17 vertebrates, 1,998
sites of mitochondrial DNA); it is read from where it is installed. RAxML finds a tree and a model
(GTR, Gamma) for it and prints the parameters to six digits. tutti-phylo and IQ-TREE then evaluate
that tree under those parameters, and tutti-phylo finds the branch lengths again. The exit status is
77 if a program or the alignment is not installed.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ALIGNMENT = pathlib.Path("/usr/share/doc/iqtree/examples/example.phy")
TOLERANCE = 1e-6  # relative


def skip(reason: str) -> None:
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def find_program(*names: str) -> str:
    for name in names:
        if path := shutil.which(name):
            return path
    skip(f"{names[0]} is not installed")
    raise AssertionError


def run(command: list[str], folder: pathlib.Path) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def number(pattern: str, text: str) -> float:
    match = re.search(pattern + r"\s*(-?[\d.]+(?:[eE][-+]?\d+)?)", text)
    if match is None:
        sys.exit(f"no '{pattern}' in:\n{text}")
    return float(match.group(1))


def model_of(info: str) -> str:
    """RAxML's parameters in the notation of tutti-phylo and IQ-TREE."""
    pairs = ("A <-> C", "A <-> G", "A <-> T", "C <-> G", "C <-> T", "G <-> T")
    rates = ",".join(str(number(f"rate {pair}:", info)) for pair in pairs)
    frequencies = [number(rf"freq pi\({base}\):", info) for base in "ACGT"]
    # Six digits do not sum to 1 exactly, and each program corrects that in its own way.
    frequencies = [f / sum(frequencies) for f in frequencies]
    shares = ",".join(f"{f:.17g}" for f in frequencies)
    return f"GTR{{{rates}}}+F{{{shares}}}+G4{{{number('alpha:', info)}}}"


def main() -> None:
    tutti = [str(pathlib.Path(sys.argv[1]).resolve())]
    raxml = find_program("raxmlHPC-PTHREADS", "raxmlHPC")
    iqtree = find_program("iqtree2", "iqtree")
    if not ALIGNMENT.is_file():
        skip(f"{ALIGNMENT} is not there; dpkg may be told to leave out documentation")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = ["-s", str(ALIGNMENT), "-m", "GTRGAMMA", "-p", "1"]
        threads = ["-T", "2"] if raxml.endswith("PTHREADS") else []
        run([raxml, *threads, "-y", *data, "-n", "start"], folder)
        start = "RAxML_parsimonyTree.start"
        run([raxml, *threads, "-f", "e", *data, "-t", start, "-n", "best"], folder)
        info = (folder / "RAxML_info.best").read_text()
        model = model_of(info)
        tree = "RAxML_result.best"
        values = {"RAxML": number("Final GAMMA  likelihood:", info)}

        fixed = [
            iqtree, "-s", str(ALIGNMENT), "-te", tree, "-blfix", "-m", model, "-nt", "1", "-pre",
            "iq",
        ]
        run(fixed, folder)
        values["IQ-TREE"] = number(
            "Log-likelihood of the tree:", (folder / "iq.iqtree").read_text()
        )

        def ours(command: str, file: str, *more: str) -> float:
            options = [
                "--alignment", str(ALIGNMENT), "--tree", file, "--model", model, "--threads", "2",
                "--json",
            ]
            line = json.loads(run([*tutti, command, *options, *more], folder).splitlines()[-1])
            return line["log_likelihood"]

        evaluated = ours("evaluate", tree)
        values["tutti-phylo, lengths found from 0.1"] = ours("optimize", start, "--repeat", "1")

    print(f"{model}\n  {evaluated:.6f}  tutti-phylo")
    failed = False
    for who, value in values.items():
        difference = abs(value - evaluated) / abs(evaluated)
        failed |= not difference <= TOLERANCE
        print(
            f"  {value:.6f}  {who}: "
            f"{difference:.1e}{'' if difference <= TOLERANCE else '  TOO FAR'}"
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
