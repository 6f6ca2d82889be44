// SPDX-License-Identifier: Apache-2.0
// `tutti sim published` and `fit`: simulated times beside those that papers print.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "cli/lists.hpp"
#include "command/sim.hpp"
#include "sim/published.hpp"

namespace tutti::command {
namespace {

std::vector<sim::published_value> values_of(const sim_options& o) {
  std::vector<sim::published_value> values = sim::find_published(o.file);
  if (!o.machines) return values;
  const std::vector<std::string> machines = cli::split("--machines", *o.machines);
  for (const std::string& name : machines)
    if (std::none_of(values.begin(), values.end(),
                     [&](const auto& value) { return value.machine == name; }))
      throw std::invalid_argument("--machines: " + o.file + " has no value of '" + name + "'");
  std::erase_if(values, [&](const auto& value) {
    return std::find(machines.begin(), machines.end(), value.machine) == machines.end();
  });
  return values;
}

void print_json(const sim_options& o, const std::string& table, const sim::machine& m,
                const sim::published_value& value, double simulated_ns, const cli::json& more) {
  cli::json line{
      {"type", "sim_published"},      {"table", table},           {"machine", m.name},
      {"name", value.algorithm},      {"threads", value.threads}, {"printed_ns", value.ns},
      {"simulated_ns", simulated_ns}, {"episodes", o.episodes},   {"seed", o.seed}};
  line.update(more);
  fmt::print("{}\n", with_set(o, line).dump());
}

// How the barriers of regions without work differ from one of them in the tables that tutti brings
// along.
class differences_without_work {
 public:
  // Empty if there is no such table.
  std::optional<double> of(const sim::published_value& value, const std::string& base) const {
    const sim::published_value *mine = nullptr, *other = nullptr;
    for (const sim::published_value& each : values_) {
      if (each.machine != value.machine || each.threads != value.threads) continue;
      if (each.algorithm == value.algorithm) mine = &each;
      if (each.algorithm == base) other = &each;
    }
    if (mine == nullptr || other == nullptr) return std::nullopt;
    return mine->ns - other->ns;
  }

 private:
  const std::vector<sim::published_value> values_ =
      sim::find_published("berger_stamatakis_table_1");
};

// Simulates regions that work, and prints how the barriers differ from the base of their machine.
void print_differences(const sim_options& o, const std::string& table,
                       const std::vector<sim::published_value>& values, const sim::settings& with) {
  struct base {
    sim::machine machine;
    sim::work_of_rank work;
    double printed, simulated;
    std::string algorithm;
  };
  std::map<std::string, base> bases;
  const differences_without_work without;
  for (const sim::published_value& value : values) {
    if (!value.is_base) continue;
    const sim::machine m = sim::find_machine(value.machine, with);
    const sim::work_of_rank work = sim::work_behind(m, value, o.spread / 100, o.episodes, o.seed);
    bases.emplace(value.machine,
                  base{m, work, value.ns, sim::simulated_ns(m, value, o.episodes, o.seed, work),
                       value.algorithm});
  }
  if (o.markdown)
    fmt::print(
        "| machine | algorithm | threads | printed µs | simulated µs | error | printed difference, "
        "ns | simulated difference, ns | printed without work, ns |\n"
        "|---|---|--:|--:|--:|--:|--:|--:|--:|\n");
  else if (!o.json)
    fmt::print("{:<11} {:<24} {:>7} {:>11} {:>12} {:>8} {:>14} {:>14} {:>13}\n", "machine",
               "algorithm", "threads", "printed µs", "simulated µs", "error", "printed diff.",
               "simulated", "without work");
  std::vector<double> of_regions, of_differences, of_printed;
  for (const sim::published_value& value : values) {
    const base& from = bases.at(value.machine);
    const double ns = value.is_base
                          ? from.simulated
                          : sim::simulated_ns(from.machine, value, o.episodes, o.seed, from.work);
    const double error = ns / value.ns - 1, printed = value.ns - from.printed,
                 simulated = ns - from.simulated;
    const std::optional<double> idle = without.of(value, from.algorithm);
    if (!value.is_base) {
      of_regions.push_back(std::abs(error));
      // Smaller ones are within the scatter of a program that runs for seconds.
      if (std::abs(printed) > 0.01 * from.printed) {
        of_differences.push_back(std::abs(simulated / printed - 1));
        if (idle) of_printed.push_back(std::abs(*idle / printed - 1));
      }
    }
    if (o.json)
      print_json(
          o, table, from.machine, value, ns,
          {{"base", value.is_base}, {"work_ns", from.work.ns}, {"spread", from.work.spread}});
    else
      fmt::print(
          fmt::runtime(o.markdown ? "| {} | {} | {} | {:.2f} | {:.2f} | {} | {} | {} | {} |\n"
                                  : "{:<11} {:<24} {:>7} {:>11.2f} {:>12.2f} {:>8} {:>14} {:>14} "
                                    "{:>13}\n"),
          value.machine, value.algorithm, value.threads, value.ns / 1000, ns / 1000,
          value.is_base ? "base" : fmt::format("{:+.1f} %", 100 * error),
          value.is_base ? "" : fmt::format("{:.0f}", printed),
          value.is_base ? "" : fmt::format("{:.0f}", simulated),
          value.is_base || !idle ? "" : fmt::format("{:.0f}", *idle));
  }
  if (o.markdown) fmt::print("\n");
  tell_errors(o, "regions", of_regions);
  tell_errors(o, "printed differences of over 1 % of a region", of_differences);
  tell_errors(o, "the same, if the printed differences without work are taken for them",
              of_printed);
}

// Simulates the values of a table and prints them with their errors.
void print_values(const sim_options& o, const std::string& table,
                  const std::vector<sim::published_value>& values, const sim::settings& with) {
  if (std::any_of(values.begin(), values.end(), [](const auto& v) { return v.is_base; }))
    return print_differences(o, table, values, with);
  // What a machine cannot have is refused before anything is printed.
  std::map<std::string, sim::machine> machines;
  for (const sim::published_value& value : values)
    if (!machines.contains(value.machine))
      machines.emplace(value.machine, sim::find_machine(value.machine, with));
  std::vector<double> simulated, of_fitted, of_others;
  if (o.markdown)
    fmt::print(
        "| machine | algorithm | threads | printed ns | simulated ns | error | |\n"
        "|---|---|--:|--:|--:|--:|---|\n");
  else if (!o.json)
    fmt::print("{:<11} {:<24} {:>7} {:>12} {:>12} {:>8}\n", "machine", "algorithm", "threads",
               "printed ns", "simulated ns", "error");
  for (const sim::published_value& value : values) {
    const sim::machine& m = machines.at(value.machine);
    const double ns = sim::simulated_ns(m, value, o.episodes, o.seed);
    simulated.push_back(ns);
    const double error = ns / value.ns - 1;
    (value.is_fitted ? of_fitted : of_others).push_back(std::abs(error));
    if (o.json)
      print_json(o, table, m, value, ns, {{"fitted", value.is_fitted}});
    else if (o.markdown)
      fmt::print("| {} | {} | {} | {:.0f} | {:.0f} | {:+.0f} % | {} |\n", value.machine,
                 value.algorithm, value.threads, value.ns, ns, 100 * error,
                 value.is_fitted ? "fitted" : "");
    else
      fmt::print("{:<11} {:<24} {:>7} {:>12.0f} {:>12.0f} {:>+7.0f}%{}\n", value.machine,
                 value.algorithm, value.threads, value.ns, ns, 100 * error,
                 value.is_fitted ? "  fitted" : "");
  }
  if (o.markdown) fmt::print("\n");
  tell_errors(o, "fitted", of_fitted);
  tell_errors(o, "not fitted", of_others);
  const sim::pairs_in_order pairs = sim::order_of(values, simulated);
  if (pairs.all == 0) return;
  if (o.json)
    fmt::print(
        "{}\n",
        with_set(o, {{"type", "sim_order"}, {"right", pairs.right}, {"all", pairs.all}}).dump());
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
  if (o.machines) throw std::invalid_argument("--machines needs a table");
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
  // What --set replaces stays.
  const sim::settings replaced = settings_of(o);
  const auto machine_of = [&](const std::string& name, const sim::settings& with) {
    sim::settings all = replaced;
    for (const auto& [key, value] : with) all[key] = value;
    return sim::find_machine(name, all);
  };
  sim::search_plan plan{.keys = {},
                        .from = {},
                        .range = o.range,
                        .steps = o.steps,
                        .episodes = o.episodes,
                        .seed = o.seed,
                        .machine_of = machine_of};
  // All machines get the same values, so that they must have the same unit.
  const sim::settings numbers = sim::numbers_of(values.front().machine);
  for (const sim::published_value& value : values)
    if (sim::find_machine(value.machine).unit != sim::find_machine(values.front().machine).unit)
      throw std::invalid_argument("the numbers of " + value.machine + " and " +
                                  values.front().machine +
                                  " have different units; fit them one by one, by --machines");
  const std::set<std::string> counts = sim::counts_of(values.front().machine);
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
    if (counts.contains(key))
      throw std::invalid_argument("--keys: '" + key + "' is a count, which a search cannot try");
    if (std::find(plan.keys.begin(), plan.keys.end(), key) != plan.keys.end())
      throw std::invalid_argument("--keys names '" + key + "' twice");
    if (replaced.contains(key)) throw std::invalid_argument("--keys: --set replaces '" + key + "'");
    plan.keys.push_back(key);
    plan.from.push_back(at == std::string::npos
                            ? std::max(found->second, 1.0)
                            : cli::parse_number("--keys", text.substr(at + 1), 1e-3, 1e9));
  }
  const std::vector<double> best = sim::search(values, plan, [&](double error) {
    if (!o.json) fmt::print(stderr, "mean |ln(simulated / printed)| {:.3f}\n", error);
  });
  sim::settings with = replaced;
  for (std::size_t i = 0; i < best.size(); ++i) {
    with[plan.keys[i]] = best[i];
    if (o.json)
      fmt::print("{}\n", with_set(o, {{"type", "sim_fit"},
                                      {"table", o.file},
                                      {"key", plan.keys[i]},
                                      {"value", best[i]},
                                      {"from", plan.from[i]},
                                      {"range", o.range},
                                      {"steps", o.steps},
                                      {"episodes", o.episodes},
                                      {"seed", o.seed}})
                             .dump());
    else
      fmt::print("{} = {:g}\n", plan.keys[i], best[i]);
  }
  print_values(o, o.file, values, with);
  return cli::success;
}

}  // namespace tutti::command
