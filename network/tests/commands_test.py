#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each subcommand of `tutti network` in a network namespace of its own, as root and as another
user, and gives each what it must refuse.

usage: commands_test.py TUTTI UNIT   (the program, the unit for systemd)
"""

import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
TUTTI, UNIT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "network.md"
NO_NETWORK_ADMIN = ("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin")
NOBODY = tuple("setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all".split())


def said(*words: str, before: tuple[str, ...] = ()) -> tuple[int, str, str]:
    done = subprocess.run(
        [*before, str(TUTTI), "network", *words], capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def ip(*words: str) -> str:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout


def tc(*words: str) -> str:
    return subprocess.run(["tc", *words], capture_output=True, text=True, check=True).stdout


def devices() -> set[str]:
    return {line.split(": ")[1].split("@")[0] for line in ip("-o", "link").splitlines()}


def children_of(pid: int) -> list[int]:
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        # It has ended meanwhile, as the commands `ip` of a test bed do.
        return []
    return [int(word) for word in text.split()]


def descendants_of(pid: int) -> list[int]:
    found = []
    for child in children_of(pid):
        found += [child, *descendants_of(child)]
    return found


def runs(pid: int) -> bool:
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text[text.rindex(")") + 2] != "Z"


class Network(unittest.TestCase):
    def setUp(self) -> None:
        ip("link", "add", "one0", "type", "veth", "peer", "name", "two0")
        ip("link", "set", "one0", "up")
        ip("link", "set", "two0", "up")
        self.addCleanup(ip, "link", "del", "one0")

    def works(self, *words: str) -> str:
        status, out, error = said(*words)
        self.assertEqual((status, error), (0, ""), out)
        return out

    def refused(self, *words: str, before: tuple[str, ...] = ()) -> str:
        """The one sentence with which it refuses."""
        status, out, error = said(*words, before=before)
        self.assertEqual((status, out), (1, ""), error)
        self.assertEqual(error.count("\n"), 1, error)
        return error

    def test_check_tells_what_the_machine_and_the_device_can(self) -> None:
        out = self.works("check", "one0")
        for line in ("kernel +yes", "permission +yes", "driver +yes +native"):
            self.assertRegex(out, line)
        self.assertIn("generic only", self.works("check", "lo"))
        lines = [json.loads(line) for line in self.works("check", "one0", "--json").splitlines()]
        self.assertTrue(all(line["met"] for line in lines))
        # It has only tried.
        self.assertIn("none is attached", self.works("check", "one0"))

    def test_check_tells_the_way_out(self) -> None:
        status, out, _ = said("check", "none0")
        self.assertEqual(status, 1)
        self.assertIn("there is no network device 'none0'", out)
        self.assertIn("->   name a device that `ip link` lists", out)
        status, out, _ = said("check", "one0", before=NOBODY)
        self.assertEqual(status, 1)
        self.assertIn("permission        NO", out)
        self.assertIn("->   run it as root, or with CAP_BPF and CAP_NET_ADMIN", out)
        # Another user may not see whose the program is, which is no reason to take it off.
        self.works("attach", "one0")
        status, out, _ = said("check", "one0", before=NOBODY)
        self.assertEqual(status, 1)
        self.assertNotIn("xdp off", out)
        self.assertIn("->   run it as root", out)

    def test_attach_status_detach(self) -> None:
        self.assertIn("tutti_xdp is attached, in native mode", self.works("attach", "one0"))
        self.assertIn("has tutti's programs already", self.refused("attach", "one0"))
        out = self.works("status", "one0")
        for words in ("native mode", "malformed", "no communicator has a table here",
                      "tutti_egress: the verifier went through"):  # fmt: skip
            self.assertIn(words, out)
        line = json.loads(self.works("status", "one0", "--json"))
        self.assertEqual((line["device"], line["mode"]), ("one0", "native"))
        self.assertEqual(line["communicators"], [])
        self.assertEqual(set(line["counters"].values()), {0})
        self.works("detach", "one0")
        for command in ("detach", "status"):
            self.assertIn("no program of tutti's", self.refused(command, "one0"))
        self.assertNotIn("xdp", ip("link", "show", "one0"))

    def test_the_page_has_the_counts_of_the_verifier(self) -> None:
        page = PAGE.read_text(encoding="utf-8")
        (kernel,) = re.findall(r"\(Linux (\d+\.\d+); `tutti network status DEVICE`", page)
        if not platform.release().startswith(f"{kernel}."):
            self.skipTest(f"the page has the counts of Linux {kernel}")
        told = {name: int(count.replace(",", "")) for count, name in
            re.findall(r"([\d,]+)(?: instructions)?\s+of `(tutti_\w+)`", page)}  # fmt: skip
        self.works("attach", "one0")
        line = json.loads(self.works("status", "one0", "--json"))
        self.works("detach", "one0")
        counted = line["verified_instructions"]
        self.assertEqual(set(told), set(counted))
        for name, count in counted.items():
            # Another release of the compiler or the kernel moves them by a few instructions.
            self.assertLess(abs(told[name] / count - 1), 0.01, f"{PAGE} has {told}, here {counted}")

    def test_detach_takes_off_what_others_have_left(self) -> None:
        self.works("attach", "one0")
        ip("link", "set", "dev", "one0", "xdp", "off")
        self.assertIn("no program of tutti's", self.refused("status", "one0"))
        self.works("detach", "one0")
        for point in ("ingress", "egress"):
            self.assertNotIn("tutti", tc("filter", "show", "dev", "one0", point))
        self.assertIn("no program of tutti's", self.refused("detach", "one0"))

    def test_programs_that_are_missing_are_told(self) -> None:
        self.works("attach", "one0")
        tc("qdisc", "del", "dev", "one0", "clsact")
        self.assertIn("programs behind one0 are missing", self.works("status", "one0"))
        self.assertIn("missing", json.loads(self.works("status", "one0", "--json")))
        status, out, _ = said("check", "one0")
        self.assertEqual(status, 1)
        self.assertIn("all programs      NO", out)
        self.works("detach", "one0")
        self.works("attach", "one0")
        self.assertNotIn("missing", self.works("status", "one0"))
        self.works("detach", "one0")

    def test_a_queue_for_incoming_packets_is_refused_and_stays(self) -> None:
        tc("qdisc", "add", "dev", "one0", "ingress")
        self.assertIn("has a queue for incoming packets only", self.refused("attach", "one0"))
        self.assertIn("ingress", tc("qdisc", "show", "dev", "one0"))
        self.assertNotIn("tutti", tc("filter", "show", "dev", "one0", "ingress"))
        self.assertNotIn("xdp", ip("link", "show", "one0"))

    def test_a_device_without_ethernet_frames_is_refused(self) -> None:
        try:
            ip("tuntap", "add", "tun9", "mode", "tun")
        except subprocess.CalledProcessError:
            self.skipTest("no TUN devices here")
        self.addCleanup(ip, "link", "del", "tun9")
        self.assertIn("carries no Ethernet frames", self.refused("attach", "tun9"))
        status, out, _ = said("check", "tun9")
        self.assertEqual(status, 1)
        self.assertIn("->   name an Ethernet device", out)

    def test_root_without_the_right_to_administer_networks(self) -> None:
        self.works("attach", "one0")
        for words in (("detach", "one0"), ("attach", "two0")):
            self.assertIn("CAP_NET_ADMIN", self.refused(*words, before=NO_NETWORK_ADMIN))
        status, out, _ = said("check", "two0", before=NO_NETWORK_ADMIN)
        self.assertEqual(status, 1)
        self.assertRegex(out, "driver +NO")
        self.assertIn("native mode", self.works("status", "one0"))
        self.works("detach", "one0")

    def test_an_mtu_that_the_driver_refuses(self) -> None:
        for device in ("one0", "two0"):
            ip("link", "set", device, "mtu", "9000")
        self.assertIn("use a smaller MTU", self.refused("attach", "one0", "--mode", "native"))
        self.assertIn("in generic mode", self.works("attach", "one0"))
        self.works("detach", "one0")

    def test_an_output_that_is_full(self) -> None:
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(
                [str(TUTTI), "network", "check"], stdout=full, stderr=subprocess.PIPE, text=True
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn("could not be written", done.stderr)

    def test_a_driver_without_xdp_takes_the_generic_mode(self) -> None:
        self.assertIn("use --mode generic", self.refused("attach", "lo", "--mode", "native"))
        self.assertIn("in generic mode", self.works("attach", "lo"))
        self.works("detach", "lo")
        self.assertIn("in generic mode", self.works("attach", "one0", "--mode", "generic"))
        self.works("detach", "one0")

    def test_other_users_get_one_sentence(self) -> None:
        self.assertIn("run it as root", self.refused("attach", "one0", before=NOBODY))
        error = self.refused("testbed", "--nodes", "2", before=NOBODY)
        self.assertIn("it needs root", error)
        self.works("attach", "one0")
        for words in (("status", "one0"), ("detach", "one0"), ("attach", "one0")):
            self.assertIn("run it as root", self.refused(*words, before=NOBODY))
        self.assertIn("native mode", self.works("status", "one0"))

    def test_devices_that_are_not_there(self) -> None:
        for command in ("attach", "detach", "status", "discover"):
            self.assertIn("there is no network device 'none0'", self.refused(command, "none0"))

    def test_a_discovery_refuses_before_it_waits(self) -> None:
        ip("addr", "add", "10.1.1.1/24", "dev", "one0")
        for topology in ("rung", "switch"):
            begin = time.monotonic()
            status, out, error = said("discover", "one0", "--topology", topology, "--time", "30")
            self.assertEqual((status, out), (2, ""))
            self.assertIn(topology, error)
            self.assertLess(time.monotonic() - begin, 20)

    def test_a_discovery_without_others_ends(self) -> None:
        ip("addr", "add", "10.1.1.1/24", "dev", "one0")
        error = self.refused("discover", "one0", "--nodes", "2", "--time", "0.3")
        self.assertIn("only 1 of 2 nodes answers", error)

    def discovered_with(self, *keys: str) -> list[tuple[int, str]]:
        """What both ends of a cable say, each with a key of its own."""
        running = []
        with tempfile.TemporaryDirectory() as folder:
            for device, key in zip(("one0", "two0"), keys):
                file = pathlib.Path(folder, device)
                file.write_text(f"{key}\n")
                running.append(subprocess.Popen(
                    [str(TUTTI), "network", "discover", device, "--nodes", "2", "--time", "3",
                     "--key-file", str(file)],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                ))  # fmt: skip
            return [(each.wait(timeout=60), each.communicate()[0]) for each in running]

    def test_hosts_with_different_keys_do_not_find_each_other(self) -> None:
        for number, device in enumerate(("one0", "two0")):
            ip("addr", "add", f"10.1.{number}.1/24", "dev", device)
        for status, out in self.discovered_with("0123456789abcdef" * 2, "0123456789ABCDEF" * 2):
            self.assertEqual(status, 0, out)
            self.assertIn("2 nodes", out)
        for status, out in self.discovered_with("0123456789abcdef" * 2, "0" * 31 + "1"):
            self.assertEqual(status, 1, out)
            self.assertIn("only 1 of 2 nodes answers", out)
        for key in ("", "0" * 31, "0" * 33, "0" * 31 + "g", "0" * 32 + " 0"):
            for status, out in self.discovered_with(key, key):
                self.assertEqual(status, 1, out)
                self.assertIn("--key-file", out)

    def test_testbed_refuses(self) -> None:
        for words in (["--nodes", "64"], ["--nodes", "0"], ["--lose", "2"], ["--mode", "odd"],
                      ["--topology", "rung"], ["--engines"], ["--imbalance", "1ms"],
                      ["--mpi", "--imbalance", "much"], ["--mpi", "--udp"],
                      ["--mpi", "--lose", "0.1"], ["--mpi", "--growth"],
                      ["--growth", "--topology", "star"], ["--growth", "--nodes", "5"],
                      ["--growth", "--engines"], ["--growth", "--background", "heavy"],
                      ["--growth", "--imbalance", "1ms"], ["--mpi", "--session", "same"],
                      ["--lose", "0.5", "--repeat", "0.3", "--reorder", "0.3"],
                      ["--udp", "--topology", "switch"], ["--lose", "nan"],
                      ["--mpi", "--topology", "rung"], ["--mpi", "--topology", "switch"],
                      ["--mpi", "--topology", "ring,tree"],
                      ["--mpi", "--engines", "--topology", "dissemination"]):  # fmt: skip
            status, out, error = said("testbed", *words)
            self.assertNotEqual(status, 0, words)
            self.assertEqual(out, "", words)
            self.assertNotEqual(error, "", words)

    def test_testbed_leaves_this_namespace_as_it_was(self) -> None:
        before = devices()
        out = self.works_with_paths("testbed", "--nodes", "3", "--calls", "50")
        for topology in ("ring", "tree", "star", "butterfly", "dissemination", "switch"):
            self.assertIn(topology, out)
        self.assertEqual(devices(), before)

    def works_with_paths(self, *words: str) -> str:
        status, out, error = said(*words)
        self.assertEqual(status, 0, error)
        return out

    def test_status_names_the_process_of_a_communicator(self) -> None:
        bed = subprocess.Popen(
            [str(TUTTI), "network", "testbed", "--nodes", "2", "--calls", "10000000",
             "--topology", "ring"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.addCleanup(bed.wait)
        self.addCleanup(bed.kill)
        out = ""
        for _ in range(1000):
            for pid in children_of(bed.pid):
                there = ("nsenter", "--target", str(pid), "--net")
                _, out, _ = said("status", "eth0", before=there)
                if "communicator 0" in out:
                    self.assertRegex(out, rf"communicator 0: ring of 2.*; process {pid} runs\n")
                    _, out, _ = said("status", "eth0", "--json", before=there)
                    (communicator,) = json.loads(out)["communicators"]
                    self.assertEqual(communicator["process"], pid)
                    self.assertIs(communicator["process_runs"], True)
                    return
            time.sleep(0.02)
        self.fail(out)

    def test_testbed_is_gone_after_any_signal(self) -> None:
        before = devices()
        for end in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=end.name):
                bed = subprocess.Popen(
                    [str(TUTTI), "network", "testbed", "--nodes", "3", "--calls", "10000000",
                     "--reorder", "0.01"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                for _ in range(1000):
                    # The ranks, and the process that holds packets back.
                    if len(descendants_of(bed.pid)) >= 4:
                        break
                    time.sleep(0.02)
                all_of_it = descendants_of(bed.pid)
                self.assertGreaterEqual(len(all_of_it), 4)
                bed.send_signal(end)
                self.assertEqual(bed.wait(timeout=20), -end)
                for _ in range(500):
                    left = [pid for pid in all_of_it if runs(pid)]
                    if not left:
                        break
                    time.sleep(0.02)
                self.assertEqual(left, [])
                self.assertEqual(devices(), before)

    def test_the_unit_attaches_and_detaches(self) -> None:
        lines = dict(
            line.split("=", 1) for line in UNIT.read_text().splitlines() if "=" in line
            and not line.startswith("#")
        )  # fmt: skip
        for key, command in (("ExecStart", "attach"), ("ExecStop", "detach")):
            words = lines[key].split()
            self.assertEqual(words, ["tutti", "network", command, "%I"])
            self.works(*(word.replace("%I", "one0") for word in words[2:]))
        if shutil.which("systemd-analyze"):
            unit = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / "tutti-network@one0.service"
            unit.write_text(UNIT.read_text().replace("=tutti ", f"={TUTTI} "))
            self.addCleanup(unit.unlink)
            done = subprocess.run(
                ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""))


def main() -> int:
    needed = ("ip", "tc", "unshare", "setpriv", "nsenter")
    if os.geteuid() != 0 or not all(shutil.which(each) for each in needed):
        print("SKIPPED: it needs root and the commands ip, tc, unshare, setpriv and nsenter")
        return SKIPPED
    if os.environ.get("TUTTI_IN_NAMESPACE") != "1":
        if subprocess.run(["unshare", "--net", "true"], check=False).returncode != 0:
            print("SKIPPED: no network namespaces here")
            return SKIPPED
        os.environ["TUTTI_IN_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    ip("link", "set", "lo", "up")
    unittest.main(argv=[sys.argv[0]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
