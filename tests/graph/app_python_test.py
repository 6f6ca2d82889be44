#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `tutti graph` with SciPy, NetworkX and Brian2. Argument: the command.

A package that is not installed is skipped with the reason. The exit status is 77 if nothing could
be compared.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

TUTTI = sys.argv[1]
MODES = [
    ["--mode", "sequential"], ["--mode", "sync", "--threads", "2"],
    ["--mode", "async", "--threads", "3"],
]


def run(application, graph, folder, *options, spikes=None):
    """The result's columns by name, as arrays of doubles."""
    output = pathlib.Path(folder) / "out.csv"
    more = ["--spikes", str(spikes)] if spikes else []
    command = [TUTTI, "graph", application, str(graph), "--output", str(output), *options, *more]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    rows = list(csv.reader(output.open()))
    return {name: np.array([float(row[i]) for row in rows[1:]]) for i, name in enumerate(rows[0])}


def random_graph(seed, vertices, edges, symmetric=False):
    random = np.random.default_rng(seed)
    a = random.integers(0, vertices, edges)
    b = random.integers(0, vertices, edges)
    pairs = {(int(u), int(v)) for u, v in zip(a, b)}
    if symmetric:
        pairs |= {(v, u) for u, v in pairs}
    pairs = sorted(pairs)
    return np.array(pairs), random.integers(1, 256, len(pairs)).astype(float)


def write_edges(path, edges, weights):
    path.write_text(
        "".join(f"{u} {v} {float(w)!r}\n" for (u, v), w in zip(edges.tolist(), weights))
    )


def test_networkx_pagerank(folder):
    import networkx

    for symmetric in (False, True):
        edges, weights = random_graph(1, 400, 2000, symmetric)
        path = pathlib.Path(folder) / "g.wel"
        write_edges(path, edges, weights)
        graph = networkx.DiGraph()
        graph.add_nodes_from(range(int(edges.max()) + 1))
        graph.add_edges_from(map(tuple, edges.tolist()))
        expected = networkx.pagerank(graph, alpha=0.85, tol=1e-14, max_iter=1000)
        for mode in MODES:
            rank = run("pagerank", path, folder, "--iterations", "300", *mode)["rank"]
            np.testing.assert_allclose(
                rank, [expected[v] for v in range(len(rank))], rtol=0, atol=1e-12
            )


def weighted_graph(folder, *shape):
    """A random graph: its file, its edges, and its matrix of weights for SciPy."""
    import scipy.sparse

    edges, weights = random_graph(*shape)
    path = pathlib.Path(folder) / "g.wel"
    write_edges(path, edges, weights)
    n = int(edges.max()) + 1
    ends = (edges[:, 0], edges[:, 1])
    return path, edges, scipy.sparse.csr_array((weights, ends), shape=(n, n))


def test_scipy_shortest_paths(folder):
    import scipy.sparse.csgraph

    path, _, matrix = weighted_graph(folder, 2, 300, 900)
    for source in (0, 17):
        expected = scipy.sparse.csgraph.dijkstra(matrix, indices=source)
        for mode in MODES:
            found = run("sssp", path, folder, "--source", str(source), *mode)["distance"]
            np.testing.assert_array_equal(found, expected)
    hops = scipy.sparse.csgraph.dijkstra(matrix, indices=range(200), unweighted=True)
    reached = np.isfinite(hops)
    for mode in MODES:
        found = run("mssp", path, folder, "--sources", "200", *mode)
        np.testing.assert_array_equal(found["sources"], reached.sum(axis=0))
        np.testing.assert_array_equal(found["total"], np.where(reached, hops, 0).sum(axis=0))
        np.testing.assert_array_equal(found["farthest"], np.where(reached, hops, 0).max(axis=0))


def test_scipy_breadth_first_and_components(folder):
    import scipy.sparse.csgraph

    path, edges, matrix = weighted_graph(folder, 6, 300, 330)
    source = int(edges[0, 0])
    hops = scipy.sparse.csgraph.dijkstra(matrix, indices=source, unweighted=True)
    count, labels = scipy.sparse.csgraph.connected_components(matrix, directed=False)
    assert count > 3
    lowest = np.array([np.flatnonzero(labels == label)[0] for label in labels])
    edge_set = set(map(tuple, edges.tolist()))
    for mode in MODES:
        found = run("bfs", path, folder, "--source", str(source), *mode)
        np.testing.assert_array_equal(found["distance"], np.where(np.isfinite(hops), hops, -1))
        for v, parent in enumerate(found["parent"].astype(int)):
            if v == source or parent < 0:
                continue
            assert (parent, v) in edge_set and hops[parent] + 1 == hops[v], (v, parent)
        found = run("components", path, folder, *mode)
        np.testing.assert_array_equal(found["component"], lowest)


def test_scipy_heat(folder):
    """Small steps approach the solution of dT/dt = A T, which SciPy's matrix exponential gives."""
    import scipy.linalg

    edges, weights = random_graph(3, 40, 200)
    path = pathlib.Path(folder) / "g.wel"
    write_edges(path, edges, weights)
    n = int(edges.max()) + 1
    rates = np.zeros((n, n))
    for (u, v), w in zip(edges, weights):
        rates[v, u] += w
        rates[v, v] -= w
    start = np.zeros(n)
    start[5] = 100
    step, steps = 1e-8, 100000
    expected = scipy.linalg.expm(rates * step * steps) @ start
    for mode in (MODES[0], MODES[1]):
        found = run(
            "heat", path, folder, "--source", "5", "--step", str(step), "--iterations", str(steps),
            *mode,
        )
        np.testing.assert_allclose(found["temperature"], expected, rtol=0, atol=2e-4)


def brian2():
    try:
        import brian2 as module
    except AttributeError as unfit:  # Brian2 2.9 uses a function that NumPy 2.4 no longer has
        raise ImportError(f"Brian2 does not fit NumPy {np.__version__}: {unfit}") from unfit
    return module


def brian_network(n, edges, weights, milliseconds, noise_seed=None):
    """Izhikevich's neurons as with `--variety 0 --euler`. Without a seed there is no noise but a
    constant input of 10.
    """
    b = brian2()
    b.prefs.codegen.target = "numpy"
    b.start_scope()
    b.defaultclock.dt = 1 * b.ms
    if noise_seed is not None:
        b.seed(noise_seed)
    current = "10" if noise_seed is None else "k*randn()"
    group = b.NeuronGroup(
        n,
        """dv/dt = (0.04*v**2 + 5*v + 140 - u + total)/ms : 1
           du/dt = a*(b*v - u)/ms : 1
           total : 1
           arrived : 1
           a : 1
           b : 1
           c : 1
           d : 1
           k : 1""",
        threshold="v >= 30",
        reset="v = c; u += d",
        method="euler",
    )
    excites = np.arange(n) < n * 4 // 5
    group.b = np.where(excites, np.float32(0.2), np.float32(0.25)).astype(float)
    group.a = float(np.float32(0.02))  # the same for both kinds, because nothing varies
    group.c = -65
    group.d = np.where(excites, 8, 2)
    group.k = np.where(excites, 5, 2)
    group.v = -65
    group.u = group.b * -65
    group.run_regularly(f"total = {current} + arrived; arrived = 0", when="start")
    synapses = b.Synapses(group, group, "w : 1", on_pre="arrived_post += w")
    synapses.connect(i=edges[:, 0], j=edges[:, 1])
    synapses.w = weights
    monitor = b.SpikeMonitor(group)
    network = b.Network(group, synapses, monitor)
    network.run(milliseconds * b.ms)
    return np.rint(np.asarray(monitor.t / b.ms)).astype(int), np.asarray(monitor.i)


def test_brian2_spike_times(folder):
    """A small network without noise: the same spikes at the same times."""
    brian2()
    edges, sizes = random_graph(4, 50, 500)
    n = int(edges.max()) + 1
    signs = np.where(edges[:, 0] < n * 4 // 5, 1, -2)
    weights = signs * np.round(sizes) / 64
    path = pathlib.Path(folder) / "g.wel"
    write_edges(path, edges, weights)
    times, neurons = brian_network(n, edges, weights, 300)
    expected = sorted(zip(times.tolist(), neurons.tolist()))
    assert len(expected) > 200, len(expected)
    spikes = pathlib.Path(folder) / "spikes.csv"
    for mode in MODES:
        run(
            "spiking", path, folder, "--iterations", "300", "--euler", "--variety", "0", "--noise",
            "0", "--input", "10", *mode, spikes=spikes,
        )
        found = sorted(
            (int(row["step"]), int(row["neuron"])) for row in csv.DictReader(spikes.open())
        )
        assert found == expected, (
            len(found), len(expected), [x for x in zip(found, expected) if x[0] != x[1]][:3],
        )


def test_brian2_rates(folder):
    """A network of 1,000 neurons with other noise: the same rates."""
    brian2()
    random = np.random.default_rng(5)
    n, degree = 1000, 100
    edges = np.stack([np.repeat(np.arange(n), degree), random.integers(0, n, n * degree)], axis=1)
    edges = np.unique(edges, axis=0)
    weights = (
        np.where(edges[:, 0] < 800, 0.5, -1) * np.round(random.random(len(edges)) * 1024) / 1024
    )
    path = pathlib.Path(folder) / "g.wel"
    path.write_text(
        "".join(f"{u} {v} {w!r}\n" for (u, v), w in zip(edges.tolist(), weights.tolist()))
    )
    _, neurons = brian_network(n, edges, weights, 1000, noise_seed=6)
    expected = np.array([(neurons < 800).sum() / 800, (neurons >= 800).sum() / 200])
    counts = run(
        "spiking", path, folder, "--iterations", "1000", "--euler", "--variety", "0", *MODES[1]
    )["spikes"]
    found = np.array([counts[:800].mean(), counts[800:].mean()])
    print(f"  spikes per second: excitatory {found[0]:.2f}, Brian2 {expected[0]:.2f}; "
          f"inhibiting {found[1]:.2f}, Brian2 {expected[1]:.2f}")
    np.testing.assert_allclose(found, expected, rtol=0.1, atol=0.3)


def main():
    compared = 0
    for name, test in [(n, f) for n, f in globals().items() if n.startswith("test_")]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
            except ImportError as missing:
                print(f"SKIPPED {name}: {missing}")
                continue
        print(f"ok {name}")
        compared += 1
    sys.exit(0 if compared else 77)


try:
    import numpy as np
except ImportError as missing_numpy:
    print(f"SKIPPED: {missing_numpy}")
    sys.exit(77)
main()
