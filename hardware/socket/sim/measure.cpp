// SPDX-License-Identifier: Apache-2.0
// Measures a barrier of 256 threads over the tiles, thread i in tile i modulo the tiles: the cycles
// from the last call to the last departure, as JSON lines. In `last` the thread that is farthest
// from the centre comes long after all others; in `last_together` all call in one cycle. With
// `load_percent` the tiles send each other other messages, each so many in 100 cycles, and the
// values are the largest of 50 episodes. The lower bounds count only what ports and wires allow: a
// tile takes one thread's arrival a cycle, a hop takes LINK_LATENCY + 1 cycles, and the structure
// takes one.

#include "hardware/socket/sim/threads.hpp"

namespace {

using namespace tutti::rtl;

std::string run(testbench& bench, const arguments& with) {
  socket_threads s(bench, with.seed);
  const unsigned participants = std::min<unsigned>(256, tiles * THREADS);
  std::vector<socket_thread> all;
  unsigned farthest = 0, late = 0;
  for (unsigned i = 0; i < participants; ++i) {
    all.push_back({i % tiles, i / tiles});
    if (s.hops(i % tiles) > farthest) {
      farthest = s.hops(i % tiles);
      late = i;
    }
  }
  const unsigned hop = LINK_LATENCY + 1, a_tile = (participants + tiles - 1) / tiles;
  const unsigned there_and_back = 2 * farthest * hop;
  s.create(0, all);
  for (const unsigned load : {0u, 5u, 10u, 20u, 30u}) {
    if (RING == 1 && load != 0) break;
    s.load = 10 * load;
    std::uint64_t spans[2] = {};
    for (unsigned episode = 0; episode < (load == 0 ? 2u : 100u); ++episode) {
      const bool together = episode % 2 == 1;
      s.think = [=](unsigned, unsigned m, std::uint64_t) -> std::uint64_t {
        return together || m == late ? 300 : 0;
      };
      if (!s.run(1, 20'000)) return s.wrong().empty() ? "stuck" : s.wrong();
      spans[together] = std::max(spans[together], s.from_last_call(0));
    }
    std::printf(
        "{\"participants\": %u, \"tiles\": %u, \"hop_cycles\": %u, \"farthest_hops\": %u, "
        "\"load_percent\": %u, \"last\": %llu, \"last_bound\": %u, \"last_together\": %llu, "
        "\"together_bound\": %u}\n",
        participants, tiles, hop, farthest, load, static_cast<unsigned long long>(spans[0]),
        there_and_back + 1, static_cast<unsigned long long>(spans[1]), there_and_back + a_tile);
    if (spans[0] < there_and_back + 1 || spans[1] < there_and_back + a_tile)
      return "faster than ports and wires allow";
  }
  return s.finish();
}

}  // namespace

int main(int argc, char** argv) { return run_after_reset(argc, argv, run); }
