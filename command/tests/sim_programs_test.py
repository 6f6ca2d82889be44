#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests notifications, programs, boards and networks of `tutti sim`."""

import re
import statistics

from sim_case import SimCase, main, tutti_sim

# Adds up twice each of 0 to 39,999.
SUMS = """FUNC MAIN
CONST INT 40000
MAKE_SEGDES
CONST INT 0
CONST INT 1
COPY 1 2
INDEX
COPY 1 0
+ INT
COPY 1 1
+_REDUCE INT
RET
"""
ENDLESS = """FUNC MAIN
CALL LOOP
RET

FUNC LOOP
CONST BOOL F
IF
ELSE
CALL LOOP
ENDIF
RET
"""


class Programs(SimCase):
    # ---- the machine of boards

    def test_idle(self) -> None:
        lines = self.lines("idle", "--set", "threads=64")
        self.assertEqual({(line["columns"], line["rows"]) for line in lines},
                         {(2, 2), (3, 4), (4, 6), (6, 8)})  # fmt: skip
        for line in lines:
            hops = line["columns"] + line["rows"] - 1
            self.assertEqual(line["hardware_cycles"], 300 * hops)
            self.assertGreater(line["tree_cycles"], line["hardware_cycles"])
        table = tutti_sim("idle", "--show")[1]
        self.assertRegex(table, r"handler +\d+ .*fitted: tutti sim idle --fit 6")
        self.assertIn("6 x 8      3900     61538", table)

    def test_idle_fits_what_the_machine_has(self) -> None:
        shown = re.search(r"handler +(\d+) ", tutti_sim("idle", "--show")[1])
        assert shown is not None
        fitted = self.lines("idle", "--fit", "6")
        self.assertEqual({line["handler"] for line in fitted}, {float(shown[1])})
        whole = [line for line in fitted if line["columns"] == 6 and line["fan"] == 4]
        ratio = whole[0]["tree_cycles"] / whole[0]["hardware_cycles"]
        self.assertAlmostEqual(ratio, 6, delta=0.03)
        self.assertIn("--fit 1000000: with 1 to ", self.refused("idle", "--fit", "1000000"))

    def test_idle_refuses_numbers_without_effect(self) -> None:
        self.assertIn("--set fan needs --fit", self.refused("idle", "--set", "fan=3"))
        self.assertIn("--set step has no use", self.refused("idle", "--set", "step=3"))
        said = self.refused("idle", "--fit", "6", "--set", "handler=9")
        self.assertIn("--set handler has no use with --fit", said)

    # ---- events

    def test_event(self) -> None:
        words = ("event", "--machine", "opteron64", "--episodes", "20", "--wait", "spin,park",
                 "--algorithms", "event,condition_variable,futex")  # fmt: skip
        lines = self.lines(*words, "--receivers", "1,8")
        times = {
            (line["name"], line["wait"], line["threads"] - 1, line["metric"]): line["median"]
            for line in lines
        }
        self.assertEqual(len(times), 4 * 2 * 3)
        self.assertEqual({line["benchmark"] for line in lines}, {"sim_event"})
        # A thread that sleeps is woken, which takes a microsecond and more on this machine.
        for name, wait in (("event", "park"), ("condition_variable", ""), ("futex", "")):
            for receivers in (1, 8):
                unicast = times[name, wait, receivers, "unicast"]
                self.assertGreater(unicast, 10 * times["event", "spin", receivers, "unicast"])
                self.assertEqual(times[name, wait, 1, "broadcast_sigma"], 0)
            last, sigma = (times[name, wait, 8, f"broadcast_{what}"] for what in ("last", "sigma"))
            self.assertGreater(last, times[name, wait, 8, "unicast"])
            self.assertGreater(sigma, times["event", "spin", 8, "broadcast_sigma"])
        for line in lines:
            self.assertEqual(len(line["values"]), 20)
            self.assertAlmostEqual(line["median"], statistics.median(line["values"]), 6)
            self.assertEqual("receivers" in line, line["metric"] == "unicast")
            if line["metric"] == "unicast":
                receivers = line["threads"] - 1
                # After a warm-up that all have had a part in, each receiver in turn.
                turns = [(max(5, receivers) + i) % receivers for i in range(20)]
                self.assertEqual(line["receivers"], turns)
        self.assertEqual(lines, self.lines(*words, "--receivers", "1,8"))
        self.assertNotIn("gap_ns", lines[0])
        (line, *_) = self.lines(*words, "--receivers", "1", "--gap", "500")
        self.assertEqual((line["gap_ns"], line["poll_gap_ns"]), (500, 40))
        table = tutti_sim(*words[:5], "--receivers", "1", "--algorithms", "futex")[1]
        self.assertEqual(len(table.splitlines()), 4)

    def test_event_of_kernels(self) -> None:
        words = ("event", "--machine", "opteron64", "--episodes", "63", "--wait", "spin,park",
                 "--receivers", "63")  # fmt: skip
        median, least, most = {}, {}, {}
        for line in self.lines(*words):
            key = (line["name"] + line["wait"], line["metric"])
            median[key], least[key], most[key] = line["median"], line["min"], line["max"]
        unicast = {name: ns for (name, metric), ns in median.items() if metric == "unicast"}
        # Figures 3, 8, 15 and 18 of Hale and Dinda 2018.
        order = ("interrupt", "action", "action_payload", "kernel_condition_kick",
                 "kernel_condition", "eventpark")  # fmt: skip
        self.assertEqual(sorted(order, key=lambda name: unicast[name]), list(order))
        self.assertLess(max(unicast["remote_call"], unicast["eventspin"]), unicast["interrupt"])
        # The paper's least interrupt is 1,150 cycles of 2.1 GHz, figure 19; two hops are farther.
        self.assertAlmostEqual(least["interrupt", "unicast"], 1150 / 2.1, delta=0.01)
        self.assertAlmostEqual(most["interrupt", "unicast"], (1150 + 549 - 378) / 2.1, delta=0.01)
        # One write interrupts all at once.
        sigma = {name: ns for (name, metric), ns in median.items() if metric == "broadcast_sigma"}
        self.assertLess(100 * sigma["interrupt"], sigma["condition_variable"])

    def test_event_refuses(self) -> None:
        machine = ("event", "--machine", "corei5")
        self.assertIn("at most 3 and not 4", self.refused(*machine, "--receivers", "4"))
        self.assertIn("'corei5' has no section [interrupt], which 'action' needs",
                      self.refused(*machine, "--algorithms", "event,action"))  # fmt: skip
        said = self.refused(*machine, "--algorithms", "evnt")
        self.assertIn("'evnt' is not one of action, action_payload, all, condition_variable", said)
        self.assertIn("'sleep' is not one of adaptive", self.refused(*machine, "--wait", "sleep"))

    # ---- programs of the vector machine

    def test_vcode(self) -> None:
        program = self.file("sum.vcode", SUMS)
        words = ("vcode", program, "--machine", "epyc2", "--threads", "1,4,16")
        lines = self.lines(*words, "--algorithms", "central,default")
        found = {(line["name"], line["threads"]): line for line in lines}
        self.assertEqual(len(found), 6)
        for line in lines:
            self.assertEqual((line["benchmark"], line["program"]), ("sim_vcode", "sum"))
            self.assertEqual(line["machine"], "epyc2")
            self.assertEqual((line["instruction_ns"], line["element_ns"]), (20, 1))
        # Every thread meets the others after each instruction; the elements are divided.
        self.assertEqual(len({line["barriers"] for line in lines}), 1)
        instructions = lines[0]["instructions"]
        self.assertGreaterEqual(lines[0]["barriers"], instructions - 1)
        self.assertLess(found["default", 16]["in_barriers"], found["central", 16]["in_barriers"])
        self.assertLess(found["default", 16]["median"], found["default", 1]["median"])
        self.assertEqual(lines, self.lines(*words, "--algorithms", "central,default"))
        # Without barriers, only elements and instructions take time, which the options say.
        free = ("--instruction", "0", "--element", "0", "--algorithms", "central")
        elements = ("--instruction", "0", "--element", "2", "--algorithms", "central")
        one = ("vcode", program, "--machine", "epyc2", "--threads", "1")
        (without,), (with_elements,) = self.lines(*one, *free), self.lines(*one, *elements)
        self.assertGreater(with_elements["median"] - without["median"], 2 * 2 * 40_000)
        table = tutti_sim(*one)[1].splitlines()
        self.assertIn(f"{instructions} instructions", table[1])
        self.assertEqual(len(table), 5)

    def test_vcode_takes_only_barriers(self) -> None:
        program = self.file("sum.vcode", SUMS)
        words = ("vcode", program, "--machine", "corei5", "--threads", "4")
        names = {line["name"] for line in self.lines(*words, "--algorithms", "papers")}
        self.assertEqual(names, {"libgomp", "pthread_barrier", "tournament_one_word"})
        said = self.refused(*words, "--algorithms", "libgomp,bs_recursive")
        self.assertIn("--algorithms: 'bs_recursive' is a region with a master", said)

    def test_vcode_refuses(self) -> None:
        program = self.file("sum.vcode", SUMS)
        machine = ("--machine", "corei5")
        said = self.refused("vcode", program, "--machine", "vax")
        self.assertIn("no machine and no file 'vax'", said)
        said = self.refused("vcode", program, *machine, "--algorithms", "tickt")
        self.assertIn("no barrier 'tickt'", said)
        self.assertIn("--element", self.refused("vcode", program, *machine, "--element", "-1"))
        self.assertIn("none.vcode: cannot be opened",
                      self.refused("vcode", self.folder / "none.vcode", *machine))  # fmt: skip
        wrong = self.file("wrong.vcode", "FUNC MAIN\nADDD INT\nRET")
        fails = self.file("fails.vcode", "FUNC MAIN\nCONST INT 1\nCONST INT 0\n/ INT\nRET")
        endless = self.file("endless.vcode", ENDLESS)
        status, out, error = tutti_sim("vcode", endless, *machine, "--most-instructions", "1000")
        self.assertEqual((status, out, error.count("\n")), (1, "", 1), error)
        self.assertIn("the run has executed 1000 instructions, as many as its limit", error)
        places = {wrong: "wrong.vcode:2:1: ", fails: "fails.vcode:4:1: / in MAIN: division by zero"}
        for file, place in places.items():
            status, out, error = tutti_sim("vcode", file, *machine)
            self.assertEqual((status, out, error.count("\n")), (1, "", 1), error)
            self.assertIn(place, error)

    # ---- networks

    def test_network(self) -> None:
        words = ("network", "--nodes", "8,100", "--episodes", "3", "--overhead", "0")
        lines = self.lines(*words, "--late", "50000")
        times = {(line["topology"], line["nodes"]): line.get("median_ns") for line in lines}
        hops = {
            ("ring", 8): 8, ("ring", 100): 100, ("tree", 8): 6, ("tree", 100): 12,
            ("star", 8): 2, ("butterfly", 8): 3, ("dissemination", 100): 7, ("switch", 8): 2,
        }  # fmt: skip
        for key, count in hops.items():
            self.assertEqual(times[key], 1000 * count, key)
        skipped = [line for line in lines if line["type"] == "skipped"]
        refused = [(line["topology"], line["nodes"]) for line in skipped]
        self.assertEqual(refused, [("star", 100), ("switch", 100)])
        self.assertIn("63", skipped[0]["reason"])
        twice = [self.lines(*words, "--jitter", "900") for _ in range(2)]
        self.assertEqual(*twice)

    def test_network_that_loses_packets(self) -> None:
        (line,) = self.lines("network", "--topology", "tree", "--nodes", "200", "--lose", "0.1")
        self.assertGreater(line["lost"], 0)
        self.assertGreater(line["repeated_calls"], 0)
        (line,) = self.lines("network", "--topology", "ring", "--nodes", "4", "--repeat-after", "9")
        self.assertEqual(line["repeat_after_ns"], 9)
        table = tutti_sim("network", "--topology", "star,ring", "--nodes", "4,70", "--markdown")[1]
        self.assertTrue(table.startswith("| µs | 4 nodes | 70 nodes |\n"), table)
        self.assertRegex(table, r"\n\| star \| [\d.]+ \| - \|\n")

    def test_network_refuses(self) -> None:
        self.assertIn("'rung' is not one of ring", self.refused("network", "--topology", "rung"))
        self.assertIn("--nodes: '0'", self.refused("network", "--nodes", "0"))
        self.assertIn("--lose", self.refused("network", "--lose", "1"))

    def test_graph(self) -> None:
        boards = ("--set", "columns=2", "--set", "rows=2", "--set", "threads=16")
        words = ("graph", "heat", "geometric:vertices=300,degree=8", "--iterations", "3",
                 "--seeds", "2", *boards)  # fmt: skip
        lines = self.lines(*words)
        self.assertEqual({(line["mode"], line["seed"]) for line in lines},
                         {(m, s) for m in ("sync", "async") for s in (1, 2)})  # fmt: skip
        for line in lines:
            self.assertEqual(line["messages"], 3 * line["edges"])
            self.assertEqual(line["iterations"], 3)
            self.assertGreater(line["seconds_with_clock_tree"], line["seconds"])
        self.assertEqual(tutti_sim(*words), tutti_sim(*words))
        for application in ("pagerank", "sssp", "bfs", "mssp", "components", "spiking"):
            small = ("graph", application, "geometric:vertices=100,degree=6", "--seeds", "1",
                     *boards)  # fmt: skip
            options = {"pagerank": "--iterations", "spiking": "--iterations", "mssp": "--sources"}
            for option in ("--iterations", "--sources"):
                if options.get(application) != option:
                    said = self.refused(*small, option, "3")
                    self.assertIn(f"{option}: {application} has none", said)
            own = (options[application], "3") if application in options else ()
            lines = self.lines(*small, "--mode", "sync,async,sync", *own)
            self.assertEqual(len(lines), 2, application)
            for option in ("iterations", "sources"):
                wanted = 3 if f"--{option}" in own else None
                self.assertEqual(lines[0].get(option), wanted, application)

    def test_what_boards_refuse(self) -> None:
        self.assertIn("no number 'fanout'; numbers are: columns",
                      self.refused("idle", "--set", "fanout=3"))  # fmt: skip
        said = self.refused("idle", "--set", "rows=0")
        self.assertIn("--set rows must be a number from 1 to 64", said)
        small = "geometric:vertices=100,degree=6"
        self.assertIn("no application 'cold'; applications are: ",
                      self.refused("graph", "cold", small))  # fmt: skip
        self.assertIn("--mode must be sync or async", self.refused(
            "graph", "heat", small, "--mode", "both"))  # fmt: skip


if __name__ == "__main__":
    main()
