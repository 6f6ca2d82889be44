# SPDX-License-Identifier: Apache-2.0
"""Solves Poisson's equation by PETSc's conjugate gradients, which make three sums in each
iteration, and prints the residuals and the seconds: with -solves N the median and the least of N
solutions. With -share it also prints which part of the solutions' time its sums take, their
arithmetic included."""

import statistics
import sys
import time

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

n = PETSc.Options().getInt("n", 48)
grid = PETSc.DMDA().create([n, n], stencil_width=1)
a = grid.createMatrix()
(x0, x1), (y0, y1) = grid.getRanges()
row, col = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for y in range(y0, y1):
    for x in range(x0, x1):
        row.index = (x, y)
        for dx, dy, value in ((0, 0, 4), (1, 0, -1), (-1, 0, -1), (0, 1, -1), (0, -1, -1)):
            if 0 <= x + dx < n and 0 <= y + dy < n:
                col.index = (x + dx, y + dy)
                a.setValueStencil(row, col, value)
a.assemble()
u, b = a.createVecs()
b.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(a)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-8)
sums = []
if PETSc.Options().hasName("share"):
    PETSc.Log.begin()
    sums = [PETSc.Log.Event(name) for name in ("VecTDot", "VecDot", "VecNorm")]
residuals = []
solver.setMonitor(lambda _, i, r: residuals.append(r))
seconds = []
for _ in range(PETSc.Options().getInt("solves", 1)):
    u.set(0.0)
    residuals.clear()
    begin = time.perf_counter()
    solver.solve(b, u)
    seconds.append(time.perf_counter() - begin)
if a.comm.rank == 0:
    for i, r in enumerate(residuals):
        print(f"residual {i} {r:.15e}")
    print(f"seconds {statistics.median(seconds):.6f}, at least {min(seconds):.6f}")
    if sums:
        in_sums = sum(event.getPerfInfo()["time"] for event in sums)
        print(f"share of sums {in_sums / sum(seconds):.2f}")
