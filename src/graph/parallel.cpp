// SPDX-License-Identifier: Apache-2.0
// Distributes parts to the threads of a team that lives as long as the loop.
#include "src/graph/parallel.hpp"

#include <algorithm>

#include "tutti/platform/topology.hpp"
#include "tutti/team/team.hpp"

namespace tutti::graph {

namespace {

unsigned chosen(unsigned threads) { return threads != 0 ? threads : platform::usable_cores(); }

// The threads are not bound, because loading or generating a graph should not move the caller's
// thread.
team_options options_for(unsigned threads) {
  return {.threads = threads, .place = platform::placement::none};
}

}  // namespace

void in_parts(unsigned threads, std::uint64_t items, std::uint64_t grain,
              const std::function<void(std::uint64_t, std::uint64_t)>& body) {
  const std::uint64_t parts = items / grain + (items % grain != 0 ? 1 : 0);
  const auto run = [&](std::uint64_t part) {
    body(part * grain, std::min(items, part * grain + grain));
  };
  const auto useful = static_cast<unsigned>(std::min<std::uint64_t>(chosen(threads), parts));
  if (useful <= 1) {
    for (std::uint64_t part = 0; part < parts; ++part) run(part);
    return;
  }
  team workers(options_for(useful));
  workers.parallel_for(0, parts, run, {.kind = loop::dynamic_chunks, .chunk = 1});
}

void in_shares(unsigned threads, std::uint64_t items,
               const std::function<void(std::uint64_t, std::uint64_t)>& body) {
  const std::uint64_t shares = std::min<std::uint64_t>(chosen(threads), items);
  if (shares <= 1) return body(0, items);
  in_parts(threads, items, items / shares + (items % shares != 0 ? 1 : 0), body);
}

}  // namespace tutti::graph
