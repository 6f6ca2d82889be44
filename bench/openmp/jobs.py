#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs for libraries with OpenMP that programs.py runs: jobs.py NAME.

The job prints the seconds of wall and of processor time that the library has taken, without the
start of Python, and then the results. OMP_NUM_THREADS says how many threads the library may use.
"""

import ctypes
import hashlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

THREADS = int(os.environ.get("OMP_NUM_THREADS", "1"))


def samples(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points, and a label of each that depends on three of its coordinates."""
    points = np.random.default_rng(1).normal(size=(count, 10))
    return points, (points[:, 0] * points[:, 1] + points[:, 2] > 0).astype(int)


def scikit_learn() -> Callable[[], Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    points, labels = samples(2000)
    model = HistGradientBoostingClassifier(max_iter=40, random_state=1, early_stopping=False)
    return lambda: model.fit(points, labels).predict_proba(points)


def pytorch() -> Callable[[], Any]:
    import torch as library

    library.set_num_threads(THREADS)
    library.manual_seed(1)
    layer = library.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True).eval()
    tokens = library.randn(4, 32, 256)

    def job() -> Any:
        with library.no_grad():
            for _ in range(200):
                result = layer(tokens)
        return result.numpy()

    return job


def xgboost() -> Callable[[], Any]:
    import xgboost as library

    points, labels = samples(3000)
    settings = {"nthread": THREADS, "max_depth": 5, "objective": "binary:logistic", "seed": 1}

    def job() -> Any:
        data = library.DMatrix(points, labels)
        return library.train(settings, data, 60).predict(data)

    return job


def lightgbm() -> Callable[[], Any]:
    import lightgbm as library

    points, labels = samples(3000)
    settings = {
        "num_threads": THREADS, "objective": "binary", "seed": 1, "verbose": -1,
        "deterministic": True, "force_col_wise": True,
    }
    return lambda: library.train(settings, library.Dataset(points, labels), 40).predict(points)


def faiss() -> Callable[[], Any]:
    import faiss as library

    points = np.random.default_rng(1).random((4000, 32), dtype=np.float32)

    def job() -> Any:
        clusters = library.Kmeans(32, 64, niter=20, seed=1)
        clusters.train(points)
        index = library.IndexFlatL2(32)
        index.add(points)
        distances, _ = index.search(points[:500], 5)
        return np.concatenate([distances.ravel(), clusters.centroids.ravel()])

    return job


def pyscf() -> Callable[[], Any]:
    from pyscf import gto, scf

    water = "O {0} 0 0; H {1} 0 0.5; H {2} 0 0.5; "
    atoms = "".join(water.format(3 * i, 3 * i + 0.76, 3 * i - 0.76) for i in range(2))
    molecule = gto.M(atom=atoms, basis="6-31g", verbose=0)
    return lambda: np.float64(scf.RHF(molecule).kernel())


def openblas() -> Callable[[], Any]:
    first = np.random.default_rng(1).normal(size=(160, 160))

    def job() -> Any:
        matrix, results = first, []
        for _ in range(40):
            basis, _ = np.linalg.qr(matrix)
            matrix = matrix @ basis
            matrix /= np.abs(matrix).max()
            results.append(np.linalg.solve(matrix + 200 * np.eye(160), basis))
        return np.array(results)

    return job


def fftw() -> Callable[[], Any]:
    serial = ctypes.CDLL("libfftw3.so.3", ctypes.RTLD_GLOBAL)
    parallel = ctypes.CDLL("libfftw3_omp.so.3")
    parallel.fftw_init_threads()
    parallel.fftw_plan_with_nthreads(THREADS)
    make = serial.fftw_plan_dft_3d
    make.restype = ctypes.c_void_p
    make.argtypes = [ctypes.c_int] * 3 + [ctypes.c_void_p] * 2 + [ctypes.c_int, ctypes.c_uint]
    serial.fftw_execute.argtypes = [ctypes.c_void_p]
    side, estimate = 48, 64
    random = np.random.default_rng(1)
    values = random.normal(size=(side,) * 3) + 1j * random.normal(size=(side,) * 3)
    other = np.empty_like(values)
    ends = values.ctypes.data, other.ctypes.data
    there = make(side, side, side, *ends, -1, estimate)
    back = make(side, side, side, *reversed(ends), 1, estimate)

    def job() -> Any:
        for _ in range(60):
            serial.fftw_execute(there)
            serial.fftw_execute(back)
            values[:] /= side**3
        return values, other

    return job


JOBS = {
    each.__name__: each
    for each in (scikit_learn, pytorch, xgboost, lightgbm, faiss, pyscf, openblas, fftw)
}


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in JOBS:
        print(f"usage: jobs.py {'|'.join(JOBS)}", file=sys.stderr)
        return 2
    job = JOBS[sys.argv[1]]()
    wall, processor = time.perf_counter(), time.process_time()
    result = np.ascontiguousarray(job())
    print("seconds", time.perf_counter() - wall, time.process_time() - processor)
    print("result", hashlib.sha256(result.tobytes()).hexdigest())
    return 0


if __name__ == "__main__":
    sys.exit(main())
