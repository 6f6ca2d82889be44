// SPDX-License-Identifier: Apache-2.0
// Reads the lines of `tutti bench barrier --json` and simulates what they tell.
#include "command/sim_measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <stdexcept>

#include "bench/harness/statistics.hpp"
#include "cli/json.hpp"
#include "command/sim.hpp"
#include "sim/contenders.hpp"
#include "sim/measure.hpp"

namespace tutti::command {
namespace {

bool can_simulate(const bench::scenario& s) {
  return s.phases == bench::phase_kind::none && s.gap.ns == 0;
}

// Throws std::invalid_argument for a line that `tutti bench` does not print.
class bench_reader {
 public:
  explicit bench_reader(const std::string& path) : path_(path) {}

  bench_run read() {
    sim::refuse_other_than_file(path_);
    std::ifstream file(path_);
    if (!file) throw std::invalid_argument("cannot read '" + path_ + "'");
    bench_run run;
    std::string text;
    for (number_ = 1; std::getline(file, text); ++number_) {
      if (text.empty()) continue;
      const auto parsed = cli::json::parsed_if_valid(text);
      if (!parsed || !parsed->is_object()) refuse("a line of JSON was expected");
      const cli::json& line = *parsed;
      // Thread i is simulated on CPU i.
      const bool is_pinned =
          is(line, "pinned", true) && (!line.contains("pin") || is(line, "pin", "core"));
      if (is(line, "type", "floor"))
        add_floor(line, run.floors);
      else if (is(line, "type", "result") && is(line, "benchmark", "barrier") &&
               is(line, "provider", "tutti") && is_pinned &&
               (is(line, "metric", "loop") || is(line, "metric", "last_in_last_out")))
        add_barrier(line, run.barriers);
      else if (is(line, "type", "result") && is(line, "benchmark", "machine_barrier"))
        add_rtl_barrier(line, run.barriers);
    }
    return run;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw std::invalid_argument(path_ + ":" + std::to_string(number_) + ": " + what);
  }
  static bool is(const cli::json& line, const char* key, const cli::json& value) {
    return line.contains(key) && line.at(key).dump() == value.dump();
  }
  std::string word(const cli::json& line, const char* key) const {
    if (!line.contains(key) || !line.at(key).is_string())
      refuse(std::string(key) + " must be a text");
    return line.at(key).get<std::string>();
  }
  double number(const cli::json& line, const char* key) const {
    if (!line.contains(key) || !line.at(key).is_number())
      refuse(std::string(key) + " must be a number");
    const auto value = line.at(key).get<double>();
    if (!(value >= 0)) refuse(std::string(key) + " must not be negative");
    return value;
  }
  // Lines without a unit are in this one.
  void need_unit(const cli::json& line, const char* unit) const {
    if (line.contains("unit") && !is(line, "unit", unit))
      refuse(fmt::format("unit must be \"{}\" here, not {}", unit, line.at("unit").dump()));
  }
  void add_floor(const cli::json& line, std::map<std::string, double>& to) const {
    need_unit(line, "ns");
    to[word(line, "quantity")] = number(line, "median");
  }
  void add_barrier(const cli::json& line, std::vector<measured_barrier>& to) const {
    const std::string name = word(line, "name");
    const std::vector<std::string> known = sim::names_of_barriers();
    // A barrier of a later version, say.
    if (std::find(known.begin(), known.end(), name) == known.end()) return;
    need_unit(line, "ns");
    const double threads = number(line, "threads"), ns = number(line, "median");
    if (threads < 1 || threads > 4096 || threads != std::floor(threads))
      refuse("threads must be a whole number from 1 to 4096");
    if (ns == 0) refuse("median must be above 0");
    bench::scenario during;
    try {
      during = bench::parse_scenario(word(line, "scenario"));
    } catch (const std::invalid_argument& e) {
      refuse(e.what());
    }
    if (!can_simulate(during)) return;
    during.own_session = is(line, "session", "own");
    to.push_back({{"", name, word(line, "wait"), static_cast<rank_t>(threads), ns},
                  during,
                  is(line, "metric", "last_in_last_out")});
  }

  // Those without a barrier measure the loop.
  void add_rtl_barrier(const cli::json& line, std::vector<measured_barrier>& to) const {
    need_unit(line, "cycles");
    const bool is_instruction = is(line, "name", "barwait");
    const std::string name = is_instruction ? "units" : word(line, "name");
    const std::vector<std::string> known = sim::names_of_barriers();
    if (std::find(known.begin(), known.end(), name) == known.end()) return;
    const auto count = [&](const char* key, double least, double most) {
      const double value = number(line, key);
      if (value < least || value > most || value != std::floor(value))
        refuse(fmt::format("{} must be a whole number from {} to {}", key, least, most));
      return static_cast<unsigned>(value);
    };
    measured_barrier made{
        .value = {"", name, "spin", count("threads", 1, 64), number(line, "median")},
        .during = bench::parse_scenario("free"),
        .rtl = {count("sockets", 1, 4), count("cores", 1, 64), count("unit_distance", 0, 255)}};
    if (made.rtl.cores % made.rtl.sockets != 0) refuse("cores must be so many in each socket");
    if (made.value.ns == 0) refuse("median must be above 0");
    const std::string metric = word(line, "metric");
    made.is_last_in_last_out = metric != "back_to_back";
    made.is_together = metric == "together";
    // The other ranks have waited for long.
    if (metric == "one_late")
      made.during = bench::parse_scenario("imbalance_20us_rotating");
    else if (metric != "back_to_back" && metric != "together")
      refuse("metric must be back_to_back, one_late or together, not '" + metric + "'");
    to.push_back(made);
  }

  std::string path_;
  std::size_t number_ = 0;
};

// The processes that a scenario puts on the CPUs that so many threads use.
std::vector<sim::other_process> processes_of(const bench::scenario& s, const sim::machine& m,
                                             rank_t threads) {
  std::vector<sim::other_process> all;
  if (s.busy == bench::neighbour_kind::none) return all;
  const unsigned used = std::min<unsigned>(threads, m.cpus());
  sim::other_process one;
  if (s.busy == bench::neighbour_kind::light)
    one = {.least_work_ns = 1e3 * bench::least_slice_us,
           .most_work_ns = 1e3 * bench::most_slice_us,
           .least_sleep_ns = 1e3 * bench::least_slice_us * bench::sleeps_a_slice,
           .most_sleep_ns = 1e3 * bench::most_slice_us * bench::sleeps_a_slice};
  for (unsigned cpu = 0; cpu < (s.busy == bench::neighbour_kind::one ? 1 : used); ++cpu)
    for (unsigned i = 0; i < s.each; ++i) {
      one.cpu = cpu;
      if (s.own_session) one.session = static_cast<std::uint32_t>(all.size() + 1);
      all.push_back(one);
    }
  return all;
}

constexpr std::uint64_t disturbed_rounds = 3;

}  // namespace

double simulated_ns(const sim::machine& m, const measured_barrier& measured) {
  const bench::scenario& s = measured.during;
  const rank_t threads = measured.value.threads;
  const sim::contender who = sim::barrier_named(measured.value.algorithm, measured.value.wait);
  std::vector<std::mt19937_64> random;
  for (rank_t rank = 0; rank < threads; ++rank) random.emplace_back(rank + 1);
  sim::run_plan plan{.threads = threads, .episodes = 100};
  const bool is_of_bench = measured.rtl.sockets == 0;
  const double skew_ns =
      measured.is_last_in_last_out && is_of_bench ? s.skew_of_delayed_ns() : s.skew_ns;
  if (s.delayed() || skew_ns > 0) {
    plan.warm_up = 20;
    plan.delay_of = [&](rank_t rank, std::uint32_t episode) {
      std::mt19937_64& mine = random[rank];
      const auto between = [&](double least, double most) {
        return most > 0 ? std::uniform_real_distribution<double>(least, most)(mine) : 0.0;
      };
      const rank_t late = s.rotating ? episode % threads : threads - 1;
      sim::delay by;
      by.work_ns = between(s.least_work_ns, s.most_work_ns);
      by.late_ns = between(0, skew_ns) + (rank == late ? at(s.late, episode, mine) : 0.0);
      return by;
    };
  }
  // Every episode has ended by then.
  if (measured.is_together) plan.period_ns = 100e3;
  plan.others = processes_of(s, m, threads);
  plan.quota_cpus = s.quota_cpus;
  if (s.disturbed()) plan.least_ns = bench::disturbed_round_ns(s);
  // `tutti bench` runs many rounds, in which the waits learn about the other processes.
  if (s.disturbed()) plan.warm_up_ns = threads > m.cpus() ? 500e6 : 20e6;
  // The processes of every round begin at other times.
  std::vector<double> rounds;
  for (plan.seed = 1; plan.seed <= (s.disturbed() ? disturbed_rounds : 1); ++plan.seed) {
    const sim::simulated_run run = sim::run(m, who, plan);
    const bench::summary of =
        bench::summarize(measured.is_last_in_last_out ? run.last_in_last_out : run.loop);
    rounds.push_back(s.disturbed() ? of.mean : of.median);
  }
  return bench::median_of(rounds);
}

std::string scenario_of(const measured_barrier& each) {
  if (each.rtl.sockets == 0)
    return each.during.name + (each.during.own_session ? ", sessions of their own" : "");
  return each.is_together ? "all together" : each.is_last_in_last_out ? "one late" : "back to back";
}

sim::machine machine_of(const rtl_size& size, sim::settings with) {
  const char* const name = size.sockets == 1 ? "rtl" : "rtl4";
  const sim::settings usual = sim::numbers_of(name);
  // What --set replaces stays.
  with.emplace("topology.nodes", size.sockets);
  with.emplace("topology.cores", size.cores / size.sockets);
  for (const char* const key : {"barrier_unit.arrive", "barrier_unit.leave"})
    with.emplace(key, usual.at(key) + size.unit_distance);
  return sim::find_machine(name, with);
}

bench_run read_bench_run(const std::string& path) { return bench_reader(path).read(); }

}  // namespace tutti::command
