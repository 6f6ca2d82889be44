// SPDX-License-Identifier: Apache-2.0
// Lines for programs, and tables for people: how long until the receivers of a notification run.
#include "bench/events/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/floors/report.hpp"
#include "bench/harness/statistics.hpp"
#include "cli/result_line.hpp"

namespace tutti::bench {
namespace {

// A distribution has about so many steps.
constexpr std::size_t most_steps = 200;

struct named_record {
  const char* metric;
  const series_record* record;
};

std::vector<named_record> records_of(const event_result& r) {
  if (r.receivers == 1) return {{"unicast", &r.each}};
  return {{"broadcast", &r.each},
          {"broadcast_first", &r.first},
          {"broadcast_last", &r.last},
          {"broadcast_sigma", &r.sigma}};
}

// The head of the lines of a result, or of what was left out.
template <class Event>
cli::json head_of(const event_suite& s, const Event& r) {
  return {{"benchmark", "event"},
          {"provider", r.who->family},
          {"name", r.who->name},
          {"wait", r.who->wait},
          {"threads", r.receivers + 1},
          {"cores", cores_of(s.plan().where).size()},
          {"pinned", s.plan().where.pinned()},
          {"pin", s.plan().where.name},
          {"scenario", r.when->name},
          {"session", session_of(*r.when)}};
}

// The samples in rising order, each with how many it stands for.
cli::json counts_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  cli::json counts = cli::json::array();
  const std::size_t steps = std::min(samples.size(), most_steps);
  std::size_t done = 0;
  for (std::size_t i = 1; i <= steps; ++i) {
    const std::size_t end = samples.size() * i / steps;
    cli::json step = cli::json::array();
    step.push_back(rounded(samples[end - 1]));
    step.push_back(end - done);
    counts.push_back(std::move(step));
    done = end;
  }
  return counts;
}

std::string lines_of(const event_suite& s, const event_result& r) {
  std::string text;
  for (const auto& [metric, record] : records_of(r)) {
    cli::json line = head_of(s, r);
    line["metric"] = metric;
    if (!r.not_measured.empty()) {
      text += cli::skipped_line(line, r.not_measured);
      continue;
    }
    add_record(line, *record, s.is_crowded(r.threads()) ? "yield_rotation" : "line_one_way",
               s.floor_of(r));
    line["sigma"] = rounded(sigma_of(record->samples));
    text += cli::result_line(line);
    cli::json spread{{"type", "distribution"}};
    spread.update(head_of(s, r));
    spread["metric"] = metric;
    spread["unit"] = "ns";
    spread["counts"] = counts_of(record->samples);
    text += spread.dump() + "\n";
  }
  return text;
}

std::string receivers_of(rank_t n) { return fmt::format("{} receiver{}", n, n == 1 ? "" : "s"); }

std::string heading_of(const event_suite& s, const event_result& r, const char* metric) {
  return fmt::format("{} and the notifier on {} cores, {}: {}", receivers_of(r.receivers),
                     cores_of(s.plan().where).size(), words_of(*r.when), metric);
}

}  // namespace

std::string heading_line(const event_suite& s, cli::json machine) {
  machine["pinning"] = std::vector{s.plan().where.name};
  machine["seed"] = s.plan().length.seed;
  machine["sweeps"] = s.sweeps();
  machine["clock_ns"] = rounded(s.clock_ns());
  return machine.dump() + "\n";
}

std::string clock_sentence(const event_suite& s) {
  return fmt::format(
      "\nFrom just before the notification until a receiver's wait has returned, less {} for "
      "reading the clock; {} interleaved sweeps.\n\n",
      format_ns(s.clock_ns()), s.sweeps());
}

std::vector<std::string> sentences_of_failures(const event_suite& s) {
  std::vector<std::string> sentences;
  for (const auto& r : s.results())
    if (!r.not_measured.empty())
      sentences.push_back(fmt::format("{} with {}, {}, was not measured: {}", name_of(*r.who),
                                      receivers_of(r.receivers), words_of(*r.when),
                                      r.not_measured));
  if (s.results().empty()) sentences.emplace_back("nothing was measured");
  return sentences;
}

std::string json_lines(const event_suite& s, cli::json machine) {
  std::string text = heading_line(s, std::move(machine)) + floor_lines(s.floors());
  for (const auto& r : s.results()) text += lines_of(s, r);
  for (const auto& r : s.left_out()) text += cli::skipped_line(head_of(s, r), r.reason);
  for (const auto& m : s.plan().missing)
    text += cli::skipped_line({{"benchmark", "event"}, {"provider", m.family}}, m.reason);
  return text;
}

std::string table(const event_suite& s, const cli::json& machine) {
  struct row {
    const event_result* of;
    named_record what;
  };
  std::vector<std::pair<std::string, std::vector<row>>> groups;
  for (const auto& r : s.results()) {
    if (!r.not_measured.empty()) continue;
    for (const auto& one : records_of(r)) {
      const std::string heading = heading_of(s, r, one.metric);
      auto found = std::find_if(groups.begin(), groups.end(),
                                [&](const auto& g) { return g.first == heading; });
      if (found == groups.end()) found = groups.insert(found, {heading, {}});
      found->second.push_back({&r, one});
    }
  }
  std::string text = machine_heading(machine) + "\n";
  for (auto& [heading, rows] : groups) {
    std::sort(rows.begin(), rows.end(), [](const row& a, const row& b) {
      return median_of(a.what.record->samples) < median_of(b.what.record->samples);
    });
    text += fmt::format("\n{}\n  {:<40} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n", heading, "",
                        "min", "median", "mean", "sigma", "p99", "samples");
    for (const row& line : rows) {
      const summary t = summarize(line.what.record->samples);
      text +=
          fmt::format("  {:<40} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n", name_of(*line.of->who),
                      format_ns(t.min), format_ns(t.median), format_ns(t.mean),
                      format_ns(sigma_of(line.what.record->samples)), format_ns(t.p99), t.samples);
    }
  }
  text += clock_sentence(s) + floors_table(s.floors());
  for (const auto& r : s.left_out())
    text += fmt::format("not measured: {} with {}, {}: {}\n", name_of(*r.who),
                        receivers_of(r.receivers), words_of(*r.when), r.reason);
  for (const auto& m : s.plan().missing)
    text += fmt::format("not measured: {}: {}\n", m.family, m.reason);
  return text;
}

}  // namespace tutti::bench
