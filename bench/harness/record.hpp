// SPDX-License-Identifier: Apache-2.0
// What was measured of one series, round by round, against the floor of the same rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/machine.hpp"
#include "bench/harness/quotas.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::bench {

struct series_record {
  // In ns.
  std::vector<double> samples;
  // The ratio of each round's median to the floor of the same round.
  std::vector<double> ratios;
  // Each round's median minus the floor of the same round.
  std::vector<double> excesses;
  std::vector<double> floors;
  // The sweep and the median, in ns, of each round that counts.
  std::vector<std::pair<std::size_t, double>> medians;
  std::size_t rounds = 0;
  // Rounds in which the machine changed; they are not in ratios and excesses.
  std::size_t flagged = 0;

  // A round whose samples count. No floor: it was not measured, or changed while the round ran.
  void add(const std::vector<double>& round, std::optional<double> floor, std::size_t sweep);
};

// The median over the sweeps that both have of one's median against the other's; 0 when there is
// none.
double paired_ratio(const series_record& one, const series_record& other);

// Where the neighbours of a scenario are: "same" session as the run or their "own"; null without
// neighbours.
cli::json session_of(const scenario& s);

// A line of type "skipped" for each number of threads and each of these.
std::string impossible_lines(const std::string& benchmark, const std::vector<rank_t>& threads,
                             const std::vector<impossible_scenario>& impossible);

// To a thousandth.
double rounded(double value);

// "12.3 ns", "4.56 µs", ...
std::string format_ns(double ns);

// The keys unit, min, ..., samples of a line of --json.
void add_summary(cli::json& line, const std::vector<double>& samples);

// The keys of a record; `floors` stand for its own when it has none.
void add_record(cli::json& line, const series_record& record, const char* floor_name,
                const std::vector<double>& floors);

}  // namespace tutti::bench
