# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/papers.md that stand for those of another page or of a kept file.

copied.py compares them. A row of that page whose value is not here is one that its own command
prints, that the paper has, or that no other page states.
"""

from copied import Copy, Source

PAPERS = "docs/papers.md"
WORKLOADS = "hardware/machine/software/workloads.md"
MACHINE = "hardware/machine/software/README.md"
EVENTS = "hardware/machine/software/events.md"
MESSAGES = "hardware/machine/software/messages.md"
HBS = "hardware/hbs/README.md#cycles"
DETECTOR = "hardware/detector/README.md#measured"
SIMULATION = "docs/simulation.md"
MACHINES = "docs/simulated-papers.md"
KERNEL, EXACT = "kernel/exact.jsonl", "hardware/exact.jsonl"
ONE_SOCKET, FOUR_SOCKETS = ("1", "16"), ("4", "16")
HOSTS = range(2, 9)


def counting(s: Source, departure: str, arrival: str = "csr") -> float:
    """Cycles of the counting unit for 28 threads, without the pipelined answer of registers."""
    return s.kept(
        EXACT, "cycles", unit="counting", simulation="measure", participants=28, arrival=arrival,
        departure=departure, RegisterResponse=None,
    )  # fmt: skip


def instructions(s: Source, name: str, metric: str, field: str = "median") -> float:
    """Instructions of the emulated kernel."""
    return s.kept(KERNEL, field, type="result", name=name, metric=metric)


def network(s: Source, topology: str, nodes: int, field: str) -> float:
    """Cycles of the engine in the network, with gigabit MACs."""
    return s.kept(
        EXACT, field, unit="innetwork", measure="barrier", topology=topology, nodes=nodes,
        gigabit=True,
    )  # fmt: skip


def hosts(s: Source, topology: str, table: int) -> list[float]:
    """Two to eight hosts: the average (table 0), the least (1), in the network (2)."""
    return s.cells("docs/network.md#measured", topology, *map(str, HOSTS), table=table)


def late(s: Source, cores: int, column: str, table: str = "the-units-beside-each-other") -> float:
    return s.cell(f"{MACHINE}#{table}", ("1", str(cores), "one thread late"), column)


def notified(s: Source, who: tuple[str, str], *mechanisms: str, table: int = 0) -> list[float]:
    """Cycles of the RTL machine: the median of one receiver (table 0), the last of all (1), the
    sigma of a broadcast (2)."""
    return s.cells(f"{EVENTS}#in-all-sizes", who, *mechanisms, table=table)


def in_tens(value: float) -> float:
    return int(value / 10 + 0.5) * 10.0


def in_seconds(s: Source, cells: list[tuple[str, str]]) -> list[float]:
    """Figures of the applications of graphs, in seconds."""
    return [s.cell("docs/graphs.md#figures", row, column) / 1000 for row, column in cells]


HETLAND = [
    Copy(PAPERS, "tutti's choice, {}, {} and {} times as fast as one core", lambda s: [
        s.cell(f"{WORKLOADS}#streamcluster", ("1", "1"), "central")
        / s.cell(f"{WORKLOADS}#streamcluster", ONE_SOCKET, column)
        for column in ("structure", "central", "default")
    ]),
    Copy(PAPERS, "a step takes {} cycles with a structure, {} with the best software barrier and "
        "{} with tutti's choice", lambda s: s.cells(
            f"{WORKLOADS}#streamcluster", ONE_SOCKET, "structure", "central", "default")),
    Copy(PAPERS, "a step takes {} cycles with the counting unit and {} with the best software "
        "barrier, in four sockets {} and {}", lambda s: [
        *s.cells(f"{WORKLOADS}#streamcluster", ONE_SOCKET, "counting unit", "central"),
        *s.cells(f"{WORKLOADS}#streamcluster", FOUR_SOCKETS, "counting unit", "combining"),
    ]),
    Copy(PAPERS, "half as many barriers: {} in simsmall with two threads, against {}", lambda s:
        s.said("workloads/streamcluster/README.md",
            "half as many: {} in simsmall, where PARSEC's barrier counts {}")),
    Copy(PAPERS, "{} times as fast with tutti's barrier as with the pthread barrier with 2 "
        "threads, {} times with 16", lambda s: [
        s.cell("docs/many-cores.md#streamcluster", (threads,), "pthread")
        / s.cell("docs/many-cores.md#streamcluster", (threads,), "tutti")
        for threads in ("2", "16")]),
    Copy(PAPERS, "NUMA-8 libgomp 36,665 and the tournament {}, NUMA-4 tournament {}, Xeon Phi "
        "tournament {}, HARP libgomp {}", lambda s: [
        *(s.cell(f"{MACHINES}#harp-and-structures-in-the-processor", machine,
            "the better of GCC's barrier and the tournament", table=1)
          for machine in ("`numa8`", "`numa4`", "`knl`")),
        s.cell(f"{MACHINES}#harp-and-structures-in-the-processor", "GCC's barrier", "28"),
    ]),
    Copy(PAPERS, "{} cycles without a barrier, {} to {} with one in hardware, {} with the best in "
        "software (combining), {} with the tournament", lambda s: [
        *(s.cell(f"{WORKLOADS}#the-vector-machine", ONE_SOCKET, column, table=1)
          for column in ("no barrier", "mask", "counting unit", "combining", "tournament")),
    ]),
    Copy(PAPERS, "; {} cycles without barriers, {} with tutti's default, {} with the tournament",
        lambda s: [
        s.cell("docs/vcode.md#cost-of-an-instruction-with-every-barrier", row, "cycles")
        for row in ("ideal no barrier", "tutti default, adaptive", "tutti tournament, adaptive")
    ]),
    Copy(PAPERS, "28 threads of HARP take {} cycles with a tournament", lambda s: s.said(
        SIMULATION, "takes {} cycles with the tournament that releases by one")),
    Copy(PAPERS, "{} by registers, {} with a line for each thread, {} with one line for all, {} "
        "from memory", lambda s: [
        counting(s, "csr"), counting(s, "lines"), counting(s, "line"),
        counting(s, "csr", "memory"),
    ]),
    Copy(PAPERS, "28 threads: {} to {} cycles, libgomp {} |", lambda s: [
        s.cell(f"{MACHINES}#harp-and-structures-in-the-processor", row, "28")
        for row in ("`harp_counting_line_vl0`", "`harp_counting`", "GCC's barrier")
    ]),
    Copy(PAPERS, "an instruction of a sort takes {} cycles with the counting unit and {} with the "
        "best software barrier, in four sockets {} and {}", lambda s: [
        *s.cells(f"{WORKLOADS}#the-vector-machine", ONE_SOCKET, "counting unit", "combining"),
        *s.cells(f"{WORKLOADS}#the-vector-machine", FOUR_SOCKETS, "counting unit", "combining"),
    ]),
    Copy(PAPERS, "simulated, {} cycles with 28 threads, libgomp {} |", lambda s: [
        *s.said(MACHINES, "accelerator.answer=8`), it takes {}"),
        s.cell(f"{MACHINES}#harp-and-structures-in-the-processor", "GCC's barrier", "28"),
    ]),
    Copy(PAPERS, "336 cycles for 28 threads, six for each of the unit's {}", lambda s: [
        counting(s, "csr")]),
    Copy(PAPERS, "| 2 x 28 = 56 | {} (exact)", lambda s: [counting(s, "csr")]),
    Copy(PAPERS, "| {} (exact, at the paper's ratio of six)", lambda s: [6 * counting(s, "csr")]),
    Copy(PAPERS, "28 threads need {} cycles on 7 or 8 ports", lambda s: [
        s.cell("hardware/README.md#choosing-a-unit", "tree, 7 ports", "cycles for 28 threads")]),
    Copy(PAPERS, "| {} MHz on the slowest grade of ECP5 ([cost](../hardware/README", lambda s: [
        s.cell("hardware/README.md#cost", "counting unit, n = 28", "MHz", 1)]),
    Copy(PAPERS, "{} to {} cycles with 28 threads, by path", lambda s: s.said(
        MACHINES, "communication takes the other {} to {}")),
    Copy(PAPERS, "an episode takes {} cycles in hardware and {} in software, a change {} and the "
        "new barrier {} at least", lambda s: [
        *s.said(MACHINE, "hardware takes {} cycles from the last arrival"),
        s.said(MACHINE, "with `central` {}, {} and {}")[2],
        s.said(MACHINE, "takes at least {}, {} and {} cycles from the last arrival")[2],
        s.said(MACHINE, "makes the new barrier takes at least {}, {} and {}")[2],
    ]),
    Copy(PAPERS, "{} bytes; {} with the bits of peers that are ahead", lambda s: [
        s.cell("hardware/hbs/README.md#storage", row, "bytes") for row in ("P and S", "with")
    ]),
    Copy(PAPERS, "| {} (exact; {} if all 16 threads arrive together", lambda s: [
        s.cell(HBS, "AMD Opteron", 4), s.cell(HBS, "AMD Opteron", 5)]),
    Copy(PAPERS, "| {} (exact; {} together, 28 threads", lambda s: [
        s.cell(HBS, "Xeon E5-2600", 4), s.cell(HBS, "Xeon E5-2600", 5)]),
    Copy(PAPERS, "| {} (exact; {} together, 16 threads", lambda s: [
        s.cell(HBS, "Skylake", 4), s.cell(HBS, "Skylake", 5)]),
    Copy(PAPERS, "| {} (exact; {} together) with 28 threads", lambda s: [
        s.cell(HBS, "Xeon Phi 7210, centre", 4), s.cell(HBS, "Xeon Phi 7210, centre", 5)]),
    Copy(PAPERS, "| {} to {} (exact; {} to {} together)", lambda s: [
        s.cell(HBS, "Xeon Phi 7210, directory", column, at=at)
        for column in (4, 5) for at in (0, 1)
    ]),
    Copy(PAPERS, "| {} (exact; {} together); {} by the two hops to the farthest socket", lambda s: [
        s.cell(HBS, "4 sockets AMD", 4, at=1), s.cell(HBS, "4 sockets AMD", 5),
        s.kept(EXACT, "last", unit="hbs", Sockets=4, Local=16, LinkLatency=184, l3_cycles=20,
            Skew=0),
    ]),
    Copy(PAPERS, "| {} (exact; {} together); {} by two hops", lambda s: [
        s.cell(HBS, "4 sockets Intel", 4, at=1), s.cell(HBS, "4 sockets Intel", 5),
        s.kept(EXACT, "last", unit="hbs", Sockets=4, Local=28, LinkLatency=220, l3_cycles=38,
            Skew=0),
    ]),
    Copy(PAPERS, "{} for the last arrival and {} together with hops of 2 cycles, {} and {} with "
        "hops of 3", lambda s: [
        s.kept(EXACT, field, unit="socket", Columns=6, Rows=6, participants=256, load_percent=0,
            hop_cycles=hop)
        for hop in (2, 3) for field in ("last", "last_together")]),
    Copy(PAPERS, "{} cycles beside the cores and {} as far as the memory, the best software {} at "
        "a latency of 20", lambda s: s.cells("hardware/isa/README.md#measured", ("", "20"),
            "barwait near", "barwait far", "central")),
    Copy(PAPERS, "{}, {}, {}, {}, {} to {} with units 10, 19, 21, 24, 32 to 44 cycles away, and "
        "{} and {} over four sockets", lambda s: [
        s.cell(f"{MACHINE}#software-barriers", row, "without the program's own", 1)
        for row in ("one socket, structure at the L3 of an Opteron",
            "one socket, structure at the L3 of a Xeon", "one socket, an access",
            "Xeon Phi 7210, structure at the centre",
            "Xeon Phi 7210, structure at the directory, from",
            "Xeon Phi 7210, structure at the directory, to",
            "four sockets of the Opteron, four hops", "four sockets of Intel's processors, four")
    ]),
    Copy(PAPERS, "the structure takes {} cycles for 2 to 64 cores in a socket", lambda s: [
        late(s, 64, "structure")]),
    Copy(PAPERS, "and the best software barrier {} to {} times as long; all together", lambda s: [
        late(s, 2, "best software / structure"), late(s, 64, "best software / structure")]),
    Copy(PAPERS, "all together {} beside {} with 64 cores in a socket, and {} beside {} with 16 in "
        "four", lambda s: [
        s.cell(f"{MACHINE}#the-units-beside-each-other", (*size, "all together"), column)
        for size in (("1", "64"), FOUR_SOCKETS) for column in ("structure", "best software")
    ]),
    Copy(PAPERS, "| {} to {} cycles in a socket ([photonic]", lambda s: s.said(
        "hardware/photonic/README.md", "holds: {} to {} cycles in a socket")),
    Copy(PAPERS, "with a laser in each socket {} cycles and {} mW for two, {} cycles and {} mW for "
        "four", lambda s: [
        s.cell("hardware/photonic/README.md#an-optical-barrier", row, 7, at=at)
        for row in ("2 x Xeon", "4 x Xeon") for at in (0, 1)]),
    Copy(PAPERS, "The counting unit takes the {} FPGA cycles, {} of the processor's", lambda s: [
        counting(s, "csr"), 6 * counting(s, "csr")]),
]  # fmt: skip

ARAP = [
    Copy(PAPERS, "{} cycles to the last arriver's release, gigabit", lambda s: [
        network(s, "tree", 7, "late_own_worst")]),
    Copy(PAPERS, "2 hosts {} µs, 8 hosts {} µs (star)", lambda s: s.cells(
        "docs/network.md#measured", "star", "2", "8")),
    Copy(PAPERS, "the same over UDP in user space {} and {} µs", lambda s: [
        figure for figure in s.said("docs/network.md", "star {}, {}, {}; dissemination")[::2]]),
    Copy(PAPERS, "gives {} µs for one passage in our simulation", lambda s: [
        s.kept(EXACT, "p_us", unit="innetwork", measure="as_in_the_paper", gigabit=True)]),
    Copy(PAPERS, "our {} cycles the frame on the wire takes 72 and the engine {}", lambda s: [
        s.kept(EXACT, "p_cycles", unit="innetwork", measure="as_in_the_paper", gigabit=True),
        s.kept(EXACT, "engine_median", unit="innetwork", measure="p", load_percent=0)]),
    Copy(PAPERS, "the engine reaches {} MHz, not 125", lambda s: [
        s.cell("hardware/README.md#cost", "in-network engine", "MHz", 1)]),
    *(
        Copy(PAPERS, f"2 to 8 hosts, µs: ring{' {},' * 6} {{}}; tree{words}{' {},' * 6} {{}}; "
            f"butterfly{' {},' * 6} {{}}{behind}", lambda s, table=table: [
            figure for topology in ("ring", "tree", "butterfly")
            for figure in hosts(s, topology, table)
        ])
        for table, words, behind in ((0, "", "; growth by"), (1, "", "; growth, µs"),
            (2, ", leaves", "; in RTL"))
    ),
    Copy(PAPERS, "1500`, µs: {} a node, {} a level, {} a doubling", lambda s: [
        s.cell("docs/network.md#measured", row, "average", 4)
        for row in ("a node of", "a level of", "a doubling of")
    ]),
    Copy(PAPERS, "growth, µs: {} a node, {} a level, {} a doubling", lambda s: [
        s.cell("docs/network.md#measured", row, "least", 4)
        for row in ("a node of", "a level of", "a doubling of")
    ]),
    Copy(PAPERS, "| {} cycles, {} µs, with gigabit MACs; {} cycles if frames cross whole", lambda s:
        [s.kept(EXACT, field, unit="innetwork", measure="as_in_the_paper", gigabit=gigabit)
         for field, gigabit in (("p_cycles", True), ("p_us", True), ("p_cycles", False))]),
    Copy(PAPERS, f"ring{' {},' * 6} {{}} cycles (+ {{}} a node); tree{' {},' * 6} {{}} (+ {{}} a "
        "level); butterfly of 2, 4, 8: {}, {}, {} (+ {} a doubling)", lambda s: [
        *(network(s, "ring", n, "late_own_worst") for n in HOSTS),
        network(s, "ring", 3, "late_own_worst") - network(s, "ring", 2, "late_own_worst"),
        *(network(s, "tree", n, "late_own_worst") for n in HOSTS),
        network(s, "tree", 4, "late_own_worst") - network(s, "tree", 2, "late_own_worst"),
        *(network(s, "butterfly", n, "late_worst") for n in (2, 4, 8)),
        network(s, "butterfly", 4, "late_worst") - network(s, "butterfly", 2, "late_worst"),
    ]),
    Copy(PAPERS, f"until the last has left the ring takes{' {},' * 6} {{}} cycles", lambda s: [
        network(s, "ring", n, "together") for n in HOSTS]),
    Copy(PAPERS, "{} cycles for any number, {} if eight arrive together", lambda s: [
        network(s, "star", 8, "late_own_worst"), network(s, "star", 8, "together")]),
    Copy(PAPERS, "| {} µs (exact)", lambda s: [
        s.kept(EXACT, "p_us", unit="innetwork", measure="as_in_the_paper", gigabit=True)]),
    Copy(PAPERS, "| {} MHz on the slowest grade of ECP5, median of 16 seeds", lambda s: [
        s.cell("hardware/README.md#cost", "in-network engine", "MHz", 1)]),
    Copy(PAPERS, "a communicator adds {} flip-flops", lambda s: [
        s.cell("hardware/README.md#cost", "in-network engine", "flip-flops", at=1)]),
]  # fmt: skip

BERGER = [
    Copy(PAPERS, "in the same order: {}, {}, {}, {}, {}, {}; {} to {} with a barrier in hardware",
        lambda s: s.cells(f"{WORKLOADS}#parallel-regions", ONE_SOCKET, "flags", "flags padded",
            "recursive", "recursive padded", "atomic", "mutex", "mask", "counting unit")),
    Copy(PAPERS, "two cores: {} s on a team and {} s with its own barrier", lambda s: [
        s.cell("examples/ports/raxml/README.md#results", row, "2 threads")
        for row in ("tutti", "RAxML's own barrier")]),
    Copy(PAPERS, "whose best of five runs takes {} s", lambda s: [
        figure / 1000 for figure in s.said("examples/ports/raxml/README.md",
            "the best of five runs took {} ms with RAxML's polling")]),
    Copy(PAPERS, "(Lock-Free, {} ns against {})", lambda s: [
        s.cell(f"{SIMULATION}#what-papers-print", (machine, "bs_lock_free"), "simulated ns")
        for machine in ("x4600", "core2d")]),
    Copy(PAPERS, "by up to {} times ([synthetic]", lambda s: s.said(
        "workloads/synthetic/README.md", "takes up to {} times the best")),
]  # fmt: skip

HALE = [
    Copy(PAPERS, "pthread_cond 35.5 µs, futex {} µs, tutti::event {} µs; to one that polls {} ns",
        lambda s: [
        s.cell("docs/events.md#what-it-costs", "one receiver that sleeps", "beside it"),
        s.cell("docs/events.md#what-it-costs", "one receiver that sleeps", "tutti"),
        s.cell("docs/events.md#what-it-costs", "one receiver that spins", "tutti"),
    ]),
    Copy(PAPERS, "to the last of 8 that sleep: pthread_cond {} µs, futex {} µs, tutti::event {} "
        "µs; of 8 that yield, tutti::event {} µs", lambda s: [
        s.cell("docs/events.md#what-it-costs", "broadcast to 8 that sleep", "beside it", at=1),
        s.cell("docs/events.md#what-it-costs", "broadcast to 8 that sleep", "beside it"),
        s.cell("docs/events.md#what-it-costs", "broadcast to 8 that sleep", "tutti"),
        s.cell("docs/events.md#what-it-costs", "broadcast to 8, to the last", "tutti"),
    ]),
    Copy(PAPERS, "over 8 that yield, tutti::event {} µs", lambda s: [
        s.cell("docs/events.md#what-it-costs", "the same, sigma", "tutti")]),
    Copy(PAPERS, "at least {} µs, median {} µs, to a thread that polls", lambda s: [
        *s.said("docs/events.md", "at least {} µs."),
        *s.said("docs/events.md", "a thread which polls takes {} µs"),
    ]),
    Copy(PAPERS, "sigma over 227 receivers is {} µs by a condition variable, {} µs by a futex, {} "
        "µs if they poll", lambda s: [
        in_tens(s.cell(f"{SIMULATION}#notifications", "condition variable", 6)),
        s.cell(f"{SIMULATION}#notifications", "futex", 6),
        s.cell(f"{SIMULATION}#notifications", "event, receivers poll", 6),
    ]),
    Copy(PAPERS, "{} instructions for an IPI (exact, emulated)", lambda s: [
        instructions(s, "interrupt", "unicast")]),
    Copy(PAPERS, "{} instructions to the last of 3 receivers", lambda s: [
        instructions(s, "interrupt", "broadcast_last")]),
    Copy(PAPERS, "(the machine of figure 3). {} instructions (exact, emulated)", lambda s: [
        instructions(s, "interrupt", "broadcast_sigma")]),
    Copy(PAPERS, "{} instructions to each of 3 cores", lambda s: [
        instructions(s, "interrupt", "unicast_to")]),
    Copy(PAPERS, "{} instructions without and {} with kick", lambda s: [
        instructions(s, "condition", "unicast"), instructions(s, "condition_kick", "unicast")]),
    Copy(PAPERS, "| {} without and {} with kick, to the last of 3", lambda s: [
        instructions(s, "condition", "broadcast_last"),
        instructions(s, "condition_kick", "broadcast_last")]),
    Copy(PAPERS, "| {} without and {} with kick (exact, emulated)", lambda s: [
        instructions(s, "condition", "broadcast_sigma"),
        instructions(s, "condition_kick", "broadcast_sigma")]),
    Copy(PAPERS, "{} instructions through the tables, {} by the short cut, {} for the IPI",
        lambda s: [instructions(s, name, "unicast")
                   for name in ("event", "event_shortcut", "interrupt")]),
    Copy(PAPERS, "| {} and {} against {}, to the last of 3", lambda s: [
        instructions(s, name, "broadcast_last")
        for name in ("event", "event_shortcut", "interrupt")]),
    Copy(PAPERS, "| {} and {} against {} (exact, emulated)", lambda s: [
        instructions(s, name, "broadcast_sigma")
        for name in ("event", "event_shortcut", "interrupt")]),
    Copy(PAPERS, "{} instructions for spinning and {} for the IPI", lambda s: [
        instructions(s, "polling", "unicast"), instructions(s, "interrupt", "unicast")]),
    Copy(PAPERS, "{} instructions at the source, {} at the destination, {} between, {} in all; a "
        "system call {} (exact", lambda s: [s.kept(KERNEL, field, type="parts") for field in
            ("source", "destination", "flight", "interrupt", "system_call")]),
    Copy(PAPERS, "{} instructions, against {} by polling", lambda s: [
        s.kept(KERNEL, "interrupt_as_system_call", type="parts"),
        instructions(s, "polling", "unicast")]),
    Copy(PAPERS, "{} if the event runs the task, {} by a condition variable with kick, {} if the "
        "event wakes the processor; {} of 3 processors lose each race", lambda s: [
        *(s.kept(KERNEL, "median", type="pool", name=name)
          for name in ("action", "condition_kick", "event")),
        s.kept(KERNEL, "lost_races", type="pool") / s.kept(KERNEL, "tasks", type="pool"),
    ]),
    Copy(PAPERS, "{} times: {} instructions by a condition variable of the kernel, {} for the IPI; "
        "{} times with kick, {}", lambda s: [
        instructions(s, "condition", "unicast") / instructions(s, "interrupt", "unicast"),
        instructions(s, "condition", "unicast"), instructions(s, "interrupt", "unicast"),
        instructions(s, "condition_kick", "unicast") / instructions(s, "interrupt", "unicast"),
        instructions(s, "condition_kick", "unicast"),
    ]),
    Copy(PAPERS, "| {} against {} instructions", lambda s: [
        s.kept(KERNEL, "system_call", type="parts"), s.kept(KERNEL, "destination", type="parts")]),
    Copy(PAPERS, "{} cycles to a core of the socket and {} to one of another", lambda s: [
        *notified(s, ONE_SOCKET, "interrupt, first instruction"),
        *notified(s, FOUR_SOCKETS, "interrupt, first instruction")]),
    Copy(PAPERS, "{} cycles with kick, {} without, whose least is {}", lambda s: [
        *notified(s, ONE_SOCKET, "condition, kick", "condition"),
        s.cell(f"{EVENTS}#in-all-sizes", "condition", "one: min", 3),
    ]),
    Copy(PAPERS, "to the last of 15: {} cycles with kick, {} without", lambda s:
        notified(s, ONE_SOCKET, "condition, kick", "condition", table=1)),
    Copy(PAPERS, "{} cycles with kick, {} without, 0 by an interrupt", lambda s:
        notified(s, ONE_SOCKET, "condition, kick", "condition", table=2)),
    Copy(PAPERS, "{} cycles through the tables, {} if a remote call tells of the event, {} by the "
        "short cut, {} for an interrupt with a number", lambda s: notified(s, ONE_SOCKET,
            "event", "event by remote call", "event, short cut", "interrupt with a number")),
    Copy(PAPERS, "to the last of 15: {}, {}, {} and {} cycles", lambda s: notified(s, ONE_SOCKET,
        "event", "event by remote call", "event, short cut", "interrupt with a number", table=1)),
    Copy(PAPERS, "events.md)) {}, {}, {} and {} cycles", lambda s: notified(s, ONE_SOCKET,
        "event", "event by remote call", "event, short cut", "interrupt with a number", table=2)),
    Copy(PAPERS, "a transfer takes {} ns one way", lambda s: s.said(
        "docs/messages.md", "line transfer {} ns")),
    Copy(PAPERS, "{} cycles by polling, {} to an interrupt's first instruction and {} to its "
        "function; over four sockets {}, {} and {}", lambda s: [
        figure for who in (ONE_SOCKET, FOUR_SOCKETS)
        for figure in notified(s, who, "polling", "interrupt, first instruction", "interrupt")]),
    Copy(PAPERS, "{} cycles at the source, {} to the first instruction, {} from there to the "
        "function, {} in all; a system call {} |", lambda s: [
        s.cell(f"{EVENTS}#the-cost-of-an-interrupt-and-of-a-remote-call", row, "interrupt")
        for row in ("source", "from there to the handler's", "from there to the function", "all",
            "system call")]),
    Copy(PAPERS, "a remote call is handled after {} cycles in a socket and {} over four, an "
        "interrupt after {} and {}, and a polled word is seen after {} and {}", lambda s: [
        figure for mechanism in ("remote call", "interrupt", "polling")
        for who in (ONE_SOCKET, FOUR_SOCKETS) for figure in notified(s, who, mechanism)]),
]  # fmt: skip

NAYLOR = [
    Copy(PAPERS, "{} LUTs of Xilinx 7, {} ALUTs of Cyclone V, {} MHz on ECP5", lambda s: [
        *s.cells("hardware/detector/README.md#cost", "64", "Xilinx 7 LUT", "Cyclone V ALUT"),
        s.cell("hardware/README.md#cost", "detector", "MHz", 1, at=1)]),
    Copy(PAPERS, "4 cores of the RTL machine: {} flip-flops without the detector, {} with it, {} "
        "and {} LUT4 of ECP5", lambda s: [
        s.cell("hardware/machine/README.md#cost", row, column)
        for column in ("flip-flops", "LUT4 of one")
        for row in ("mesh of the messages", "mesh of the messages, with the detector")]),
    Copy(PAPERS, "master at the origin: {} cycles (2 x 2), {} (3 x 4), {} (4 x 6), {} (6 x 8), or "
        "{} to {} a second at 240 MHz; the clock tree takes {} to {} times as long at 240 cycles "
        "a message, {} to {} at 16", lambda s: [
        *(s.cell(DETECTOR, (mesh, "origin"), "round trip")
          for mesh in ("2 x 2", "3 x 4", "4 x 6", "6 x 8")),
        *(s.cell(DETECTOR, (mesh, "origin"), column, at=at)
          for column, at in (("a second", 0), ("tree, 240", 1), ("tree, 16", 1))
          for mesh in ("2 x 2", "6 x 8")),
    ]),
    Copy(PAPERS, "on simulated boards {} cycles at 6 x 8, and a clock tree of fan 4 fitted to take "
        "{} times as long there takes {} times at 2 x 2", lambda s: [
        s.cell(f"{MACHINES}#the-machine-of-boards", "6 x 8", "cycles, hardware"),
        *(s.cell(f"{MACHINES}#the-machine-of-boards", mesh, "4", at=1)
          for mesh in ("6 x 8", "2 x 2"))]),
    Copy(PAPERS, "and the master in the centre, {} cycles, and {} for the best tree of programs, "
        "{} times as long", lambda s: s.cells(f"{MESSAGES}#measured", FOUR_SOCKETS, "wave",
            "tree of fan-out 4", "best tree / wave")),
    Copy(PAPERS, "from {} and {} simulated cycles and 240", lambda s: [
        s.cell(DETECTOR, ("6 x 8", "origin"), column) for column in ("round trip", "tree, 240")]),
    Copy(PAPERS, "on simulated boards {} times as long with one vertex a thread and fan-out 4, {} "
        "times with fan-out 16", lambda s: [
        s.cell(f"{MACHINES}#the-machine-of-boards", ("1", fan), "ratio", 1)
        for fan in ("4", "16")]),
    Copy(PAPERS, "shortest paths in steps take {} times as long, PageRank {} times", lambda s: [
        s.cell(f"{MESSAGES}#measured", (*FOUR_SOCKETS, program, "64"), "tree / detector", 2)
        for program in ("shortest_paths_sync", "pagerank")]),
    Copy(PAPERS, "PageRank {}, {}; heat {}, {}; mssp {}, {}; spiking {}, {}; sssp {}, {} "
        "([figures]", lambda s: in_seconds(s, [
        (row, column) for row in ("`pagerank", "`heat", "`mssp", "`spiking", "`sssp")
        for column in ("sync, 2 threads", "async")])),
    Copy(PAPERS, "PageRank {}, heat {}, mssp {}, spiking {}, sssp {} ([figures]",
        lambda s: in_seconds(s, [(row, "sequential")
                                 for row in ("`pagerank", "`heat", "`mssp", "`spiking", "`sssp")])),
    Copy(PAPERS, "heat and PageRank {}, {}; sssp {}, {}; mssp {}, {}; spiking {}, {} ([simul",
        lambda s: [
        s.cell(f"{MACHINES}#the-machine-of-boards", row, column, 2)
        for row in ("heat", "sssp", "mssp", "spiking") for column in ("ms, sync", "ms, async")]),
    Copy(PAPERS, "cycles, sync and async: sssp {} and {}, PageRank {} and {}", lambda s: [
        s.cell(f"{MESSAGES}#measured", (*FOUR_SOCKETS, program, "64"), "detector", 2)
        for program in ("shortest_paths_sync", "shortest_paths", "pagerank", "pagerank_gals")]),
    Copy(PAPERS, "PageRank and heat {} M in both forms; mssp {} M and {} M; spiking {} M and {} M. "
        "sssp {} M and, not determined, {} M", lambda s: [
        s.cell("docs/graphs.md#figures", "`pagerank", "messages, sync"),
        *s.cells("docs/graphs.md#figures", "`mssp", "messages, sync", "messages, async"),
        s.cell("docs/graphs.md#figures", "`spiking", "messages, sync") / 1e6,
        s.cell("docs/graphs.md#figures", "`spiking", "messages, async"),
        *s.cells("docs/graphs.md#figures", "`sssp", "messages, sync", "messages, async")]),
    Copy(PAPERS, "{} M instead of {} M, {} times as many (exact) | the paper", lambda s: [
        s.cell("docs/graphs.md#figures", "`spiking", "messages, async"),
        s.cell("docs/graphs.md#figures", "`spiking", "messages, sync") / 1e6,
        s.cell("docs/graphs.md#figures", "`spiking", "messages, async") * 1e6
        / s.cell("docs/graphs.md#figures", "`spiking", "messages, sync")]),
    Copy(PAPERS, "{} M instead of {} M, {} times as many (exact) | the same", lambda s: [
        *s.cells("docs/graphs.md#figures", "`mssp", "messages, async", "messages, sync"),
        s.cell("docs/graphs.md#figures", "`mssp", "messages, async")
        / s.cell("docs/graphs.md#figures", "`mssp", "messages, sync")]),
    Copy(PAPERS, "{} and {} cycles at 6 x 8 (exact)", lambda s: s.cells(
        DETECTOR, ("6 x 8", "origin"), "to release", "to enable")),
    Copy(PAPERS, "| {}; {} under load (exact)", lambda s: s.cells(
        DETECTOR, ("6 x 8", "origin"), "round trip", "under load")),
    Copy(PAPERS, "{} times at 2 x 2 ({} instead of {} cycles), {} at 6 x 8 ({} instead of {}",
        lambda s: [
        figure for mesh in ("2 x 2", "6 x 8")
        for centre, origin in [[s.cell(DETECTOR, (mesh, master), "round trip")
                                for master in ("centre", "origin")]]
        for figure in (origin / centre, centre, origin)]),
    Copy(PAPERS, "rates of 1,000 neurons, {} and {} spikes a second beside Brian2's {} and {}",
        lambda s: [
        *s.said("docs/graphs.md", "an excitatory neuron spikes {} times per second"),
        *s.said("docs/graphs.md", "an inhibitory one {} times; in Brian2"),
        *s.said("docs/graphs.md", "times; in Brian2 {} and {} times")]),
    Copy(PAPERS, "{} for N = 20, newest first", lambda s: s.said(
        "docs/graphs.md", "messages in one order and {} in the other")),
]  # fmt: skip

README = [
    Copy("README.md", "the last departure of two threads is {} line transfers", lambda s: [
        s.cell("README.md#what-was-measured", "2, arrivals up to", "x floor")]),
    Copy("README.md", "patch of {} lines, [RAxML](examples/ports/raxml) by one of {};", lambda s: [
        *s.said("examples/ports/ggml/README.md", "adds a third choice, in {} lines"),
        *s.said("examples/ports/raxml/README.md", "regions to a team, in {} lines")]),

    Copy("README.md", "PageRank by messages has {} to {} of the edges a second of a pull in shared "
        "memory with contents of 4 bytes, {} to {} with 8", lambda s: [
        extreme(s.cell("docs/graphs.md#figures", row, column, 1)
            for row in ("`kron:scale=16", "`kron:scale=18", "`geometric", "`uniform")
            for column in columns)
        for columns in ((4, 9), (6, 11)) for extreme in (min, max)]),
]  # fmt: skip

COPIES = [*HETLAND, *ARAP, *BERGER, *HALE, *NAYLOR, *README]
