// SPDX-License-Identifier: Apache-2.0
#include "sim/published.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "bench/harness/statistics.hpp"
#include "sim/contenders.hpp"
#include "sim/measure.hpp"

namespace tutti::sim {

// The files in published/, which CMake writes into a source.
extern const std::map<std::string, std::string> published_by_tutti;

namespace {

constexpr const char* header = "machine,algorithm,threads,ns,use";

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream rest(line);
  for (std::string field; std::getline(rest, field, ',');) fields.push_back(field);
  if (line.ends_with(',')) fields.emplace_back();
  return fields;
}

// A number above 0, or 0.
double number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0 && std::isfinite(value) && value > 0 ? value : 0;
}

// Where a machine has a base, every machine has one, for the same threads as its other values.
void require_bases(const std::vector<published_value>& values, const std::string& path) {
  std::map<std::string, rank_t> threads;
  for (const published_value& value : values)
    if (value.is_base && !threads.emplace(value.machine, value.threads).second)
      throw std::invalid_argument(path + ": '" + value.machine + "' has two values of use 'base'");
  if (threads.empty()) return;
  for (const published_value& value : values) {
    const auto found = threads.find(value.machine);
    if (found == threads.end() || found->second != value.threads)
      throw std::invalid_argument(path + ": '" + value.machine +
                                  "' has no value of use 'base' for " +
                                  std::to_string(value.threads) + " threads");
  }
}

std::vector<double> loop_of(const machine& m, const published_value& of, std::uint32_t episodes,
                            std::uint64_t seed, work_of_rank work) {
  return run(m, barrier_named(of.algorithm, of.wait),
             {.threads = of.threads,
              .episodes = episodes,
              .seed = seed,
              .work_ns = work.ns,
              .spread = work.spread})
      .loop;
}

// The upper one of the middle samples. The commands in the descriptions of machines find their
// numbers by it.
double middle_of(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace

std::vector<published_value> parse_published(const std::string& text, const std::string& path) {
  std::vector<published_value> values;
  std::istringstream lines(text);
  std::string line;
  bool has_header = false;
  std::set<std::string> machines;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    const auto refuse = [&](const std::string& what) {
      throw std::invalid_argument(path + ":" + std::to_string(number) + ": " + what);
    };
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    if (!has_header) {
      if (line != header) refuse(std::string("the first line must be '") + header + "'");
      has_header = true;
      continue;
    }
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != 5) refuse(std::string("five fields were expected: ") + header);
    const double threads = number_of(fields[2]);
    if (threads < 1 || threads > 4096 || threads != std::floor(threads))
      refuse("threads must be a whole number from 1 to 4096, not '" + fields[2] + "'");
    const double ns = number_of(fields[3]);
    if (ns == 0) refuse("ns must be a number above 0, not '" + fields[3] + "'");
    if (fields[4] != "fit" && fields[4] != "check" && fields[4] != "base")
      refuse("use must be 'fit', 'check' or 'base', not '" + fields[4] + "'");
    try {
      static_cast<void>(barrier_named(fields[1], "spin"));
      if (machines.insert(fields[0]).second) static_cast<void>(find_machine(fields[0]));
    } catch (const std::invalid_argument& e) {
      refuse(e.what());
    }
    values.push_back({.machine = fields[0],
                      .algorithm = fields[1],
                      .wait = "spin",
                      .threads = static_cast<rank_t>(threads),
                      .ns = ns,
                      .is_fitted = fields[4] == "fit",
                      .is_base = fields[4] == "base"});
  }
  if (values.empty()) throw std::invalid_argument(path + ": there is no value in it");
  require_bases(values, path);
  return values;
}

std::vector<published_value> find_published(const std::string& name_or_file) {
  const auto found = published_by_tutti.find(name_or_file);
  if (found != published_by_tutti.end()) return parse_published(found->second, name_or_file);
  return parse_published(text_of_file(name_or_file, "table", names_of_published()), name_or_file);
}

std::vector<std::string> names_of_published() {
  std::vector<std::string> names;
  for (const auto& [name, text] : published_by_tutti) names.push_back(name);
  return names;
}

double simulated_ns(const machine& m, const published_value& of, std::uint32_t episodes,
                    std::uint64_t seed, work_of_rank work) {
  return bench::median_of(loop_of(m, of, episodes, seed, work));
}

work_of_rank work_behind(const machine& m, const published_value& base, double spread,
                         std::uint32_t episodes, std::uint64_t seed) {
  work_of_rank work{.spread = spread};
  // The time of a region with work is nearly that of one without, and the work; the spread makes
  // the last rank later.
  for (int round = 0; round < 4; ++round) {
    work.ns += (base.ns - simulated_ns(m, base, episodes, seed, work)) / (1 + spread);
    if (work.ns < 0)
      throw std::invalid_argument("'" + base.algorithm + "' on '" + base.machine +
                                  "' takes longer without work than the table says");
  }
  return work;
}

pairs_in_order order_of(const std::vector<published_value>& values,
                        const std::vector<double>& simulated) {
  pairs_in_order pairs;
  for (std::size_t a = 0; a < values.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      if (values[a].machine != values[b].machine || values[a].threads != values[b].threads ||
          (values[a].is_fitted && values[b].is_fitted))
        continue;
      const double ratio = values[a].ns / values[b].ns;
      if (ratio < 1.1 && ratio > 1 / 1.1) continue;
      ++pairs.all;
      if ((ratio > 1) == (simulated[a] > simulated[b])) ++pairs.right;
    }
  return pairs;
}

std::vector<double> search(const std::vector<published_value>& values, const search_plan& plan,
                           const std::function<void(double)>& progress) {
  const auto error_of = [&](const std::vector<double>& at) {
    settings with;
    for (std::size_t i = 0; i < at.size(); ++i) with[plan.keys[i]] = at[i];
    std::map<std::string, machine> machines;
    double sum = 0;
    std::uint32_t count = 0;
    for (const published_value& value : values) {
      if (!value.is_fitted) continue;
      if (!machines.contains(value.machine)) try {
          machines.emplace(value.machine, plan.machine_of(value.machine, with));
        } catch (const std::invalid_argument&) {
          // A description cannot have these numbers.
          if (at == plan.from) throw;
          return HUGE_VAL;
        }
      const double ns =
          middle_of(loop_of(machines.at(value.machine), value, plan.episodes, plan.seed, {}));
      sum += std::abs(std::log(ns / value.ns));
      ++count;
    }
    if (count == 0) throw std::invalid_argument("no value of the table may be fitted");
    return sum / count;
  };
  generator random(plan.seed);
  std::vector<double> best = plan.from;
  double least = error_of(best);
  progress(least);
  for (std::uint32_t step = 0; step < plan.steps; ++step) {
    std::vector<double> next = best;
    if (2 * step < plan.steps) {
      for (std::size_t i = 0; i < next.size(); ++i)
        next[i] = plan.from[i] * std::pow(plan.range, 2 * random.fraction() - 1);
    } else {
      // One key at a time, by steps that become smaller.
      const double width = std::log(plan.range) * (plan.steps - step) / plan.steps / 2;
      next[random.below(next.size())] *= std::exp(width * (2 * random.fraction() - 1));
    }
    // Files have three digits.
    for (double& each : next) {
      const double unit = std::pow(10, std::floor(std::log10(each)) - 2);
      each = std::round(each / unit) * unit;
    }
    const double error = error_of(next);
    if (error >= least) continue;
    least = error;
    best = next;
    progress(least);
  }
  return best;
}

}  // namespace tutti::sim
