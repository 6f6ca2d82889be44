// SPDX-License-Identifier: Apache-2.0
#include "bench.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace tutti::isa {

namespace {

// The slowest measured run takes a tenth of it.
constexpr std::uint64_t most_cycles = 1'000'000;

std::uint32_t expected_checksum(std::uint32_t points, std::uint32_t steps) {
  std::vector<std::uint32_t> from(points + 2), to;
  for (std::uint32_t i = 1; i <= points; ++i) from[i] = (i * 2654435761u) >> 12;
  from[0] = 1u << 20;
  to = from;
  for (std::uint32_t s = 0; s < steps; ++s) {
    for (std::uint32_t i = 1; i <= points; ++i)
      to[i] = (from[i - 1] + 2 * from[i] + from[i + 1]) >> 2;
    std::swap(from, to);
  }
  std::uint32_t sum = 0;
  for (const std::uint32_t cell : from) sum = sum * 31 + cell;
  return sum;
}

figures of(std::vector<std::uint64_t> all) {
  std::sort(all.begin(), all.end());
  const std::size_t n = all.size();
  return {static_cast<double>(all[0]), static_cast<double>(all[n / 2]),
          static_cast<double>(all[std::min(n - 1, n * 99 / 100)]), n};
}

// Cycles from the last arrival to the last departure, for each episode.
figures last_in_last_out(const system& m) {
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> ends;
  for (const event& e : m.events()) {
    if (e.tag == tag::arrive) ends[e.data].first = std::max(ends[e.data].first, e.cycle);
    if (e.tag == tag::depart) ends[e.data].second = std::max(ends[e.data].second, e.cycle);
  }
  std::vector<std::uint64_t> all;
  for (const auto& [episode, end] : ends) all.push_back(end.second - end.first);
  return of(all);
}

// Runs without a barrier give only their time.
void check(const system& m, const competitor& who, const bench_run& what) {
  const std::string name = describe(who, what) + ": ";
  if (m.count(tag::fault) + m.count(tag::denied) != 0)
    throw std::runtime_error(name + "an access outside of its memory");
  for (const std::uint32_t status : m.data(tag::exit))
    if (status != 0) throw std::runtime_error(name + "failed");
  if (what.program == bench_program::late || what.program == bench_program::random_lengths)
    for (const auto& sentence : check_episodes(m.events(), what.cores, 1, what.episodes))
      throw std::runtime_error(name + sentence);
  if (what.program == bench_program::random_lengths)
    for (const std::uint32_t errors : m.data(tag::value))
      if (errors != 0) throw std::runtime_error(name + "a barrier did not publish what it should");
  // Core 0 reports the checksum after all cores' times.
  if (what.program == bench_program::stencil &&
      m.data(tag::value).back() != expected_checksum(what.points, what.episodes))
    throw std::runtime_error(name + "the stencil's result is wrong");
}

}  // namespace

std::string describe(const competitor& who, const bench_run& what) {
  static constexpr const char* programs[] = {"loop", "late", "stencil", "random_lengths"};
  return std::string(who.provider) + " " + who.name + ", " +
         programs[static_cast<std::size_t>(what.program)] + ", " + std::to_string(what.cores) +
         " cores, latency " + std::to_string(what.latency) +
         (what.near ? ", near banks" : ", uniform");
}

figures run_bench(const std::string& image, const competitor& who, const bench_run& what) {
  settings s;
  s.cores = what.cores;
  s.mem_latency = what.latency;
  s.near = what.near;
  s.posted = what.posted;
  s.unit_distance = what.distance;
  s[parameter::program] = static_cast<std::uint32_t>(what.program);
  s[parameter::episodes] = what.episodes;
  s[parameter::timeout] = 1u << 20;
  s[parameter::a] = who.kind;
  s[parameter::b] = what.points;
  s[parameter::seed] = what.seed;
  system m(image, s);
  if (!m.run(most_cycles)) throw std::runtime_error(describe(who, what) + ": did not end");
  if (who.kind != no_barrier || what.program == bench_program::random_lengths) check(m, who, what);

  if (what.program == bench_program::late) return last_in_last_out(m);
  std::vector<std::uint32_t> values = m.data(tag::value);
  if (what.program == bench_program::stencil) values.pop_back();
  // All cores began together, so the slowest core's time counts.
  const double each =
      *std::max_element(values.begin(), values.end()) / static_cast<double>(what.episodes);
  return {each, each, each, what.episodes};
}

}  // namespace tutti::isa
