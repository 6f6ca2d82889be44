#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests barriers, reductions and teams of `tutti sim`, and what it refuses."""

import json
import re
import statistics

from sim_case import MACHINES, SimCase, main, tutti_sim


class Sim(SimCase):
    def test_machines(self) -> None:
        names = {line["name"] for line in self.lines("machines")}
        self.assertEqual(names, {path.stem for path in MACHINES.glob("*.toml")})
        table = tutti_sim("machines")[1]
        for name in names:
            self.assertIn(f"\n{name} ", table)
        shown = tutti_sim("machines", "--machine", "knl", "--show")[1]
        self.assertEqual(shown, (MACHINES / "knl.toml").read_text(encoding="utf-8"))
        mine = self.file("mine.toml", shown)
        self.assertEqual(tutti_sim("machines", "--machine", mine, "--show")[1], shown)
        self.assertIn("--machine needs --show", self.refused("machines", "--machine", "knl"))

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
        # tutti's choice, if nothing is named; one thread waits for nobody.
        self.assertIn("epyc2: default, 16 threads, ", tutti_sim(*words[:5])[1])
        alone = tutti_sim(*words[:3], "--threads", "1")[1]
        self.assertIn("epyc2: default, 1 thread, ", alone)
        self.assertIn("'papers' is a group", self.refused(*words[:5], "--algorithms", "papers"))
        # The last thread still wakes others after its last wait.
        words = ("epyc2", "--threads", "12", "--algorithms", "libgomp", "--episodes", "2")
        (line, *_) = self.lines("barrier", "--machine", *words)
        said = tutti_sim("timeline", "--machine", *words)[1]
        ns = int(re.search(r", (\d+) ns an episode", said)[1])
        self.assertAlmostEqual(ns, line["max"], delta=1)
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
        twice = (*words, "--set", "line.hold=4", "--set", "line.hold=5")
        self.assertIn("--set replaces line.hold twice", self.refused(*twice))

    def test_every_line_tells_what_was_varied(self) -> None:
        hold = ("--set", "line.hold=4")
        table = ("berger_stamatakis_table_1", "--machines", "corei5", "--episodes", "4", *hold)
        file = self.file("bench.jsonl", "\n".join(self.measured()))
        for words in (
            ("sweep", "--machines", "core2d", "--threads", "2", *hold),
            ("advise", "--machine", "core2d", *hold),
            ("published", *table),
            ("fit", *table, "--keys", "line.read_gap", "--steps", "2"),
            ("compare", file, "--machine", "local", *hold),
        ):
            for line in self.lines(*words):
                self.assertEqual(line.get("set"), ["line.hold=4"], (words, line))
        (line, *_) = self.lines("published", *table, "--seed", "3")
        self.assertEqual((line["episodes"], line["seed"]), (4, 3))
        two = ("--machine", "core2d", "--threads", "2", "--poll-gap", "9")
        reduce = ("reduce", *two, "--episodes", "4", "--operation", "7")
        for line in self.lines(*reduce):
            self.assertEqual((line["poll_gap_ns"], line["operation_ns"]), (9, 7))
        (line, *_) = self.lines("barrier", "--machine", "core2d", "--algorithms", "central")
        self.assertEqual(line["poll_gap_ns"], 40)

    def test_statistics(self) -> None:
        """Those of `tutti bench`: the median of an even number lies between two."""
        for episodes in (2, 3, 20):
            words = ("event", "--machine", "corei5", "--algorithms", "futex", "--receivers", "1")
            for line in self.lines(*words, "--episodes", episodes):
                self.assertAlmostEqual(line["median"], statistics.median(line["values"]), 6)
                self.assertTrue(line["min"] <= line["mean"] <= line["max"], line)

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
        # A region has no time from its last arrival on.
        self.assertEqual(self.last_in_out("team"), "-")
        self.assertRegex(self.last_in_out("barrier"), r"^\d+$")

    def last_in_out(self, subcommand: str) -> str:
        words = ("--machine", "harp", "--threads", "1", "--episodes", "5")
        table = tutti_sim(subcommand, *words)[1].splitlines()
        self.assertEqual(table[1], "1 thread, an episode:")
        return table[3].split()[5]

    def test_columns_stay_below_their_heads(self) -> None:
        words = ("barrier", "--machine", "harp", "--threads", "2", "--episodes", "5")
        table = tutti_sim(*words, "--algorithms", "papers")[1].splitlines()[2:]
        self.assertIn("bs_atomic_inc_add_beside", {line.split()[0] for line in table})
        self.assertEqual(len({len(line) for line in table}), 1, table)

    def test_advise(self) -> None:
        lines = self.lines("advise", "--machine", "corei5")
        barriers = [line for line in lines if line["type"] == "sim_advice"]
        self.assertEqual([line["threads"] for line in barriers], [2, 4])
        for line in barriers:
            self.assertLessEqual(line["ns"], line["default_ns"])
        # No other reduction is as fast there as tutti's choice.
        (reduction,) = (
            line for line in self.lines("advise", "--machine", "core2d")
            if line.get("subject") == "reduction"
        )
        self.assertEqual((reduction["name"], reduction["ns"]), ("default", reduction["default_ns"]))
        subjects = [line["subject"] for line in lines if line["type"] == "sim_advice_more"]
        self.assertEqual(subjects, ["reduction", "team"] * 2)
        said = tutti_sim("advise", "--machine", "corei5")[1]
        self.assertIn("4 threads: ", said)
        self.assertRegex(said, r"\n +reduction: \S+ \(\d+ ns: .+\)\. tutti's default takes")
        self.assertRegex(said, r"\n +team: (?:fan \d+|default) \(\d+ ns: each thread opens")

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
        mine = self.file("base.toml", tutti_sim("machines", "--machine", "core2d", "--show")[1])
        lines = self.lines("sweep", "--machines", mine, "--threads", "2")
        self.assertEqual({line["machine"] for line in lines}, {"base"})
        said = self.refused("sweep", "--machines", "core2d", "--threads", "4,8")
        self.assertIn("--threads: no machine has 4 CPUs", said)

    # ---- refusals

    def test_one_kind_of_output(self) -> None:
        few = self.file("few.jsonl", "\n".join(self.measured()))
        for words in (
            ("sweep", "--markdown"), ("published", "hetland_2019", "--markdown"),
            ("compare", few, "--machine", "local", "--markdown"), ("network", "--markdown"),
            ("timeline", "--machine", "core2d", "--page"), ("idle", "--show"),
            ("machines", "--machine", "core2d", "--show"),
        ):  # fmt: skip
            self.assertIn("--json", self.refused(*words, "--json"))
        self.assertIn("--json", self.refused("calibrate", few, "--json"))
        said = self.refused("compare", few, "--machine", "local", "--markdown", "--show")
        self.assertIn("--show is for the values of the RTL machine", said)

    def test_empty_lists(self) -> None:
        for words in (("barrier", "--machine", "core2d", "--threads", ""),
                      ("event", "--machine", "core2d", "--receivers", ""),
                      ("sweep", "--machines", ""),
                      ("published", "hetland_2019", "--machines", "")):  # fmt: skip
            self.assertIn("the value is empty", self.refused(*words))

    def test_help(self) -> None:
        waits = " ".join(tutti_sim("barrier", "--help")[1].split())
        self.assertRegex(waits, r"Wait policies of tutti's: .*\badaptive, .*\bspin\b")
        applications = " ".join(tutti_sim("graph", "--help")[1].split())
        self.assertIn("pagerank, sssp, bfs, components, mssp, spiking, heat", applications)

    def test_unknown_names(self) -> None:
        vax = ("--machine", "vax")
        self.assertIn("no machine and no file 'vax'; machines are: ", self.refused("team", *vax))
        self.assertIn("no machine", self.refused("machines", "--show", *vax))
        self.assertIn("--show needs --machine", self.refused("machines", "--show"))
        harp = ("--machine", "harp")
        for subcommand, what in (("barrier", "barrier"), ("reduce", "reduction")):
            said = self.refused(subcommand, *harp, "--algorithms", "tiket")
            self.assertIn(f"there is no {what} 'tiket' for simulations; there are: ", said)
        for subcommand in ("barrier", "timeline"):
            said = self.refused(subcommand, *harp, "--algorithms", "default", "--wait", "park")
            self.assertIn("with the wait policies adaptive and spin only", said)
        self.assertIn("wait policy 'doze'", self.refused("barrier", *harp, "--wait", "doze"))
        said = self.refused("event", *harp, "--algorithms", "futex", "--wait", "doze")
        self.assertIn("--wait: 'doze' is not one of ", said)
        self.assertIn("no table and no file 'ii'; tables are: ", self.refused("published", "ii"))
        said = self.refused("fit", "hetland_2019", "--machines", "knl", "--keys", "line.held")
        self.assertIn("no number 'line.held'; numbers are: clock_ghz", said)
        said = self.refused("published", "hetland_2019", "--machines", "vax")
        self.assertIn("hetland_2019 has no value of 'vax'", said)
        table = "machine,algorithm,threads,ns,use\nknl,ticket,4,100,fit\nvax,ticket,4,100,fit\n"
        said = self.refused("published", self.file("mine.csv", table))
        self.assertIn("mine.csv:3: there is no machine and no file 'vax'", said)

    def test_wrong_numbers(self) -> None:
        harp = ("barrier", "--machine", "harp")
        self.assertIn("--threads", self.refused(*harp, "--threads", "0"))
        self.assertIn("--threads", self.refused(*harp, "--threads", "2,x"))
        self.assertIn("--episodes", self.refused(*harp, "--episodes", "1"))
        few = self.file("few.jsonl", "\n".join(self.measured()))
        self.assertIn("--cores", self.refused("calibrate", few, "--cores", "1"))
        lossy = ("network", "--lose", "0.1", "--repeat-after", "0")
        self.assertIn("--repeat-after", self.refused(*lossy))
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
        said = self.refused(*harp, "--set", "topology.cores=2.4")
        self.assertIn("topology.cores must be a whole number", said)
        said = self.refused(*harp, "--set", "core.hit=0")
        self.assertIn("harp.toml, with the numbers that replace its own: core.hit must", said)
        fit = ("fit", "berger_stamatakis_table_1", "--machines", "core2d", "--keys")
        self.assertIn("names 'line.hold' twice", self.refused(*fit, "line.hold,line.hold=3"))
        self.assertIn("'topology.cores' is a count", self.refused(*fit, "topology.cores"))
        said = self.refused(*fit, "line.hold", "--set", "line.hold=3")
        self.assertIn("--set replaces 'line.hold'", said)


if __name__ == "__main__":
    main()
