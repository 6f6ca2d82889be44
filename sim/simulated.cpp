// SPDX-License-Identifier: Apache-2.0
#include "sim/simulated.hpp"

#include <utility>

namespace tutti::sim {

bool cpu_notes::visited_by_another() noexcept {
  const std::size_t me = world::current()->running() + 1;
  const bool another_runs = running_ != 0 && running_ != me;
  if (another_runs) running_ = 0;
  const std::size_t last = std::exchange(last_waiter_, me);
  return (last != 0 && last != me) || another_runs;
}
void cpu_notes::note_running() noexcept { running_ = world::current()->running() + 1; }

std::uint64_t cpu_notes::times_before_yield(std::uint64_t now_ns, bool asks) const noexcept {
  if (!asks && !has_other_process() && now_ns - noted_at_ > at_once_ns) return UINT64_MAX;
  return world::current()->others_ran() / 1000;
}

std::uint64_t cpu_notes::ran_since(std::uint64_t before_ns) noexcept {
  return before_ns == UINT64_MAX ? 0 : world::current()->others_ran() / 1000 - before_ns;
}

void cpu_notes::note_foreign_slice(std::uint64_t began_ns, std::uint64_t now_ns,
                                   std::uint64_t own_ns, bool is_proven) noexcept {
  noted_at_ = now_ns;
  const bool by_quota = world::current()->was_stopped_by_quota(began_ns, now_ns);
  cpu_hints::note_foreign_slice(began_ns, now_ns, own_ns, is_proven, by_quota);
}
void cpu_notes::note_preemption(std::uint64_t began_ns, std::uint64_t now_ns) noexcept {
  noted_at_ = now_ns;
  // No host takes a simulated CPU away.
  const bool by_quota = world::current()->was_stopped_by_quota(began_ns, now_ns);
  cpu_hints::note_preemption(began_ns, now_ns, true, by_quota);
}
bool cpu_notes::is_quota_scarce(std::uint64_t now_ns) noexcept {
  return world::current()->stops_by_quota().forbid_polling(now_ns);
}

namespace {
std::uint32_t runnable_in_world() noexcept { return world::current()->runnable(); }
}  // namespace

bool cpu_notes::is_contest_over(std::uint64_t now_ns, std::uint32_t awake) noexcept {
  return cpu_hints::is_contest_over(now_ns, awake, runnable_in_world);
}
bool cpu_notes::may_try_yielding(std::uint64_t now_ns, std::uint32_t awake) noexcept {
  return cpu_hints::may_try_yielding(now_ns, awake, runnable_in_world);
}

void simulated_mutex::lock() noexcept {
  std::uint32_t expected = 0;
  // acquire: pairs with unlock. relaxed: a failed attempt tells nothing.
  if (state_.compare_exchange_strong(expected, 1, acquire, relaxed)) return;
  // acquire: pairs with unlock.
  while (state_.exchange(2, acquire) != 0) simulated::park(state_, 2u, UINT64_MAX);
}

void simulated_mutex::unlock() noexcept {
  // release: publishes what was written under the lock; pairs with lock.
  if (state_.exchange(0, release) == 2) simulated::unpark_one(state_);
}

unsigned simulated::cluster_of(rank_t thread) {
  const machine& m = hardware();
  return m.cluster_of_core(m.core_of_cpu(thread % m.cpus()));
}

std::vector<rank_t> simulated::cache_groups(rank_t n) {
  std::vector<rank_t> sizes;
  unsigned last = 0;
  for (rank_t rank = 0; rank < n; ++rank) {
    const unsigned cluster = cluster_of(rank);
    if (sizes.empty() || cluster != last)
      sizes.push_back(1);
    else
      ++sizes.back();
    last = cluster;
  }
  return sizes;
}

}  // namespace tutti::sim
