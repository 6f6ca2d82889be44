// SPDX-License-Identifier: Apache-2.0
// `tutti sim event`: notifications between the threads of a simulated machine.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/statistics.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/result_line.hpp"
#include "command/sim.hpp"
#include "sim/notify.hpp"

namespace tutti::command {
namespace {

// Those whose names and waits the options list; "all" are those that the machine can have.
std::vector<sim::notifier> chosen(const sim_options& o, const sim::machine& m) {
  std::vector<sim::notifier> all = sim::notifiers();
  const std::vector<sim::notifier> every = all;
  const auto keep = [&](const char* option, const std::string& text, auto name_of) {
    std::set<std::string> known{"all"};
    for (const sim::notifier& n : every) known.insert(name_of(n));
    known.erase("");
    const std::vector<std::string> names = cli::split(option, text);
    for (const std::string& name : names)
      if (!known.contains(name))
        throw std::invalid_argument(
            fmt::format("{}: '{}' is not one of {}", option, name, fmt::join(known, ", ")));
    std::erase_if(all, [&](const sim::notifier& n) {
      const std::string name = name_of(n);
      return !name.empty() && std::none_of(names.begin(), names.end(), [&](const auto& each) {
        return each == "all" || each == name;
      });
    });
  };
  keep("--algorithms", o.algorithms, [](const sim::notifier& n) { return n.name; });
  keep("--wait", o.waits, [](const sim::notifier& n) { return n.wait; });
  const std::vector<std::string> named = cli::split("--algorithms", o.algorithms);
  std::erase_if(all, [&](const sim::notifier& n) {
    return n.interrupts && !m.has_interrupts &&
           std::find(named.begin(), named.end(), n.name) == named.end();
  });
  return all;
}

void print_json(const sim_options& o, const sim::machine& m, const sim::notifier& who,
                rank_t receivers, const sim::notified& times) {
  const auto print = [&](const char* metric, const std::vector<double>& samples) {
    cli::json line = line_of(o, m, "sim_event", who, receivers + 1, metric, samples);
    line["values"] = samples;
    // Otherwise all wait again first.
    if (o.gap > 0) line["gap_ns"] = o.gap;
    if (&samples == &times.unicast) line["receivers"] = times.unicast_receivers;
    fmt::print("{}", cli::result_line(line));
  };
  print("unicast", times.unicast);
  print("broadcast_last", times.broadcast_last);
  print("broadcast_sigma", times.broadcast_sigma);
}

}  // namespace

int run_event(const sim_options& o) {
  const sim::machine m = sim::find_machine(o.machine, settings_of(o));
  const std::vector<sim::notifier> all = chosen(o, m);
  const std::vector<std::uint32_t> counts = counts_of(o, "--receivers", m.cpus() - 1);
  for (const std::uint32_t receivers : counts) sim::check_receivers(m, receivers);
  for (const sim::notifier& who : all) sim::check_notifier(m, who);
  for (const std::uint32_t receivers : counts) {
    if (!o.json)
      fmt::print(
          "{}: {}\n{} receiver{}; ns from a notification until\n{:<24} {:<9} {:>11} {:>11} "
          "{:>11} {:>13} {:>11}\n",
          m.name, m.description, receivers, receivers == 1 ? "" : "s", "", "", "one runs", "least",
          "most", "the last runs", "sigma");
    for (const sim::notifier& who : all) {
      const sim::notified times = sim::notify(m, who,
                                              {.receivers = receivers,
                                               .notifications = o.episodes,
                                               .seed = o.seed,
                                               .poll_gap_ns = o.poll_gap,
                                               .gap_ns = o.gap});
      if (o.json) {
        print_json(o, m, who, receivers, times);
      } else {
        const bench::summary one = bench::summarize(times.unicast);
        fmt::print("{:<24} {:<9} {:>11.0f} {:>11.0f} {:>11.0f} {:>13.0f} {:>11.0f}\n", who.name,
                   who.wait, one.median, one.min, one.max, bench::median_of(times.broadcast_last),
                   bench::median_of(times.broadcast_sigma));
      }
      std::fflush(stdout);
    }
  }
  return cli::success;
}

}  // namespace tutti::command
