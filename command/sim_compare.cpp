// SPDX-License-Identifier: Apache-2.0
// `tutti sim compare`, `calibrate`, `published` and `fit`: simulated times beside measured and
// printed ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bench/harness/scenario.hpp"
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

cli::json with_set(const sim_options& o, cli::json line) {
  if (!o.set.empty()) line["set"] = o.set;
  return line;
}

namespace {

// What `tutti bench` measured in a scenario: the loop, or from the last arrival to the last return.
struct measured_barrier {
  sim::published_value value;
  bench::scenario during;
  bool is_last_in_last_out = false;
};

// What a file with the lines of `tutti bench barrier --json` tells.
struct bench_run {
  // Their medians by their quantities.
  std::map<std::string, double> floors;
  // Pinned barriers of tutti, by their medians.
  std::vector<measured_barrier> barriers;

  // Those without other work.
  std::vector<sim::published_value> free_barriers() const {
    std::vector<sim::published_value> free;
    for (const measured_barrier& each : barriers)
      if (each.during.name == "free" && !each.is_last_in_last_out) free.push_back(each.value);
    return free;
  }
};

bool can_simulate(const bench::scenario& s) {
  return s.phases == bench::phase_kind::none && s.gap.ns == 0 && s.quota_cpus == 0;
}

// Throws std::invalid_argument for a line that `tutti bench` does not print.
class bench_reader {
 public:
  explicit bench_reader(const std::string& path) : path_(path) {}

  bench_run read() {
    std::ifstream file(path_);
    if (!file) throw std::invalid_argument("cannot read '" + path_ + "'");
    bench_run run;
    std::string text;
    for (number_ = 1; std::getline(file, text); ++number_) {
      const auto parsed = cli::json::parsed_if_valid(text);
      if (!parsed || !parsed->is_object()) refuse("a line of JSON was expected");
      const cli::json& line = *parsed;
      if (is(line, "type", "floor"))
        run.floors[word(line, "quantity")] = number(line, "median");
      else if (is(line, "type", "result") && is(line, "benchmark", "barrier") &&
               is(line, "provider", "tutti") && is(line, "pinned", true) &&
               (is(line, "metric", "loop") || is(line, "metric", "last_in_last_out")))
        add_barrier(line, run.barriers);
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
  void add_barrier(const cli::json& line, std::vector<measured_barrier>& to) const {
    const std::string name = word(line, "name");
    const std::vector<std::string> known = sim::names_of_barriers();
    // A barrier of a later version, say.
    if (std::find(known.begin(), known.end(), name) == known.end()) return;
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
    // The scheduler divides a CPU between sessions, which the model does not have.
    if (!can_simulate(during) || is(line, "session", "own")) return;
    to.push_back({{"", name, word(line, "wait"), static_cast<rank_t>(threads), ns},
                  during,
                  is(line, "metric", "last_in_last_out")});
  }

  std::string path_;
  std::size_t number_ = 0;
};

void tell_errors(const sim_options& o, const char* what, const std::vector<double>& errors) {
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
}

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
      all.push_back(one);
    }
  return all;
}

constexpr std::uint64_t disturbed_rounds = 3;

// ns of the loop, or from the last arrival to the last return, as `tutti bench` takes them: the
// median of the episodes or, beside other processes, of the means of some rounds.
double simulated_ns(const sim::machine& m, const measured_barrier& measured) {
  const bench::scenario& s = measured.during;
  const rank_t threads = measured.value.threads;
  const std::vector<sim::contender> found =
      sim::barriers({measured.value.algorithm}, {measured.value.wait});
  if (found.size() != 1)
    throw std::invalid_argument("there is no barrier '" + measured.value.algorithm +
                                "' with the wait policy '" + measured.value.wait + "'");
  std::vector<std::mt19937_64> random;
  for (rank_t rank = 0; rank < threads; ++rank) random.emplace_back(rank + 1);
  sim::run_plan plan{.threads = threads, .episodes = 100};
  if (s.delayed() || s.skew_ns > 0) {
    plan.warm_up = 20;
    plan.delay_of = [&](rank_t rank, std::uint32_t episode) {
      std::mt19937_64& mine = random[rank];
      const auto between = [&](double least, double most) {
        return most > 0 ? std::uniform_real_distribution<double>(least, most)(mine) : 0.0;
      };
      const rank_t late = s.rotating ? episode % threads : threads - 1;
      sim::delay by;
      by.work_ns = between(s.least_work_ns, s.most_work_ns);
      by.late_ns = between(0, s.skew_ns) + (rank == late ? at(s.late, episode, mine) : 0.0);
      return by;
    };
  }
  plan.others = processes_of(s, m, threads);
  if (s.disturbed()) plan.least_ns = bench::disturbed_round_ns(s);
  // `tutti bench` runs many rounds, in which the waits learn about the other processes.
  if (s.disturbed()) plan.warm_up_ns = threads > m.cpus() ? 500e6 : 20e6;
  // The processes of every round begin at other times.
  std::vector<double> rounds;
  for (plan.seed = 1; plan.seed <= (s.disturbed() ? disturbed_rounds : 1); ++plan.seed) {
    const sim::simulated_run run = sim::run(m, found.front(), plan);
    const summary of = summary_of(measured.is_last_in_last_out ? run.last_in_last_out : run.loop);
    rounds.push_back(s.disturbed() ? of.mean : of.median);
  }
  return summary_of(rounds).median;
}

}  // namespace

// Simulates what a file with the lines of `tutti bench barrier --json` has measured.
int run_compare(const sim_options& o) {
  const sim::machine m = sim::find_machine(o.machine, settings_of(o));
  const bench_run measured = bench_reader(o.file).read();
  if (measured.barriers.empty())
    throw std::invalid_argument(o.file +
                                " has no line that `tutti bench barrier --json` prints of a "
                                "pinned barrier of tutti in a scenario that can be simulated");
  const bool prints_values = !o.json && !o.markdown;
  if (prints_values)
    fmt::print("{:<18} {:<9} {:>7} {:<28} {:>12} {:>12} {:>8}\n", "name", "wait", "threads",
               "scenario", "measured ns", "simulated ns", "error");
  // By what is said of the values.
  std::map<std::string, std::vector<double>> errors;
  for (const measured_barrier& each : measured.barriers) {
    const sim::published_value& value = each.value;
    // Nobody waits, so that only instructions take time, which the model does not have.
    if (value.threads == 1) continue;
    const double simulated = simulated_ns(m, each);
    const double error = simulated / value.ns - 1;
    errors[fmt::format(
               "{}, {}",
               value.threads > m.cpus() ? "more threads than CPUs" : "a CPU for each thread",
               each.during.name)]
        .push_back(std::abs(error));
    const char* const metric = each.is_last_in_last_out ? "last_in_last_out" : "loop";
    if (o.json)
      fmt::print("{}\n", cli::json{{"type", "sim_comparison"},
                                   {"machine", m.name},
                                   {"name", value.algorithm},
                                   {"wait", value.wait},
                                   {"threads", value.threads},
                                   {"scenario", each.during.name},
                                   {"metric", metric},
                                   {"measured_ns", value.ns},
                                   {"simulated_ns", simulated}}
                             .dump());
    if (prints_values)
      fmt::print("{:<18} {:<9} {:>7} {:<28} {:>12.0f} {:>12.0f} {:>+7.0f}%\n", value.algorithm,
                 value.wait, value.threads, each.during.name, value.ns, simulated, 100 * error);
    std::fflush(stdout);
  }
  if (o.markdown) {
    fmt::print("| | values | median error | largest |\n|---|--:|--:|--:|\n");
    for (const auto& [what, of] : errors) {
      const summary s = summary_of(of);
      fmt::print("| {} | {} | {:.0f} % | {:.0f} % |\n", what, of.size(), 100 * s.median,
                 100 * s.most);
    }
    return cli::success;
  }
  for (const auto& [what, of] : errors) tell_errors(o, what.c_str(), of);
  return cli::success;
}

// ---- tutti sim calibrate

namespace {

// A description by the floors of a run and, where they tell nothing, by `fitted` or an assumption.
std::string described(const sim_options& o, const bench_run& run, const sim::settings& fitted) {
  const auto floor = [&](const char* name) {
    const auto found = run.floors.find(name);
    if (found == run.floors.end())
      throw std::invalid_argument(o.file + " has no floor '" + std::string(name) +
                                  "', which `tutti bench barrier --threads 2,4 --json` prints");
    return found->second;
  };
  const auto other = [&](const char* key, double assumed) {
    const auto found = fitted.find(key);
    return found == fitted.end() ? fmt::format("{:.8g}  # assumed", assumed)
                                 : fmt::format("{:.8g}  # fitted", found->second);
  };
  const double way = floor("line_one_way"), wake = floor("futex_wake");
  std::string text = fmt::format(
      "# `tutti sim calibrate` made this of the floors that `tutti bench barrier` measured.\n"
      "description = \"calibrated by a run of tutti bench\"\nunit = \"ns\"\n"
      "clock_ghz = 1  # assumed: cycles are printed as ns\n\n"
      "[topology]  # --cores\nnodes = 1\nclusters = 1\ncores = {}\nthreads = 1\n"
      "numbering = \"cores_first\"\n\n",
      o.cores);
  text += fmt::format(
      "# A message is a store to a line that the other core polls, and the other core's load: "
      "half\n"
      "# of line_one_way each.\n"
      "[transfer]\ncluster = {0:.1f}  # line_one_way\n\n"
      "[invalidate]\ncluster = {0:.1f}  # line_one_way\n\n",
      way / 2);
  text += fmt::format(
      "[line]\nmemory = 100  # assumed\nhold = {}\nread_gap = {}\n"
      "reads_by_node = true\nnearest_first = true\nbroadcasts = false\n\n"
      "[home]  # not used by one cluster\nnodes = \"first\"\ndirectories = 1\n"
      "serves_clusters = false\noccupancy = 0\n\n",
      other("line.hold", 10), other("line.read_gap", 5));
  text += fmt::format(
      "[core]\nstores_ahead = 10  # assumed\nloads_ahead = 6  # assumed\nhit = {}\natomic = {}\n"
      "fence = {}\ncold = {}\nclock = {:.1f}  # timer\npause = 14  # assumed\n\n",
      other("core.hit", 1.5), other("core.atomic", 6), other("core.fence", 10),
      other("core.cold", 0), floor("timer"));
  // Linux's base_slice_ns; it knows at most 8 CPUs.
  const double slice = 0.7e6 * (1 + std::floor(std::log2(std::min(o.cores, 8u))));
  const double wake_up = std::max(floor("wake_idle_core") - 2 * wake, 0.0);
  text += fmt::format(
      "[system]\nslice = {:.0f}  # Linux, for so many CPUs\ntick = {}\ntick_offset = {}\n"
      "tick_work = 3000  # assumed\ncontext_switch = {:.0f}  # context_switch\n"
      "yield = {:.0f}  # sched_yield\nfutex_wait = {:.0f}  # assumed: as futex_wake\n"
      "futex_wake = {:.0f}  # futex_wake\nfutex_lock = 50  # assumed\n"
      "wake_up = {:.0f}  # wake_idle_core without its two calls\nwake_interrupt = {}\n"
      "displace = {}\n",
      slice, other("system.tick", 4e6), other("system.tick_offset", 1e6), floor("context_switch"),
      floor("sched_yield"), wake, wake, wake_up, other("system.wake_interrupt", 0),
      other("system.displace", wake_up));
  if (fitted.contains("system.deep_wake_up"))
    text += fmt::format("deep_wake_up = {}\ndeep_after = 400000  # assumed\n",
                        other("system.deep_wake_up", 0));
  return text;
}

// The one of the candidates with which the values' median error is the least.
template <class Candidate>
Candidate best_of(const std::vector<Candidate>& candidates,
                  const std::vector<measured_barrier>& values,
                  const std::function<sim::machine(const Candidate&)>& machine_with) {
  double least = HUGE_VAL;
  Candidate best = candidates.front();
  for (const Candidate& each : candidates) {
    const sim::machine m = machine_with(each);
    std::vector<double> errors;
    for (const measured_barrier& value : values)
      errors.push_back(std::abs(std::log(simulated_ns(m, value) / value.value.ns)));
    const double error = summary_of(errors).median;
    if (error >= least) continue;
    least = error;
    best = each;
  }
  return best;
}

// Finds what the floors do not tell about the system, by every second of the values that depend on
// it, without any beside other processes but those that poll.
void fit_system(const sim_options& o, const bench_run& run, sim::settings& fitted) {
  constexpr std::size_t fewest = 4;
  std::vector<measured_barrier> polls, sleeps, deep;
  std::size_t seen = 0;
  for (const measured_barrier& each : run.barriers) {
    const bool is_crowded = each.value.threads > o.cores, is_parked = each.value.wait == "park";
    const bool is_late = each.during.delayed() && !each.during.disturbed();
    auto* const group = is_crowded && each.value.wait == "spin"               ? &polls
                        : is_crowded && is_late && each.value.wait != "yield" ? &sleeps
                        : is_parked && is_late && each.value.threads > 1 && !is_crowded &&
                                each.during.late.ns >= 1e6 && !each.during.rotating
                            ? &deep
                            : nullptr;
    if (group != nullptr && seen++ % 2 == 0) group->push_back(each);
  }
  const auto with = [&](std::initializer_list<std::pair<const char*, double>> numbers) {
    sim::settings changed = fitted;
    for (const auto& [key, value] : numbers) changed[key] = value;
    return sim::parse_machine(described(o, run, changed), "calibrated");
  };
  if (polls.size() >= fewest) {
    // CONFIG_HZ is 1000, 300, 250 or 100.
    const double tick = best_of<double>({1e6, 1e9 / 300, 4e6, 10e6}, polls, [&](const double& ns) {
      return with({{"system.tick", ns}, {"system.tick_offset", ns / 4}});
    });
    fitted["system.tick"] = tick;
    fitted["system.tick_offset"] = tick / 4;
  }
  if (!deep.empty()) {
    const sim::machine shallow = with({});
    std::vector<double> longer;
    for (const measured_barrier& each : deep)
      longer.push_back(each.value.ns - simulated_ns(shallow, each));
    const double more = std::round(summary_of(longer).median);
    if (more > 0)
      fitted["system.deep_wake_up"] = std::round(sim::nanoseconds(shallow.wake_up)) + more;
  }
  if (sleeps.size() < fewest) return;
  // In parts of a wake-up: what the interrupt takes from the waker, and how much later the woken
  // thread runs that displaces another.
  std::vector<std::pair<double, double>> parts;
  for (const double sends : {0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6})
    for (const double later : {0.05, 0.1, 0.15, 0.25, 0.5, 1.0}) parts.emplace_back(sends, later);
  const double wake_up = sim::nanoseconds(with({}).wake_up);
  const auto numbers = [&](const std::pair<double, double>& part) {
    return std::pair(std::round(part.first * wake_up),
                     std::round((part.first + part.second) * wake_up));
  };
  const auto best = best_of<std::pair<double, double>>(parts, sleeps, [&](const auto& part) {
    const auto [sends, displaces] = numbers(part);
    return with({{"system.wake_interrupt", sends}, {"system.displace", displaces}});
  });
  std::tie(fitted["system.wake_interrupt"], fitted["system.displace"]) = numbers(best);
}

}  // namespace

// Describes the machine on which `tutti bench barrier --json` has run by its floors, and what these
// do not tell, by every second of its barriers: a core's own times by those that poll and have a
// CPU for each thread, and the system's by the others.
int run_calibrate(const sim_options& o) {
  const bench_run run = bench_reader(o.file).read();
  const std::vector<sim::published_value> all = run.free_barriers();
  std::vector<sim::published_value> barriers = all;
  std::erase_if(barriers, [&](const sim::published_value& value) {
    return value.wait != "spin" || value.threads < 2 || value.threads > o.cores;
  });
  for (std::size_t i = 0; i < barriers.size(); ++i) barriers[i].is_fitted = i % 2 == 0;
  sim::settings fitted;
  std::string assumed = described(o, run, fitted);
  fit_system(o, run, fitted);
  assumed = described(o, run, fitted);
  // With fewer values than numbers a search says nothing.
  if (barriers.size() < 12) {
    fmt::print("{}", assumed);
    return cli::success;
  }
  sim::search_plan plan{
      .keys = {"line.hold", "line.read_gap", "core.hit", "core.atomic", "core.fence"},
      .from = {10, 5, 1.5, 6, 10},
      .range = 10,
      .machine_of = [&](const std::string&, const sim::settings& with) {
        return sim::parse_machine(assumed, "calibrated", with);
      }};
  const std::vector<double> best = sim::search(barriers, plan, [](double) {});
  for (std::size_t i = 0; i < best.size(); ++i) fitted[plan.keys[i]] = best[i];
  // How much longer episodes take that come after other work, and whose waits poll: every second.
  const sim::machine warm = sim::parse_machine(described(o, run, fitted), "calibrated");
  std::vector<double> longer;
  // A wait that ends by a wake-up takes longer.
  constexpr double longest_polled_ns = 5000;
  std::size_t polled = 0;
  for (const measured_barrier& each : run.barriers) {
    if (!each.during.delayed() || each.during.disturbed() || each.value.threads < 2 ||
        each.value.threads > o.cores || each.value.ns > longest_polled_ns || polled++ % 2 != 0)
      continue;
    longer.push_back(each.value.ns - simulated_ns(warm, each));
  }
  if (!longer.empty()) fitted["core.cold"] = std::max(std::round(summary_of(longer).median), 0.0);
  const std::string text = described(o, run, fitted);
  const sim::machine m = sim::parse_machine(text, "calibrated");
  std::vector<double> of_fitted, of_others;
  for (const sim::published_value& value : barriers)
    (value.is_fitted ? of_fitted : of_others)
        .push_back(std::abs(sim::simulated_ns(m, value, plan.episodes, plan.seed) / value.ns - 1));
  fmt::print(
      "# Fitted to {} barriers of that run, with a median error of {:.0f} %; {} others have one of "
      "{:.0f} %.\n{}",
      of_fitted.size(), 100 * summary_of(of_fitted).median, of_others.size(),
      100 * summary_of(of_others).median, text);
  return cli::success;
}

// ---- tutti sim published and fit

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

void print_json(const std::string& table, const sim::published_value& value, double simulated_ns,
                const cli::json& more) {
  cli::json line{{"type", "sim_published"},     {"table", table},
                 {"machine", value.machine},    {"name", value.algorithm},
                 {"threads", value.threads},    {"printed_ns", value.ns},
                 {"simulated_ns", simulated_ns}};
  line.update(more);
  fmt::print("{}\n", line.dump());
}

// Simulates regions that work, and prints how the barriers differ from the base of their machine.
void print_differences(const sim_options& o, const std::string& table,
                       const std::vector<sim::published_value>& values, const sim::settings& with) {
  struct base {
    sim::machine machine;
    sim::work_of_rank work;
    double printed, simulated;
  };
  std::map<std::string, base> bases;
  for (const sim::published_value& value : values) {
    if (!value.is_base) continue;
    const sim::machine m = sim::find_machine(value.machine, with);
    const sim::work_of_rank work = sim::work_behind(m, value, o.spread / 100, o.episodes, o.seed);
    bases.emplace(value.machine,
                  base{m, work, value.ns, sim::simulated_ns(m, value, o.episodes, o.seed, work)});
  }
  if (o.markdown)
    fmt::print(
        "| machine | algorithm | threads | printed us | simulated us | error | printed difference, "
        "ns | simulated difference, ns |\n|---|---|--:|--:|--:|--:|--:|--:|\n");
  else if (!o.json)
    fmt::print("{:<11} {:<22} {:>7} {:>11} {:>12} {:>8} {:>14} {:>14}\n", "machine", "algorithm",
               "threads", "printed us", "simulated us", "error", "printed diff.", "simulated");
  std::vector<double> of_regions, of_differences;
  for (const sim::published_value& value : values) {
    const base& from = bases.at(value.machine);
    const double ns = value.is_base
                          ? from.simulated
                          : sim::simulated_ns(from.machine, value, o.episodes, o.seed, from.work);
    const double error = ns / value.ns - 1, printed = value.ns - from.printed,
                 simulated = ns - from.simulated;
    if (!value.is_base) {
      of_regions.push_back(std::abs(error));
      // Smaller ones are within the scatter of a program that runs for seconds.
      if (std::abs(printed) > 0.01 * from.printed)
        of_differences.push_back(std::abs(simulated / printed - 1));
    }
    if (o.json)
      print_json(
          table, value, ns,
          {{"base", value.is_base}, {"work_ns", from.work.ns}, {"spread", from.work.spread}});
    else
      fmt::print(fmt::runtime(
                     o.markdown ? "| {} | {} | {} | {:.2f} | {:.2f} | {} | {} | {} |\n"
                                : "{:<11} {:<22} {:>7} {:>11.2f} {:>12.2f} {:>8} {:>14} {:>14}\n"),
                 value.machine, value.algorithm, value.threads, value.ns / 1000, ns / 1000,
                 value.is_base ? "base" : fmt::format("{:+.1f} %", 100 * error),
                 value.is_base ? "" : fmt::format("{:.0f}", printed),
                 value.is_base ? "" : fmt::format("{:.0f}", simulated));
  }
  if (o.markdown) fmt::print("\n");
  tell_errors(o, "regions", of_regions);
  tell_errors(o, "printed differences of over 1 % of a region", of_differences);
}

// Simulates the values of a table and prints them with their errors.
void print_values(const sim_options& o, const std::string& table,
                  const std::vector<sim::published_value>& values, const sim::settings& with) {
  if (std::any_of(values.begin(), values.end(), [](const auto& v) { return v.is_base; }))
    return print_differences(o, table, values, with);
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
      print_json(table, value, ns, {{"fitted", value.is_fitted}});
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
  tell_errors(o, "fitted", of_fitted);
  tell_errors(o, "not fitted", of_others);
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
