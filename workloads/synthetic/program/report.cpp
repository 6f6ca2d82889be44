// SPDX-License-Identifier: Apache-2.0
// Formats results as text.
#include "workloads/synthetic/program/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/harness/statistics.hpp"
#include "cli/result_line.hpp"
#include "workloads/synthetic/walk.hpp"

namespace tutti::synthetic {
namespace {

// A provider that failed once is not trusted in its other measurements.
bool is_sound(const sweeps& s, const measurement& m) {
  const auto same = [&](const failure& f) { return f.who == m.who && f.threads == m.threads; };
  return !m.samples.empty() && std::none_of(s.failures.begin(), s.failures.end(), same);
}

bool is_default(const bench::contender& who) {
  return who.family == "tutti" && who.name == "default";
}

// The ratio to tutti's default in the same sweeps; 0: not known.
double over_default(const sweeps& s, const measurement& m) {
  for (const measurement& other : s.results) {
    if (other.threads == m.threads && other.situation == m.situation && is_default(*other.who) &&
        is_sound(s, other)) {
      return bench::paired_ratio(m, other);
    }
  }
  return 0;
}

double seconds_for(const plan& p, double ns_per_region) {
  return ns_per_region * static_cast<double>(p.regions) * 1e-9;
}

std::size_t cores_of(const plan& p) { return bench::cores_of(p.where).size(); }

#ifdef __OPTIMIZE__
constexpr bool optimised = true;
#else
constexpr bool optimised = false;
#endif

bool walks(const situation& now) { return now.set != "none"; }

std::string line_of(const plan& p, const sweeps& s, const measurement& m) {
  cli::json line{{"benchmark", "synthetic"},   {"provider", m.who->family}, {"name", m.who->name},
                 {"wait", m.who->wait},        {"threads", m.threads},      {"cores", cores_of(p)},
                 {"pinned", p.where.pinned()}, {"pin", p.where.name},       {"length", p.length}};
  const situation& now = p.situations[m.situation];
  line["scenario"] = now.name;
  line["metric"] = walks(now) ? "overhead" : "region";
  if (walks(now)) line["set_bytes"] = set_bytes(now.set, m.threads);
  bench::add_record(line, m, "line_one_way", {});
  if (!walks(now)) line["regions"] = p.regions;
  if (!walks(now)) line["seconds_for_regions"] = seconds_for(p, bench::median_of(m.samples));
  line["optimised"] = optimised;
  line["verified"] = p.length > 0 ? "each_region" : "each_round";
  const double ratio = over_default(s, m);
  line["over_default_median"] = ratio > 0 ? cli::json(bench::rounded(ratio)) : cli::json(nullptr);
  return cli::result_line(line);
}

std::string line_of(const plan& p, const failure& f) {
  return cli::skipped_line({{"benchmark", "synthetic"},
                            {"provider", f.who->family},
                            {"name", f.who->name},
                            {"wait", f.who->wait},
                            {"threads", f.threads},
                            {"length", p.length}},
                           f.reason);
}

// The measurements with one number of threads in one situation, the fastest first.
std::vector<const measurement*> sorted(const sweeps& s, rank_t threads, std::size_t index) {
  std::vector<const measurement*> order;
  for (const measurement& m : s.results) {
    if (m.threads == threads && m.situation == index && is_sound(s, m)) order.push_back(&m);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return bench::median_of(a->samples) < bench::median_of(b->samples);
  });
  return order;
}

std::string ratio_text(double ratio) { return ratio > 0 ? fmt::format("{:.2f}", ratio) : "-"; }

// What a rank does in a region.
std::string work_of(const plan& p, const situation& now, rank_t threads) {
  std::string text = fmt::format("vectors of {} doubles", p.length);
  if (walks(now))
    text +=
        fmt::format("; {} lines {} of a set of {} bytes ({})", p.lines,
                    now.at_random ? "at random" : "in a row", set_bytes(now.set, threads), now.set);
  return text;
}

std::string row(const plan& p, const sweeps& s, const measurement& m) {
  const bench::summary r = bench::summarize(m.samples);
  return fmt::format("  {:<36} {:>10.3f} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}\n", name_of(*m.who),
                     seconds_for(p, r.median), bench::format_ns(r.median), bench::format_ns(r.min),
                     bench::format_ns(r.p99), r.samples, ratio_text(bench::median_of(m.ratios)),
                     ratio_text(over_default(s, m)));
}

}  // namespace

std::string json_lines(const plan& p, const sweeps& s, cli::json machine) {
  machine["pinning"] = std::vector{p.where.name};
  machine["seed"] = p.run.seed;
  machine["sweeps"] = s.count;
  std::string text = machine.dump() + "\n";
  for (const measurement& m : s.results) {
    if (is_sound(s, m)) text += line_of(p, s, m);
  }
  for (const failure& f : s.failures) text += line_of(p, f);
  for (const bench::missing_peer& m : peers().missing) {
    text += cli::skipped_line({{"benchmark", "synthetic"}, {"provider", m.family}}, m.reason);
  }
  return text;
}

std::string table(const plan& p, const sweeps& s, const cli::json& machine) {
  std::string text = bench::machine_heading(machine) + "\n";
  for (std::size_t index = 0; index < p.situations.size(); ++index) {
    for (const rank_t threads : p.threads) {
      text += fmt::format(
          "\n{} threads on {} cores, {}; {}\n  {:<36} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} "
          "{:>8}\n",
          threads, cores_of(p), p.where.pinned() ? "pinned (" + p.where.name + ")" : "unpinned",
          work_of(p, p.situations[index], threads), "", "seconds", "median", "min", "p99",
          "samples", "x floor", "x tutti");
      for (const measurement* m : sorted(s, threads, index)) text += row(p, s, *m);
    }
  }
  text += fmt::format(
      "\nseconds: the median of one region times {}. There were {} interleaved sweeps; results "
      "were verified after each {}.\nThe ratios are medians of the rounds' own ratios: \"x floor\" "
      "to the one-way line transfer beside the round,\n\"x tutti\" to tutti's default in the same "
      "sweep.\n",
      p.regions, s.count, p.length > 0 ? "region" : "round");
  if (std::any_of(p.situations.begin(), p.situations.end(), walks)) {
    text +=
        "After a walk through a set the times are what a region took beyond the longest walk of a "
        "rank: the cost of\nopening the region and of its barrier.\n";
  }
  for (const failure& f : s.failures) {
    text +=
        fmt::format("not measured: {} with {} threads: {}\n", name_of(*f.who), f.threads, f.reason);
  }
  return text;
}

}  // namespace tutti::synthetic
