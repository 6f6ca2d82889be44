// SPDX-License-Identifier: Apache-2.0
// machine_measure_messages FOLDER [--sample | --threads | --only CORES SOCKETS]: measures messages
// between threads, the detection of their end and totals of values in hardware and in software,
// groups, and vertex programs with both detectors, in cycles, in all sizes that are built, and
// prints one JSON object a line on stdout, and progress on stderr. FOLDER has the images of
// software/build.sh. --sample measures a few, which a test compares with the kept ones, and
// --threads the models of several hardware threads a core. The status is 1 if a program fails or a
// result is wrong.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "hardware/machine/sim/cycle_lines.hpp"
#include "hardware/machine/sim/graph_run.hpp"
#include "hardware/machine/sim/model.hpp"

namespace {

using namespace tutti::machine;
using tutti::rtl::detection;
using tutti::rtl::graph_program;
using tutti::rtl::group_program;
using tutti::rtl::message_program;

std::vector<size> all_sizes() {
  std::vector<size> all;
  for (const unsigned sockets : {1u, 4u})
    for (unsigned cores = sockets; cores <= MOST_CORES; cores *= 2)
      if (std::any_of(models().begin(), models().end(), [&](const built_model& m) {
            return m.messages && m.threads == 1 && m.sockets == sockets && m.cores >= cores;
          }))
        all.push_back({cores, sockets});
  return all;
}
// Each model of several threads a core, with all of its cores.
std::vector<size> all_with_threads() {
  std::vector<size> all;
  for (const built_model& m : models())
    if (m.messages && m.threads > 1) all.push_back({m.cores, m.sockets, m.threads});
  return all;
}

figures all_the_same(double cycles, std::size_t samples) {
  return {cycles, cycles, cycles, samples};
}

template <class Program>
settings settings_of(Program program, const size& on, std::uint32_t rounds, std::uint32_t a = 0,
                     std::uint32_t b = 0) {
  settings s;
  s.cores = on.cores;
  s.sockets = on.sockets;
  s.threads = on.threads;
  s.messages = true;
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(program);
  s.parameters[PARAM_EPISODES] = rounds;
  s.parameters[PARAM_A] = a;
  s.parameters[PARAM_B] = b;
  return s;
}

// What a program of messages.cpp or groups.cpp takes for a round, of the slowest core.
double cycles_of(const images& folder, const settings& s, const std::string& what,
                 const char* image = "/messages.bin") {
  const ended_run done = run_well(folder + image, s, 50'000'000, what);
  const std::vector<std::uint32_t> values = done.data(TRACE_VALUE);
  if (values.empty()) throw std::runtime_error(what + ": no core tells a time");
  return *std::max_element(values.begin(), values.end()) /
         static_cast<double>(s.parameters[PARAM_EPISODES]);
}

constexpr std::uint32_t rounds = 32;

// A message there and back, between core 0 and another one.
void measure_trips(const images& folder, const size& on) {
  const unsigned each = on.cores / on.sockets;
  struct way {
    const char* name;
    unsigned other;
  };
  std::vector<way> ways;
  if (each > 1) ways.push_back({"neighbour", 1});
  if (each > 2) ways.push_back({"farthest in the socket", each - 1});
  if (on.sockets > 1) ways.push_back({"next socket", each});
  if (on.sockets > 2) ways.push_back({"farthest", on.cores - 1});
  for (const way& w : ways)
    print(
        {{"benchmark", "machine_message"},
         {"provider", "isa"},
         {"name", "message"},
         {"scenario", w.name},
         {"metric", "round_trip"}},
        on,
        all_the_same(cycles_of(folder, settings_of(message_program::ping_pong, on, rounds, w.other),
                               "ping_pong"),
                     rounds));
}

// All threads at once exchange a message with one of another core, there and back.
void measure_pairs(const images& folder, const size& on) {
  print({{"benchmark", "machine_message"},
         {"provider", "isa"},
         {"name", "message"},
         {"scenario", "all in pairs"},
         {"metric", "round_trip"}},
        on,
        all_the_same(cycles_of(folder, settings_of(message_program::pairs, on, rounds), "pairs"),
                     rounds));
}

// The waves of the detector, and whole episodes, while all threads are idle; and the same in
// software.
void measure_episodes(const images& folder, const size& on) {
  const settings s = settings_of(message_program::idle_episodes, on, rounds);
  std::vector<double> waves;
  {
    // A model is destroyed before the next one is made: Verilator's scopes need the newest context.
    tutti::machine::system m(folder + "/messages.bin", s);
    if (!m.run(10'000'000)) throw std::runtime_error("idle: did not end");
    for (const wave& w : m.waves())
      if (w.detected) waves.push_back(static_cast<double>(w.end - w.begin + 1));
  }
  if (waves.size() < rounds) throw std::runtime_error("idle: too few episodes were detected");
  const auto line = [&](const char* provider, const std::string& name, const char* metric,
                        const figures& f) {
    print(
        {{"benchmark", "machine_idle"}, {"provider", provider}, {"name", name}, {"metric", metric}},
        on, f);
  };
  line("isa", "detector", "round_trip", figures_of(waves));
  line("isa", "detector", "episode", all_the_same(cycles_of(folder, s, "idle"), rounds));
  for (const std::uint32_t fan_out : {2u, 4u})
    line("software", "tree_" + std::to_string(fan_out), "round_trip",
         all_the_same(
             cycles_of(folder, settings_of(message_program::tree_episodes, on, rounds, fan_out),
                       "tree"),
             rounds));
}

// All threads give a value, and each gets the sum: with the wave; by messages over a tree, which
// finds no end; and by the tree after a wave without values.
void measure_totals(const images& folder, const size& on) {
  const auto line = [&](const char* provider, const std::string& name, group_program program,
                        std::uint32_t fan_out) {
    print({{"benchmark", "machine_total"},
           {"provider", provider},
           {"name", name},
           {"metric", "episode"}},
          on,
          all_the_same(
              cycles_of(folder, settings_of(program, on, rounds, fan_out), name, "/groups.bin"),
              rounds));
  };
  line("isa", "detector", group_program::total_of_hardware, 2);
  for (const std::uint32_t fan_out : {2u, 4u}) {
    const std::string tree = "tree_" + std::to_string(fan_out);
    line("software", tree, group_program::total_of_tree, fan_out);
    line("software", "detector_and_" + tree, group_program::total_beside, fan_out);
  }
}

// The same in groups of neighbours that do not know of each other: halves of the machine, and the
// threads of each socket.
void measure_groups(const images& folder, const size& on) {
  const auto line = [&](const char* provider, const char* name, const char* scenario,
                        group_program program, std::uint32_t group, std::uint32_t threads) {
    print({{"benchmark", "machine_group"},
           {"provider", provider},
           {"name", name},
           {"scenario", scenario},
           {"metric", "episode"}},
          on,
          all_the_same(cycles_of(folder, settings_of(program, on, rounds, group, threads), name,
                                 "/groups.bin"),
                       rounds));
  };
  const auto lines = [&](const char* scenario, std::uint32_t group, std::uint32_t threads) {
    line("isa", "detector", scenario, group_program::group_of_hardware, group, threads);
    line("software", "tree_2", scenario, group_program::group_of_tree, group, threads);
  };
  lines("halves", 1, on.cores / 2);
  lines("sockets", tutti::rtl::local_group, on.cores / on.sockets);
}

// Vertex programs with both detectors. The runs differ in the graph.
const std::vector<graph_program> all_programs = {
    graph_program::paths,         graph_program::paths_sync,        graph_program::pagerank,
    graph_program::pagerank_gals, graph_program::pagerank_residual, graph_program::heat};
void measure_graphs(const images& folder, const size& on, const std::vector<std::uint32_t>& sizes,
                    const std::vector<std::uint32_t>& seeds,
                    const std::vector<graph_program>& programs = all_programs) {
  for (const graph_program program : programs)
    for (const std::uint32_t vertices : sizes) {
      for (const detection by : {detection::hardware, detection::tree}) {
        std::vector<double> cycles, sends, packets, detections;
        for (const std::uint32_t seed : seeds) {
          const graph_figures f = run_graph(folder, {.program = program,
                                                     .detection = by,
                                                     .cores = on.cores,
                                                     .sockets = on.sockets,
                                                     .threads = on.threads,
                                                     .vertices = vertices,
                                                     .seed = seed});
          cycles.push_back(f.cycles);
          sends.push_back(f.sends);
          packets.push_back(f.messages);
          detections.push_back(f.detections);
        }
        const auto median = [](const std::vector<double>& all) {
          return static_cast<std::uint64_t>(figures_of(all).median);
        };
        print({{"benchmark", "machine_graph"},
               {"provider", by == detection::hardware ? "isa" : "software"},
               {"name", name_of(program)},
               {"wait", by == detection::hardware ? "detector" : "tree_2"},
               {"scenario", std::to_string(vertices) + " vertices"},
               {"metric", "run"},
               {"vertices", vertices},
               {"sends", median(sends)},
               {"packets", median(packets)},
               {"detections", median(detections)}},
              on, figures_of(cycles));
      }
    }
}

// Asynchronous shortest paths on the graph of the worst case, in both orders of sending.
void measure_worst_case(const images& folder, const size& on) {
  for (const std::uint32_t components : {4u, 8u, 10u})
    for (const bool newest_first : {true, false}) {
      const graph_figures f = run_graph(folder, {.cores = on.cores,
                                                 .sockets = on.sockets,
                                                 .vertices = 2 * components + 1,
                                                 .chords = 0,
                                                 .newest_first = newest_first});
      print({{"benchmark", "machine_paths"},
             {"provider", "isa"},
             {"name", newest_first ? "newest_first" : "oldest_first"},
             {"scenario", std::to_string(components) + " detours"},
             {"metric", "run"},
             {"vertices", 2 * components + 1},
             {"sends", f.sends},
             {"packets", f.messages}},
            on, all_the_same(f.cycles, 1));
    }
}

void measure(const images& folder, const size& on) {
  if (on.cores > 1) measure_trips(folder, on);
  if (on.cores >= 4 && on.sockets == 1) measure_pairs(folder, on);
  measure_episodes(folder, on);
  if (on.cores > 1) measure_totals(folder, on);
  if (on.cores > 1) measure_groups(folder, on);
  if (on.cores >= 4) measure_graphs(folder, on, {64}, {1});
  // More vertices a core, where a simulated cycle takes the least time.
  if (on.cores == 4 && on.sockets == 1) measure_graphs(folder, on, {256}, {1});
  measure_worst_case(folder, on);
  std::fprintf(stderr, "%u cores in %u sockets: done\n", on.cores, on.sockets);
}

// Several threads a core, where a vertex program has as many vertices as with one.
void measure_threads(const images& folder, const size& on) {
  measure_pairs(folder, on);
  measure_episodes(folder, on);
  measure_graphs(folder, on, {64}, {1});
  // Heat computes for minutes.
  if (on.cores == 16)
    measure_graphs(folder, on, {256}, {1}, {all_programs.begin(), all_programs.end() - 1});
  std::fprintf(stderr, "%u threads on %u cores in %u sockets: done\n", on.cores,
               on.cores / on.threads, on.sockets);
}

// In the sizes that the tests build.
void measure_sample(const images& folder) {
  for (const size& on : {size{4, 1}, size{4, 4}}) {
    measure_trips(folder, on);
    if (on.sockets == 1) measure_pairs(folder, on);
    measure_episodes(folder, on);
    measure_totals(folder, on);
    measure_groups(folder, on);
  }
  for (const size& on : all_with_threads()) {
    measure_pairs(folder, on);
    measure_episodes(folder, on);
  }
}

// Throws std::invalid_argument for a number of cores that has no halves, which are measured.
size size_with_halves(const char* cores, const char* sockets) {
  const size on = size_of(cores, sockets);
  if (on.cores > 1 && on.cores % 2 != 0)
    throw std::invalid_argument(std::to_string(on.cores) + " cores have no halves");
  return on;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string option = argc > 2 ? argv[2] : "";
  const bool asks_for_help = argc == 2 && std::string(argv[1]) == "--help";
  try {
    if (argc == 2 && !asks_for_help) {
      for (const size& on : all_sizes()) measure(argv[1], on);
      for (const size& on : all_with_threads()) measure_threads(argv[1], on);
    } else if (argc == 3 && option == "--threads")
      for (const size& on : all_with_threads()) measure_threads(argv[1], on);
    else if (argc == 3 && option == "--sample")
      measure_sample(argv[1]);
    else if (argc == 5 && option == "--only")
      measure(argv[1], size_with_halves(argv[3], argv[4]));
    else {
      std::fputs(
          "usage: machine_measure_messages FOLDER [--sample | --threads | --only CORES "
          "SOCKETS]\n",
          asks_for_help ? stdout : stderr);
      return asks_for_help ? 0 : 2;
    }
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "machine_measure_messages: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "machine_measure_messages: %s\n", error.what());
    return 1;
  }
  return 0;
}
