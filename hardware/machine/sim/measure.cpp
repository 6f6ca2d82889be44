// SPDX-License-Identifier: Apache-2.0
// machine_measure FOLDER [--sample | --only CORES SOCKETS | --figure CORES SOCKETS |
//                         --workloads CORES SOCKETS | --accesses | --events [CORES SOCKETS] |
//                         --paper | --conformance [CORES SOCKETS SEED] | --change-over SEEDS]:
// measures barriers, accesses of the memory and workloads on the machine, in cycles, in all sizes
// that are built, and prints one JSON object a line on stdout, and progress on stderr. FOLDER has
// the images of software/build.sh. --paper measures the structure at the distances of the machines
// of Hetland et al. 2019, with four cores. --figure measures only the barriers that the
// figure shows, and says how many cycles a second it simulated. --workloads measures only those,
// --accesses the accesses in all sizes.
// --events measures notifications by the kernel of kernel/. --sample measures a few barriers,
// workloads and notifications, which a test compares with the kept ones. --conformance checks
// tutti's algorithms instead of measuring. --change-over measures and checks threads that leave a
// barwait barrier for one of tutti's and come back, with so many seeds. The status is 1 if a
// program fails or a check finds an error.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "hardware/machine/sim/change_over.hpp"
#include "hardware/machine/sim/checked_run.hpp"
#include "hardware/machine/sim/cycle_lines.hpp"
#include "hardware/machine/sim/kernel_run.hpp"
#include "hardware/machine/sim/model.hpp"
#include "hardware/machine/sim/workloads.hpp"
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
// Units as far as the third-level cache of a machine of Hetland et al. 2019, section 4, where an
// access takes 20 cycles there and back.
constexpr unsigned opteron = 10;
constexpr contender units[] = {contender::structure, contender::mask, contender::counting};

bool is_built(const size& of) {
  for (const built_model& m : models())
    if (!m.ideal && m.sockets == of.sockets && m.cores >= of.cores) return true;
  return false;
}
// A socket of more than 32 cores has no barrier unit, and its barriers are those of the structure.
// A run takes the smallest model into which its cores fit.
bool has_barrier_unit(const size& on) {
  unsigned smallest = 0;
  for (const built_model& m : models())
    if (!m.ideal && m.sockets == on.sockets && m.cores >= on.cores)
      smallest = smallest == 0 ? m.cores : std::min(smallest, m.cores);
  return smallest / on.sockets <= 32;
}
std::vector<size> all_sizes() {
  std::vector<size> all;
  for (const unsigned sockets : {1u, 2u, 4u})
    for (unsigned cores = sockets > 2 ? sockets : 2; cores <= MOST_CORES; cores *= 2)
      if (is_built({cores, sockets})) all.push_back({cores, sockets});
  return all;
}

// What the lines of a contender say of it.
const char* wait_of(std::uint32_t who) {
  return is_hardware(who) && who != static_cast<std::uint32_t>(contender::counting) ? "instruction"
                                                                                    : "spin";
}

// Measures one barrier in each scenario, and gives its lines a second name too, if there is one.
void measure_one(const images& folder, const size& on, std::uint32_t who, unsigned distance,
                 const char* also = nullptr, unsigned link = settings{}.unit_link) {
  for (const scenario s : {scenario::back_to_back, scenario::late, scenario::together}) {
    // Without a barrier the threads do not come together.
    if (who == none && s == scenario::together) break;
    const figures f = measure_barrier(folder, {.contender = who,
                                               .scenario = s,
                                               .cores = on.cores,
                                               .sockets = on.sockets,
                                               .unit_distance = distance,
                                               .unit_link = link,
                                               .episodes = s == scenario::back_to_back ? 16u : 8u});
    const auto line = [&](const std::string& name) {
      tutti::cli::json keys{{"benchmark", "machine_barrier"},
                            {"provider", who < tutti::rtl::algorithm_count ? "tutti" : "isa"},
                            {"name", name},
                            {"wait", wait_of(who)},
                            {"metric", name_of(s)},
                            {"unit_distance", distance}};
      // The way of messages between the units of sockets.
      if (is_hardware(who) && who != barwait) keys["unit_link"] = on.sockets > 1 ? link : 0;
      print(keys, on, f);
    };
    line(name_of_contender(who));
    if (also != nullptr) line(also);
  }
}

// A lock is taken for each arrival of these two, whose counters have 64 bits: with more cores a
// run takes an hour.
bool is_slow(algorithm a) { return a == algorithm::ticket || a == algorithm::striped; }

void measure_units(const images& folder, const size& on, unsigned distance) {
  if (has_barrier_unit(on)) measure_one(folder, on, barwait, distance);
  for (const contender unit : units)
    measure_one(folder, on, static_cast<std::uint32_t>(unit), distance);
}

void measure_software(const images& folder, const size& on) {
  const std::string chosen(tutti::choose::barrier(on.cores, false));
  for (const algorithm a : measured) {
    if (is_slow(a) && on.cores > 16) continue;
    const std::string name = name_of_contender(static_cast<std::uint32_t>(a));
    measure_one(folder, on, static_cast<std::uint32_t>(a), 0, name == chosen ? "default" : nullptr);
  }
}

// The structure where the machines of Hetland et al. 2019, section 4, would have it: an access of
// the third-level cache, or of the directory, takes twice the distance, and a link a hop, or four
// hops one after the other, as the paper counts them.
void measure_papers_machines(const images& folder) {
  const auto run = [&](unsigned sockets, unsigned distance, unsigned link) {
    measure_one(folder, {4, sockets}, static_cast<std::uint32_t>(contender::structure), distance,
                nullptr, link);
  };
  for (const unsigned distance : {10u, 19u, 21u, 24u, 32u, 44u})
    run(1, distance, settings{}.unit_link);
  for (const unsigned hops : {1u, 2u, 4u}) {
    run(4, 10, hops * 92);
    run(4, 19, hops * 110);
  }
}

// Prints the lines of one workload, which `measure` runs with a barrier.
template <class Measure>
void print_workload(const char* metric, const size& on, const std::vector<std::uint32_t>& who,
                    Measure measure) {
  const std::string chosen(tutti::choose::barrier(on.cores, false));
  for (const std::uint32_t each : who) {
    const unsigned distance = is_hardware(each) ? opteron : 0;
    tutti::cli::json keys{{"benchmark", "machine_workload"},
                          {"provider", is_hardware(each) || each == none ? "isa" : "tutti"},
                          {"name", name_of_contender(each)},
                          {"wait", wait_of(each)},
                          {"metric", metric},
                          {"unit_distance", distance}};
    const figures f = measure(workload_run{each, on.cores, on.sockets, distance}, keys);
    print(keys, on, f);
    if (name_of_contender(each) != chosen) continue;
    keys["name"] = "default";
    print(keys, on, f);
  }
}

// The contenders of the workloads: the units as far away as in the figure, and tutti's barriers. An
// episode of the ticket barrier takes 8,000 cycles for 16 cores.
std::vector<std::uint32_t> contenders_of(const size& on) {
  std::vector<std::uint32_t> who;
  if (has_barrier_unit(on)) who.push_back(barwait);
  for (const contender unit : units) who.push_back(static_cast<std::uint32_t>(unit));
  for (const algorithm a : measured) {
    if (a == algorithm::ticket && on.cores > 8) continue;
    if (is_slow(a) && on.cores > 16) continue;
    who.push_back(static_cast<std::uint32_t>(a));
  }
  return who;
}

// The elements of each rank's vectors in a region; of the sort of the vector machine.
constexpr std::uint32_t region_length = 256, sorted_keys = 1024;

// A step of StreamCluster, which has five barriers.
void measure_steps(const images& folder, const size& on, const std::vector<std::uint32_t>& who) {
  print_workload("streamcluster_step", on, who, [&](const workload_run& run, const auto&) {
    return measure_streamcluster(folder, run);
  });
}

// A parallel region without and with work.
void measure_all_regions(const images& folder, const size& on,
                         const std::vector<std::uint32_t>& who) {
  print_workload("region", on, who, [&](const workload_run& run, const auto&) {
    return measure_regions(folder, run, 0, 32);
  });
  print_workload("region_of_256", on, who, [&](const workload_run& run, const auto&) {
    return measure_regions(folder, run, region_length, 8);
  });
}

// An instruction of the vector machine: of straight code, and on the average of a sort.
void measure_instructions(const images& folder, const size& on, tutti::rtl::vector_program program,
                          const char* metric, std::uint32_t elements, std::uint32_t runs,
                          const std::vector<std::uint32_t>& who) {
  print_workload(metric, on, who, [&](const workload_run& run, tutti::cli::json& keys) {
    const vector_figures found = measure_vectors(folder, run, program, elements, runs);
    keys["instructions"] = found.instructions;
    keys["barriers"] = found.barriers;
    const auto each = [&](double cycles) { return cycles / found.instructions; };
    return figures{each(found.cycles.min), each(found.cycles.median), each(found.cycles.max),
                   found.cycles.samples};
  });
}

void measure_workloads(const images& folder, const size& on) {
  using enum tutti::rtl::vector_program;
  const std::vector<std::uint32_t> who = contenders_of(on);
  measure_steps(folder, on, who);

  std::vector<std::uint32_t> regions = who;
  regions.insert(regions.begin(), none);
  regions.push_back(static_cast<std::uint32_t>(contender::fork_join));
  // The master/worker barriers of Berger and Stamatakis 2010.
  for (const algorithm a : {algorithm::flags, algorithm::flags_padded, algorithm::recursive,
                            algorithm::recursive_padded, algorithm::atomic, algorithm::mutex})
    regions.push_back(static_cast<std::uint32_t>(a));
  measure_all_regions(folder, on, regions);

  std::vector<std::uint32_t> straight = who;
  straight.insert(straight.begin(), none);
  measure_instructions(folder, on, nothing, "vcode_nothing", 2, 1, straight);
  measure_instructions(folder, on, invert, "vcode_not", 2, 1, straight);
  measure_instructions(folder, on, sort, "vcode_sort", sorted_keys, 1, who);
}

// What a workload takes without any synchronization: one core.
void measure_alone(const images& folder) {
  const std::vector<std::uint32_t> who{static_cast<std::uint32_t>(algorithm::central)};
  measure_steps(folder, {1, 1}, who);
  measure_instructions(folder, {1, 1}, tutti::rtl::vector_program::sort, "vcode_sort", sorted_keys,
                       1, who);
}

// Single accesses do not depend on how many other cores there are, so one size of each number of
// sockets is enough for them.
void measure_accesses(const images& folder, const size& on) {
  if (on.cores > 16) return;
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
  if (on.cores != 16) return;
  const unsigned each = on.cores / on.sockets;
  for (const access& a : single) {
    line(a, "neighbour", each > 1 ? 1 : each, 64);
    // All other sockets are one link away.
    if (on.sockets > 1) line(a, "another_socket", each, 64);
  }
  line({cost::local_poll, "local_poll"}, "own", 0, 64);
}

// The barriers of the figure.
void measure_figure(const images& folder, const size& on) {
  const std::uint64_t before = simulated_cycles();
  const auto start = std::chrono::steady_clock::now();
  measure_one(folder, on, none, 0);
  measure_units(folder, on, opteron);
  measure_software(folder, on);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto cycles = static_cast<double>(simulated_cycles() - before);
  std::fprintf(stderr, "%u cores in %u sockets: %.0f cycles, %.0f a second\n", on.cores, on.sockets,
               cycles, cycles / seconds.count());
}

// What the kernel's bench prints: notifications of one core and of all others. How far each core is
// comes from the lines of the bare interrupt and of the bare call.
void measure_events(const images& folder, const size& on) {
  constexpr unsigned trials = 5;
  std::istringstream said(run_kernel(
      folder, {on.cores, on.sockets,
               "program=bench unit=cycles lines=summary trials=" + std::to_string(trials)}));
  for (std::string row; std::getline(said, row);) {
    const tutti::cli::json line = tutti::cli::json::parse(row);
    if (line.at("type").get<std::string>() != "result") continue;
    const auto name = line.at("name").get<std::string>();
    const auto metric = line.at("metric").get<std::string>();
    const bool to_one = metric == "unicast_to";
    if (to_one && name != "polling" && name != "interrupt_entry" && name != "remote_call_entry")
      continue;
    const auto number = [&](const char* key) { return line.at(key).get<double>(); };
    tutti::cli::json keys{{"benchmark", "machine_event"},
                          {"provider", "kernel"},
                          {"name", name},
                          {"metric", metric},
                          {"sigma", number("sigma")}};
    if (to_one) keys["scenario"] = "core " + std::to_string(static_cast<int>(number("receiver")));
    print(keys, on,
          {.min = number("min"),
           .median = number("median"),
           .max = number("max"),
           .samples = static_cast<std::size_t>(number("samples"))});
  }
  std::fprintf(stderr, "%u cores in %u sockets: notifications done\n", on.cores, on.sockets);
}

// What the figure shows comes first, so that a run that is cut has it.
void measure_all(const images& folder, const std::vector<size>& sizes) {
  for (const size& on : sizes) {
    measure_figure(folder, on);
    measure_workloads(folder, on);
    measure_accesses(folder, on);
    std::fprintf(stderr, "%u cores in %u sockets: done\n", on.cores, on.sockets);
  }
}

// Every kind of barrier, in the sizes that the tests build.
void measure_sample(const images& folder) {
  for (const size& on : {size{4, 1}, size{4, 2}}) {
    measure_one(folder, on, none, 0);
    measure_units(folder, on, opteron);
    for (const algorithm a : {algorithm::central, algorithm::dissemination})
      measure_one(folder, on, static_cast<std::uint32_t>(a), 0);
    const std::vector<std::uint32_t> who{static_cast<std::uint32_t>(contender::structure),
                                         static_cast<std::uint32_t>(algorithm::central)};
    measure_steps(folder, on, who);
    measure_all_regions(folder, on, who);
    measure_instructions(folder, on, tutti::rtl::vector_program::sort, "vcode_sort", sorted_keys, 1,
                         who);
  }
  measure_events(folder, {2, 1});
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

// Episodes in hardware and in software, and what the way from one to the other takes, without a
// timer; and the checks with one.
void measure_change_over(const images& folder, std::uint32_t seeds) {
  for (const unsigned cores : {2u, 3u, 4u}) {
    change_found all;
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
      change_run run{.cores = cores, .seed = seed, .unit_distance = opteron};
      const change_found found = run_change_over(folder, run);
      all.changes += found.changes;
      all.signals += found.signals;
      append(all.hardware, found.hardware);
      append(all.waited_on, found.waited_on);
      append(all.changed, found.changed);
      append(all.software, found.software);
      append(all.breaking, found.breaking);
      append(all.creating, found.creating);
      run.quantum = 500 + seed % 64;
      if (seed % 2 == 0) run.software = algorithm::combining;
      run_change_over(folder, run);
    }
    const auto line = [&](const char* metric, const std::vector<double>& cycles) {
      if (cycles.empty()) throw std::runtime_error(std::string("nothing to measure: ") + metric);
      print({{"benchmark", "machine_change_over"},
             {"provider", "isa"},
             {"name", "barwait and central"},
             {"metric", metric},
             {"unit_distance", opteron}},
            {cores, 1}, figures_of(cycles));
    };
    line("episode_in_hardware", all.hardware);
    line("episode_waited_on", all.waited_on);
    line("episode_changed", all.changed);
    line("episode_in_software", all.software);
    line("handler_to_break", all.breaking);
    line("create", all.creating);
    std::fprintf(stderr, "%u cores: %zu changes, %zu timeouts\n", cores, all.changes, all.signals);
  }
}

unsigned number(const char* text) { return number_up_to(text, 1'000'000); }

}  // namespace

int main(int argc, char** argv) {
  const std::string option = argc > 2 ? argv[2] : "";
  const bool asks_for_help = argc == 2 && std::string(argv[1]) == "--help";
  try {
    if (argc == 2 && !asks_for_help) {
      measure_all(argv[1], all_sizes());
      measure_alone(argv[1]);
    } else if (argc == 3 && option == "--sample")
      measure_sample(argv[1]);
    else if (argc == 3 && option == "--paper")
      measure_papers_machines(argv[1]);
    else if (argc == 5 && option == "--only")
      measure_all(argv[1], {size_of(argv[3], argv[4])});
    else if (argc == 5 && option == "--figure")
      measure_figure(argv[1], size_of(argv[3], argv[4]));
    else if (argc == 5 && option == "--workloads") {
      const size on = size_of(argv[3], argv[4]);
      on.cores == 1 ? measure_alone(argv[1]) : measure_workloads(argv[1], on);
    } else if (argc == 3 && option == "--accesses")
      for (const size& on : all_sizes()) measure_accesses(argv[1], on);
    else if (argc == 3 && option == "--events")
      for (const size& on : all_sizes()) measure_events(argv[1], on);
    else if (argc == 5 && option == "--events")
      measure_events(argv[1], size_of(argv[3], argv[4]));
    else if (argc == 3 && option == "--conformance")
      for (const size& on : all_sizes()) conform(argv[1], on, 1);
    else if (argc == 6 && option == "--conformance")
      conform(argv[1], size_of(argv[3], argv[4]), number(argv[5]));
    else if (argc == 4 && option == "--change-over")
      measure_change_over(argv[1], number(argv[3]));
    else {
      std::fputs(
          "usage: machine_measure FOLDER [--sample | --only CORES SOCKETS | "
          "--figure CORES SOCKETS | --workloads CORES SOCKETS | --accesses | "
          "--events [CORES SOCKETS] | --paper | --conformance [CORES SOCKETS SEED] | --change-over "
          "SEEDS]\n",
          asks_for_help ? stdout : stderr);
      return asks_for_help ? 0 : 2;
    }
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "machine_measure: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "machine_measure: %s\n", error.what());
    return 1;
  }
  return 0;
}
