// SPDX-License-Identifier: Apache-2.0
// `tutti sim compare` and `calibrate`: simulated times beside measured ones, and the machine that a
// run has measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bench/harness/statistics.hpp"
#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "command/sim.hpp"
#include "command/sim_measured.hpp"

namespace tutti::command {

void tell_errors(const sim_options& o, const char* what, const std::vector<double>& errors) {
  if (errors.empty()) return;
  const bench::summary s = bench::summarize(errors);
  if (o.json)
    fmt::print("{}\n", with_set(o, {{"type", "sim_error"},
                                    {"what", what},
                                    {"median", s.median},
                                    {"largest", s.max},
                                    {"count", errors.size()}})
                           .dump());
  else
    fmt::print("{}{}: median error {:.0f} %, largest {:.0f} %, of {} values\n",
               o.markdown ? "* " : "", what, 100 * s.median, 100 * s.max, errors.size());
}

namespace {

// What the errors of a group of values are called.
std::string group_of(const measured_barrier& each, const sim::machine& m) {
  if (each.rtl.sockets == 0)
    return fmt::format(
        "{}, {}",
        each.value.threads > m.cpus() ? "more threads than CPUs" : "a CPU for each thread",
        scenario_of(each));
  return fmt::format("{} socket{}, {}", each.rtl.sockets, each.rtl.sockets > 1 ? "s" : "",
                     scenario_of(each));
}

void print_comparison(const sim_options& o, const measured_barrier& each, const sim::machine& m,
                      double simulated) {
  const sim::published_value& value = each.value;
  const double error = simulated / value.ns - 1;
  const std::string scenario = scenario_of(each);
  if (o.json) {
    cli::json line{{"type", "sim_comparison"},
                   {"machine", m.name},
                   {"name", value.algorithm},
                   {"wait", value.wait},
                   {"threads", value.threads},
                   {"scenario", scenario},
                   {"metric", each.is_last_in_last_out ? "last_in_last_out" : "loop"},
                   {"measured_ns", value.ns},
                   {"simulated_ns", simulated}};
    if (each.rtl.sockets > 0)
      line.update({{"sockets", each.rtl.sockets}, {"unit_distance", each.rtl.unit_distance}});
    fmt::print("{}\n", with_set(o, line).dump());
  } else if (o.markdown) {
    fmt::print("| {} | {} | {} | {} | {:.0f} | {:.0f} | {:+.0f} % |\n", each.rtl.sockets,
               value.threads, scenario,
               value.algorithm == "units"
                   ? fmt::format("barwait, {} cycles away", each.rtl.unit_distance)
                   : value.algorithm,
               value.ns, simulated, 100 * error);
  } else {
    fmt::print("{:<18} {:<9} {:>7} {:<28} {:>12.0f} {:>12.0f} {:>+7.0f}%\n", value.algorithm,
               value.wait, value.threads, scenario, value.ns, simulated, 100 * error);
  }
  std::fflush(stdout);
}

}  // namespace

// Simulates what a file with the lines of `tutti bench barrier --json` or of machine_measure has
// measured.
int run_compare(const sim_options& o) {
  bench_run measured = read_bench_run(o.file);
  // Alone nobody waits, so that only instructions take time, which the model does not have.
  std::erase_if(measured.barriers,
                [](const measured_barrier& each) { return each.value.threads == 1; });
  if (measured.barriers.empty())
    throw std::invalid_argument(o.file +
                                " has no line that `tutti bench barrier --json` prints of two or "
                                "more pinned threads in a barrier of tutti, in a scenario that can "
                                "be simulated, and none of machine_measure");
  if (o.show && !o.markdown) throw std::invalid_argument("--show is for --markdown");
  const auto is_rtl = [](const measured_barrier& each) { return each.rtl.sockets > 0; };
  if (o.show && !std::all_of(measured.barriers.begin(), measured.barriers.end(), is_rtl))
    throw std::invalid_argument("--show is for the values of the RTL machine, and " + o.file +
                                " has others");
  const auto has_machine = [&](const measured_barrier& each) {
    return is_rtl(each) || !o.machine.empty();
  };
  if (!std::all_of(measured.barriers.begin(), measured.barriers.end(), has_machine))
    throw std::invalid_argument("compare needs --machine for what `tutti bench` has measured");
  const sim::settings with = settings_of(o);
  const sim::machine given =
      o.machine.empty() ? sim::machine() : sim::find_machine(o.machine, with);
  if (o.markdown && o.show)
    fmt::print(
        "| sockets | threads | scenario | barrier | measured cycles | simulated | error |\n"
        "|--:|--:|---|---|--:|--:|--:|\n");
  else if (!o.json && !o.markdown)
    fmt::print("{:<18} {:<9} {:>7} {:<28} {:>12} {:>12} {:>8}\n", "name", "wait", "threads",
               "scenario", "measured ns", "simulated ns", "error");
  // By what is said of the values.
  std::map<std::string, std::vector<double>> errors;
  for (const measured_barrier& each : measured.barriers) {
    const sim::machine m = o.machine.empty() ? machine_of(each.rtl, with) : given;
    const double simulated = simulated_ns(m, each);
    errors[group_of(each, m)].push_back(std::abs(simulated / each.value.ns - 1));
    if (!o.markdown || o.show) print_comparison(o, each, m, simulated);
  }
  if (o.markdown) {
    fmt::print("{}| | values | median error | largest |\n|---|--:|--:|--:|\n", o.show ? "\n" : "");
    for (const auto& [what, of] : errors) {
      const bench::summary s = bench::summarize(of);
      fmt::print("| {} | {} | {:.0f} % | {:.0f} % |\n", what, of.size(), 100 * s.median,
                 100 * s.max);
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
    const double error = bench::median_of(errors);
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
    const double more = std::round(bench::median_of(longer));
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
  const bench_run run = read_bench_run(o.file);
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
  if (!longer.empty()) fitted["core.cold"] = std::max(std::round(bench::median_of(longer)), 0.0);
  const std::string text = described(o, run, fitted);
  const sim::machine m = sim::parse_machine(text, "calibrated");
  std::vector<double> of_fitted, of_others;
  for (const sim::published_value& value : barriers)
    (value.is_fitted ? of_fitted : of_others)
        .push_back(std::abs(sim::simulated_ns(m, value, plan.episodes, plan.seed) / value.ns - 1));
  fmt::print(
      "# Fitted to {} barriers of that run, with a median error of {:.0f} %; {} others have one of "
      "{:.0f} %.\n{}",
      of_fitted.size(), 100 * bench::median_of(of_fitted), of_others.size(),
      100 * bench::median_of(of_others), text);
  return cli::success;
}

}  // namespace tutti::command
