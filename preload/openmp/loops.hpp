// SPDX-License-Identifier: Apache-2.0
// Loops and sections, for the interfaces of GCC's and of clang's runtimes.
#pragma once

#include <cstdint>

#include "preload/openmp/barrier.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/threads.hpp"
#include "preload/openmp/workshares.hpp"

namespace tutti::openmp {

// A loop from `first` until `end`, which it does not reach.
plan loop_plan(std::uint64_t first, std::uint64_t end, std::uint64_t step, bool goes_up,
               bool is_empty);
// The schedule that a program gives, or that of the task's settings.
void set_schedule(plan& p, const settings& e, unsigned schedule, std::uint64_t chunk);
// The schedule that a program built by GCC passes as a number: that of `auto` stands for the
// schedule of the settings with the modifier `nonmonotonic`.
inline unsigned schedule_of_gcc(long passed) {
  const auto schedule = static_cast<unsigned>(passed) & ~schedule_monotonic;
  return schedule == schedule_auto ? schedule_runtime : schedule;
}
// Hands out iterations from..to of the present loop. Returns false if none are left.
bool next_range(thread& me, std::uint64_t& from, std::uint64_t& to);
// The next section of the present construct, from 1, or 0.
unsigned next_section(thread& me);
// Waits until the chunk of an ordered loop that this thread has is the next one.
void wait_for_turn(thread& me);
// The same at the begin of an ordered region, and the region's end.
inline void enter_ordered(thread& me, ompt::call_site at) {
  if (!ompt::is_on()) return wait_for_turn(me);
  ompt::acquires(me, me.now.last_workshare, ompt_mutex_ordered, 0, at);
  wait_for_turn(me);
  ompt::acquired(me, me.now.last_workshare, ompt_mutex_ordered, at);
}
inline void leave_ordered(ompt::call_site at) {
  if (!ompt::is_on()) return;
  thread& me = self();
  ompt::released(me, me.now.last_workshare, ompt_mutex_ordered, at);
}
// Whether this thread runs the region of `single`.
bool is_single(thread& me);
// Moves on to the next construct, which has task reductions and memory for all threads if they are
// not null.
void next_workshare_with_reductions(thread& me, plan& wanted, std::uintptr_t* reductions,
                                    void** memory);

// The value of an iteration, and the value after the last of a chunk.
template <class Value>
bool next_chunk(thread& me, Value* first, Value* last) {
  std::uint64_t from = 0, to = 0;
  if (!next_range(me, from, to)) return false;
  const workshare& s = *me.now.last_workshare;
  *first = static_cast<Value>(s.first + from * s.step);
  *last = static_cast<Value>(to == s.count ? s.end : s.first + to * s.step);
  return true;
}

template <class Value>
bool start_loop(const plan& wanted, Value* first, Value* last, ompt::call_site at) {
  thread& me = self();
  if (ompt::is_on()) ompt::work_begins(me, ompt_work_loop, wanted.count, at);
  bool is_first = false;
  next_workshare(me, wanted, is_first);
  return next_chunk(me, first, last);
}

template <class Value>
bool start_any_loop(plan& wanted, Value* first, Value* last, std::uintptr_t* reductions,
                    void** memory, ompt::call_site at) {
  thread& me = self();
  if (ompt::is_on())
    ompt::work_begins(me, wanted.is_sections ? ompt_work_sections : ompt_work_loop, wanted.count,
                      at);
  next_workshare_with_reductions(me, wanted, reductions, memory);
  return first == nullptr || next_chunk(me, first, last);
}

// Waits at the barrier at the end of loops or sections. Returns what wait_at_barrier() returns.
inline bool end_workshare(bool can_be_cancelled, ompt::call_site at) {
  thread& me = self();
  return ompt::in_sync_region(me, ompt_sync_region_barrier_implicit_workshare, at,
                              [&] { return wait_at_barrier(me, can_be_cancelled); });
}

}  // namespace tutti::openmp
