#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that code with a platform as its template parameter takes all of the machine from it.

The headers of these folders, and the vector machine, name no thread, thread-local object, clock,
atomic type, mutex or function of the host: they ask `Memory`, which a kernel or a simulator
replaces. (The native platform stands in include/tutti/platform/ and src/.)
"""

import dataclasses
import pathlib
import re
import sys

import sources
from sources import Violation

FOLDERS = [
    *(
        f"include/tutti/{layer}"
        for layer in "schedule wait barrier event message reduce team termination comm".split()
    ),
    "vcode/machine",
]

# What reaches around the platform, and what to write.
RULES = {
    r"\bstd::(?:j?thread|this_thread)\b|\bpthread_\w+": "Memory::threads",
    r"\bthread_local\b": "Memory::local<T>()",
    r"\b(?:steady|system|high_resolution)_clock::now\b": "Memory::now_ns()",
    r"\bclock_gettime\b|\bplatform::now_ns\b": "Memory::now_ns()",
    r"\bplatform::ticks(?:_per_ns)?\b": "Memory::ticks()",
    r"\bstd::atomic(?:_ref|_flag|_bool|_thread_fence)?\b(?!_)": "Memory::atomic<T> or setting<T>",
    r"\bstd::(?:mutex|condition_variable|shared_mutex|barrier|latch)\b": "Memory::mutex",
    r"\bplatform::(?:online_cpus|usable_cpus|process_cpus)\b": "Memory::cpus()",
    r"\bplatform::usable_cores\b": "Memory::cores()",
    r"\bplatform::(?:current_cpu|core_leaver_here|cpus_for)\b": "Memory::cpu() or leave_cpu()",
    r"\bsched_\w+": "Memory::cpu() or yield()",
    r"\bplatform::(?:cache_groups|machine)\b": "Memory::cache_groups()",
    r"\bplatform::(?:nap|pause|long_pause|poll_gap|futex_\w+)\b": "Memory::nap() or relax()",
    r"\bnative::": "Memory::",
}


@dataclasses.dataclass(frozen=True)
class Allowed:
    file: str
    pattern: str  # of what the line says
    reason: str


ALLOWED = [
    Allowed("vcode/machine/permute_operation.cpp", r"std::atomic_ref<T>",
               "elements of vectors are plain memory; two parts may store the same one"),
    Allowed("vcode/machine/context.cpp", r"std::atomic_ref<unsigned char>",
               "elements of vectors are plain memory"),
    Allowed("vcode/machine/run.cpp", r"native::(now_ns|cpus)|sched_getscheduler",
               "the entry for the native platform"),
    Allowed("vcode/machine/first_threads.hpp", r"native::now_ns|std::thread|std::atomic<|"
               r"platform::machine", "the native platform's threads before a team"),
]  # fmt: skip


def check_file(root: pathlib.Path, path: pathlib.Path, used: set[Allowed]) -> list[Violation]:
    name = path.relative_to(root).as_posix()
    found = []
    for line in sources.lines_of(path.read_text(encoding="utf-8")):
        for pattern, instead in RULES.items():
            match = re.search(pattern, line.code)
            if not match:
                continue
            allowed = [e for e in ALLOWED if e.file == name and re.search(e.pattern, line.code)]
            used.update(allowed)
            if not allowed:
                what = f"{match.group()} reaches around the platform; write {instead}"
                found.append(Violation(path, line.number, what))
    return found


def run(root: pathlib.Path) -> int:
    used: set[Allowed] = set()
    paths = list(sources.source_files(root, FOLDERS))
    found = []
    for path in paths:
        found += check_file(root, path, used)
    for each in ALLOWED:
        if each not in used and (root / each.file).exists():
            found.append(Violation(root / each.file, 1, f"no line needs {each.pattern!r} any more"))
    return sources.report("platform_parameter", root, len(paths), found)


if __name__ == "__main__":
    sys.exit(sources.main(__doc__, run))
