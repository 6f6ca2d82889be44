#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the symbols that tutti's runtime exports with those of the installed libgomp, versions
included. They differ in nothing but the names below. OpenACC (acc_*, GOACC_*) is not tutti's:
programs that use it run under libgomp. Then looks for functions of the interface that no test
program calls."""

import subprocess
import sys

SKIPPED = 77

# The newest versions of the interface that tutti follows, GCC 12's. Another libgomp has other
# lists.
NEWEST = {"GOMP_5.1", "OMP_5.1"}

LOCKS = [
    f"omp_{action}_{kind}{ending}@OMP_1.0"
    for action in ("init", "destroy", "set", "unset", "test")
    for kind in ("lock", "nest_lock")
    for ending in ("", "_")
]

# What libgomp exports and tutti does not: the reason, and the symbols.
MISSING = {
    "Only programs that GCC before 4.4 compiled import the first layout of the locks.": LOCKS,
    "libgomp's plugins for devices call these; programs do not, and tutti has no devices.": [
        "GOMP_PLUGIN_acc_default_dim@GOMP_PLUGIN_1.2",
        "GOMP_PLUGIN_acc_thread@GOMP_PLUGIN_1.0",
        "GOMP_PLUGIN_async_unmap_vars@GOMP_PLUGIN_1.0",
        "GOMP_PLUGIN_debug@GOMP_PLUGIN_1.0",
        "GOMP_PLUGIN_error@GOMP_PLUGIN_1.0",
        "GOMP_PLUGIN_fatal@GOMP_PLUGIN_1.0",
        "GOMP_PLUGIN_goacc_profiling_dispatch@GOMP_PLUGIN_1.3",
        "GOMP_PLUGIN_goacc_thread@GOMP_PLUGIN_1.3",
        "GOMP_PLUGIN_malloc@GOMP_PLUGIN_1.0",
        "GOMP_PLUGIN_malloc_cleared@GOMP_PLUGIN_1.0",
        "GOMP_PLUGIN_realloc@GOMP_PLUGIN_1.0",
        "GOMP_PLUGIN_target_task_completion@GOMP_PLUGIN_1.1",
    ],
}

# What tutti exports and libgomp does not.
ADDED = {
    "GCC 13 has it.": [
        "GOMP_taskwait_depend_nowait@GOMP_5.1.1",
        "omp_get_mapped_ptr@OMP_5.1.1",
        "omp_in_explicit_task@OMP_5.2",
        "omp_in_explicit_task_@OMP_5.2",
        "omp_target_is_accessible@OMP_5.1.1",
        "omp_target_memcpy_async@OMP_5.1.1",
        "omp_target_memcpy_rect_async@OMP_5.1.1",
    ],
    "OpenMP 5.0 has it, for tools, of which libgomp has none.": [
        f"omp_control_tool{ending}@TUTTI_OPENMP" for ending in ("", "_")
    ],
    "omp.h of GCC 12 declares them and its libgomp has none.": [
        f"omp_init_{kind}_with_hint{ending}@TUTTI_OPENMP"
        for kind in ("lock", "nest_lock")
        for ending in ("", "_")
    ],
}

# What no test program calls.
UNCALLED = {
    "GCC 12's libgomp lacks them, so a program that is linked with it cannot import them. "
    "later_test.c looks them up.": [
        "GOMP_taskwait_depend_nowait",
        "omp_control_tool",
        "omp_get_mapped_ptr",
        "omp_in_explicit_task",
        "omp_init_lock_with_hint",
        "omp_init_nest_lock_with_hint",
        "omp_target_is_accessible",
        "omp_target_memcpy_async",
        "omp_target_memcpy_rect_async",
    ],
}


def exported(nm: str, library: str) -> set[str]:
    lines = subprocess.run(
        [nm, "--dynamic", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    # Symbols of the kind A are the versions themselves.
    names = {line.split()[-1].replace("@@", "@") for line in lines if line.split()[-2] != "A"}
    # Those with the version of LLVM's library are another interface.
    return {
        name
        for name in names
        if name.startswith(("GOMP_", "omp_")) and not name.endswith("@VERSION")
    }


def complaints(
    title: str, found: set[str], lists: dict[str, list[str]],
    otherwise: str = "a list has it, but the two runtimes agree",
) -> list[str]:
    known = {name for names in lists.values() for name in names}
    return [f"{title}, and no list has it: {name}" for name in sorted(found - known)] + [
        f"{otherwise}: {name}" for name in sorted(known - found)
    ]


def uncalled(nm: str, symbols: set[str], programs: list[str]) -> set[str]:
    """The functions for C among the symbols that none of the programs imports."""
    called = set()
    for each in programs:
        lines = subprocess.run(
            [nm, "--dynamic", "--undefined-only", each], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        called |= {line.split()[-1].partition("@")[0] for line in lines}
    names = {each.partition("@")[0] for each in symbols}
    return {each for each in names if not each.endswith("_")} - called


def main() -> int:
    nm, tutti, compiler, *programs = sys.argv[1:]
    libgomp = subprocess.run(
        [compiler, "-print-file-name=libgomp.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    ours, theirs = exported(nm, tutti), exported(nm, libgomp)
    versions = {name.partition("@")[2] for name in theirs}
    newest = {
        max((v for v in versions if v.startswith(kind)), key=version_key)
        for kind in ("GOMP_", "OMP_")
    }
    if newest != NEWEST:
        found, wanted = ", ".join(sorted(newest)), ", ".join(sorted(NEWEST))
        print(f"SKIPPED: {libgomp} has the versions {found}, not {wanted}")
        return SKIPPED
    wrong = complaints("tutti lacks it", theirs - ours, MISSING)
    wrong += complaints("libgomp lacks it", ours - theirs, ADDED)
    wrong += complaints(
        "no test program calls it", uncalled(nm, ours, programs), UNCALLED,
        "a list has it, but a test program calls it",
    )
    equal, missing = len(ours & theirs), len(theirs - ours)
    print("\n".join(wrong) or f"{equal} symbols are equal, {missing} are missing by intention")
    return 1 if wrong else 0


def version_key(version: str) -> list[int]:
    """The numbers of a version; those of the plugins' interface come first of all."""
    digits = version.rpartition("_")[2]
    return [] if "PLUGIN" in version else [int(each) for each in digits.split(".")]


if __name__ == "__main__":
    sys.exit(main())
