// SPDX-License-Identifier: Apache-2.0
// The floors of a run as text.
#include "bench/floors/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/harness/record.hpp"
#include "bench/harness/statistics.hpp"

namespace tutti::bench {
namespace {

constexpr std::size_t most_values = 400;  // raw samples that a line carries

cli::json floor_line(const floor_quantity& q) {
  cli::json line{{"type", "floor"}, {"quantity", q.quantity}, {"summary", q.summary}};
  line["cpus"] = q.cpus;
  if (q.threads > 0) line["threads"] = q.threads;
  add_summary(line, q.samples);
  std::vector<double> values = q.samples;
  values.resize(std::min(values.size(), most_values));
  std::transform(values.begin(), values.end(), values.begin(), rounded);
  line["values"] = values;
  return line;
}

}  // namespace

std::string floor_lines(const floor_suite& floors) {
  std::string text;
  for (const auto& q : floors.quantities()) text += floor_line(q).dump() + "\n";
  return text;
}

std::string floors_table(const floor_suite& floors) {
  std::string text =
      fmt::format("{:<44} {:>10} {:>10} {:>10}\n", "This machine's floors", "min", "median", "p99");
  for (const auto& q : floors.quantities()) {
    const summary f = summarize(q.samples);
    std::string what = q.quantity;
    if (q.quantity == "line_one_way") what += fmt::format(" (CPUs {})", fmt::join(q.cpus, ", "));
    if (q.threads > 0) what += fmt::format(" ({} threads on {} cores)", q.threads, q.cpus.size());
    text += fmt::format("  {:<42} {:>10} {:>10} {:>10}\n", what, format_ns(f.min),
                        format_ns(f.median), format_ns(f.p99));
  }
  return text;
}

}  // namespace tutti::bench
