// SPDX-License-Identifier: Apache-2.0
// `tutti sim compare`, `calibrate`, `published` and `fit`: simulated times beside measured and printed
// ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "cli/lists.hpp"
#include "command/sim.hpp"
#include "sim/contenders.hpp"
#include "sim/measure.hpp"
#include "sim/published.hpp"

namespace tutti::command {

summary summary_of(std::vector<double> samples) {
  summary s;
  if (samples.empty()) return s;
  std::sort(samples.begin(), samples.end());
  s.least = samples.front();
  s.most = samples.back();
  s.median = samples[samples.size() / 2];
  for (const double each : samples) s.mean += each / static_cast<double>(samples.size());
  return s;
}

sim::settings settings_of(const sim_options& o) {
  sim::settings with;
  for (const std::string& text : o.set) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0)
      throw std::invalid_argument("--set needs KEY=NUMBER, such as line.hold=30, not '" + text +
                                  "'");
    with[text.substr(0, at)] = cli::parse_number("--set", text.substr(at + 1), 0, 1e12);
  }
  return with;
}

// Simulates what a file with the lines of `tutti bench barrier --json` has measured.
int run_compare(const sim_options& o) {
  const sim::machine m = sim::find_machine(o.machine, settings_of(o));
  std::ifstream file(o.file);
  if (!file) throw std::invalid_argument("cannot read '" + o.file + "'");
  if (!o.json)
    fmt::print("{:<18} {:<9} {:>7} {:>12} {:>12} {:>8}\n", "name", "wait", "threads", "measured ns",
               "simulated ns", "error");
  std::vector<double> free, shared;
  std::string text;
  for (std::size_t number = 1; std::getline(file, text); ++number) {
    const auto parsed = cli::json::parsed_if_valid(text);
    if (!parsed || !parsed->is_object())
      throw std::invalid_argument(o.file + ":" + std::to_string(number) +
                                  ": a line of JSON was expected");
    const cli::json& line = *parsed;
    const auto is = [&](const char* key, const cli::json& value) {
      return line.contains(key) && line.at(key).dump() == value.dump();
    };
    if (!is("type", "result") || !is("benchmark", "barrier") || !is("metric", "loop") ||
        !is("provider", "tutti") || !is("scenario", "free") || !is("pinned", true))
      continue;
    const auto name = line.at("name").get<std::string>(), wait = line.at("wait").get<std::string>();
    const std::vector<std::string> known = sim::names_of_barriers();
    if (std::find(known.begin(), known.end(), name) == known.end()) continue;
    const auto threads = line.at("threads").get<rank_t>();
    const auto measured = line.at("median").get<double>();
    for (const sim::contender& who : sim::barriers({name}, {wait})) {
      const double simulated =
          summary_of(sim::run(m, who, {.threads = threads, .episodes = 100}).loop).mean;
      const double error = simulated / measured - 1;
      (threads > m.cpus() ? shared : free).push_back(std::abs(error));
      if (o.json)
        fmt::print("{}\n", cli::json{{"type", "sim_comparison"},
                                     {"machine", m.name},
                                     {"name", name},
                                     {"wait", wait},
                                     {"threads", threads},
                                     {"measured_ns", measured},
                                     {"simulated_ns", simulated}}
                               .dump());
      else
        fmt::print("{:<18} {:<9} {:>7} {:>12.0f} {:>12.0f} {:>+7.0f}%\n", name, wait, threads,
                   measured, simulated, 100 * error);
    }
  }
  if (free.empty() && shared.empty())
    throw std::invalid_argument(o.file +
                                " has no line that `tutti bench barrier --json` prints of a "
                                "pinned barrier of tutti in the scenario free");
  const auto tell = [&](const char* what, const std::vector<double>& errors) {
    if (errors.empty()) return;
    const summary s = summary_of(errors);
    if (o.json)
      fmt::print("{}\n", cli::json{{"type", "sim_error"},
                                   {"what", what},
                                   {"median", s.median},
                                   {"largest", s.most},
                                   {"count", errors.size()}}
                             .dump());
    else
      fmt::print("{}: median error {:.0f} %, largest {:.0f} %, of {} values\n", what,
                 100 * s.median, 100 * s.most, errors.size());
  };
  tell("a CPU for each thread", free);
  tell("more threads than CPUs", shared);
  return cli::success;
}

// Describes the machine on which `tutti bench barrier --json` has measured its floors.
int run_calibrate(const sim_options& o) {
  std::ifstream file(o.file);
  if (!file) throw std::invalid_argument("cannot read '" + o.file + "'");
  std::map<std::string, double> floors;
  std::string text;
  while (std::getline(file, text)) {
    const auto line = cli::json::parsed_if_valid(text);
    if (!line || !line->is_object() || line->at("type").get<std::string>() != "floor") continue;
    floors[line->at("quantity").get<std::string>()] = line->at("median").get<double>();
  }
  const auto floor = [&](const char* name) {
    const auto found = floors.find(name);
    if (found == floors.end())
      throw std::invalid_argument(o.file + " has no floor '" + std::string(name) +
                                  "', which `tutti bench barrier --threads 2,4 --json` prints");
    return found->second;
  };
  const double way = floor("line_one_way"), wake = floor("futex_wake");
  fmt::print(
      "# The floors that `tutti bench barrier` measured. What they do not tell is assumed.\n"
      "description = \"calibrated by the floors of a run of tutti bench\"\n"
      "unit = \"ns\"\n"
      "clock_ghz = 1  # assumed: cycles are printed as ns\n\n"
      "[topology]\nnodes = 1\nclusters = 1\ncores = {}\nthreads = 1\n"
      "numbering = \"cores_first\"\n\n",
      o.cores);
  fmt::print(
      "# Half of line_one_way each: a message is a store to a line that the other core polls,\n"
      "# and the other core's load.\n"
      "[transfer]\ncluster = {0:.1f}\n\n[invalidate]\ncluster = {0:.1f}\n\n",
      way / 2);
  fmt::print(
      "[line]\nmemory = 100  # assumed\nhold = 10  # assumed\nread_gap = 5  # assumed\n"
      "reads_by_node = true\nnearest_first = true\nbroadcasts = false\n\n"
      "[home]\nnodes = \"first\"  # assumed\ndirectories = 1  # assumed\n"
      "serves_clusters = false  # assumed\noccupancy = 0  # assumed\n\n"
      "[core]\nstores_ahead = 10  # assumed\nloads_ahead = 6  # assumed\nhit = 1.5  # "
      "assumed\natomic = 6  # assumed\nfence = 10  # assumed\n"
      "clock = {:.1f}  # timer\npause = 14  # assumed\n\n",
      floor("timer"));
  fmt::print(
      "[system]\nslice = 3000000  # assumed\ncontext_switch = {:.0f}\nyield = {:.0f}  # "
      "sched_yield\n"
      "futex_wait = {:.0f}  # assumed: as a futex_wake\nfutex_wake = {:.0f}\n"
      "futex_lock = 50  # assumed\n"
      "wake_up = {:.0f}  # wake_idle_core without its two calls\n",
      floor("context_switch"), floor("sched_yield"), wake, wake,
      std::max(floor("wake_idle_core") - 2 * wake, 0.0));
  return cli::success;
}

namespace {

std::vector<sim::published_value> values_of(const sim_options& o) {
  std::vector<sim::published_value> values = sim::find_published(o.file);
  if (o.machines.empty()) return values;
  const std::vector<std::string> machines = cli::split("--machines", o.machines);
  for (const std::string& name : machines)
    if (std::none_of(values.begin(), values.end(),
                     [&](const auto& value) { return value.machine == name; }))
      throw std::invalid_argument("--machines: " + o.file + " has no value of '" + name + "'");
  std::erase_if(values, [&](const auto& value) {
    return std::find(machines.begin(), machines.end(), value.machine) == machines.end();
  });
  return values;
}

// Simulates the values of a table and prints them with their errors.
void print_values(const sim_options& o, const std::string& table,
                  const std::vector<sim::published_value>& values, const sim::settings& with) {
  std::map<std::string, sim::machine> machines;
  std::vector<double> simulated, of_fitted, of_others;
  if (o.markdown)
    fmt::print(
        "| machine | algorithm | threads | printed ns | simulated ns | error | |\n"
        "|---|---|--:|--:|--:|--:|---|\n");
  else if (!o.json)
    fmt::print("{:<11} {:<22} {:>7} {:>12} {:>12} {:>8}\n", "machine", "algorithm", "threads",
               "printed ns", "simulated ns", "error");
  for (const sim::published_value& value : values) {
    if (!machines.contains(value.machine))
      machines.emplace(value.machine, sim::find_machine(value.machine, with));
    const double ns = sim::simulated_ns(machines.at(value.machine), value, o.episodes, o.seed);
    simulated.push_back(ns);
    const double error = ns / value.ns - 1;
    (value.is_fitted ? of_fitted : of_others).push_back(std::abs(error));
    if (o.json)
      fmt::print("{}\n", cli::json{{"type", "sim_published"},
                                   {"table", table},
                                   {"machine", value.machine},
                                   {"name", value.algorithm},
                                   {"threads", value.threads},
                                   {"printed_ns", value.ns},
                                   {"simulated_ns", ns},
                                   {"fitted", value.is_fitted}}
                             .dump());
    else if (o.markdown)
      fmt::print("| {} | {} | {} | {:.0f} | {:.0f} | {:+.0f} % | {} |\n", value.machine,
                 value.algorithm, value.threads, value.ns, ns, 100 * error,
                 value.is_fitted ? "fitted" : "");
    else
      fmt::print("{:<11} {:<22} {:>7} {:>12.0f} {:>12.0f} {:>+7.0f}%{}\n", value.machine,
                 value.algorithm, value.threads, value.ns, ns, 100 * error,
                 value.is_fitted ? "  fitted" : "");
  }
  if (o.markdown) fmt::print("\n");
  const auto tell = [&](const char* what, const std::vector<double>& errors) {
    if (errors.empty()) return;
    const summary s = summary_of(errors);
    if (o.json)
      fmt::print("{}\n", cli::json{{"type", "sim_error"},
                                   {"what", what},
                                   {"median", s.median},
                                   {"largest", s.most},
                                   {"count", errors.size()}}
                             .dump());
    else
      fmt::print("{}{}: median error {:.0f} %, largest {:.0f} %, of {} values\n",
                 o.markdown ? "* " : "", what, 100 * s.median, 100 * s.most, errors.size());
  };
  tell("fitted", of_fitted);
  tell("not fitted", of_others);
  const sim::pairs_in_order pairs = sim::order_of(values, simulated);
  if (pairs.all == 0) return;
  if (o.json)
    fmt::print("{}\n",
               cli::json{{"type", "sim_order"}, {"right", pairs.right}, {"all", pairs.all}}.dump());
  else
    fmt::print(
        "{}of {} pairs on one machine that differ by over 10 % and are not both fitted, the "
        "simulation has {} in the right order\n",
        o.markdown ? "* " : "", pairs.all, pairs.right);
}

}  // namespace

int run_published(const sim_options& o) {
  if (!o.file.empty()) {
    print_values(o, o.file, values_of(o), settings_of(o));
    return cli::success;
  }
  if (!o.machines.empty()) throw std::invalid_argument("--machines needs a table");
  for (const std::string& name : sim::names_of_published()) {
    if (o.markdown)
      fmt::print("\n**{}**\n\n", name);
    else if (!o.json)
      fmt::print("{}:\n", name);
    print_values(o, name, sim::find_published(name), settings_of(o));
  }
  return cli::success;
}

int run_fit(const sim_options& o) {
  const std::vector<sim::published_value> values = values_of(o);
  sim::search_plan plan{.keys = {},
                        .from = {},
                        .range = o.range,
                        .steps = o.steps,
                        .episodes = o.episodes,
                        .seed = o.seed};
  // All machines get the same values, so that they must have the same unit.
  const sim::settings numbers = sim::numbers_of(values.front().machine);
  for (const sim::published_value& value : values)
    if (sim::find_machine(value.machine).unit != sim::find_machine(values.front().machine).unit)
      throw std::invalid_argument("the numbers of " + value.machine + " and " +
                                  values.front().machine +
                                  " have different units; fit them one by one, by --machines");
  for (const std::string& text : cli::split("--keys", o.keys)) {
    const std::size_t at = text.find('=');
    const std::string key = text.substr(0, at);
    const auto found = numbers.find(key);
    if (found == numbers.end()) {
      std::string known;
      for (const auto& [each, number] : numbers) known += " " + each;
      throw std::invalid_argument("--keys: the description of " + values.front().machine +
                                  " has no number '" + key + "'; numbers are:" + known);
    }
    plan.keys.push_back(key);
    plan.from.push_back(at == std::string::npos
                            ? std::max(found->second, 1.0)
                            : cli::parse_number("--keys", text.substr(at + 1), 1e-3, 1e9));
  }
  const std::vector<double> best = sim::search(values, plan, [&](double error) {
    if (!o.json) fmt::print(stderr, "mean |ln(simulated / printed)| {:.3f}\n", error);
  });
  sim::settings with = settings_of(o);
  for (std::size_t i = 0; i < best.size(); ++i) {
    with[plan.keys[i]] = best[i];
    if (o.json)
      fmt::print("{}\n", cli::json{{"type", "sim_fit"},
                                   {"table", o.file},
                                   {"key", plan.keys[i]},
                                   {"value", best[i]},
                                   {"seed", o.seed}}
                             .dump());
    else
      fmt::print("{} = {:g}\n", plan.keys[i], best[i]);
  }
  print_values(o, o.file, values, with);
  return cli::success;
}

}  // namespace tutti::command
