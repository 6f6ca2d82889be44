// SPDX-License-Identifier: Apache-2.0
// Records and their keys in a line of --json.
#include "bench/harness/record.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bench/harness/statistics.hpp"
#include "cli/result_line.hpp"

namespace tutti::bench {

void series_record::add(const std::vector<double>& round, std::optional<double> floor,
                        std::size_t sweep) {
  samples.insert(samples.end(), round.begin(), round.end());
  const double median = median_of(round);
  medians.emplace_back(sweep, median);
  if (!floor) return;
  floors.push_back(*floor);
  ratios.push_back(median / *floor);
  excesses.push_back(median - *floor);
}

double paired_ratio(const series_record& one, const series_record& other) {
  std::vector<double> ratios;
  auto partner = other.medians.begin();
  for (const auto& [sweep, median] : one.medians) {
    while (partner != other.medians.end() && partner->first < sweep) ++partner;
    if (partner == other.medians.end()) break;
    if (partner->first == sweep && partner->second > 0) ratios.push_back(median / partner->second);
  }
  return median_of(ratios);
}

cli::json session_of(const scenario& s) {
  if (s.busy == neighbour_kind::none) return nullptr;
  return s.own_session ? "own" : "same";
}

std::string impossible_lines(const std::string& benchmark, const std::vector<rank_t>& threads,
                             const std::vector<impossible_scenario>& impossible) {
  std::string text;
  for (const auto& i : impossible) {
    for (const rank_t n : threads) {
      text += cli::skipped_line({{"benchmark", benchmark},
                                 {"threads", n},
                                 {"scenario", i.when->name},
                                 {"session", session_of(*i.when)}},
                                i.reason);
    }
  }
  return text;
}

double rounded(double value) { return std::round(value * 1000) / 1000; }

std::string format_ns(double ns) {
  const double size = std::abs(ns);
  if (size < 999.5) return fmt::format("{:.1f} ns", ns);
  if (size < 999.5e3) return fmt::format("{:.2f} µs", ns * 1e-3);
  if (size < 999.5e6) return fmt::format("{:.2f} ms", ns * 1e-6);
  return fmt::format("{:.2f} s", ns * 1e-9);
}

void add_summary(cli::json& line, const std::vector<double>& samples) {
  const summary s = summarize(samples);
  line["unit"] = "ns";
  line["min"] = rounded(s.min);
  line["p1"] = rounded(s.p1);
  line["p25"] = rounded(s.p25);
  line["median"] = rounded(s.median);
  line["p75"] = rounded(s.p75);
  line["p99"] = rounded(s.p99);
  line["mean"] = rounded(s.mean);
  line["samples"] = s.samples;
}

void add_record(cli::json& line, const series_record& record, const char* floor_name,
                const std::vector<double>& floors) {
  add_summary(line, record.samples);
  line["rounds"] = record.rounds;
  line["rounds_flagged"] = record.flagged;
  line["floor"] = floor_name;
  const std::vector<double>& known = record.floors.empty() ? floors : record.floors;
  line["floor_median"] = nullptr;
  if (!known.empty()) {
    const summary floor = summarize(known);
    line["floor_median"] = rounded(floor.median);
    line["floor_min"] = rounded(floor.min);
    line["floor_max"] = rounded(floor.max);
  }
  line["ratio_median"] = nullptr;
  if (record.ratios.empty()) return;
  const summary ratio = summarize(record.ratios);
  line["ratio_median"] = rounded(ratio.median);
  line["ratio_min"] = rounded(ratio.min);
  line["ratio_p99"] = rounded(ratio.p99);
  line["excess_median"] = rounded(median_of(record.excesses));
}

}  // namespace tutti::bench
