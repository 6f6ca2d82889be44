// SPDX-License-Identifier: Apache-2.0
// Options that all subcommands of `tutti bench` understand alike.
#include "command/bench_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "cli/lists.hpp"

namespace tutti::command {

std::vector<rank_t> default_counts(const std::vector<rank_t>& multiples_of_cores) {
  const auto cores = static_cast<rank_t>(bench::make_placement("core").cpus.size());
  std::vector<rank_t> threads{2, cores};
  for (const rank_t multiple : multiples_of_cores) threads.push_back(multiple * cores);
  std::erase_if(threads, [](rank_t n) { return n < 2; });
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

std::vector<bench::placement> parse_pins(const std::string& text) {
  const auto names = cli::split("--pin", text);
  const auto is_name = [](const std::string& item) {
    return item.find_first_of("0123456789") == std::string::npos;
  };
  std::vector<bench::placement> placements;
  try {
    if (!std::all_of(names.begin(), names.end(), is_name)) return {bench::make_placement(text)};
    for (const auto& name : names) placements.push_back(bench::make_placement(name));
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(fmt::format("--pin: {}", e.what()));
  }
  return placements;
}

namespace {

const std::string none = "none";

// Names of parts of scenarios, "" for none, that an option asks for.
template <class Name>
std::vector<std::string> parts_of(std::string_view option, const optional_text& text,
                                  Name name_of) {
  std::vector<std::string> parts;
  if (!text) return parts;
  for (const auto& item : cli::split(option, *text)) {
    parts.push_back(item == none ? "" : name_of(item));
  }
  return parts;
}

// Checked now, so that the sentence names the option.
std::string checked(std::string_view option, const std::string& item, const std::string& name,
                    std::string_view what) {
  try {
    (void)bench::parse_scenario(name);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(fmt::format("{}: '{}' is not {}", option, item, what));
  }
  return name;
}

constexpr std::string_view time_words = "a time such as 500ns, 10us or 1ms (at most 1000ms)";

std::vector<std::string> gap_parts(const scenario_options& o) {
  return parts_of("--gap", o.gaps, [](const std::string& item) {
    return checked(
        "--gap", item, "gap_" + item,
        fmt::format("{}, with _uniform or _alternating behind it if wanted", time_words));
  });
}

std::vector<std::string> wait_parts(const scenario_options& o) {
  auto parts = parts_of("--imbalance", o.imbalances, [](const std::string& item) {
    return checked(
        "--imbalance", item, "imbalance_" + item,
        fmt::format("{}, with _uniform, _alternating, _rotating behind it if wanted", time_words));
  });
  const auto work = parts_of("--work", o.work, [](const std::string& item) {
    std::string name = "work_" + item;
    std::replace(name.begin(), name.end(), '-', '_');
    return checked("--work", item, name, "two times such as 1us-100us, the shorter one first");
  });
  parts.insert(parts.end(), work.begin(), work.end());
  return parts;
}

std::vector<std::string> neighbour_parts(const scenario_options& o) {
  auto parts = parts_of("--neighbour", o.neighbours, [](const std::string& item) {
    if (item != "one" && item != "all") {
      throw std::invalid_argument(fmt::format("--neighbour: '{}' is not none, one or all", item));
    }
    return "neighbour_" + item;
  });
  const auto backgrounds = parts_of("--background", o.backgrounds, [](const std::string& item) {
    if (item != "light" && item != "heavy") {
      throw std::invalid_argument(
          fmt::format("--background: '{}' is not none, light or heavy", item));
    }
    return "background_" + item;
  });
  parts.insert(parts.end(), backgrounds.begin(), backgrounds.end());
  if (!o.each) return parts;
  if (parts.empty()) {
    throw std::invalid_argument(
        "--neighbours-each: there are none without --neighbour or --background");
  }
  std::vector<std::string> several;
  for (const std::uint32_t count : cli::parse_counts("--neighbours-each", *o.each, 64)) {
    for (const auto& part : parts) {
      several.push_back(part.empty() ? part : fmt::format("{}_x{}", part, count));
    }
  }
  return several;
}

std::vector<std::string> quota_parts(const scenario_options& o) {
  return parts_of("--quota", o.quotas, [](const std::string& item) {
    return checked("--quota", item, "quota_" + item, "a number of CPUs such as 1.5 (at least 0.1)");
  });
}

std::vector<std::string> phase_parts(const scenario_options& o) {
  return parts_of("--recover", o.phases, [](const std::string& item) {
    return checked("--recover", item, "recover_" + item,
                   "one of neighbour_one, neighbour_all, background_heavy, imbalance_TIME, "
                   "to_imbalance_TIME");
  });
}

std::vector<std::string> product_of(const std::vector<std::vector<std::string>>& dimensions) {
  std::vector<std::string> names{""};
  for (const auto& parts : dimensions) {
    if (parts.empty()) continue;
    std::vector<std::string> longer;
    for (const auto& name : names) {
      for (const auto& part : parts) {
        longer.push_back(name + (name.empty() || part.empty() ? "" : "+") + part);
      }
    }
    names = std::move(longer);
  }
  return names;
}

std::vector<std::string> scenario_names(const scenario_options& o, const scenario_kinds& kinds) {
  std::vector<std::string> names;
  if (o.scenarios) names = cli::split("--scenario", *o.scenarios);
  const std::vector<std::vector<std::string>> dimensions{wait_parts(o), gap_parts(o),
                                                         neighbour_parts(o), quota_parts(o)};
  std::vector<std::string> more;
  const bool has_dimensions = std::any_of(dimensions.begin(), dimensions.end(),
                                          [](const auto& parts) { return !parts.empty(); });
  if (o.product && has_dimensions) {
    more = product_of(dimensions);
  } else {
    for (const auto& parts : dimensions) more.insert(more.end(), parts.begin(), parts.end());
  }
  const auto phases = phase_parts(o);
  names.insert(names.end(), more.begin(), more.end());
  names.insert(names.end(), phases.begin(), phases.end());
  if (names.empty()) names = cli::split("--scenario", kinds.usual);
  for (auto& name : names) {
    if (name.empty()) name = "free";
  }
  return names;
}

// The parts that scenarios may have here.
std::string parts_of_scenarios(const scenario_kinds& kinds) {
  std::string parts = "free";
  if (kinds.waits) parts += ", skew_TIME, imbalance_TIME, work_TIME_TIME";
  if (kinds.gaps) parts += ", gap_TIME";
  parts += ", neighbour_one, neighbour_all, background_light, background_heavy";
  if (kinds.quotas) parts += ", quota_CPUS";
  return parts;
}

void check_kinds(const bench::scenario& s, const scenario_kinds& kinds) {
  if (s.quota_cpus > 0 && !kinds.quotas) {
    throw std::invalid_argument(
        fmt::format("--scenario: {} is one of `tutti bench barrier`, `team` and `reduce`", s.name));
  }
  if (s.gap.ns > 0 && !kinds.gaps) {
    throw std::invalid_argument(fmt::format(
        "--scenario: {} is one of `tutti bench team` and `tutti bench reduce`: a barrier "
        "has no caller; here use imbalance_TIME",
        s.name));
  }
  const bool phases = s.phases != bench::phase_kind::none;
  if ((phases && !kinds.phases) || (!phases && (s.skew_ns > 0 || s.delayed()) && !kinds.waits)) {
    throw std::invalid_argument(
        fmt::format("--scenario: {} is one of `tutti bench barrier`; here use {}", s.name,
                    parts_of_scenarios(kinds)));
  }
}

}  // namespace

std::vector<cli::option> add_scenario_options(cli::command& app, scenario_options& o,
                                              const scenario_kinds& kinds) {
  std::vector<cli::option> all;
  const auto add = [&](const char* name, auto& value, const char* kind, const std::string& help) {
    all.push_back(app.add_option(name, value, help).value_name(kind));
    return all.back();
  };
  add("--scenario", o.scenarios, "LIST",
      fmt::format("{}, or several joined by '+'; the options below name the same (default: {})",
                  parts_of_scenarios(kinds), kinds.usual));
  const std::string courses =
      "_uniform (2/3 to 4/3 of it), _alternating (nine times a tenth of it, then once the whole)";
  if (kinds.gaps && kinds.notifies) {
    add("--gap", o.gaps, "TIMES",
        "How long a notification comes after all receivers have said that they are about to wait, "
        "e.g. 5us,1ms; behind the time: " +
            courses);
  } else if (kinds.gaps) {
    add("--gap", o.gaps, "TIMES",
        "Serial code of the caller before each region, e.g. 60us,1ms; behind the time: " + courses +
            ". Inside a region: rank 0 comes so late. Measures the latency after it, and the "
            "processor time of the others");
  }
  if (kinds.waits) {
    add("--imbalance", o.imbalances, "TIMES",
        "The last rank is late by this in every episode, e.g. 10us,1ms; behind the time: " +
            courses + ", and _rotating: another rank is late in each episode");
    add("--work", o.work, "RANGES",
        "Every rank works in every episode, for a random time in a range such as 1us-100us");
  }
  add("--neighbour", o.neighbours, "LIST",
      "A busy process beside the run: none, one (on the first CPU used), all (on each)");
  add("--background", o.backgrounds, "LIST",
      "Other processes on each core: none, light (three that take a slice of 1 to 3 ms now and "
      "then, 1 % of the core each), heavy (a busy one)");
  add("--neighbours-each", o.each, "LIST", "How many of these on a core (default: 1, light: 3)");
  add("--session", o.sessions, "LIST",
      "Where they are: in the same session as the run, each in its own (setsid), or same,own for "
      "both (default: same). A yield does not reach across sessions where the kernel groups by "
      "them");
  if (kinds.quotas) {
    add("--quota", o.quotas, "LIST",
        "Processor time that a cgroup around the run allows, in CPUs such as 1.5, or none");
  }
  if (kinds.phases) {
    add("--recover", o.phases, "LIST",
        "How long until an episode costs within 1.1 times what it did, after something has ended: "
        "neighbour_one, neighbour_all, background_heavy, imbalance_TIME (long waits), "
        "to_imbalance_TIME (short ones)");
  }
  all.push_back(app.add_flag("--product", o.product,
                             "Every combination of the options above, none included where it is "
                             "listed, instead of each by itself"));
  return all;
}

std::vector<bool> parse_either(const std::string& option, const std::string& list,
                               const std::string& no, const std::string& yes) {
  std::vector<bool> chosen;
  for (const auto& name : cli::split(option, list)) {
    if (name != no && name != yes) {
      throw std::invalid_argument(fmt::format("{}: '{}' is not {} or {}", option, name, no, yes));
    }
    chosen.push_back(name == yes);
  }
  return chosen;
}

std::vector<bench::scenario> parse_scenarios(const scenario_options& o,
                                             const scenario_kinds& kinds) {
  const auto own_sessions = parse_either("--session", o.sessions.value_or("same"), "same", "own");
  std::vector<bench::scenario> scenarios;
  const auto add = [&](bench::scenario s) {
    const auto same = [&](const bench::scenario& known) {
      return known.name == s.name && known.own_session == s.own_session;
    };
    if (std::none_of(scenarios.begin(), scenarios.end(), same)) scenarios.push_back(std::move(s));
  };
  for (const auto& name : scenario_names(o, kinds)) {
    bench::scenario s = bench::parse_scenario(name);
    check_kinds(s, kinds);
    if (s.busy == bench::neighbour_kind::none) {
      add(s);
      continue;
    }
    for (const bool own : own_sessions) {
      s.own_session = own;
      add(s);
    }
  }
  const bool has_neighbours = std::any_of(scenarios.begin(), scenarios.end(), [](const auto& s) {
    return s.busy != bench::neighbour_kind::none;
  });
  if (o.sessions && !has_neighbours) {
    throw std::invalid_argument("--session: there are no neighbours in any of the scenarios");
  }
  return scenarios;
}

void add_contender_options(cli::command& app, contender_options& o) {
  const auto add = [&](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help).value_name("LIST");
  };
  add("--threads", o.threads,
      "Kernel threads, e.g. 2,4 (default: 2, the cores, and multiples of them)");
  add("--algorithms", o.algorithms,
      "tutti's algorithms: default, those that `tutti info` lists, all or none")
      .show_default();
  add("--wait", o.waits,
      "Their wait policies, or all; what chooses by itself always waits adaptively")
      .show_default();
  add("--peers", o.peers,
      "What to compare with: all, none, or some that `tutti info` lists, as std or libomp:tree")
      .show_default();
}

void add_run_options(cli::command& app, run_options& o) {
  const auto add = [&](const char* name, auto& value, const char* kind, const char* help) {
    return app.add_option(name, value, help).value_name(kind);
  };
  add("--pin", o.pins, "LIST",
      "Where the threads are: core (one a core, round robin), compact, spread, none; or CPUs as "
      "0,2-3")
      .show_default();
  const auto rounds =
      add("--rounds", o.rounds, "N", "Rounds of each series (default: as many as --time allows)");
  add("--time", o.seconds, "SECONDS",
      "For everything, checks and calibration included (default: 12)")
      .excludes(rounds);
  add("--seed", o.seed, "N", "Seed of the random order and of what is random in the scenarios")
      .show_default();
  app.add_flag("--json", o.json, "One JSON object a line instead of the table");
}

bench::run_length parse_length(const run_options& o) {
  bench::run_length length;
  if (o.rounds) length.rounds = cli::parse_integer("--rounds", *o.rounds, 1, 1000000);
  length.seconds = o.seconds ? cli::parse_number("--time", *o.seconds, 0.1, 86400) : 12;
  length.seed = cli::parse_integer("--seed", o.seed, 0, UINT64_MAX);
  return length;
}

}  // namespace tutti::command
