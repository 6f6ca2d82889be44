# SPDX-License-Identifier: Apache-2.0
"""Numbers that others measured, to stand beside this machine's.

The tables of Berger and Stamatakis 2010 (barriers for fine-grain parallel regions), as printed:
seconds. A row is a form of the barrier, a column a system; tutti's name stands beside each form
that can be chosen by name.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperTable:
    systems: tuple[str, ...]
    # (the paper's name, tutti's name, seconds)
    rows: tuple[tuple[str, str, tuple[float, ...]], ...]

    def ratios(self) -> list[list[float]]:
        """Every number over the best of its column."""
        best = [min(seconds[i] for _, _, seconds in self.rows) for i in range(len(self.systems))]
        return [[value / best[i] for i, value in enumerate(seconds)] for _, _, seconds in self.rows]


SEVEN = (
    "Core 2 Duo (2)", "Core 2 Quad (4)", "Core i5 (4)", "Nehalem (8)", "Barcelona (16)",
    "x4440 (24)", "x4600 (32)",
)
REGIONS_1, REGIONS_2 = 10_000_000, 100_000

TABLE_1 = PaperTable(
    SEVEN,
    (
        ("Lock-Free", "flags", (2.366, 7.315, 4.887, 15.589, 50.084, 66.97, 111.991)),
        (
            "Lock-Free-Padded", "flags_padded",
            (2.370, 6.577, 4.788, 13.559, 47.819, 63.488, 104.804),
        ),
        ("Recursive", "recursive", (2.390, 8.337, 5.200, 17.258, 70.774, 112.151, 180.155)),
        (
            "Recursive-Padded", "recursive_padded",
            (2.396, 7.554, 5.460, 14.883, 51.462, 73.222, 121.957),
        ),
        ("Atomic-Inc-Add", "atomic", (2.432, 7.439, 4.640, 14.682, 48.799, 65.590, 107.950)),
        ("Mutex-Inc-Add", "mutex", (3.121, 60.92, 20.236, 105.135, 438.651, 636.085, 1413.045)),
    ),
)

TABLE_2 = PaperTable(
    SEVEN,
    (
        ("Lock-Free", "flags", (9.087, 7.753, 8.675, 8.343, 14.305, 16.738, 12.291)),
        ("Lock-Free-Padded", "flags_padded", (9.093, 7.717, 8.676, 8.328, 14.324, 15.466, 12.343)),
        ("Recursive", "recursive", (9.086, 7.762, 8.679, 8.368, 14.469, 17.223, 12.963)),
        (
            "Recursive-Padded", "recursive_padded",
            (9.105, 7.700, 8.681, 8.350, 14.344, 15.978, 12.470),
        ),
        ("Atomic-Inc-Add", "atomic", (9.058, 7.747, 8.672, 8.365, 14.268, 15.996, 12.269)),
        ("Mutex-Inc-Add", "mutex", (9.025, 7.997, 8.794, 9.053, 18.097, 17.204, 23.507)),
    ),
)

TABLE_3 = PaperTable(
    ("x4600 (32)", "Barcelona (16)", "Nehalem (8)", "x4440 (24)"),
    (
        ("Lock-Free", "flags_plain", (9.260, 16.421, 22.916, 12.559)),
        ("Lock-Free-SSE3", "flags", (9.234, 16.378, 22.885, 12.533)),
        ("Lock-Free-Padded", "flags_padded_plain", (9.267, 16.433, 22.969, 12.630)),
        ("Recursive", "recursive_plain", (10.444, 16.679, 22.919, 13.058)),
        ("Recursive-Padded", "recursive_padded_plain", (9.387, 16.504, 23.016, 12.656)),
        ("Recursive-Padded-Red", "default_fan_2", (9.407, 16.510, 22.934, 12.725)),
        ("Atomic-Inc-Add", "atomic_plain", (11.669, 17.073, 22.916, 12.583)),
        ("Mutex-Inc-Add", "mutex_plain", (37.503, 22.303, 23.298, 20.254)),
    ),
)

TABLE_4 = PaperTable(
    ("x4600 (32)", "Barcelona (16)", "Nehalem (8)"),
    (
        ("Lock-Free", "flags_plain", (11.678, 13.803, 15.000)),
        ("Lock-Free-SSE3", "flags", (11.565, 13.705, 14.982)),
        ("Lock-Free-Padded", "flags_padded_plain", (11.590, 13.734, 14.920)),
        ("Lock-Free-Padded-SSE3", "flags_padded", (11.486, 13.722, 14.896)),
        ("Recursive", "recursive_plain", (16.743, 15.141, 15.090)),
        ("Recursive-Padded", "recursive_padded_plain", (11.935, 13.946, 14.996)),
        ("Recursive-Padded-Red", "default_fan_2", (12.062, 13.936, 14.890)),
        ("Atomic-Inc-Add", "atomic_plain", (21.039, 16.624, 15.171)),
        ("Mutex-Inc-Add", "mutex_plain", (126.252, 39.994, 18.908)),
    ),
)

# Section V: barriers and those with a reduction in so many optimisations, by taxa and columns.
BERGER_COUNTS = {
    "404 x 7429": (193_865, 129_535, 5), "1481 x 1241": (738_835, 502_185, 5),
}
# Section VI.B: where the threads run, seconds of table I's run, and over the better of its pair.
BERGER_PINNING = (
    ("Core 2 Quad, 2 threads, one cache of level 2", 1.8, 1.0),
    ("Core 2 Quad, 2 threads, two caches", 4.3, 4.3 / 1.8),
    ("Nehalem, 8 threads, 4 cores and their hyperthreads of one socket", 9.0, 1.0),
    ("Nehalem, 8 threads, 8 cores of two sockets", 13.6, 13.6 / 9.0),
)

# Figure 1 of Hetland et al. 2019: the best software barrier of each machine, as the text prints it:
# (machine, threads, barrier, cycles).
HETLAND_1 = (
    ("NUMA-8", 384, "libgomp", 37_000),
    ("NUMA-4", 64, "tournament", 24_000),
    ("Xeon Phi", 256, "tournament", 12_000),
    ("HARP", 28, "libgomp", 3_300),
)
# Figure 3, in the words of the text: (what, threads, cycles), orders of magnitude on HARP.
HETLAND_3 = (("no barriers", 28, 100), ("tournament", 28, 10_000))
# Section 3.2: cycles of the processor in one of the FPGA.
HETLAND_CLOCKS = 6
# Section 3.3: (threads, cycles of the FPGA) of the barrier unit, two for each thread.
HETLAND_UNIT = (28, 56)
# Section 4.2: (machine, what the simulation's line says, cycles).
HETLAND_HBS = (
    ("Opteron 6272, one socket", {"Sockets": 1, "Local": 16, "l3_cycles": 20}, 20),
    ("Xeon E5-2600 v4, one socket", {"Sockets": 1, "Local": 28, "l3_cycles": 38}, 38),
    ("Skylake, one socket", {"Sockets": 1, "Local": 16, "l3_cycles": 42}, 42),
    ("Xeon Phi 7210, centre of the mesh", {"Sockets": 1, "Local": 28, "l3_cycles": 48}, 48),
    ("Xeon Phi 7210, nearest directory", {"Sockets": 1, "Local": 28, "l3_cycles": 64}, 64),
    ("Xeon Phi 7210, farthest directory", {"Sockets": 1, "Local": 28, "l3_cycles": 88}, 88),
    ("4 Opteron sockets", {"Sockets": 4, "Local": 16, "LinkLatency": 368, "l3_cycles": 20}, 390),
    ("4 Xeon sockets", {"Sockets": 4, "Local": 28, "LinkLatency": 440, "l3_cycles": 38}, 480),
)

# One packet through one NetFPGA, by figure 7 of Arap et al.
ARAP_PASSAGE_US, ARAP_PASSAGE_CYCLES = 1.32, 165
# Section 4.1: the same from the least times of figure 6.
ARAP_PASSAGE_OF_LEAST_US = 1.46
# What a step more costs, in us: (topology, step, average by figure 5, least by figure 6).
ARAP_GROWTH = (
    ("ring", "node", 2.0, 1.46), ("tree", "level", 3.5, 2.95), ("butterfly", "doubling", 3.5, 0.0),
)

# The programs of NESL that the report runs on the vector machine.
VECTOR_PROGRAMS = (
    "quicksort_1e6", "quicksort_rand_1e6", "quickhull_1e6", "quickhull_rand_1e6", "primes_1e6",
    "batcher_65536",
    "jacobi_256_off", "spmv_loop", "sort_rank_1e6", "nascg_rand", "fft_real_2e18", "dotp_1e7",
    "muladd_1e7", "bh_det",
)

# Hale and Dinda 2018, figure 19: least cycles on x64. The flight is the paper's difference.
HALE_PARTS = {
    "source": 43, "flight": 378, "destination": 729, "interrupt": 1150, "system_call": 232,
}

# The FPGAs of Naylor et al. 2020 run at this rate.
NAYLOR_CLOCK_HZ = 240e6
