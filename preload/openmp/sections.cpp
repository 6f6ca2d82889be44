// SPDX-License-Identifier: Apache-2.0
// Sections, scopes, and the constructs that one thread runs.
#include "preload/openmp/abi.hpp"
#include "preload/openmp/barrier.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/loops.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"

namespace tutti::openmp {

unsigned next_section(thread& me) {
  std::uint64_t from = 0, to = 0;
  return next_range(me, from, to) ? static_cast<unsigned>(from) + 1 : 0;
}

bool is_single(thread& me) {
  omp_team& team = *me.now.team;
  if (team.size == 1) return true;
  if (is_reproducible()) {
    if (!global().can_cancel) return me.now.rank == 0;
    // Rank 0 may have left a cancelled region.
    const std::uint32_t before = me.now.singles++;
    // acquire: pairs with the cancelling store.
    if (me.now.rank != 0 && !team.is_cancelled.load(acquire)) return false;
    return team.barrier.is_first_at_single(before, team.size);
  }
  return team.barrier.is_first_at_single(me.now.singles++, team.size);
}

}  // namespace tutti::openmp

using namespace tutti::openmp;
using tutti::relaxed;

namespace {

plan sections_plan(unsigned count) {
  plan p;
  p.is_sections = true;
  p.schedule = is_reproducible() ? schedule_static : schedule_dynamic;
  p.count = count;
  return p;
}

}  // namespace

TUTTI_OMP unsigned GOMP_sections_start(unsigned count) {
  thread& me = self();
  if (ompt::is_on()) ompt::work_begins(me, ompt_work_sections, count, TUTTI_OMPT_CALL_SITE);
  bool is_first = false;
  next_workshare(me, sections_plan(count), is_first);
  return next_section(me);
}

TUTTI_OMP unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  thread& me = self();
  plan p = sections_plan(count);
  std::uint64_t unused = 0;
  start_any_loop<std::uint64_t>(p, nullptr, &unused, reductions, memory, TUTTI_OMPT_CALL_SITE);
  return next_section(me);
}

TUTTI_OMP unsigned GOMP_sections_next() { return next_section(self()); }
TUTTI_OMP void GOMP_sections_end() { end_workshare(false, TUTTI_OMPT_CALL_SITE); }
TUTTI_OMP void GOMP_sections_end_nowait() {
  if (ompt::is_on()) ompt::work_ends(self(), TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP bool GOMP_sections_end_cancel() { return end_workshare(true, TUTTI_OMPT_CALL_SITE); }

TUTTI_OMP void GOMP_scope_start(std::uintptr_t* reductions) {
  plan p;
  next_workshare_with_reductions(self(), p, reductions, nullptr);
}

namespace {
void parallel_sections(region_function function, void* data, unsigned threads, unsigned count,
                       unsigned flags, bool is_start, ompt::call_site at) {
  thread& me = self();
  if (ompt::is_on())
    announce_region(me, threads,
                    is_start ? ompt_parallel_invoker_program : ompt_parallel_invoker_runtime, at);
  const plan p = sections_plan(count);
  open_region(me, function, data, threads_of_region(me, threads, count), flags, nullptr, &p);
  if (is_start) return;
  function(data);
  close_region(me);
}
}  // namespace

TUTTI_OMP void GOMP_parallel_sections(region_function function, void* data, unsigned threads,
                                      unsigned count, unsigned flags) {
  parallel_sections(function, data, threads, count, flags, false, TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP void GOMP_parallel_sections_start(region_function function, void* data, unsigned threads,
                                            unsigned count) {
  parallel_sections(function, data, threads, count, 0, true, TUTTI_OMPT_CALL_SITE);
}

// ---- single

TUTTI_OMP bool GOMP_single_start() {
  thread& me = self();
  const bool is_mine = is_single(me);
  if (ompt::is_on()) ompt::single_event(me, is_mine, TUTTI_OMPT_CALL_SITE);
  return is_mine;
}

TUTTI_OMP void* GOMP_single_copy_start() {
  thread& me = self();
  const bool is_mine = is_single(me);
  if (ompt::is_on()) ompt::single_event(me, is_mine, TUTTI_OMPT_CALL_SITE);
  if (is_mine) return nullptr;
  ompt::in_sync_region(me, ompt_sync_region_barrier_implementation, TUTTI_OMPT_CALL_SITE,
                       [&me] { wait_at_barrier(me, false); });
  // relaxed: the barrier published it.
  return me.now.team->copied.load(relaxed);
}

TUTTI_OMP void GOMP_single_copy_end(void* data) {
  thread& me = self();
  // relaxed: the barrier publishes it.
  me.now.team->copied.store(data, relaxed);
  ompt::in_sync_region(me, ompt_sync_region_barrier_implementation, TUTTI_OMPT_CALL_SITE,
                       [&me] { wait_at_barrier(me, false); });
  me.is_copied_from = global().can_cancel;
}
