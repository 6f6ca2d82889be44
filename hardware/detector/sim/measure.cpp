// SPDX-License-Identifier: Apache-2.0
// Measures cycles: of the master's round trip, phase by phase, over an idle and a loaded mesh; of
// an episode, from the moment when the last thread waits; and of a software clock tree on the same
// mesh.

#include <numeric>

#include "hardware/detector/sim/clock_tree.hpp"

namespace {

using namespace tutti::rtl;

constexpr unsigned home = MASTER_CENTRE == 0 ? 0 : ROWS / 2 * COLUMNS + COLUMNS / 2;
constexpr std::uint64_t formula = 2 * HOP_LATENCY * farthest();
constexpr std::uint64_t most = 100 * formula + 100'000;
constexpr unsigned all_cores = static_cast<unsigned>((std::uint64_t{1} << CORES) - 1);

class idle_mesh {
 public:
  explicit idle_mesh(testbench& bench, std::uint64_t seed)
      : bench_(bench), mesh_(bench), random_(seed) {
    mesh_.reset();
    all(true);
    mesh_.run(true);
  }

  void all(bool idle) {
    for (unsigned n = 0; n < nodes; ++n)
      mesh_.cores(n, 0, 0, idle ? all_cores : 0, all_cores, all_cores);
  }

  // Computes the mean cycles of each phase over `waves` waves, while every node sends a message to
  // a random one in `load` of 100 cycles. Returns false if it takes too long.
  bool waves(unsigned waves, unsigned load, double (&mean)[3]) {
    std::uint64_t begin = 0, sum[3] = {}, count[3] = {};
    std::vector<unsigned> to(nodes, nodes);
    for (const std::uint64_t start = bench_.cycle(); bench_.cycle() - start < waves * most;) {
      for (unsigned n = 0; n < nodes; ++n) {
        if (to[n] == nodes && random_() % 100 < load)
          to[n] = static_cast<unsigned>(random_() % nodes);
        mesh_.offer(n, to[n] != nodes, to[n] == nodes ? 0 : to[n], 0);
      }
      bench_.settle();
      for (unsigned n = 0; n < nodes; ++n)
        if (to[n] != nodes && mesh_.taken(n)) to[n] = nodes;
      if (bench_.top().end_o && begin != 0) {
        const unsigned phase = bench_.top().phase_o;
        sum[phase] += bench_.cycle() - begin;
        ++count[phase];
      }
      if (bench_.top().begin_o) begin = bench_.cycle();
      bench_.tick();
      if (std::accumulate(count, count + 3, 0u) >= waves && count[0] * count[1] * count[2] != 0) {
        for (unsigned p = 0; p < 3; ++p)
          mean[p] = static_cast<double>(sum[p]) / static_cast<double>(count[p]);
        return true;
      }
    }
    return false;
  }

  // Measures the cycles from the moment when all threads wait to the release of the last node and
  // to its permission to send.
  bool episode(std::uint64_t& released, std::uint64_t& enabled) {
    all(false);
    // Start at a random point of the master's wave.
    for (std::uint64_t rest = 2 * formula + random_() % (2 * formula); rest > 0; --rest)
      bench_.tick();
    for (unsigned n = 0; n < nodes; ++n)
      if (!mesh_.enabled(n)) return false;
    all(true);
    const std::uint64_t start = bench_.cycle();
    unsigned left = nodes;
    bool stopped = false;
    while (bench_.cycle() - start < most) {
      bench_.settle();
      unsigned may_send = 0;
      for (unsigned n = 0; n < nodes; ++n) {
        if (mesh_.released(n)) {
          --left;
          // The node's threads continue at once.
          mesh_.cores(n, 0, 0, 0, all_cores, all_cores);
        }
        may_send += mesh_.enabled(n);
      }
      stopped |= may_send == 0;
      if (left == 0 && released == 0) released = bench_.cycle() - start;
      if (stopped && may_send == nodes) {
        enabled = bench_.cycle() - start;
        return true;
      }
      bench_.tick();
    }
    return false;
  }

 private:
  testbench& bench_;
  mesh mesh_;
  std::mt19937_64 random_;
};

std::string measure(testbench& bench, const arguments& with) {
  double idle[3], loaded[3];
  if (!idle_mesh(bench, with.seed).waves(8, 0, idle)) return "a round trip does not end";
  if (!idle_mesh(bench, with.seed).waves(24, 20, loaded))
    return "a round trip under load does not end";
  if (idle[detect] < formula) return "faster than the links: the harness is wrong";
  // One order and one reply for each node and cycle, and the routers of both ends.
  if (idle[detect] > formula + 2 * nodes + 20) return "slower than links and queue explain";

  constexpr unsigned episodes = 6;
  std::uint64_t released = 0, enabled = 0;
  idle_mesh m(bench, with.seed);
  for (unsigned i = 0; i < episodes; ++i) {
    std::uint64_t r = 0, e = 0;
    if (!m.episode(r, e)) return "an episode does not end";
    released += r;
    enabled += e;
  }
  std::printf(
      "{\"master\": \"%s\", \"formula\": %llu, \"detect\": %.0f, \"release\": %.0f, \"enable\": "
      "%.0f, "
      "\"loaded\": %.0f, \"until_release\": %llu, \"until_enable\": %llu",
      MASTER_CENTRE == 0 ? "origin" : "centre", static_cast<unsigned long long>(formula),
      idle[detect], idle[release_phase], idle[enable_phase], loaded[detect],
      static_cast<unsigned long long>(released / episodes),
      static_cast<unsigned long long>(enabled / episodes));
  for (const unsigned handle : {16u, 80u, 240u}) {
    clock_tree tree(bench, home, {.handle = handle});
    std::uint64_t cycles = 0;
    constexpr unsigned trips = 2;
    for (unsigned i = 0; i < trips; ++i) {
      const std::uint64_t one = tree.round_trip(most);
      if (one == 0) return "the clock tree does not end";
      cycles += one;
    }
    if (!tree.everybody_had(trips)) return "the clock tree did not reach every thread";
    std::printf(", \"tree_%u\": %llu", handle, static_cast<unsigned long long>(cycles / trips));
  }
  std::printf("}\n");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  return run_harness(argc, argv, [](const arguments& with) -> std::string {
    testbench bench(with);
    return measure(bench, with);
  });
}
