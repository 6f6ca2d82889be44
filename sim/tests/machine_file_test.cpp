// SPDX-License-Identifier: Apache-2.0
// Descriptions of machines: those that tutti brings along, and what is wrong with others.
#include "sim/machine_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/choices.hpp"
#include "sim/measure.hpp"
#include "tests/support/refusal.hpp"

namespace tutti::sim {
namespace {

// The description with one line replaced; line 5 is clock_ghz.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = description_of("epyc2");
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  return test::refusal_of<std::invalid_argument>([&] { return parse_machine(text, "mine.toml"); });
}

void expect(const std::string& from, const std::string& to, const std::string& line,
            const std::string& what) {
  const std::string said = complaint(changed(from, to));
  EXPECT_EQ(said.rfind("mine.toml:" + line + ": ", 0), 0u) << said;
  EXPECT_NE(said.find(what), std::string::npos) << said;
}

TEST(MachineFile, ReadsEveryMachine) {
  for (const std::string& name : names_of_machines()) {
    const machine m = find_machine(name);
    EXPECT_EQ(m.name, name);
    EXPECT_GE(m.cpus(), 2u);
    // Distances are the same in both directions, and a core is its own nearest.
    for (unsigned a = 0; a < m.all_cores(); a += 7)
      for (unsigned b = 0; b < m.all_cores(); b += 5)
        EXPECT_EQ(m.distance(a, b), m.distance(b, a)) << name;
    std::vector<bool> seen(m.all_cores());
    for (unsigned cpu = 0; cpu < m.cpus(); ++cpu) seen.at(m.core_of_cpu(cpu)) = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), m.all_cores()) << name;
  }
  const machine m = find_machine("epyc2");
  EXPECT_EQ(m.cpus(), 192u);
  EXPECT_EQ(m.transfer.node, picoseconds(107));
  EXPECT_EQ(find_machine("numa4").transfer.cluster, static_cast<sim_time>(81 / 2.1 * 1000 + 0.5));
}

TEST(MachineFile, SaysWhereWhatIsWrongAndWhatWasExpected) {
  expect("clusters = 6", "clusters = \"six\"", "9", "a whole number from 1 to 512");
  expect("clusters = 6", "clusters = 0", "9", "topology.clusters");
  expect("cores = 8", "cores = 100", "10", "1200 cores, and a simulation has at most 1024");
  expect("cluster = 23", "cluster = -23", "15", "transfer.cluster must not be negative");
  expect("cluster = 23", "clutser = 23", "14", "transfer.cluster is missing");
  expect("node = 107", "node = 107\nnodes = 3", "17",
         "unknown key transfer.nodes; known are: transfer.cluster");
  expect("node = 107", "node = 10", "16", "another cluster is not nearer");
  expect("hops = [197]", "hops = [197, 250]", "17", "a list of 1 times");
  expect("hops = [197]", "hops = [19]", "17", "another node is not nearer");
  expect("unit = \"ns\"", "unit = \"s\"", "4", "one of \"ns\" \"cycles\"");
  expect("reads_by_node = true", "reads_by_node = 1", "28", "true or false");
  expect("nodes = 2", "nodes = 1", "17", "there is one node");
  expect("numbering =", "hops = [[0, 1], [2, 0]]\nnumbering =", "12",
         "the same in both directions");
  expect("numbering =", "hops = [[0, 1]]\nnumbering =", "12", "a row for each of the 2 nodes");
  expect("nodes = \"first\"", "nodes = \"second\"", "33", "one of \"first\" \"all\"");
  expect("occupancy = 10", "occupancy = -1", "36", "home.occupancy must not be negative");
  expect("link = 2 ", "link = \"two\" ", "37", "a time");
  expect("sharing = 0.5", "sharing = 50", "42", "core.sharing must be a number from 0 to 10");
  expect("threads = 2", "threads = 1", "42", "core.sharing has no use: a core has one thread");
  expect("loads_ahead = 6", "loads_ahead = 0", "41", "a whole number from 1 to 512");
  expect("[core]", "[cores]", "1", "core.hit is missing");
  expect("unit = \"ns\"", "unit = ns", "4", "");
}

TEST(MachineFile, BoundsTimesAndFactors) {
  const char* const most = "line.memory must be at most 1e12 ns: it is a time";
  // The last one is no double.
  for (const char* const value : {"inf", "1e300", "1e17", "nan", "9007199254740993"})
    expect("memory = 110", std::string("memory = ") + value, "25", most);
  EXPECT_EQ(parse_machine(changed("memory = 110", "memory = 1e12"), "mine.toml").memory,
            1'000'000'000'000'000u);
  expect("hops = [197]", "hops = [inf]", "17", "transfer.hops must be at most 1e12 ns");
  for (const char* const value : {"nan", "inf", "0", "1e-300"})
    expect("clock_ghz = 2.65", std::string("clock_ghz = ") + value, "5",
           "clock_ghz must be a number from 0.001 to 1000");
  for (const char* const value : {"nan", "-1", "9007199254740993"})
    expect("sharing = 0.5", std::string("sharing = ") + value, "42",
           "core.sharing must be a number from 0 to 10");
  // 2^32 + 1
  for (const char* const value : {"4294967297", "17", "-1", "1.0"})
    expect("numbering =",
           std::string("hops = [[0, ") + value + "], [" + value + ", 0]]\nnumbering =", "12",
           "1 to 16 to another");
  EXPECT_THROW(static_cast<void>(find_machine("epyc2", {{"line.hold", NAN}})),
               std::invalid_argument);
}

TEST(MachineFile, WantsSectionsWhereItKnowsSections) {
  for (const char* const section : {"accelerator", "small", "interrupt", "bank"})
    expect("unit =", std::string(section) + " = 1\nunit =", "4",
           std::string(section) + " must be a section, [" + section + "]");
  EXPECT_NE(complaint(description_of("epyc2") + "\n[[barrier_unit]]\narrive = 1\n")
                .find("mine.toml:58: barrier_unit must be a section"),
            std::string::npos);
  // The same as `hold` in [line] it is not.
  expect("unit =", "\"line.hold\" = 3\nunit =", "4", "unknown key line.hold");
}

TEST(MachineFile, ReadsFiles) {
  const std::string path = testing::TempDir() + "tutti_machine_file_test.toml";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  write(description_of("knl"));
  EXPECT_EQ(find_machine(path).cpus(), find_machine("knl").cpus());
  EXPECT_EQ(description_of(path), description_of("knl"));
  write("");
  const auto said = [](const std::string& name) {
    return test::refusal_of<std::invalid_argument>([&] { static_cast<void>(find_machine(name)); });
  };
  EXPECT_NE(said(path).find(path + ":1: description is missing"), std::string::npos) << said(path);
  EXPECT_NE(said(testing::TempDir()).find("is a folder and not a file"), std::string::npos);
  std::remove(path.c_str());
}

TEST(MachineFile, CanHaveInterrupts) {
  EXPECT_FALSE(find_machine("epyc2").has_interrupts);
  const machine m = find_machine("opteron64");
  EXPECT_TRUE(m.has_interrupts);
  // 1,150 cycles from one core of a die to another.
  EXPECT_NEAR(nanoseconds(m.interrupt_send + m.interrupt_way.node + m.interrupt_enter) * 2.1, 1150,
              0.01);
  const std::string text = description_of("epyc2");
  EXPECT_NE(complaint(text + "\n[interrupt]\nsend = 1\n").find("interrupt.cluster is missing"),
            std::string::npos);
  EXPECT_NE(complaint(text + "\n[interrupts]\nsend = 1\n").find("unknown key interrupts"),
            std::string::npos);
}

TEST(MachineFile, CanHaveTicksAndDeepSleep) {
  const machine without = find_machine("epyc2");
  EXPECT_EQ(without.tick, 0u);
  EXPECT_EQ(without.deep_after, 0u);
  EXPECT_EQ(without.displace, without.wake_up);
  const machine m = find_machine("local");
  EXPECT_GT(m.tick, m.tick_offset);
  EXPECT_GT(m.deep_wake_up, m.wake_up);
  EXPECT_LT(m.wake_interrupt, m.displace);
  const auto said = [](const settings& with) {
    return test::refusal_of<std::invalid_argument>(
        [&] { static_cast<void>(find_machine("local", with)); });
  };
  EXPECT_NE(
      said({{"system.tick_work", 1e9}}).find("system.tick_work must be less than system.tick"),
      std::string::npos);
  EXPECT_NE(said({{"system.tick", 0}}).find("system.tick_offset must be less"), std::string::npos);
  EXPECT_NE(said({{"system.deep_wake_up", 1}}).find("a deeper sleep ends no sooner"),
            std::string::npos);
  EXPECT_NE(said({{"system.deep_after", 0}}).find("need each other"), std::string::npos);
}

TEST(MachineFile, CanHaveSmallCores) {
  const machine m = find_machine("i9_12900k");
  EXPECT_EQ(m.cpus(), 24u);
  EXPECT_EQ(m.all_cores(), 16u);
  // CPU 15 is the second thread of the last fast core.
  EXPECT_EQ(m.core_of_cpu(15), 7u);
  EXPECT_EQ(m.core_of_cpu(16), 8u);
  EXPECT_EQ(m.core_of_cpu(23), 15u);
  EXPECT_EQ(m.cluster_of_core(11), 8u);
  EXPECT_EQ(m.cluster_of_core(12), 9u);
  EXPECT_EQ(nanoseconds(machine::at_distance(m.transfer, m.distance(0, 7))), 28.4);
  EXPECT_EQ(nanoseconds(machine::at_distance(m.transfer, m.distance(0, 8))), 34.4);
  EXPECT_EQ(nanoseconds(machine::at_distance(m.transfer, m.distance(8, 12))), 40.4);
  const std::string small = "\n[small]\nclusters = 2\ncores = 4\nslower = 1.5\nfarther = 6\n";
  EXPECT_NE(complaint(description_of("epyc2") + small).find("topology.nodes must be 1"),
            std::string::npos);
  EXPECT_NE(complaint(description_of("graviton3") + small)
                .find("topology.numbering must be \"siblings_adjacent\""),
            std::string::npos);
  EXPECT_THROW(static_cast<void>(find_machine("i9_12900k", {{"small.slower", 0.5}})),
               std::invalid_argument);
}

TEST(MachineFile, CanHaveBanksInPlaceOfCaches) {
  const machine m = find_machine("terapool");
  EXPECT_EQ(m.all_cores(), 1024u);
  EXPECT_EQ(m.banks * m.nodes * m.clusters, 4096u);
  EXPECT_EQ(nanoseconds(machine::at_distance(m.transfer, m.distance(0, 1023))), 5);
  EXPECT_NE(complaint(description_of("terapool") + "\n[line]\nhold = 3\n").find("unknown key line"),
            std::string::npos);
  EXPECT_THROW(static_cast<void>(find_machine("terapool", {{"bank.access", 2}})),
               std::invalid_argument);
}

// A text with parts of it replaced.
std::string replaced(std::string text,
                     const std::vector<std::pair<std::string, std::string>>& parts) {
  for (const auto& [from, to] : parts) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

TEST(MachineFile, ABankIsNotFartherThanTheNextOne) {
  const std::string text = description_of("terapool");
  // A core alone in its cluster has the cluster's banks.
  const std::string alone = replaced(
      text, {{"cores = 8", "cores = 1"}, {"cluster = 5  # assumed: the same for all cores\n", ""}});
  EXPECT_EQ(nanoseconds(parse_machine(alone, "mine.toml").transfer.cluster), 1);
  EXPECT_NE(complaint(replaced(alone, {{"cluster = 1\n", ""}})).find("transfer.cluster is missing"),
            std::string::npos);
  const std::string small = replaced(
      text, {{"nodes = 8", "nodes = 1"},
             {"cores_first", "siblings_adjacent"},
             {"access = 1 ", "access = 5 "},
             {"cluster = 1\nnode = 3\nhops = [5]", "cluster = 10\nnode = 1"},
             {"node = 5  # the same\nhops = [5]  # the same", "node = 5  # the same"},
             {"[bank]", "[small]\nclusters = 1\ncores = 2\nslower = 1\nfarther = 0\n[bank]"}});
  EXPECT_NE(complaint(small).find("mine.toml:26: transfer.node must be at least transfer.cluster"),
            std::string::npos)
      << complaint(small);
  EXPECT_EQ(complaint(replaced(small, {{"node = 1\n", "node = 10\n"}})), "accepted");
  const std::string said = test::refusal_of<std::invalid_argument>([] {
    static_cast<void>(find_machine("terapool", {{"bank.access", 0}, {"transfer.cluster", 0}}));
  });
  EXPECT_NE(said.find("bank.access must be above 0"), std::string::npos) << said;
}

TEST(MachineFile, CanHaveBarrierUnits) {
  EXPECT_TRUE(find_machine("a64fx").has_barrier_units);
  EXPECT_FALSE(find_machine("epyc2").has_barrier_units);
  EXPECT_NE(complaint(description_of("epyc2") + "\n[barrier_unit]\narrive = 1\n")
                .find("barrier_unit.leave is missing"),
            std::string::npos);
}

// The text of a machine's description with one line replaced, and what is said about it.
std::string complaint_about(const std::string& name, const std::string& from,
                            const std::string& to) {
  std::string text = description_of(name);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return complaint(text.replace(at, from.size(), to));
}

TEST(MachineFile, CanHaveAnAccelerator) {
  const machine m = find_machine("harp", {{"accelerator.requests", 4}});
  EXPECT_TRUE(m.has_accelerator);
  EXPECT_EQ(m.accelerator.cycle, picoseconds(2.5));
  EXPECT_EQ(m.accelerator.requests, 4u);
  const auto expect_said = [](const std::string& from, const std::string& to,
                              const std::string& what) {
    const std::string said = complaint_about("harp", from, to);
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  expect_said("clock_mhz = 400", "clock_mhz = 0",
              "accelerator.clock_mhz must be a number from 0.001 to 100000");
  expect_said("clock_mhz = 400", "clock_mhz = 1e-300", "accelerator.clock_mhz must be a number");
  expect_said("cached = 70", "cached = 400", "accelerator.cached must be at most accelerator.read");
  expect_said("threads = 28", "threads = 200", "accelerator.threads must be at most 128");
  expect_said("vh1 = ", "vh2 = ", "accelerator.vh1 is missing");
  expect_said("vh1 = ", "vh2 = 3\nvh1 = ", "unknown key accelerator.vh2");
  EXPECT_NE(complaint(description_of("terapool") + "\n[accelerator]\nclock_mhz = 1\n")
                .find("[accelerator] has no use"),
            std::string::npos);
}

TEST(MachineFile, CanHaveCoresInOrder) {
  const machine usual = find_machine("epyc2");
  EXPECT_FALSE(usual.waits_for_stores || usual.is_narrow);
  EXPECT_EQ(usual.poll_gap, picoseconds(40));
  EXPECT_EQ(usual.invalidate_gap, 0u);
  const machine m = find_machine("rtl");
  EXPECT_TRUE(m.waits_for_stores && m.is_narrow);
  EXPECT_EQ(m.poll_gap, 0u);
  EXPECT_EQ(m.invalidate_gap, picoseconds(1));
  EXPECT_NE(complaint_about("rtl", "stores_ahead = 1", "stores_ahead = 2")
                .find("core.stores_ahead must be 1 with core.waits_for_stores"),
            std::string::npos);
  EXPECT_NE(complaint_about("rtl", "narrow = true", "narrow = 32").find("must be true or false"),
            std::string::npos);
}

TEST(MachineFile, CanHaveStructures) {
  EXPECT_EQ(find_machine("numa4").nodes_of_structure, 2u);
  EXPECT_FALSE(find_machine("epyc2").has_structures);
  const auto expect_said = [](const std::string& name, const std::string& from,
                              const std::string& to, const std::string& what) {
    const std::string said = complaint_about(name, from, to);
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  expect_said("numa4", "nodes = 2 ", "nodes = 3 ", "structure.nodes must divide topology.nodes, 8");
  expect_said("numa4", "link = 184", "lnk = 184", "structure.link is missing");
  expect_said("harp", "access = 15.8", "link = 3\naccess = 15.8", "structure.link has no use");
  expect_said("knl", "threads = 4", "threads = 8", "a socket has 512 CPUs");
}

TEST(MachineFile, ReplacesNumbers) {
  const machine m = find_machine("epyc2", {{"line.hold", 33}, {"topology.cores", 4}});
  EXPECT_EQ(m.hold, picoseconds(33));
  EXPECT_EQ(m.cpus(), 96u);
  EXPECT_EQ(numbers_of("epyc2").at("line.hold"), 15);
  const auto said = [](const settings& with) -> std::string {
    try {
      static_cast<void>(find_machine("epyc2", with));
      return "nothing";
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
  };
  EXPECT_NE(said({{"line.held", 3}}).find("no number 'line.held'; numbers are: clock_ghz"),
            std::string::npos);
  EXPECT_NE(said({{"line.hold", -3}}).find("line.hold must not be negative"), std::string::npos);
  for (const double cores : {0.0, 2.4, 900.0})
    EXPECT_NE(said({{"topology.cores", cores}}).find("a whole number from 1 to 512"),
              std::string::npos);
  EXPECT_EQ(counts_of("epyc2").count("topology.cores"), 1u);
  EXPECT_EQ(counts_of("epyc2").count("line.hold"), 0u);
  // The line of the file is right, and that of a wrong file is not.
  EXPECT_EQ(said({{"core.hit", 0}}),
            "epyc2.toml, with the numbers that replace its own: core.hit must be above 0");
  test::expect_refused(
      [] {
        static_cast<void>(parse_machine("unit = 3\n", "mine.toml", {{"core.hit", 1}}));
      },
      "mine.toml:1: ");
}

TEST(MachineFile, IsNoFolderAndNoDevice) {
  test::expect_refused([] { static_cast<void>(find_machine("/")); }, "'/' is a folder");
  test::expect_refused([] { static_cast<void>(find_machine("/dev/zero")); },
                       "'/dev/zero' is a device");
}

TEST(Choices, SayTheFanOfEachVariant) {
  for (const choice& each : choices())
    for (const alternative& other : each.others) {
      const std::size_t at = other.name.find("fan ");
      if (at == std::string::npos) continue;
      EXPECT_TRUE(other.summary.find(other.name.substr(at)) != std::string::npos ||
                  other.summary.find("up to " + other.name.substr(at + 4) + " ") !=
                      std::string::npos)
          << other.name << ": " << other.summary;
    }
}

TEST(MachineFile, NamesTheMachinesForAnUnknownOne) {
  try {
    static_cast<void>(find_machine("vax"));
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("machines are: a64fx"), std::string::npos);
  }
}

// A part of the machines runs all barriers at full size in `tutti sim`; here each runs one.
TEST(MachineFile, MachinesRun) {
  const contender who = barriers({"tournament"}, {"spin"}).front();
  for (const std::string& name : names_of_machines()) {
    const machine m = find_machine(name);
    const simulated_run r = run(m, who, {.threads = m.cpus(), .episodes = 5});
    EXPECT_EQ(r.loop.size(), 5u);
    // Not less than one way up and one down.
    EXPECT_GT(r.loop.back(), 2 * nanoseconds(m.transfer.cluster)) << name;
  }
}

}  // namespace
}  // namespace tutti::sim
