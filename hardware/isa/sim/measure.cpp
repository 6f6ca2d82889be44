// SPDX-License-Identifier: Apache-2.0
// measure IMAGE [--quick | --latency L]: barwait and the software barriers on the same system, in cycles.
// One JSON object a line on stdout, progress on stderr. Status 1 if a program fails or a result is wrong.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "system.hpp"

namespace {

using namespace tutti::isa;

struct competitor {
  const char* name;
  const char* provider;
  std::uint32_t kind;  // software/bench.cpp
};
constexpr competitor competitors[] = {
    {"barwait", "isa", 1},         {"central", "software", 2},
    {"tournament", "software", 3}, {"dissemination", "software", 4},
    {"central", "tutti", 5},       {"tournament", "tutti", 6},
    {"dissemination", "tutti", 7}, {"none", "isa", 0},
};
enum program : std::uint32_t { loop, late, stencil };
constexpr std::uint32_t points = 128;

// Where the memory is, and how far the unit.
struct place {
  unsigned latency, distance;
  bool near;
};

std::uint32_t expected_checksum(std::uint32_t steps) {
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

struct figures {
  double min = 0, median = 0, p99 = 0;
  std::size_t samples = 0;
};

figures of(std::vector<std::uint64_t> all) {
  std::sort(all.begin(), all.end());
  const std::size_t n = all.size();
  return {static_cast<double>(all[0]), static_cast<double>(all[n / 2]),
          static_cast<double>(all[std::min(n - 1, n * 99 / 100)]), n};
}

std::string name_of(const competitor& who, program what, unsigned cores, const place& where) {
  return std::string(who.provider) + " " + who.name + ", program " + std::to_string(what) + ", " +
         std::to_string(cores) + " cores, latency " + std::to_string(where.latency);
}

figures run(const std::string& image, const competitor& who, program what, unsigned cores,
            const place& where, std::uint32_t episodes) {
  settings s;
  s.cores = cores;
  s.mem_latency = where.latency;
  s.near = where.near;
  s.posted = true;
  s.unit_distance = where.distance;
  s[parameter::program] = what;
  s[parameter::episodes] = episodes;
  s[parameter::timeout] = 1u << 20;
  s[parameter::a] = who.kind;
  s[parameter::b] = points;
  tutti::isa::system m(image, s);
  if (!m.run(20'000'000))
    throw std::runtime_error(name_of(who, what, cores, where) + ": did not end");
  for (const std::uint32_t status : m.data(tag::exit))
    if (status != 0) throw std::runtime_error(name_of(who, what, cores, where) + ": failed");

  if (what == late) {
    if (who.kind != 0)
      for (const auto& sentence : check_episodes(m.events(), cores, 1, episodes))
        throw std::runtime_error(name_of(who, what, cores, where) + ": " + sentence);
    std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> ends;  // last in, last out
    for (const event& e : m.events()) {
      if (e.tag == tag::arrive) ends[e.data].first = std::max(ends[e.data].first, e.cycle);
      if (e.tag == tag::depart) ends[e.data].second = std::max(ends[e.data].second, e.cycle);
    }
    std::vector<std::uint64_t> all;
    for (const auto& [episode, end] : ends) all.push_back(end.second - end.first);
    return of(all);
  }
  std::vector<std::uint32_t> values = m.data(tag::value);
  if (what == stencil) {
    // Core 0 says its time first, the checksum after everybody's time.
    const std::uint32_t sum = values.back();
    values.pop_back();
    if (who.kind != 0 && sum != expected_checksum(episodes))
      throw std::runtime_error(name_of(who, what, cores, where) +
                               ": the stencil's result is wrong");
  }
  // All began together: the slowest core's time.
  const double each =
      *std::max_element(values.begin(), values.end()) / static_cast<double>(episodes);
  return {each, each, each, episodes};
}

void print(const competitor& who, program what, unsigned cores, const place& where,
           const figures& f) {
  static constexpr const char* metrics[] = {"loop", "last_in_last_out", "stencil_step"};
  std::printf(
      "{\"type\":\"result\",\"benchmark\":\"barrier\",\"provider\":\"%s\",\"name\":\"%s\","
      "\"wait\":\"%s\",\"threads\":%u,\"cores\":%u,\"scenario\":\"%s\",\"metric\":\"%s\","
      "\"unit\":\"cycles\",\"memory_latency\":%u,\"unit_distance\":%u,\"min\":%.1f,\"median\":%.1f,"
      "\"p99\":%.1f,\"samples\":%zu}\n",
      who.provider, who.name, who.kind == 1 ? "instruction" : "spin", cores, cores,
      where.near ? "near_banks" : "uniform", metrics[what], where.latency, where.distance, f.min,
      f.median, f.p99, f.samples);
  std::fflush(stdout);
}

void run_all(const std::string& image, const std::vector<unsigned>& latencies,
             const std::vector<unsigned>& counts) {
  for (const unsigned latency : latencies)
    for (const bool near : {true, false}) {
      for (const unsigned cores : counts)
        for (const competitor& who : competitors) {
          const bool instruction = who.kind == 1;
          // tutti's objects lie where they fall: banks near to somebody mean nothing to them.
          if (near && std::strcmp(who.provider, "tutti") == 0) continue;
          for (const program what : {loop, late, stencil}) {
            if (who.kind == 0 && what == late) continue;
            const std::uint32_t episodes = what == stencil ? 6 : what == late ? 2 * cores : 24;
            // The unit beside the cores; or as far as the memory, 2 * distance + 1 = latency - 1.
            for (const unsigned distance : {0u, (latency - 2) / 2}) {
              if (distance != 0 && !instruction) continue;
              const place where{latency, distance, near};
              print(who, what, cores, where, run(image, who, what, cores, where, episodes));
              if (latency < 4) break;
            }
          }
        }
      std::fprintf(stderr, "latency %u, %s: done\n", latency, near ? "near banks" : "uniform");
    }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc == 3 && std::strcmp(argv[2], "--quick") == 0;
  const bool chosen = argc == 4 && std::strcmp(argv[2], "--latency") == 0;
  if (argc != 2 && !quick && !chosen) {
    std::fputs("usage: measure IMAGE [--quick | --latency L]\n", stderr);
    return 2;
  }
  try {
    if (quick)
      run_all(argv[1], {20}, {4});
    else if (chosen)
      run_all(argv[1], {static_cast<unsigned>(std::stoul(argv[3]))}, {16, 8, 4, 2});
    else
      run_all(argv[1], {2, 10, 20, 40}, {2, 4, 8, 16});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "measure: %s\n", error.what());
    return 1;
  }
  return 0;
}
