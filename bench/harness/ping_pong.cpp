// SPDX-License-Identifier: Apache-2.0
// Ping-pong on one cache line. The polls do not pause: this is the floor, not a polite barrier.
#include "bench/harness/ping_pong.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "bench/harness/statistics.hpp"
#include "bench/harness/ticks.hpp"

namespace tutti::bench {
namespace {

constexpr int batches = 25;           // the first is warm-up: the partner may still be waking
constexpr std::uint64_t trips = 100;  // round trips in a batch
constexpr std::uint64_t clock_trips = 4000;

void await(const std::atomic<std::uint64_t>& line, std::uint64_t value) {
  // acquire: pairs with the partner's release store.
  while (line.load(acquire) != value) {
  }
}

}  // namespace

double ping_pong::lead_transfers() {
  std::vector<double> one_way;
  std::uint64_t value = 0;
  for (int batch = 0; batch < batches; ++batch) {
    const std::uint64_t begin = ordered_ticks();
    for (std::uint64_t trip = 0; trip < trips; ++trip) {
      // release: pairs with await() of the follower.
      line_.store(++value, release);
      await(line_, ++value);
    }
    const std::uint64_t end = ordered_ticks();
    if (batch > 0) one_way.push_back(to_ns(end - begin) / static_cast<double>(2 * trips));
  }
  // relaxed: for the next use; the gate between uses orders it.
  line_.store(0, relaxed);
  return median_of(std::move(one_way));
}

void ping_pong::follow_transfers() {
  std::uint64_t value = 0;
  for (std::uint64_t trip = 0; trip < trips * batches; ++trip) {
    await(line_, ++value);
    // release: pairs with await() of the leader.
    line_.store(++value, release);
  }
}

clock_offset ping_pong::lead_clocks() {
  auto forth = std::numeric_limits<std::int64_t>::max();
  auto back = forth;
  std::uint64_t value = 0;
  for (std::uint64_t trip = 0; trip < clock_trips; ++trip) {
    const std::uint64_t sent = ordered_ticks();
    // release: pairs with await() of the follower.
    line_.store(++value, release);
    await(line_, ++value);
    const std::uint64_t returned = ordered_ticks();
    forth = std::min(forth, static_cast<std::int64_t>(timestamp_ - sent));
    back = std::min(back, static_cast<std::int64_t>(returned - timestamp_));
  }
  // relaxed: for the next use; the gate between uses orders it.
  line_.store(0, relaxed);
  return {(forth - back) / 2, (forth + back) / 2};
}

void ping_pong::follow_clocks() {
  std::uint64_t value = 0;
  for (std::uint64_t trip = 0; trip < clock_trips; ++trip) {
    await(line_, ++value);
    timestamp_ = ordered_ticks();
    // release: publishes the timestamp; pairs with await() of the leader.
    line_.store(++value, release);
  }
}

}  // namespace tutti::bench
