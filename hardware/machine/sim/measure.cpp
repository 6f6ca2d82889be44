// SPDX-License-Identifier: Apache-2.0
// machine_measure FOLDER [--quick | --only CORES SOCKETS | --conformance [CORES SOCKETS SEED]]:
// measures barriers, accesses of the memory and a workload on the machine, in cycles, in all sizes
// that are built, and prints one JSON object a line on stdout, and progress on stderr. FOLDER has
// the images of software/build.sh. --conformance checks tutti's algorithms instead of measuring.
// The status is 1 if a program fails or a check finds an error.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/result_line.hpp"
#include "hardware/machine/sim/checked_run.hpp"
#include "hardware/machine/sim/model.hpp"
#include "tutti/schedule/choose.hpp"

namespace {

using namespace tutti::machine;
using tutti::rtl::algorithm;
using tutti::rtl::contender;
using tutti::rtl::cost;

constexpr auto barwait = static_cast<std::uint32_t>(contender::barwait);
constexpr auto none = static_cast<std::uint32_t>(contender::none);

// In the order of the tables.
constexpr algorithm measured[] = {
    algorithm::central,         algorithm::ticket,     algorithm::striped,
    algorithm::combining,       algorithm::mcs,        algorithm::dissemination,
    algorithm::dissemination_4, algorithm::tournament, algorithm::hierarchical};
// The unit beside the cores, and two distances: HBS at the controller of a third-level cache.
constexpr unsigned distances[] = {0, 9, 18};

struct size {
  unsigned cores, sockets;
};
bool is_built(const size& of) {
  for (const built_model& m : models())
    if (!m.ideal && m.sockets == of.sockets && m.cores >= of.cores) return true;
  return false;
}
std::vector<size> all_sizes() {
  std::vector<size> all;
  for (const unsigned sockets : {1u, 2u, 4u})
    for (unsigned cores = sockets > 2 ? sockets : 2; cores <= MOST_CORES; cores *= 2)
      if (is_built({cores, sockets})) all.push_back({cores, sockets});
  return all;
}

double one_decimal(double cycles) { return std::round(cycles * 10) / 10; }

void print(tutti::cli::json keys, const size& on, const figures& f) {
  keys["threads"] = on.cores;
  keys["cores"] = on.cores;
  keys["sockets"] = on.sockets;
  keys["unit"] = "cycles";
  keys["min"] = one_decimal(f.min);
  keys["median"] = one_decimal(f.median);
  keys["max"] = one_decimal(f.max);
  keys["samples"] = f.samples;
  std::fputs(tutti::cli::result_line(keys).c_str(), stdout);
  std::fflush(stdout);
}

void measure_barriers(const images& folder, const size& on) {
  const auto run = [&](std::uint32_t who, unsigned distance, const char* also) {
    for (const scenario s : {scenario::back_to_back, scenario::late, scenario::together}) {
      // Without a barrier only the loop has a meaning.
      if (who == none && s != scenario::back_to_back) break;
      const figures f =
          measure_barrier(folder, {.contender = who,
                                   .scenario = s,
                                   .cores = on.cores,
                                   .sockets = on.sockets,
                                   .unit_distance = distance,
                                   .episodes = s == scenario::back_to_back ? 16u : 8u});
      const auto line = [&](const std::string& name) {
        print({{"benchmark", "machine_barrier"},
               {"provider", who < tutti::rtl::algorithm_count ? "tutti" : "isa"},
               {"name", name},
               {"wait", who == barwait ? "instruction" : "spin"},
               {"metric", name_of(s)},
               {"unit_distance", distance}},
              on, f);
      };
      line(name_of_contender(who));
      if (also != nullptr) line(also);
    }
  };
  run(none, 0, nullptr);
  // A unit has up to 32 participants.
  if (on.cores / on.sockets <= 32)
    for (const unsigned distance : distances) run(barwait, distance, nullptr);
  const std::string chosen(tutti::choose::barrier(on.cores, false));
  for (const algorithm a : measured) {
    const auto number = static_cast<std::uint32_t>(a);
    run(number, 0, name_of_contender(number) == chosen ? "default" : nullptr);
  }
}

// A step of StreamCluster has five barriers.
void measure_workloads(const images& folder, const size& on) {
  const auto line = [&](std::uint32_t who, unsigned distance, const std::string& name) {
    print({{"benchmark", "machine_workload"},
           {"provider", who < tutti::rtl::algorithm_count ? "tutti" : "isa"},
           {"name", name},
           {"wait", who == barwait ? "instruction" : "spin"},
           {"metric", "streamcluster_step"},
           {"unit_distance", distance}},
          on, measure_workload(folder, {who, on.cores, on.sockets, distance}));
  };
  if (on.cores / on.sockets <= 32)
    for (const unsigned distance : {distances[0], distances[2]}) line(barwait, distance, "barwait");
  const std::string chosen(tutti::choose::barrier(on.cores, false));
  for (const algorithm a : measured) {
    const std::string name = name_of_contender(static_cast<std::uint32_t>(a));
    line(static_cast<std::uint32_t>(a), 0, name == chosen ? "default" : name);
  }
}

// Single accesses do not depend on how many other cores there are, so one size of each number of
// sockets is enough for them.
void measure_accesses(const images& folder, const size& on, bool is_largest) {
  struct access {
    cost what;
    const char* name;
  };
  static constexpr access single[] = {
      {cost::load_hit, "load_hit"},         {cost::load_memory, "load_memory"},
      {cost::load_shared, "load_shared"},   {cost::load_dirty, "load_dirty"},
      {cost::store_hit, "store_hit"},       {cost::store_memory, "store_memory"},
      {cost::store_shared, "store_shared"}, {cost::store_dirty, "store_dirty"},
      {cost::add_hit, "add_hit"},           {cost::add_dirty, "add_dirty"},
      {cost::ping_pong, "ping_pong"}};
  static constexpr access together[] = {{cost::contended_add, "contended_add"},
                                        {cost::invalidate, "invalidate"},
                                        {cost::release, "release"}};
  const auto line = [&](const access& a, const char* where, unsigned other,
                        std::uint32_t repetitions) {
    print({{"benchmark", "machine_access"},
           {"provider", "machine"},
           {"name", a.name},
           {"scenario", where},
           {"metric", "latency"}},
          on, measure_cost(folder, {a.what, on.cores, on.sockets, other, repetitions}));
  };
  for (const access& a : together) line(a, "all", 0, 16);
  if (!is_largest) return;
  const unsigned each = on.cores / on.sockets;
  for (const access& a : single) {
    line(a, "neighbour", each > 1 ? 1 : each, 64);
    if (on.sockets > 1) line(a, "next_socket", each, 64);
    if (on.sockets > 2) line(a, "farthest_socket", 2 * each, 64);
  }
  line({cost::local_poll, "local_poll"}, "own", 0, 64);
}

void measure_all(const images& folder, const std::vector<size>& sizes) {
  const std::vector<size> built = all_sizes();
  for (const size& on : sizes) {
    const bool is_largest = std::none_of(built.begin(), built.end(), [&](const size& other) {
      return other.sockets == on.sockets && other.cores > on.cores;
    });
    measure_barriers(folder, on);
    measure_workloads(folder, on);
    measure_accesses(folder, on, is_largest);
    std::fprintf(stderr, "%u cores in %u sockets: done\n", on.cores, on.sockets);
  }
}

// Checks that the checks work, too: without a barrier every result must be wrong.
void conform(const images& folder, const size& on, std::uint32_t seed) {
  const std::size_t cases =
      check_conformance(folder, {.cores = on.cores, .sockets = on.sockets, .seed = seed});
  try {
    check_conformance(folder, {.cores = on.cores, .sockets = on.sockets, .mutant = true});
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%zu cases: right; without a barrier: %s\n", cases, error.what());
    return;
  }
  throw std::runtime_error("the checks take no barrier for a barrier");
}

unsigned number(const char* text) {
  std::size_t used = 0;
  const unsigned long value = std::stoul(text, &used);
  if (text[used] != '\0' || value > 1'000'000)
    throw std::invalid_argument(std::string(text) + ": not a number up to 1000000");
  return static_cast<unsigned>(value);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string option = argc > 2 ? argv[2] : "";
  try {
    if (argc == 2)
      measure_all(argv[1], all_sizes());
    else if (argc == 3 && option == "--quick")
      measure_all(argv[1], {{4, 1}});
    else if (argc == 5 && option == "--only")
      measure_all(argv[1], {{number(argv[3]), number(argv[4])}});
    else if (argc == 3 && option == "--conformance")
      for (const size& on : all_sizes()) conform(argv[1], on, 1);
    else if (argc == 6 && option == "--conformance")
      conform(argv[1], {number(argv[3]), number(argv[4])}, number(argv[5]));
    else {
      std::fputs(
          "usage: machine_measure FOLDER [--quick | --only CORES SOCKETS | --conformance [CORES "
          "SOCKETS SEED]]\n",
          stderr);
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "machine_measure: %s\n", error.what());
    return 1;
  }
  return 0;
}
