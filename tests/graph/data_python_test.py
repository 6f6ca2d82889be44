#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that NumPy, SciPy and NetworkX read tutti's files, and that tutti reads theirs.

usage: data_python_test.py CONVERT    (the program graph_data_convert)
The exit status is 77 (skipped) if a package is missing.
"""

import pathlib
import subprocess
import sys
import tempfile

try:
    import networkx
    import numpy
    import scipy.io
    import scipy.sparse
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

SPECIFICATIONS = [
    "kron:scale=9,degree=6,simple=1,weights=integer",
    "kron:scale=9,degree=6,simple=1,symmetric=0,weights=real,low=-3,high=0.5",
    "geometric:vertices=700,degree=7,weights=one",
    "empty:vertices=5",
]


def convert(source: object, *targets: pathlib.Path) -> None:
    subprocess.run([sys.argv[1], str(source), *map(str, targets)], check=True)


def edge_matrix(path: pathlib.Path) -> scipy.sparse.csr_array:
    """A saved edge list, read by NumPy alone."""
    header = path.read_text().split("\n", 1)[0]
    n = int(header.split("vertices=")[1].split()[0])
    rows = numpy.loadtxt(path, ndmin=2).reshape(-1, 3)
    ends = rows[:, :2].astype(int).T
    return scipy.sparse.csr_array((rows[:, 2], (ends[0], ends[1])), shape=(n, n))


def same(a: scipy.sparse.csr_array, b: scipy.sparse.csr_array) -> bool:
    return a.shape == b.shape and (scipy.sparse.csr_array(a) != scipy.sparse.csr_array(b)).nnz == 0


def check_ours(specification: str, folder: pathlib.Path) -> None:
    names = [folder / name for name in ("g.wel", "g.mtx", "g.npy", "g.csv")]
    if specification.startswith("empty"):
        names = names[1:]
        convert(specification, *names)
        assert scipy.io.mmread(names[0]).shape == (5, 5)
        assert numpy.load(names[1]).tolist() == [0] * 5
        return
    convert(specification, *names)
    expected = edge_matrix(names[0])
    assert expected.nnz > 1000
    market = scipy.io.mmread(names[1])
    # Both read the shortest text of a float as a double.
    assert same(market, expected), "SciPy reads another Matrix Market graph"
    degree = numpy.load(names[2])
    assert degree.dtype == numpy.uint64
    assert (degree == numpy.diff(expected.indptr)).all(), "NumPy loads other degrees"
    table = numpy.loadtxt(names[3], delimiter=",", skiprows=1)
    assert (table[:, 0] == numpy.arange(len(degree))).all() and (table[:, 1] == degree).all()
    graph = networkx.read_weighted_edgelist(names[0], nodetype=int, create_using=networkx.DiGraph)
    graph.add_nodes_from(range(expected.shape[0]))
    ours = networkx.to_scipy_sparse_array(graph, nodelist=range(expected.shape[0]))
    assert same(ours, expected), "NetworkX reads another edge list"


def check_theirs(folder: pathlib.Path) -> None:
    random = numpy.random.default_rng(1)
    general = scipy.sparse.random_array((300, 300), density=0.02, rng=random).astype(numpy.float32)
    symmetric = general + general.T
    for matrix, options in (
        (general, {}),
        (symmetric, {"symmetry": "symmetric"}),
        ((general * 100).astype(int), {"field": "integer"}),
    ):
        scipy.io.mmwrite(folder / "theirs.mtx", matrix, **options)
        convert(folder / "theirs.mtx", folder / "theirs.wel")
        difference = edge_matrix(folder / "theirs.wel") - matrix
        assert abs(difference).max() <= 1e-6 * abs(matrix).max(), (
            f"tutti reads another graph: {options}"
        )
    scipy.io.mmwrite(folder / "pattern.mtx", general, field="pattern")
    convert(folder / "pattern.mtx", folder / "pattern.el")
    ends = numpy.loadtxt(folder / "pattern.el", dtype=int)
    assert set(map(tuple, ends)) == set(zip(*general.nonzero(), strict=True))

    graph = networkx.gnm_random_graph(200, 900, seed=3)
    networkx.write_edgelist(graph, folder / "theirs.txt", data=False)
    convert(folder / "theirs.txt", folder / "again.el")
    assert len((folder / "again.el").read_text().splitlines()) == 901


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for specification in SPECIFICATIONS:
            check_ours(specification, folder)
        check_theirs(folder)
    print(f"{len(SPECIFICATIONS)} graphs of ours and 5 of theirs are read alike")


if __name__ == "__main__":
    main()
