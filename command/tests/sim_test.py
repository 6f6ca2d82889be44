#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each subcommand of `tutti sim` and gives each what it must refuse.

usage: sim_test.py TUTTI MACHINES   (the program, the folder of the machines' descriptions)
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

# With these a calibration has enough barriers to fit to.
MANY = ("central", "counting", "pool", "striped", "flags", "mcs", "combining", "dissemination",
        "recursive", "atomic", "flags_padded")  # fmt: skip
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
TUTTI, MACHINES = (pathlib.Path(argument) for argument in sys.argv[1:3])


def tutti_sim(*words: object) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(TUTTI), "sim", *(str(word) for word in words)], capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


class Sim(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def lines(self, *words: object) -> list[dict]:
        status, out, error = tutti_sim(*words, "--json")
        self.assertEqual((status, error), (0, ""), words)
        return [json.loads(line) for line in out.splitlines()]

    def refused(self, *words: object) -> str:
        """What the program says, one sentence on standard error."""
        status, out, error = tutti_sim(*words)
        self.assertEqual((status, out), (2, ""), (words, error))
        self.assertEqual(error.count("\n"), 1, error)
        self.assertNotIn("exception", error)
        return error

    def measured(self, few: bool = True) -> list[str]:
        """Lines as `tutti bench barrier --json` prints them."""
        floors = {
            "line_one_way": 40, "timer": 20, "futex_wake": 300, "context_switch": 1800,
            "sched_yield": 500, "wake_idle_core": 20000,
        }  # fmt: skip
        lines = [{"type": "floor", "quantity": q, "median": v} for q, v in floors.items()]
        result = {
            "type": "result", "benchmark": "barrier", "metric": "loop", "provider": "tutti",
            "scenario": "free", "pinned": True, "wait": "spin", "median": 100.0,
        }  # fmt: skip
        names = ("ticket", "tournament", "a_new_one")
        for name in names if few else (*names, *MANY):
            for threads in (2, 4):
                lines.append(result | {"name": name, "threads": threads})
        return [json.dumps(line) for line in lines]

    # ---- runs

    def test_machines(self) -> None:
        names = {line["name"] for line in self.lines("machines")}
        self.assertEqual(names, {path.stem for path in MACHINES.glob("*.toml")})
        table = tutti_sim("machines")[1]
        for name in names:
            self.assertIn(f"\n{name} ", table)
        shown = tutti_sim("machines", "--machine", "knl", "--show")[1]
        self.assertEqual(shown, (MACHINES / "knl.toml").read_text(encoding="utf-8"))

    def test_numbers_of_machines_name_their_sources(self) -> None:
        for path in MACHINES.glob("*.toml"):
            section = ""
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.startswith("["):
                    section = line
                elif re.match(r"[a-z_]+ = [0-9\[]", line):
                    self.assertIn("#", line + section, f"{path.name}: {line}")

    def test_barrier(self) -> None:
        words = ("barrier", "--machine", "epyc2", "--threads", "2,16", "--episodes", "5")
        lines = self.lines(*words, "--algorithms", "ticket,libgomp", "--wait", "spin,park")
        self.assertEqual(
            {(line["name"], line["wait"], line["threads"]) for line in lines},
            {("ticket", w, t) for w in ("spin", "park") for t in (2, 16)}
            | {("libgomp", "", t) for t in (2, 16)},
        )
        for line in lines:
            self.assertEqual(line["benchmark"], "sim_barrier")
            self.assertEqual(line["machine"], "epyc2")
            self.assertLessEqual(line["min"], line["median"])
        table = tutti_sim(*words, "--algorithms", "ticket")[1]
        self.assertIn("16 threads", table)
        self.assertEqual(table, tutti_sim(*words, "--algorithms", "ticket")[1])

    def test_timeline(self) -> None:
        words = ("timeline", "--machine", "epyc2", "--threads", "16", "--algorithms", "central")
        status, out, error = tutti_sim(*words)
        self.assertEqual((status, error), (0, ""))
        rows = re.findall(r"\n +(\d+) ([rcs.z=]{80})", out)
        self.assertEqual([int(number) for number, _ in rows], list(range(16)))
        # All change one line, and all read the one that releases them.
        self.assertRegex(out, r"\n +\d+ +\d+ +\d+ +\d+  central\.")
        trace = json.loads(tutti_sim(*words, "--json")[1])
        waits = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual({event["tid"] for event in waits}, set(range(16)))
        for event in waits:
            self.assertGreater(event["dur"], 0)
        page = tutti_sim(*words, "--page")[1]
        self.assertTrue(page.startswith("<!doctype html>"))
        inside = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
        self.assertIsNotNone(inside)
        self.assertEqual(json.loads(inside[1]), trace)
        # It asks no server for anything.
        self.assertNotRegex(page, r"(src|href)=")
        end = max(event["ts"] + event["dur"] for event in waits)
        (line, *_) = self.lines(*("barrier", *words[1:]))
        self.assertAlmostEqual(end * 1000, line["median"], delta=0.3 * line["median"])
        self.assertIn("--algorithms needs one name", self.refused(*words[:5]))
        two = ("timeline", "--machine", "epyc2", "--threads", "2,4", "--algorithms", "central")
        self.assertIn("--threads needs one number", self.refused(*two))

    def test_barriers_by_parts_of_machines(self) -> None:
        words = ("barrier", "--algorithms", "hardware", "--episodes", "5", "--machine")
        lines = self.lines(*words, "a64fx", "--threads", "2,12,48")
        self.assertEqual({line["name"] for line in lines}, {"units"})
        self.assertEqual({line["threads"] for line in lines}, {2, 12, 48})
        names = [line["name"] for line in self.lines(*words, "terapool", "--threads", "64")]
        self.assertIn("wake_up_central", names)
        self.assertIn("has none of the sections [barrier_unit] [interrupt] [accelerator]",
                      self.refused(*words, "epyc2"))
        harp = {line["name"] for line in self.lines(*words, "harp", "--threads", "28")}
        self.assertGreaterEqual(harp, {"harp_counting", "harp_counting_memory_line", "hbs"})
        # The unit takes messages of four threads.
        self.assertNotIn("harp_counting_message", harp)
        four = {line["name"] for line in self.lines(*words, "harp", "--threads", "4")}
        self.assertIn("harp_counting_message", four)
        many = ("barrier", "--machine", "harp", "--algorithms", "harp_counting", "--threads", "29")
        self.assertIn("takes 1 to 28 participants, not 29", self.refused(*many))
        named = ("barrier", "--algorithms", "units,ticket", "--machine", "epyc2")
        self.assertIn("'units' needs barrier units", self.refused(*named))

    def test_set_replaces_a_number(self) -> None:
        words = ("barrier", "--machine", "epyc2", "--threads", "2", "--algorithms", "ticket")
        slow = self.lines(*words, "--set", "transfer.cluster=90", "--set", "line.hold=40")
        self.assertGreater(slow[0]["median"], self.lines(*words)[0]["median"])
        # The lines tell it.
        self.assertEqual(slow[0]["set"], ["transfer.cluster=90", "line.hold=40"])
        self.assertNotIn("set", self.lines(*words)[0])
        (board, *_) = self.lines("idle", "--set", "columns=2", "--set", "rows=2")
        self.assertEqual(board["set"], ["columns=2", "rows=2"])

    def test_the_waiters_of_a_pthread_barrier_sleep(self) -> None:
        words = ("barrier", "--machine", "knl", "--threads", "64", "--algorithms",
                 "pthread_barrier,libgomp")  # fmt: skip
        of_glibc, of_gcc = (
            next(line["median"] for line in self.lines(*words) if line["name"] == name)
            for name in ("pthread_barrier", "libgomp")
        )
        self.assertGreater(of_glibc, 5 * of_gcc)
        # Each sleeper is woken by a call that takes so long.
        (slower,) = (
            line["median"] for line in self.lines(*words, "--set", "system.futex_wake=9000")
            if line["name"] == "pthread_barrier" and line["metric"] == "loop"
        )
        self.assertGreater(slower, of_glibc)

    def test_a_tree_of_long_operations(self) -> None:
        """What docs/reductions.md says of operations that take long."""
        ratios = {}
        for ns in ("0", "1000"):
            lines = self.lines(
                "reduce", "--machine", "x4600", "--threads", "32", "--episodes", "20",
                "--algorithms", "tree,counted", "--operation", ns,
            )
            times = {
                line["name"]: line["median"]
                for line in lines
                if line["metric"] == "loop" and line["wait"] == "spin"
            }
            ratios[ns] = times["tree"] / times["counted"]
        self.assertLess(ratios["0"], 1)
        self.assertLess(ratios["1000"], 0.5)

    def test_reduce(self) -> None:
        lines = self.lines("reduce", "--machine", "harp", "--threads", "8", "--episodes", "5")
        self.assertEqual(
            {line["name"] for line in lines}, {"default", "exchange", "tree", "counted"}
        )
        self.assertEqual({line["benchmark"] for line in lines}, {"sim_reduce"})

    def test_team(self) -> None:
        (line,) = self.lines("team", "--machine", "harp", "--threads", "8", "--episodes", "5")
        self.assertEqual((line["benchmark"], line["name"]), ("sim_region", "team"))

    def test_advise(self) -> None:
        lines = self.lines("advise", "--machine", "corei5")
        barriers = [line for line in lines if line["type"] == "sim_advice"]
        self.assertEqual([line["threads"] for line in barriers], [2, 4])
        for line in barriers:
            self.assertLessEqual(line["ns"], line["default_ns"])
        subjects = [line["subject"] for line in lines if line["type"] == "sim_advice_more"]
        self.assertEqual(subjects, ["reduction", "team"] * 2)
        said = tutti_sim("advise", "--machine", "corei5")[1]
        self.assertIn("4 threads: ", said)
        self.assertRegex(said, r"\n +reduction: \S+ \(\d+ ns: .+\)\. tutti's default takes")
        self.assertRegex(said, r"\n +team: fan \d+ \(\d+ ns: each thread opens")

    def test_sweep(self) -> None:
        words = ("sweep", "--machines", "corei5,harp", "--threads", "2,4,16")
        lines = self.lines(*words)
        cases = {("corei5", 2), ("corei5", 4), ("harp", 2), ("harp", 4), ("harp", 16)}
        by_subject: dict[str, set] = {}
        for line in lines:
            self.assertEqual(line["type"], "sim_choice")
            self.assertLessEqual(line["best_ns"], line["default_ns"])
            by_subject.setdefault(line["subject"], set()).add((line["machine"], line["threads"]))
        subjects = ("barrier", "barrier of ranks", "reduction", "region")
        self.assertEqual(by_subject, {subject: cases for subject in subjects})
        table = tutti_sim(*words)[1]
        self.assertEqual(len(re.findall(r"\nharp +16 ", table)), len(subjects))
        markdown = tutti_sim(*words, "--markdown")[1]
        slow = sum(line["default_ns"] > 1.25 * line["best_ns"] for line in lines)
        self.assertEqual(len(re.findall(r"\n\| (?:corei5|harp) ", markdown)), slow)

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
            self.assertEqual(line["median"], sorted(line["values"])[10])
            self.assertEqual("receivers" in line, line["metric"] == "unicast")
            if line["metric"] == "unicast":
                receivers = line["threads"] - 1
                # After a warm-up that all have had a part in, each receiver in turn.
                turns = [(max(5, receivers) + i) % receivers for i in range(20)]
                self.assertEqual(line["receivers"], turns)
        self.assertEqual(lines, self.lines(*words, "--receivers", "1,8"))
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
        self.assertIn("1 to 3 receivers", self.refused(*machine, "--receivers", "4"))
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
        table = tutti_sim("network", "--topology", "star,ring", "--nodes", "4,70", "--markdown")[1]
        self.assertTrue(table.startswith("| us | 4 nodes | 70 nodes |\n"), table)
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
            self.assertGreater(line["seconds_with_clock_tree"], line["seconds"])
        self.assertEqual(tutti_sim(*words), tutti_sim(*words))
        for application in ("pagerank", "sssp", "mssp", "spiking"):
            small = ("graph", application, "geometric:vertices=100,degree=6", "--iterations", "2",
                     "--sources", "3", "--seeds", "1", *boards)  # fmt: skip
            self.assertEqual(len(self.lines(*small)), 2, application)

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

    def test_calibrate_and_compare(self) -> None:
        measured = self.file("bench.jsonl", "\n".join(self.measured()) + "\n")
        status, out, error = tutti_sim("calibrate", measured, "--cores", "2")
        self.assertEqual((status, error), (0, ""))
        mine = self.file("mine.toml", out)
        lines = self.lines("compare", measured, "--machine", mine)
        compared = [line for line in lines if line["type"] == "sim_comparison"]
        self.assertEqual({line["name"] for line in compared}, {"ticket", "tournament"})
        errors = {line["what"]: line["count"] for line in lines if line["type"] == "sim_error"}
        self.assertEqual(
            errors, {"a CPU for each thread, free": 2, "more threads than CPUs, free": 2}
        )
        self.assertIn("median error", tutti_sim("compare", measured, "--machine", mine)[1])

    def test_compare_beside_other_work_and_processes(self) -> None:
        scenarios = ("imbalance_60us", "imbalance_200us_rotating", "work_1us_100us",
                     "neighbour_all", "background_light", "quota_1.5")  # fmt: skip
        usual = json.loads(self.measured()[-1]) | {"name": "ticket", "wait": "park"}
        lines = [json.dumps(usual | {"scenario": s, "session": None}) for s in scenarios]
        lines.append(json.dumps(usual | {"scenario": "neighbour_one", "session": "own"}))
        late = usual | {"scenario": scenarios[0], "metric": "last_in_last_out", "wait": "adaptive"}
        lines.append(json.dumps(late | {"threads": 2}))
        file = self.file("scenarios.jsonl", "\n".join(lines) + "\n")
        compared = [line for line in self.lines("compare", file, "--machine", "local")
                    if line["type"] == "sim_comparison"]  # fmt: skip
        self.assertEqual([line["scenario"] for line in compared],
                         [*scenarios, "neighbour_one, sessions of their own", scenarios[0]])
        took = {line["scenario"]: line["simulated_ns"] for line in compared if line["threads"] > 2}
        # An episode takes as long as its last participant is late, and not a slice of a process
        # that others wake sleepers beside.
        self.assertGreater(took["imbalance_60us"], 60e3)
        self.assertGreater(took["imbalance_200us_rotating"], 200e3)
        self.assertTrue(20e3 < took["neighbour_all"] < 1e6, took)
        table = tutti_sim("compare", file, "--machine", "local", "--markdown")[1]
        self.assertIn("| more threads than CPUs, neighbour_all | 1 |", table)
        lines = [json.dumps(usual | {"scenario": "neighbour_two"})]
        file = self.file("unknown.jsonl", "\n".join(lines) + "\n")
        said = self.refused("compare", file, "--machine", "local")
        self.assertIn("unknown.jsonl:1: there is no scenario 'neighbour_two'", said)

    def test_compare_with_the_rtl_machine(self) -> None:
        measured = (MACHINES.parent / "measured" / "rtl.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in measured.splitlines()]
        chosen = [line for line in lines if line["threads"] == 4 and
                  line["name"] in ("central", "ticket", "barwait")]  # fmt: skip
        file = self.file("rtl.jsonl", "\n".join(json.dumps(line) for line in chosen))
        compared = [line for line in self.lines("compare", file)
                    if line["type"] == "sim_comparison"]  # fmt: skip
        self.assertEqual(len(compared), len(chosen))
        self.assertEqual({line["scenario"] for line in compared},
                         {"back to back", "one late", "all together"})  # fmt: skip
        # The lock beside a counter of 64 bits is simulated at several times its cycles.
        for line in compared:
            limit = 4 if line["name"] == "ticket" else 0.3
            self.assertLess(abs(line["simulated_ns"] / line["measured_ns"] - 1), limit, line)
        table = tutti_sim("compare", file, "--markdown", "--show")[1]
        self.assertIn("| 1 | 4 | one late | central | 170 | ", table)
        self.assertIn("\n| 1 socket, one late | ", table)
        for key, value, what in (("metric", "late", "metric must be back_to_back, one_late or"),
                                 ("sockets", 3, "cores must be so many in each socket"),
                                 ("cores", 4.5, "cores must be a whole number from 1 to 64"),
                                 ("median", 0, "median must be above 0")):  # fmt: skip
            wrong = self.file("wrong.jsonl", json.dumps(chosen[0] | {key: value}))
            self.assertIn(f"wrong.jsonl:1: {what}", self.refused("compare", wrong))
        usual = self.file("usual.jsonl", "\n".join(self.measured()))
        self.assertIn("compare needs --machine", self.refused("compare", usual))
        self.assertIn("--show is for --markdown", self.refused("compare", file, "--show"))

    def test_calibrate_fits_the_first_arrival_after_other_work(self) -> None:
        lines = [json.loads(line) for line in self.measured(few=False)]
        late = lines[-1] | {"threads": 2, "metric": "last_in_last_out", "median": 400.0,
                            "wait": "adaptive", "scenario": "imbalance_60us"}  # fmt: skip
        lines += [late | {"name": name} for name in ("ticket", "tournament", "dissemination")]
        file = self.file("late.jsonl", "\n".join(json.dumps(line) for line in lines))
        out = tutti_sim("calibrate", file)[1]
        cold = re.search(r"\ncold = (\d+)  # fitted\n", out)
        self.assertIsNotNone(cold, out)
        self.assertTrue(100 < int(cold[1]) < 400, cold[0])

    def test_calibrate_fits_the_system(self) -> None:
        usual = json.loads(self.measured()[-1]) | {"metric": "last_in_last_out"}
        lines = self.measured()
        # A wake-up after 1 ms takes 70 us, and 4 us by the floors.
        for threads, scenario, median in ((2, "imbalance_1ms", 7e4), (4, "imbalance_60us", 3e4)):
            for name in ("ticket", "central", "combining", "counting", "striped", "pool", "atomic",
                         "mutex"):  # fmt: skip
                lines.append(json.dumps(usual | {
                    "name": name, "wait": "park", "threads": threads, "scenario": scenario,
                    "median": median}))  # fmt: skip
        out = tutti_sim("calibrate", self.file("system.jsonl", "\n".join(lines)))[1]
        deep = re.search(r"\ndeep_wake_up = (\d+)  # fitted\n", out)
        self.assertIsNotNone(deep, out)
        self.assertTrue(6e4 < int(deep[1]) < 7e4, deep[0])
        self.assertRegex(out, r"\nwake_interrupt = \d+  # fitted\ndisplace = \d+  # fitted\n")
        self.assertEqual(len(self.lines("team", "--machine", self.file("mine.toml", out))), 1)

    def test_calibrate_fits_what_floors_do_not_tell(self) -> None:
        out = tutti_sim("calibrate", self.file("few.jsonl", "\n".join(self.measured())))[1]
        self.assertIn("atomic = 6  # assumed", out)
        many = self.file("many.jsonl", "\n".join(self.measured(few=False)))
        status, out, error = tutti_sim("calibrate", many)
        self.assertEqual((status, error), (0, ""))
        self.assertRegex(out, r"^# Fitted to 7 barriers of that run, with a median error of \d+ %;")
        self.assertRegex(out, r"\natomic = [0-9.]+  # fitted\n")
        mine = self.file("mine.toml", out)
        self.assertEqual(len(self.lines("team", "--machine", mine)), 1)

    def test_published(self) -> None:
        lines = self.lines("published", "berger_stamatakis_table_1", "--machines", "corei5,core2d")
        values = [line for line in lines if line["type"] == "sim_published"]
        self.assertEqual(len(values), 12)
        self.assertEqual(sum(line["fitted"] for line in values), 6)
        self.assertIn("hetland_2019:", tutti_sim("published")[1])

    def test_fits_find_again_what_the_descriptions_have(self) -> None:
        for name in ("core2q", "nehalem"):
            text = (MACHINES / f"{name}.toml").read_text(encoding="utf-8")
            command = re.search(r"# fitted: tutti sim (.*)\n#  (.*)\n", text)
            assert command is not None
            lines = self.lines(*shlex.split(command[1] + command[2]))
            found = {line["key"]: line["value"] for line in lines if line["type"] == "sim_fit"}
            self.assertEqual(len(found), text.count("# fitted\n"))
            section = ""
            for line in text.splitlines():
                if line.startswith("["):
                    section = line[1 : line.index("]")]
                elif line.endswith("# fitted"):
                    key, value = line.split("#")[0].split(" = ")
                    self.assertAlmostEqual(found[f"{section}.{key}"], float(value), 6, line)

    # ---- refusals

    def test_unknown_names(self) -> None:
        vax = ("--machine", "vax")
        self.assertIn("no machine and no file 'vax'; machines are: ", self.refused("team", *vax))
        self.assertIn("no machine", self.refused("machines", "--show", *vax))
        self.assertIn("--show needs --machine", self.refused("machines", "--show"))
        harp = ("--machine", "harp")
        for subcommand, what in (("barrier", "barrier"), ("reduce", "reduction")):
            said = self.refused(subcommand, *harp, "--algorithms", "tiket")
            self.assertIn(f"there is no {what} 'tiket' for simulations; there are: ", said)
        self.assertIn("wait policy 'doze'", self.refused("barrier", *harp, "--wait", "doze"))
        self.assertIn("no table and no file 'ii'; tables are: ", self.refused("published", "ii"))
        said = self.refused("fit", "hetland_2019", "--machines", "knl", "--keys", "line.held")
        self.assertIn("no number 'line.held'; numbers are: clock_ghz", said)
        said = self.refused("published", "hetland_2019", "--machines", "vax")
        self.assertIn("hetland_2019 has no value of 'vax'", said)

    def test_wrong_numbers(self) -> None:
        harp = ("barrier", "--machine", "harp")
        self.assertIn("--threads", self.refused(*harp, "--threads", "0"))
        self.assertIn("--threads", self.refused(*harp, "--threads", "2,x"))
        self.assertIn("--episodes", self.refused(*harp, "--episodes", "1"))
        self.assertIn("KEY=NUMBER", self.refused(*harp, "--set", "line.hold"))
        self.assertIn("--set", self.refused(*harp, "--set", "line.hold=soon"))
        self.assertIn("no number 'line.held'", self.refused(*harp, "--set", "line.held=3"))
        self.assertIn("--machine", self.refused("barrier"))
        berger = ("fit", "berger_stamatakis_table_1", "--keys", "line.hold")
        self.assertIn("have different units", self.refused(*berger))
        knl = ("hetland_2019", "--machines", "knl")
        said = self.refused("fit", *knl, "--keys", "line.hold")
        self.assertIn("no value of the table may be fitted", said)
        self.assertIn("--machines needs a table", self.refused("published", "--machines", "knl"))

    def test_wrong_files(self) -> None:
        for words in (("compare", "--machine", "harp"), ("calibrate",)):
            self.assertIn("cannot read 'none'", self.refused(*words, "none"))
            text = self.file("text.jsonl", '{"type": "machine"}\nhello\n')
            self.assertIn(f"{text}:2: a line of JSON was expected", self.refused(*words, text))
            typeless = self.file("typeless.jsonl", '{"type": "floor", "quantity": "timer"}\n')
            said = self.refused(*words, typeless)
            self.assertIn(str(typeless), said)
        empty = self.file("empty.jsonl", "")
        said = self.refused("compare", empty, "--machine", "harp")
        self.assertIn("empty.jsonl has no line", said)
        self.assertIn("has no floor 'line_one_way'", self.refused("calibrate", empty))
        broken = [line.replace('"threads": 2', '"threads": "two"') for line in self.measured()]
        file = self.file("broken.jsonl", "\n".join(broken) + "\n")
        said = self.refused("compare", file, "--machine", "harp")
        self.assertIn("broken.jsonl:7: threads must be", said)
        machine = self.file("mine.toml", "unit = 3\n")
        self.assertIn("mine.toml:1: ", self.refused("team", "--machine", machine))
        table = self.file("mine.csv", "machine,algorithm,threads,ns,use\nknl,ticket,4,-1,fit\n")
        self.assertIn("mine.csv:2: ns must be a number above 0", self.refused("published", table))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
