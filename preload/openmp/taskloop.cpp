// SPDX-License-Identifier: Apache-2.0
// Loops whose iterations are divided among tasks.
#include <algorithm>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"

namespace tutti::openmp {

taskloop_pieces divide_taskloop(std::uint64_t count, std::uint64_t grain, std::uint64_t tasks,
                                bool is_strict, unsigned threads) {
  taskloop_pieces p;
  p.count = count;
  p.size = count;
  if (grain != 0) {
    if (is_strict) {
      p.pieces = (count - 1) / grain + 1;
      p.size = grain;
    } else {
      p.pieces = std::max<std::uint64_t>(1, count / grain);
    }
  } else {
    p.pieces = std::min<std::uint64_t>(count, tasks != 0 ? tasks : threads);
    if (is_strict) {
      p.size = (count - 1) / p.pieces + 1;
      p.pieces = (count - 1) / p.size + 1;
    }
  }
  if (!is_strict) {
    p.size = count / p.pieces;
    p.rest = count % p.pieces;
  }
  return p;
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

namespace {

template <class Value>
void taskloop(region_function function, void* data, void (*copy)(void*, void*), long size,
              long align, unsigned flags, unsigned long tasks, int priority, Value first,
              std::uint64_t count, Value step, ompt::call_site at) {
  // What the compiler's data begin with. The reductions follow if there are any.
  struct of_compiler {
    Value first, last;
    std::uintptr_t* reductions;
  };
  thread& me = self();
  note_tasks();
  if (count == 0 || (global().can_cancel && is_cancelled(*me.now.current))) {
    // The program combines no copies if their memory is null. With `nogroup` the reductions are
    // those of a group around the loop.
    if ((flags & (flag_reduction | flag_nogroup)) == flag_reduction)
      static_cast<of_compiler*>(data)->reductions[2] = 0;
    return;
  }
  const bool has_grain = (flags & flag_grainsize) != 0;
  const taskloop_pieces all =
      divide_taskloop(count, has_grain ? std::max(1ul, tasks) : 0, has_grain ? 0 : tasks,
                      (flags & flag_strict) != 0, me.now.team->size);
  const bool has_group = (flags & flag_nogroup) == 0;
  if (has_group) start_group(me, false);
  if (ompt::is_on()) {
    ompt::work_event(me, ompt_work_taskloop, ompt_scope_begin, count, at);
    if (has_group) ompt::group_begins(me, at);
  }
  if ((flags & flag_reduction) != 0) {
    taskgroup& group = *me.now.current->group;
    std::uintptr_t* const reductions = static_cast<of_compiler*>(data)->reductions;
    register_reductions(reductions, group.reductions, nullptr, me.now.team->size);
    group.reductions = reductions;
  }
  std::uint64_t done = 0;
  for (std::uint64_t i = 0; i < all.pieces; ++i) {
    const std::uint64_t mine = all.size_of(i, done);
    task& t = new_task(me);
    t.function = function;
    t.is_final = (flags & flag_final) != 0 || t.is_final;
    if ((flags & flag_priority) != 0)
      t.priority = std::clamp(priority, 0, global().max_task_priority);
    const bool at_once = is_included(me, (flags & flag_if) != 0, false);
    t.data = copy_data(t, data, copy, size, align);
    t.is_cancellable = copy == nullptr;
    static_cast<Value*>(t.data)[0] = first + static_cast<Value>(done) * step;
    done += mine;
    static_cast<Value*>(t.data)[1] = first + static_cast<Value>(done) * step;
    if (ompt::is_on()) ompt::task_created(me, t, at_once ? ompt_task_undeferred : 0, {}, at);
    if (at_once)
      run_at_once(me, t, {});
    else
      submit(me, t, {});
  }
  if (has_group) ompt::in_sync_region(me, ompt_sync_region_taskgroup, at, [&me] { end_group(me); });
  if (ompt::is_on()) ompt::work_event(me, ompt_work_taskloop, ompt_scope_end, count, at);
}

}  // namespace

TUTTI_OMP void GOMP_taskloop(region_function function, void* data, void (*copy)(void*, void*),
                             long size, long align, unsigned flags, unsigned long tasks,
                             int priority, long first, long end, long step) {
  std::uint64_t count = 0;
  if (step > 0 && first < end)
    count = (static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(first) - 1) /
                static_cast<std::uint64_t>(step) +
            1;
  if (step < 0 && first > end)
    count = (static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(end) - 1) /
                (0 - static_cast<std::uint64_t>(step)) +
            1;
  taskloop<std::uint64_t>(function, data, copy, size, align, flags, tasks, priority,
                          static_cast<std::uint64_t>(first), count,
                          static_cast<std::uint64_t>(step), TUTTI_OMPT_CALL_SITE);
}

TUTTI_OMP void GOMP_taskloop_ull(region_function function, void* data, void (*copy)(void*, void*),
                                 long size, long align, unsigned flags, unsigned long tasks,
                                 int priority, unsigned long long first, unsigned long long end,
                                 unsigned long long step) {
  std::uint64_t count = 0;
  if ((flags & flag_up) != 0 && first < end) count = (end - first - 1) / step + 1;
  if ((flags & flag_up) == 0 && first > end) count = (first - end - 1) / (0 - step) + 1;
  taskloop<std::uint64_t>(function, data, copy, size, align, flags, tasks, priority, first, count,
                          step, TUTTI_OMPT_CALL_SITE);
}
