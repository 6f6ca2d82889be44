// SPDX-License-Identifier: Apache-2.0
// What the kernel keeps for each core. Only the core itself uses it, except the queue of ready
// threads, which has a lock.
#pragma once

#include "kernel/core/list.hpp"
#include "kernel/core/lock.hpp"
#include "kernel/core/thread.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::kernel {

struct alignas(cache_line) core {
  // The machine finds the core by this pointer to itself.
  core* self = nullptr;
  u32 index = 0;
  u32 node = 0;
  thread* current = nullptr;
  // The thread that ran before.
  thread* leaving = nullptr;
  // The first of the threads that sleep until a time.
  thread* timed = nullptr;
  // Ticks after which another ready thread has its turn; 0 is round robin without preemption.
  u64 slice = 0;
  u64 slice_ends = 0;
  // The time for which the timer is armed, or 0.
  u64 armed_for = 0;
  thread idle;

  alignas(cache_line) spin_lock ready_lock;
  list<thread> ready;
};

core& core_of(u32 index) noexcept;
inline u32 cores() noexcept { return machine::described().cores; }

}  // namespace tutti::kernel
