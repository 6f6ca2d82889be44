#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `tutti sim` beside measured and published values: calibrate, compare, published and fit."""

import json
import re
import shlex

from sim_case import MACHINES, SimCase, main, tutti_sim


class Measured(SimCase):
    def test_calibrate_and_compare(self) -> None:
        measured = self.file("bench.jsonl", "\n".join(self.measured()) + "\n")
        status, out, error = tutti_sim("calibrate", measured, "--cores", "2")
        self.assertEqual((status, error), (0, ""))
        mine = self.file("mine.toml", out)
        lines = self.lines("compare", measured, "--machine", mine)
        compared = [line for line in lines if line["type"] == "sim_comparison"]
        self.assertEqual({line["name"] for line in compared}, {"ticket", "tournament"})
        # Lines may be far apart.
        apart = self.file("apart.jsonl", "\n\n".join(self.measured()) + "\n\n")
        self.assertEqual(self.lines("compare", apart, "--machine", mine), lines)
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

    def test_arrivals_differ_as_in_the_benchmark(self) -> None:
        free = json.loads(self.measured()[-1]) | {"name": "ticket", "metric": "last_in_last_out"}
        lines = [json.dumps(free | {"scenario": scenario}) for scenario in ("free", "skew_500ns")]
        file = self.file("late.jsonl", "\n".join(lines) + "\n")
        took = [line["simulated_ns"] for line in self.lines("compare", file, "--machine", "local")
                if line["type"] == "sim_comparison"]  # fmt: skip
        self.assertEqual(len(took), 2)
        self.assertEqual(took[0], took[1])

    def test_takes_only_what_ran_on_a_cpu_for_each_thread(self) -> None:
        line = json.loads(self.measured()[-1]) | {"name": "ticket"}
        file = self.file("cpu_0.jsonl", json.dumps(line | {"pin": "0"}) + "\n")
        said = self.refused("compare", file, "--machine", "local")
        self.assertIn("cpu_0.jsonl has no line", said)
        file = self.file("core.jsonl", json.dumps(line | {"pin": "core"}) + "\n")
        self.assertGreater(len(self.lines("compare", file, "--machine", "local")), 0)

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
        # A table of cycles is no table of ns.
        inside = '"unit": "cycles", "pinned"'
        cycles = [line.replace('"pinned"', inside) for line in self.measured()]
        file = self.file("cycles.jsonl", "\n".join(cycles))
        said = self.refused("compare", file, "--machine", "harp")
        self.assertIn('cycles.jsonl:7: unit must be "ns" here, not "cycles"', said)
        alone = [line.replace('"threads": 4', '"threads": 1') for line in self.measured()
                 if '"threads": 2' not in line]  # fmt: skip
        file = self.file("alone.jsonl", "\n".join(alone))
        said = self.refused("compare", file, "--machine", "harp")
        self.assertIn("of two or more pinned threads", said)
        for words in (("compare", "--machine", "harp"), ("calibrate",)):
            self.assertIn("'/' is a folder", self.refused(*words, "/"))
            self.assertIn("'/dev/zero' is a device", self.refused(*words, "/dev/zero"))
        machine = self.file("mine.toml", "unit = 3\n")
        self.assertIn("mine.toml:1: ", self.refused("team", "--machine", machine))
        table = self.file("mine.csv", "machine,algorithm,threads,ns,use\nknl,ticket,4,-1,fit\n")
        self.assertIn("mine.csv:2: ns must be a number above 0", self.refused("published", table))
        table = self.file("more.csv", "machine,algorithm,threads,ns,use\nknl,ticket,4,60,fit,\n")
        self.assertIn("more.csv:2: five fields were expected", self.refused("published", table))


if __name__ == "__main__":
    main()
