# SPDX-License-Identifier: Apache-2.0
"""Runs about machines that are not here: `tutti sim`. The lines are the same on every machine and
in every run; two minutes in all, or everything when long.
"""

from __future__ import annotations

import sys

from report import registry
from report.papers import HETLAND_1
from report.runs import Command, Programs, Run, joined
from report.simulated import BARRIERS, BOARDS, CHOICES, EVENTS, PAPERS_BARRIERS, VCODE

# The machines of Hetland et al. by their names in the paper, and the numbers of threads that the
# figures show.
HETLAND = {"NUMA-8": "numa8", "NUMA-4": "numa4", "Xeon Phi": "knl", "HARP": "harp"}
THREADS = {
    "numa8": (2, 4, 8, 16, 24, 48, 96, 192, 384),
    "numa4": (2, 4, 8, 16, 32, 64),
    "knl": (2, 4, 8, 16, 32, 64, 128, 256),
    "harp": (2, 4, 8, 14, 28),
}
MOST = {HETLAND[machine]: threads for machine, threads, _, _ in HETLAND_1}
OWN = ("default", "tournament")
# The numbers that figure 7 of Hetland et al. changes: no limit on the link, and a link as fast as
# the cache of the last level.
NO_LIMIT = ("accelerator.requests=28",)
NEAR = ("accelerator.requests=512", "accelerator.request=8", "accelerator.answer=8")
# Four links from the farthest socket and back, as the paper counts, instead of two.
FOUR_LINKS = ("structure.link=368",)

# The machines of Hale and Dinda.
HALE = {"x64": "opteron64", "Xeon Phi": "phi3120"}
RECEIVERS = {"opteron64": 63, "phi3120": 227}

# Figure 8 of Naylor et al.: applications, their graph and the boards. The first three are the
# paper's on 4,096 threads; in the last two each vertex takes time in every step.
WIDE = "geometric:vertices=8192,degree=20,weights=integer,low=1,high=100"
NARROW = "geometric:vertices=1024,degree=10"
BOARDS_OF_4 = ("columns=2", "rows=2")
APPLICATIONS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "pagerank": (WIDE, BOARDS_OF_4, ()),
    "heat": (WIDE, BOARDS_OF_4, ()),
    "sssp": (WIDE, BOARDS_OF_4, ()),
    "mssp": (NARROW, (*BOARDS_OF_4, "threads=64"), ("--sources", "8")),
    "spiking": (NARROW, (*BOARDS_OF_4, "threads=64"), ("--iterations", "20")),
}
SEEDS = 5
# Figure 7: heat in so many steps, on 2 x 2 boards and on all; the largest graphs only when long.
GAIN_STEPS = 3
GAIN_THREADS = {BOARDS_OF_4: 4096, (): 49152}
GAIN_VERTICES, GAIN_FAN_OUTS = (1, 2, 4, 8), (4, 16, 32)
COMPONENTS = (4, 8, 12)
AVERAGE = (512, 1024, 2048, 8192)

# The machine on which the model was compared with measurements.
LOCAL = "local"


def runs(quick: bool, programs: Programs, long: bool = False) -> list[Run]:
    return [
        _barriers(quick, programs, long), _vcode(quick, programs), _events(quick, programs),
        _boards(quick, programs, long), _choices(quick, programs, long),
    ]


def _sim(programs: Programs, *options: str, setting: tuple[str, ...] = ()) -> Command:
    sets = [word for each in setting for word in ("--set", each)]
    return (str(programs.tutti), "sim", *options, *sets, "--json")


def _machines(programs: Programs) -> Command:
    return _sim(programs, "machines")


def _counts(machine: str, quick: bool) -> list[int]:
    counts = THREADS[machine]
    return sorted({*counts[:: 3 if quick else 1], counts[-1]})


def _barriers(quick: bool, programs: Programs, long: bool) -> Run:
    episodes = ("--episodes", "5" if quick else "20")

    def barrier(
        machine: str, counts: list[int], algorithms: str, setting: tuple[str, ...] = ()
    ) -> Command:
        return _sim(
            programs, "barrier", "--machine", machine, "--threads", joined(counts), "--algorithms",
            algorithms, *episodes, setting=setting,
        )

    software = ",".join((*OWN, *PAPERS_BARRIERS))
    calls = [_machines(programs)]
    for machine in THREADS:
        calls.append(barrier(machine, _counts(machine, quick), software))
        calls.append(barrier(machine, [MOST[machine]], "hbs,hbs_lines"))
    harp = _counts("harp", quick)
    calls += [
        barrier("harp", harp, "hardware"), barrier("harp", harp, "harp_counting", NEAR),
        barrier("harp", [MOST["harp"]], "harp_counting", NO_LIMIT),
        barrier("numa4", [MOST["numa4"]], "hbs", FOUR_LINKS),
    ]
    if long:
        # Numbers of threads beyond those of a machine would be more than one for each CPU.
        calls += [
            barrier(machine, [2**k for k in range(1, cpus.bit_length())], "all,papers")
            for machine, cpus in registry.SIMULATED_MACHINES.items()
            if machine not in (LOCAL, *THREADS)
        ]
    return Run(
        BARRIERS, "simulated: barriers on the machines of Hetland et al. 2019",
        1 if quick else 200 if long else 2, programs.tutti, tuple(calls),
    )


def _vcode(quick: bool, programs: Programs) -> Run:
    program = programs.scratch / "nothing.vcode"
    barriers = ",".join((*OWN, *PAPERS_BARRIERS))
    calls = [_machines(programs)]
    for machine in THREADS:
        algorithms = barriers
        if machine == "harp":
            algorithms += ",harp_counting,harp_counting_line_vl0"
        calls.append(
            _sim(
                programs, "vcode", str(program), "--machine", machine, "--threads",
                joined(_counts(machine, quick)), "--algorithms", algorithms,
            )
        )
    made = (sys.executable, "-m", "report.nothing", str(program))
    return Run(
        VCODE, "simulated: an instruction of the vector machine with every barrier",
        3 if quick else 4, programs.tutti, tuple(calls), (made,),
    )


def _events(quick: bool, programs: Programs) -> Run:
    calls = [_machines(programs)]
    for machine, receivers in RECEIVERS.items():
        count = 15 if quick else receivers
        episodes = str(10 if quick else receivers if machine == "opteron64" else 30)
        calls.append(
            _sim(
                programs, "event", "--machine", machine, "--receivers", str(count), "--wait",
                "spin,park", "--episodes", episodes,
            )
        )
    return Run(
        EVENTS, "simulated: notifications on the machines of Hale and Dinda 2018",
        1 if quick else 32, programs.tutti, tuple(calls),
    )


def _boards(quick: bool, programs: Programs, long: bool) -> Run:
    seeds = ("--seeds", "1" if quick else str(SEEDS))
    calls = [_sim(programs, "idle")]
    for application, (graph, boards, options) in APPLICATIONS.items():
        if quick:
            graph = graph.replace("8192", "2048")
        calls.append(
            _sim(programs, "graph", application, graph, *options, *seeds, setting=boards)
        )
    for boards, threads in GAIN_THREADS.items():
        if quick and not boards:
            continue
        for vertices in GAIN_VERTICES[: 1 if quick else 4 if long else 3 if boards else 2]:
            for fan_out in GAIN_FAN_OUTS[: None if long or boards else 2]:
                graph = f"geometric:vertices={vertices * threads},degree={fan_out}"
                calls.append(
                    _sim(
                        programs, "graph", "heat", graph, "--mode", "sync", "--iterations",
                        str(GAIN_STEPS), "--seeds", "1" if quick or not boards else str(SEEDS),
                        setting=boards,
                    )
                )
    for components in COMPONENTS:
        calls.append(
            _sim(
                programs, "graph", "sssp", f"detours:components={components}", "--seeds", "1",
                setting=BOARDS_OF_4,
            )
        )
    for vertices in AVERAGE[: 2 if quick else None]:
        graph = WIDE.replace("8192", str(vertices))
        calls.append(_sim(programs, "graph", "sssp", graph, *seeds, setting=BOARDS_OF_4))
    return Run(
        BOARDS, "simulated: the boards of Naylor et al. 2020",
        3 if quick else 150 if long else 48, programs.tutti, tuple(dict.fromkeys(calls)),
    )


def _choices(quick: bool, programs: Programs, long: bool) -> Run:
    # 1,024 threads that poll without caches take half a minute.
    left_out = {LOCAL} if long else {LOCAL, "terapool"}
    names = [name for name in registry.SIMULATED_MACHINES if name not in left_out]
    if quick:
        names = ["harp", "epyc2"]
    calls = [_sim(programs, "advise", "--machine", name) for name in names]
    return Run(
        CHOICES, "simulated: which barrier on which machine", 1 if quick else 40 if long else 6,
        programs.tutti,
        (_machines(programs), *calls),
    )
