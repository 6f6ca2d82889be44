// SPDX-License-Identifier: Apache-2.0
// What the subcommands of `tutti sim` share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/statistics.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "sim/machine_file.hpp"

namespace tutti::command {

struct sim_options {
  std::string machine;
  std::vector<std::string> set;
  std::string file;
  // What `published` and `fit` take.
  std::optional<std::string> machines;
  std::string keys;
  std::uint32_t steps = 200;
  double range = 100, spread = 2;
  bool markdown = false;
  std::uint32_t cores = 2;
  std::optional<std::string> threads;
  std::string algorithms = "all";
  std::string waits = "spin";
  std::uint32_t episodes = 50;
  std::uint64_t seed = 1;
  // Below 0: the machine's.
  double poll_gap = -1;
  // ns that combining two values takes.
  double operation = 0;
  // ns before each notification; 0: until all receivers wait.
  double gap = 0;
  // What `idle` and `graph` take.
  double fit = 0;
  std::string application, graph, modes = "sync,async";
  // Empty: the usual number, where the application has one.
  std::string iterations, sources;
  std::uint32_t seeds = 5;
  // What `timeline` takes.
  std::string barrier = "default";
  // What `vcode` takes.
  std::string barriers = "default,libgomp";
  double instruction = 20, element = 1;
  std::uint64_t most_instructions = 1'000'000;
  bool show = false;
  bool page = false;
  bool json = false;
};

// The numbers of --set. Throws std::invalid_argument for one that is not KEY=NUMBER, and for a key
// that is there twice.
sim::settings settings_of(const sim_options& o);

// Prints how large some errors are, unless there are none (sim_compare.cpp).
void tell_errors(const sim_options& o, const char* what, const std::vector<double>& errors);

// The counts that --threads or --receivers lists, or else this one.
std::vector<std::uint32_t> counts_of(const sim_options& o, const char* option,
                                     std::uint32_t otherwise);

// ns between two polls of tutti's waits.
double poll_gap_of(const sim_options& o, const sim::machine& m);

// Tells in a JSON line what --set has replaced.
cli::json with_set(const sim_options& o, cli::json line);

// The JSON line of one metric of `who`, which has a family, a name and a wait policy.
template <class Who>
cli::json line_of(const sim_options& o, const sim::machine& m, const std::string& benchmark,
                  const Who& who, std::uint32_t threads, const char* metric,
                  const std::vector<double>& samples) {
  const bench::summary s = bench::summarize(samples);
  return with_set(o, {{"benchmark", benchmark},
                      {"provider", who.family},
                      {"name", who.name},
                      {"wait", who.wait},
                      {"threads", threads},
                      {"metric", metric},
                      {"min", s.min},
                      {"median", s.median},
                      {"max", s.max},
                      {"mean", s.mean},
                      {"samples", samples.size()},
                      {"seed", o.seed},
                      {"poll_gap_ns", poll_gap_of(o, m)},
                      {"machine", m.name}});
}

// Subcommands that lay simulated times beside others (sim_compare.cpp, sim_published.cpp).
int run_compare(const sim_options& o);
int run_calibrate(const sim_options& o);
int run_published(const sim_options& o);
int run_fit(const sim_options& o);

// tutti's own choices beside the best (sim_sweep.cpp, sim_advise.cpp).
int run_sweep(const sim_options& o);
int run_advise(const sim_options& o);

// The machine of boards (sim_boards.cpp).
int run_idle(const sim_options& o);
int run_boards_graph(const sim_options& o);

// Notifications (sim_event.cpp).
int run_event(const sim_options& o);

// Programs of the vector machine (sim_vcode.cpp).
int run_vcode(const sim_options& o);

// Barriers in networks (sim_network.cpp), as a subcommand of `sim`.
void add_sim_network(cli::command& sim);

// What each thread waits for (sim_timeline.cpp).
int run_timeline(const sim_options& o);

}  // namespace tutti::command
