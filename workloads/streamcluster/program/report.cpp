// SPDX-License-Identifier: Apache-2.0
// Formats results as text.
#include <fmt/format.h>

#include <algorithm>

#include "bench/harness/machine.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/statistics.hpp"
#include "cli/result_line.hpp"
#include "workloads/streamcluster/program/sweep.hpp"

namespace tutti::streamcluster {
namespace {

double episodes(const statistics& counts) {
  return static_cast<double>(counts.barriers + counts.reductions);
}

// One row per setting in the order of the plan, one column per number of threads.
std::string times(const plan& p, const sweep& s) {
  std::vector<rank_t> threads;
  std::vector<std::string> barriers;
  for (const setting& each : p.settings) {
    if (std::find(threads.begin(), threads.end(), each.threads) == threads.end()) {
      threads.push_back(each.threads);
    }
    if (std::find(barriers.begin(), barriers.end(), each.barrier) == barriers.end()) {
      barriers.push_back(each.barrier);
    }
  }
  std::string text = fmt::format("{:<18}", "barrier");
  for (const rank_t n : threads) text += fmt::format("{:>26}", fmt::format("{} threads", n));
  text += '\n';
  for (const auto& barrier : barriers) {
    text += fmt::format("{:<18}", barrier);
    for (const measurement& m : s.measurements) {
      if (m.where->barrier != barrier) continue;
      const double seconds = bench::median_of(m.seconds);
      text += fmt::format("{:>26}",
                          fmt::format("{:.3f} s, {:.0f}/s", seconds, episodes(m.counts) / seconds));
    }
    text += '\n';
  }
  return text;
}

std::string line_of(const plan& p, const sweep& s, const measurement& m) {
  std::vector<double> ns = m.seconds;
  for (double& each : ns) each *= 1e9;
  const bench::summary time = bench::summarize(ns);
  const auto whole = [](double value) { return static_cast<std::uint64_t>(value); };
  return cli::result_line({{"benchmark", "streamcluster"},
                           {"provider", m.where->provider},
                           {"name", m.where->barrier},
                           {"wait", m.where->wait},
                           {"threads", m.where->threads},
                           {"ranks", m.where->ranks},
                           {"cores", bench::allowed_cores().size()},
                           {"pinned", true},
                           {"scenario", "free"},
                           {"metric", "wall"},
                           {"unit", "ns"},
                           {"min", whole(time.min)},
                           {"median", whole(time.median)},
                           {"p99", whole(time.p99)},
                           {"samples", time.samples},
                           {"input", p.input},
                           {"seed", p.seed},
                           {"points", m.counts.points},
                           {"dimensions", s.found.dimensions},
                           {"read_ns", whole(m.counts.read_seconds * 1e9)},
                           {"regions", m.counts.regions},
                           {"barriers", m.counts.barriers},
                           {"reductions", m.counts.reductions},
                           {"episodes_per_second", whole(episodes(m.counts) / time.median * 1e9)},
                           {"gain_steps", m.counts.search.gain_steps},
                           {"centres", s.found.size()},
                           {"cost", s.found.cost},
                           {"fingerprint", fmt::format("{:016x}", fingerprint(s.found))}});
}

}  // namespace

std::string table(const plan& p, const sweep& s) {
  const statistics& counts = s.found.counts;
  std::string text = fmt::format(
      "{}: {} points of {} coordinates, seed {}\n{} centres, cost {:.6g}, fingerprint {:016x}\n"
      "{} barriers and {} reductions in {} regions; {} gain steps; {} prices per centre were "
      "tried\n",
      p.input, counts.points, s.found.dimensions, p.seed, s.found.size(), s.found.cost,
      fingerprint(s.found), counts.barriers, counts.reductions, counts.regions,
      counts.search.gain_steps, counts.search.prices);
  text +=
      fmt::format("\nMedian time, and barriers and reductions per second; {} run{} of each, {}\n",
                  p.repeat, p.repeat == 1 ? "" : "s", distance_instructions());
  return text + times(p, s);
}

std::string json_lines(const plan& p, const sweep& s) {
  std::string text = bench::describe_machine().dump() + "\n";
  for (const measurement& m : s.measurements) text += line_of(p, s, m);
  return text;
}

}  // namespace tutti::streamcluster
