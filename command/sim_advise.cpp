// SPDX-License-Identifier: Apache-2.0
// `tutti sim advise`: which barriers, reductions and teams are the fastest on a machine.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "command/sim.hpp"
#include "sim/choices.hpp"

namespace tutti::command {
namespace {

struct timed {
  double ns;
  sim::alternative what;
};

// The best first, beside tutti's choice, which stands before others that take as long. Those that
// take so many times as long as the best in two episodes have no more, and are not tried with more
// threads: there some take seconds of the host.
std::vector<timed> by_time(sim::choice& c, const timed& chosen, const sim::machine& m,
                           rank_t threads) {
  constexpr double hopeless = 4;
  std::vector<timed> all;
  for (const sim::alternative& each : c.others) all.push_back({each.ns(m, threads, 2), each});
  const auto is_faster = [](const timed& a, const timed& b) { return a.ns < b.ns; };
  const double least = std::min_element(all.begin(), all.end(), is_faster)->ns;
  c.others.clear();
  for (timed& each : all) {
    if (each.ns > hopeless * least) continue;
    each.ns = each.what.ns(m, threads, sim::episodes_of_a_choice);
    c.others.push_back(each.what);
  }
  all.insert(all.begin(), chosen);
  std::stable_sort(all.begin(), all.end(), is_faster);
  return all;
}

void print_json(const sim_options& o, const sim::choice& c, const sim::machine& m, rank_t threads,
                const timed& best, double chosen) {
  const bool is_barrier = c.subject == "barrier of ranks";
  cli::json line{{"type", is_barrier ? "sim_advice" : "sim_advice_more"},
                 {"machine", m.name},
                 {"threads", threads}};
  if (is_barrier)
    line["barrier"] = best.what.name;
  else
    line.update(
        {{"subject", c.subject == "region" ? "team" : "reduction"}, {"name", best.what.name}});
  line.update({{"ns", best.ns}, {"default_ns", chosen}});
  fmt::print("{}\n", with_set(o, line).dump());
}

// The two after the best, if there are any left.
std::string next_best(const std::vector<timed>& all) {
  std::string text;
  for (std::size_t i = 1; i < std::min<std::size_t>(all.size(), 3); ++i)
    text += fmt::format("{}{} ({:.0f} ns)", i == 1 ? "; then " : ", ", all[i].what.name, all[i].ns);
  return text;
}

void print_text(const sim::choice& c, rank_t threads, const std::vector<timed>& all,
                double chosen) {
  const timed& best = all.front();
  if (c.subject == "barrier of ranks")
    fmt::print(
        "{:>4} threads: {} ({:.0f} ns: {}){}. "
        "tutti::barrier, which needs no name, takes {:.0f} ns.\n",
        threads, best.what.name, best.ns, best.what.summary, next_best(all), chosen);
  else
    fmt::print("{:>13}: {} ({:.0f} ns: {}). tutti's default takes {:.0f} ns.\n",
               c.subject == "region" ? "team" : "reduction", best.what.name, best.ns,
               best.what.summary, chosen);
}

}  // namespace

int run_advise(const sim_options& o) {
  const sim::machine m = sim::find_machine(o.machine, settings_of(o));
  if (!o.json)
    fmt::print(
        "{}: {}\nThese are predictions of a model; `tutti sim published` prints how far it is from "
        "what papers measured.\n",
        m.name, m.description);
  std::vector<rank_t> counts;
  for (rank_t n = 2; n < m.cpus(); n *= 4) counts.push_back(n);
  counts.push_back(m.cpus());
  std::vector<sim::choice> choices = sim::choices();
  for (const rank_t n : counts)
    for (sim::choice& c : choices) {
      if (c.subject == "barrier") continue;
      const timed chosen{c.chosen.ns(m, n, sim::episodes_of_a_choice), c.chosen};
      const std::vector<timed> all = by_time(c, chosen, m, n);
      if (o.json)
        print_json(o, c, m, n, all.front(), chosen.ns);
      else
        print_text(c, n, all, chosen.ns);
      std::fflush(stdout);
    }
  return cli::success;
}

}  // namespace tutti::command
