// SPDX-License-Identifier: Apache-2.0
#include "kernel/platform/policy.hpp"

#include "kernel/core/core.hpp"

namespace tutti::kernel {

namespace {
struct alignas(cache_line) padded_hints {
  core_hints hints;
};
padded_hints all_hints[machine::most_cores];
}  // namespace

u64 ticks_of(u64 deadline_ns) noexcept {
  if (deadline_ns == ~u64{0}) return never;
  return deadline_ns / 1000 * machine::ticks_per_us() +
         deadline_ns % 1000 * machine::ticks_per_us() / 1000;
}

bool core_hints::visited_by_another() noexcept {
  const void* me = &self();
  const void* last = last_waiter_;
  last_waiter_ = me;
  return last != nullptr && last != me;
}

u64 now_ns() noexcept {
  const u64 ticks = machine::ticks(), rate = machine::ticks_per_us();
  return ticks / rate * 1000 + ticks % rate * 1000 / rate;
}

u32 index_here() noexcept { return machine::here().index; }
core_hints& hints_here() noexcept { return all_hints[index_here()].hints; }

void wake_waiters(const void* address, u32 most) noexcept { unpark(address, most); }

}  // namespace tutti::kernel
