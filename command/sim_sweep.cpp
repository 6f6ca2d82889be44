// SPDX-License-Identifier: Apache-2.0
// `tutti sim sweep`: tutti's own choices beside what it could choose, on all machines.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "cli/lists.hpp"
#include "command/sim.hpp"
#include "sim/choices.hpp"

namespace tutti::command {
namespace {

// A choice that takes longer than this, relative to the best, is worth a look.
constexpr double limit = 1.25;

struct outcome {
  std::string machine;
  rank_t threads = 0;
  double chosen = 0, best = 0;
  std::string winner;
  double ratio() const { return chosen / best; }
};

outcome compare(const sim::choice& c, const sim::machine& m, rank_t threads) {
  outcome made{m.name, threads, c.chosen.ns(m, threads, sim::episodes_of_a_choice), 0,
               c.chosen.name};
  made.best = made.chosen;
  for (const sim::alternative& other : c.others) {
    const double ns = other.ns(m, threads, sim::episodes_of_a_choice);
    if (ns >= made.best) continue;
    made.best = ns;
    made.winner = other.name;
  }
  return made;
}

void print_markdown(const sim::choice& c, const std::vector<outcome>& all) {
  const auto slow = std::count_if(all.begin(), all.end(),
                                  [](const outcome& each) { return each.ratio() > limit; });
  fmt::print("\n**{}**: {}. Of {} cases {} take over {} times as long as the best", c.subject,
             c.summary, all.size(), slow, limit);
  if (slow == 0) return fmt::print(".\n");
  fmt::print(
      ":\n\n| machine | threads | default ns | best ns | best | ratio "
      "|\n|---|--:|--:|--:|---|--:|\n");
  for (const outcome& each : all)
    if (each.ratio() > limit)
      fmt::print("| {} | {} | {:.0f} | {:.0f} | {} | {:.2f} |\n", each.machine, each.threads,
                 each.chosen, each.best, each.winner, each.ratio());
}

void print_line(const sim_options& o, const sim::choice& c, const outcome& each) {
  fmt::print("{}\n", with_set(o, {{"type", "sim_choice"},
                                  {"subject", c.subject},
                                  {"machine", each.machine},
                                  {"threads", each.threads},
                                  {"default_ns", each.chosen},
                                  {"best", each.winner},
                                  {"best_ns", each.best}})
                         .dump());
}

}  // namespace

int run_sweep(const sim_options& o) {
  const std::vector<std::string> names =
      o.machines ? cli::names("--machines", *o.machines) : sim::names_of_machines();
  std::vector<rank_t> counts{2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384};
  if (o.threads) {
    counts.clear();
    for (const std::uint32_t each : counts_of(o, "--threads", 0)) counts.push_back(each);
  }
  std::vector<sim::machine> machines;
  for (const std::string& name : names) machines.push_back(sim::find_machine(name, settings_of(o)));
  const auto has_cpus = [&](const sim::machine& m) {
    return std::any_of(counts.begin(), counts.end(), [&](rank_t n) { return n <= m.cpus(); });
  };
  if (std::none_of(machines.begin(), machines.end(), has_cpus))
    throw std::invalid_argument(fmt::format("--threads: no machine has {} CPUs",
                                            *std::min_element(counts.begin(), counts.end())));
  for (const sim::choice& c : sim::choices()) {
    if (!o.json && !o.markdown)
      fmt::print("{}: {}\n{:<11} {:>7} {:>11} {:>11}  {:<24} {:>6}\n", c.subject, c.summary,
                 "machine", "threads", "default ns", "best ns", "best", "ratio");
    std::vector<outcome> all;
    for (const sim::machine& m : machines)
      for (const rank_t threads : counts) {
        if (threads > m.cpus()) continue;
        const outcome each = compare(c, m, threads);
        all.push_back(each);
        if (o.json)
          print_line(o, c, each);
        else if (!o.markdown)
          fmt::print("{:<11} {:>7} {:>11.0f} {:>11.0f}  {:<24} {:>6.2f}{}\n", each.machine,
                     each.threads, each.chosen, each.best, each.winner, each.ratio(),
                     each.ratio() > limit ? " <" : "");
        std::fflush(stdout);
      }
    if (o.markdown) print_markdown(c, all);
  }
  return cli::success;
}

}  // namespace tutti::command
