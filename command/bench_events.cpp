// SPDX-License-Identifier: Apache-2.0
// `tutti bench event`: how long it takes until those who are told that something has happened run.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "bench/contenders/contender.hpp"
#include "bench/events/bounds.hpp"
#include "bench/events/report.hpp"
#include "bench/events/suite.hpp"
#include "bench/harness/names.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "command/bench_options.hpp"
#include "command/measured.hpp"
#include "command/subcommands.hpp"

namespace tutti::command {
namespace {

// The usual ones: receivers that are still awake, and receivers that sleep by their policy.
constexpr scenario_kinds kinds{
    .gaps = true, .quotas = false, .notifies = true, .usual = "gap_5us,gap_1ms"};

struct options {
  std::string receivers = "1,2,4,8";
  std::string events = "all";
  std::string waits = "all";
  std::string peers = "all";
  bool bounds = false;
  scenario_options scenarios;
  run_options run;
};

// Tutti's events that both lists name.
std::vector<bench::contender> chosen_events(const options& o) {
  std::vector<bench::contender> all = bench::tutti_events();
  const auto keep = [&](const char* option, const std::string& text, auto name_of) {
    const auto names = cli::split(option, text);
    // With `--events none` a wait must still be one of tutti's.
    const std::vector<bench::contender> known = all.empty() ? bench::tutti_events() : all;
    for (const auto& name : names) {
      const bool is_known = name == "all" || name == "none" ||
                            std::any_of(known.begin(), known.end(),
                                        [&](const auto& c) { return name_of(c) == name; });
      if (!is_known)
        throw std::invalid_argument(fmt::format("{}: '{}' is none of tutti's", option, name));
    }
    std::erase_if(all, [&](const auto& c) {
      return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
        return name == "all" || name == name_of(c);
      });
    });
  };
  keep("--events", o.events, [](const bench::contender& c) { return c.name; });
  keep("--waits", o.waits, [](const bench::contender& c) { return c.wait; });
  return all;
}

bench::placement place_of(const options& o) {
  const auto pins = parse_pins(o.run.pins);
  if (pins.size() != 1) throw std::invalid_argument("--pin: one placement at a time");
  return pins[0];
}

bench::event_plan make_plan(const options& o) {
  bench::event_plan plan;
  bench::peer_list peers = bench::peers_of(bench::operation::event);
  plan.receivers = cli::parse_counts("--receivers", o.receivers, 64);
  plan.contenders = chosen_events(o);
  for (auto& peer : bench::choose(peers, cli::split("--peers", o.peers)))
    plan.contenders.push_back(std::move(peer));
  plan.missing = std::move(peers.missing);
  if (plan.contenders.empty())
    throw std::invalid_argument("nothing to measure: --events and --peers are both none");
  plan.scenarios = parse_scenarios(o.scenarios, kinds);
  plan.where = place_of(o);
  plan.length = parse_length(o.run);
  return plan;
}

int run_bounds(const options& o) {
  bench::event_suite suite(bench::bounds_plan(place_of(o), parse_length(o.run)));
  const auto machine = machine_during_run(suite);
  fmt::print("{}", o.run.json ? bound_lines(suite, machine) : bounds_table(suite, machine));
  return complain_of_failures(suite);
}

int run(const options& o) {
  return o.bounds ? run_bounds(o) : run_and_print(bench::event_suite(make_plan(o)), o.run.json);
}

}  // namespace

void add_bench_events(cli::command& bench) {
  cli::subcommand<options> app(
      bench, "event", "Notifications: the time until one receiver, or all, have been woken", run);
  const auto add = [&app](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help).value_name("LIST").show_default();
  };
  std::vector<cli::option> own{
      add("--receivers", app->receivers, "Threads that wait, e.g. 1,8,64; one more notifies"),
      add("--events", app->events, "event, signal, condition_variable, post, ranks; all or none"),
      add("--waits", app->waits, "Wait policies of tutti's events, e.g. adaptive,park; or all"),
      add("--peers", app->peers,
          "What to compare with: all, none, or some, as futex or posix:semaphore")};
  auto bounds = app.add_flag("--bounds", app->bounds,
                             "Measure instead what tutti's events are meant to take at most on "
                             "two cores, and tell whether each bound is kept");
  // It has lists and scenarios of its own.
  for (const cli::option& each : add_scenario_options(app, app->scenarios, kinds))
    own.push_back(each);
  for (const cli::option& each : own) bounds.excludes(each);
  add_run_options(app, app->run);
}

}  // namespace tutti::command
