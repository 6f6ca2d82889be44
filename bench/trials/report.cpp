// SPDX-License-Identifier: Apache-2.0
#include "bench/trials/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "bench/harness/statistics.hpp"
#include "cli/result_line.hpp"

namespace tutti::bench {
namespace {

constexpr double ns_in_a_second = 1e9;

std::string measured_line(const trial_suite& s, const trial_suite::result& r) {
  cli::json line{{"benchmark", r.what.benchmark},
                 {"provider", r.what.provider},
                 {"name", r.what.name},
                 {"threads", r.what.threads},
                 {"cores", cores_of(s.where()).size()},
                 {"pinned", s.where().pinned() && !r.what.fibers},
                 {"pin", r.what.fibers ? "none" : s.where().name},
                 {"scenario", r.what.fibers ? "fibers" : "free"},
                 {"metric", r.what.metric}};
  add_record(line, r.record, "line_one_way", s.floor());
  if (r.what.benchmark == "message")
    line["messages_per_second"] = rounded(ns_in_a_second / median_of(r.record.samples));
  return cli::result_line(line);
}

std::string missing_line(const trial_suite::result& r) {
  return cli::skipped_line({{"benchmark", r.what.benchmark},
                            {"provider", r.what.provider},
                            {"name", r.what.name},
                            {"threads", r.what.threads},
                            {"metric", r.what.metric}},
                           r.not_measured);
}

}  // namespace

std::string json_lines(const trial_suite& s, cli::json machine) {
  machine["pinning"] = std::vector{s.where().name};
  machine["seed"] = s.seed();
  machine["sweeps"] = s.sweeps();
  std::string text = machine.dump() + "\n";
  if (!s.floor().empty()) {
    cli::json line{{"type", "floor"}, {"quantity", "line_one_way"}};
    add_summary(line, s.floor());
    text += line.dump() + "\n";
  }
  for (const auto& r : s.results()) {
    text += r.not_measured.empty() ? measured_line(s, r) : missing_line(r);
  }
  return text;
}

std::string table(const trial_suite& s, const cli::json& machine) {
  std::vector<const trial_suite::result*> order;
  for (const auto& r : s.results()) {
    if (r.not_measured.empty()) order.push_back(&r);
  }
  const auto key = [](const trial_suite::result* r) {
    return std::tuple(r->what.benchmark, r->what.fibers, r->what.threads, r->what.metric,
                      median_of(r->record.samples));
  };
  std::sort(order.begin(), order.end(), [&](auto* a, auto* b) { return key(a) < key(b); });
  std::string text = machine_heading(machine) + "\n", group;
  for (const auto* r : order) {
    const std::string heading = fmt::format(
        "{} {} on {} cores: {}, {}", r->what.threads, r->what.fibers ? "fibers" : "threads",
        cores_of(s.where()).size(), r->what.benchmark, r->what.metric);
    if (heading != group) {
      group = heading;
      text += fmt::format("\n{}\n  {:<32} {:>10} {:>10} {:>10} {:>8}\n", group, "", "min", "median",
                          "p99", "rounds");
    }
    const summary t = summarize(r->record.samples);
    text +=
        fmt::format("  {:<32} {:>10} {:>10} {:>10} {:>8}", r->what.provider + " " + r->what.name,
                    format_ns(t.min), format_ns(t.median), format_ns(t.p99), t.samples);
    if (r->what.benchmark == "message")
      text += fmt::format("   {:.1f} M messages/s", ns_in_a_second / t.median * 1e-6);
    text += "\n";
  }
  text += fmt::format(
      "\nTime of one episode, one hop, or one message of all participants together; {} interleaved "
      "sweeps.\n"
      "A line goes from one core to another in {}.\n",
      s.sweeps(), s.floor().empty() ? "an unknown time" : format_ns(median_of(s.floor())));
  return text;
}

std::vector<std::string> sentences_of_failures(const trial_suite& s) {
  std::vector<std::string> sentences;
  for (const auto& r : s.results())
    if (!r.not_measured.empty())
      sentences.push_back(fmt::format("{} {}, {} with {} participants, was not measured: {}",
                                      r.what.provider, r.what.name, r.what.metric, r.what.threads,
                                      r.not_measured));
  return sentences;
}

}  // namespace tutti::bench
