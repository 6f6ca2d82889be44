# SPDX-License-Identifier: Apache-2.0
"""The product of situations in which the default is held against the rest: waits or gaps,
background, quota, threads.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby, product

from report.lines import Dataset
from report.runs import Command, Programs, Run, joined

THREADS = (2, 4, 8, 64)
WAITS = ("none", "60us", "200us_rotating", "1ms")
WORK = ("1us-100us",)
GAPS = ("none", "60us", "200us", "1ms")
BACKGROUNDS = ("none", "light", "heavy")
QUOTAS = ("none", "1.5")
# What programs use, and the best choices that do not adapt: a pool of all peers would leave each a
# round or two.
BARRIER_PEERS = ("pthread", "std", "libgomp:default", "libgomp:passive", "libomp:hyper")
REGION_PEERS = (
    "libgomp:default", "libgomp:passive", "libomp:default", "libomp:passive", "tbb", "pthread",
)
# Where two threads wait on free cores, those that always spin too.
ACTIVE = ("libgomp:active", "libomp:active")
BARRIERS = ("--algorithms", "default,ticket", "--wait", "yield")
TEAMS = ("--ranks", "none", "--kind", "empty", "--algorithms", "default")
# Lengths of waits and gaps of the plots, with two threads.
LENGTHS = (
    "1us", "10us", "20us", "40us", "60us", "100us", "200us", "500us", "1ms", "2ms", "5ms", "10ms",
)
# Seconds for each number of threads: where nothing else runs, and beside other processes. Every
# situation gets its share, whatever is found there: more rounds for those in which the default
# loses would undo losses that are chance, and leave wins that are chance.
FREE_SECONDS = {"barrier": 20.0, "region": 12.0}
BESIDE_SECONDS = {"barrier": 70.0, "region": 40.0}
# Where a contender got no round, all contenders are measured again, for so many seconds a situation
# and at most so many in all.
AGAIN_SECONDS, MOST_AGAIN_SECONDS = 4.0, {"barrier": 60.0, "region": 40.0}
# What the command says of a contender that it did not come to (bench/harness/sweeps.cpp).
NO_ROUND = "the time was up before its first round"


def _part(waits: tuple[str, ...], prefix: str) -> list[str]:
    return ["" if each == "none" else f"{prefix}_{each}" for each in waits]


def names(benchmark: str) -> list[str]:
    """The scenario of every situation of the product, as the command names them."""
    if benchmark == "region":
        first = _part(GAPS, "gap")
    else:
        first = _part(WAITS, "imbalance") + [f"work_{each.replace('-', '_')}" for each in WORK]
    parts = product(first, _part(BACKGROUNDS, "background"), _part(QUOTAS, "quota"))
    return ["+".join(filter(None, each)) or "free" for each in parts]


def _contenders(tutti: str, benchmark: str) -> Command:
    if benchmark == "region":
        return (tutti, "bench", "team", *TEAMS, "--peers", ",".join(REGION_PEERS))
    return (tutti, "bench", "barrier", *BARRIERS, "--peers", ",".join(BARRIER_PEERS))


def _again(tutti: str, benchmark: str, data: Dataset) -> tuple[Command, ...]:
    """The situations where a contender got no round, a call for each number of threads and session.
    No figure decides which these are.
    """
    unmeasured = {
        (line["threads"], line.get("session") or "", line["scenario"])
        for line in data.skipped
        if line.get("reason") == NO_ROUND
    }
    chosen = sorted(unmeasured)
    seconds = min(AGAIN_SECONDS, MOST_AGAIN_SECONDS[benchmark] / max(1, len(chosen)))
    calls = []
    for (threads, session), found in groupby(chosen, key=lambda each: each[:2]):
        scenarios = [scenario for _, _, scenario in found]
        calls.append(
            (
                *_contenders(tutti, benchmark), "--threads", str(threads), "--scenario",
                ",".join(scenarios), *(("--session", session) if session else ()), "--time",
                f"{seconds * len(scenarios):g}", "--json",
            )
        )
    return tuple(calls)


def _calls(tutti: str, benchmark: str, quick: bool) -> tuple[list[Command], float]:
    """A call for each number of threads and each kind of background: what is compared is
    interleaved within a call.
    """
    options = [
        *_contenders(tutti, benchmark),
        *(
            ("--gap", ",".join(GAPS))
            if benchmark == "region"
            else ("--imbalance", ",".join(WAITS), "--work", ",".join(WORK))
        ),
    ]
    # In sessions of their own too, where the yields of those who wait do not reach the neighbours;
    # a quota's group ends that.
    beside = ",".join(each for each in BACKGROUNDS if each != "none")
    free_s, beside_s = FREE_SECONDS[benchmark], BESIDE_SECONDS[benchmark]
    forms: list[tuple[float, tuple[str, ...]]] = [
        (free_s, ()),
        (beside_s, ("--background", beside, "--session", "same,own")),
        (
            beside_s,
            (
                "--background", ",".join(BACKGROUNDS), "--quota",
                ",".join(each for each in QUOTAS if each != "none"),
            ),
        ),
    ]
    calls, seconds = [], 0.0
    for threads in THREADS[:2] if quick else THREADS:
        for each, form in forms[:1] if quick else forms:
            each = 2.0 if quick else each
            calls.append(
                (
                    *options, "--threads", str(threads), *form, "--product", "--time", f"{each:g}",
                    "--json",
                )
            )
            seconds += each
    return calls, seconds


def runs(cores: int, quick: bool, programs: Programs) -> list[Run]:
    tutti = str(programs.tutti)
    made = []
    for benchmark, name, question in (
        ("barrier", "situations", "barriers: waits x background x quota x threads"),
        ("region", "situations_regions", "regions: gaps x background x quota x threads"),
    ):
        calls, seconds = _calls(tutti, benchmark, quick)
        again = None if quick else partial(_again, tutti, benchmark)
        seconds += MOST_AGAIN_SECONDS[benchmark] if again else 0
        made.append(Run(name, question, seconds, programs.tutti, tuple(calls), again=again))
    lengths = ",".join(LENGTHS[2:9:2] if quick else LENGTHS)
    seconds = 3.0 if quick else 30.0
    ends = ("--time", f"{seconds:g}", "--json")
    waits = (
        tutti, "bench", "barrier", "--threads", "2", "--algorithms", "default,ticket", "--wait",
        "spin,park", "--imbalance", lengths,
    )
    gaps = (tutti, "bench", "team", "--threads", "2", *TEAMS, "--gap", lengths)
    made.append(
        Run(
            "waits", "waits of every length", seconds, programs.tutti,
            ((*waits, "--peers", ",".join(BARRIER_PEERS + ACTIVE), *ends),),
        )
    )
    made.append(
        Run(
            "gaps", "gaps of every length", seconds, programs.tutti,
            ((*gaps, "--peers", ",".join(REGION_PEERS + ACTIVE), *ends),),
        )
    )
    made.append(_recover(tutti, cores, quick, programs))
    return made


def _recover(tutti: str, cores: int, quick: bool, programs: Programs) -> Run:
    seconds = 4.0 if quick else 50.0
    ended = "background_heavy" if quick else "background_heavy,imbalance_1ms,to_imbalance_1ms"
    counts = joined(sorted({2, 2 * cores}))
    call = (
        tutti, "bench", "barrier", *BARRIERS, "--peers", ",".join(BARRIER_PEERS), "--threads",
        counts, "--recover", ended,
        "--session", "same,own", "--time", f"{seconds:g}", "--json",
    )
    return Run("recover", "how long a change is remembered", seconds, programs.tutti, (call,))
