// SPDX-License-Identifier: Apache-2.0
#include "kernel/core/hardware_barrier.hpp"

#include "kernel/core/core.hpp"
#include "kernel/core/park.hpp"

namespace tutti::kernel {

namespace {

struct alignas(cache_line) unit {
  spin_lock lock;
  u64 participants = 0;
  u64 initialised = 0;
  u64 arrived = 0;
  std::atomic<u32> episode{0};
};
unit units[hardware_barriers];

u64 bit_of_this_core() noexcept { return u64{1} << machine::here().index; }

}  // namespace

int create_barrier(u64 group) noexcept {
  const without_interrupts off;
  const u64 all = cores() == 64 ? ~u64{0} : (u64{1} << cores()) - 1;
  if ((group & ~all) != 0 || (group & bit_of_this_core()) == 0) return -1;
  for (u32 i = 0; i < hardware_barriers; ++i) {
    const locked hold(units[i].lock);
    if (units[i].participants != 0) continue;
    units[i].participants = group;
    units[i].initialised = units[i].arrived = 0;
    return static_cast<int>(i);
  }
  return -1;
}

void destroy_barrier(u64 barrier) noexcept {
  if (barrier >= hardware_barriers) return;
  const locked hold(units[barrier].lock);
  units[barrier].participants = 0;
}

bool barrier_init(u64 barrier) noexcept {
  if (barrier >= hardware_barriers) return false;
  unit& u = units[barrier];
  const locked hold(u.lock);
  if ((u.participants & bit_of_this_core()) == 0) return false;
  u.initialised |= bit_of_this_core();
  return true;
}

bool barrier_wait(u64 barrier) noexcept {
  if (barrier >= hardware_barriers) return false;
  unit& u = units[barrier];
  u32 present;
  {
    const locked hold(u.lock);
    const u64 me = bit_of_this_core();
    if ((u.participants & u.initialised & me) == 0) return false;
    // relaxed: the lock orders it.
    present = u.episode.load(relaxed);
    u.arrived |= me;
    if (u.arrived == u.participants) {
      u.arrived = 0;
      // release: publishes the work of all, which the lock has brought here; pairs with the look
      // below.
      u.episode.store(present + 1, release);
    }
  }
  // acquire: pairs with the last arriver's store.
  while (u.episode.load(acquire) == present) yield();
  return true;
}

}  // namespace tutti::kernel
