// SPDX-License-Identifier: Apache-2.0
// Reductions over tasks: memory of each thread, and where a task finds its thread's copy.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/barrier.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"

namespace tutti::openmp {

// The layout of `data` is the compiler's: the number of variables, bytes for each thread, alignment
// (then the memory), an allocator, the next such array, two words for the runtime (the second is
// the end of the memory), and three words for each variable: its address, its offset, one for the
// runtime.
void register_reductions(std::uintptr_t* data, std::uintptr_t* old, const std::uintptr_t* of_other,
                         unsigned threads) {
  for (std::uintptr_t* d = data;;) {
    if (of_other != nullptr) {
      d[2] = of_other[2];
      d[6] = of_other[6];
      of_other = reinterpret_cast<const std::uintptr_t*>(of_other[4]);
    } else {
      const std::uintptr_t align = std::max<std::uintptr_t>(d[2], sizeof(void*));
      const std::uintptr_t bytes = (d[1] * threads + align - 1) / align * align;
      void* const memory = std::aligned_alloc(align, bytes);
      if (memory == nullptr) fatal("Out of memory allocating %lu bytes", bytes);
      std::memset(memory, 0, bytes);
      d[2] = reinterpret_cast<std::uintptr_t>(memory);
      d[6] = d[2] + d[1] * threads;
    }
    d[5] = d == data ? 1 : 0;
    if (d[4] == 0) {
      d[4] = reinterpret_cast<std::uintptr_t>(old);
      return;
    }
    d = reinterpret_cast<std::uintptr_t*>(d[4]);
  }
}

void unregister_reductions(std::uintptr_t* data) {
  for (auto* d = data;;) {
    std::free(reinterpret_cast<void*>(d[2]));
    auto* const next = reinterpret_cast<std::uintptr_t*>(d[4]);
    if (next == nullptr || next[5] != 0) {
      // Those of the construct around do not belong to it any more, if it is registered again.
      d[4] = 0;
      return;
    }
    d = next;
  }
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

TUTTI_OMP void GOMP_taskgroup_reduction_register(std::uintptr_t* data) {
  thread& me = self();
  // A group that nothing has begun: an orphaned construct.
  if (me.now.current->group == nullptr) start_group(me, false);
  taskgroup& group = *me.now.current->group;
  register_reductions(data, group.reductions, nullptr, me.now.team->size);
  group.reductions = data;
}

TUTTI_OMP void GOMP_taskgroup_reduction_unregister(std::uintptr_t* data) {
  unregister_reductions(data);
}

TUTTI_OMP void GOMP_workshare_task_reduction_unregister(bool is_cancelled) {
  thread& me = self();
  std::uintptr_t* const data = me.now.current->group->reductions;
  end_group(me);
  if (me.now.rank == 0) unregister_reductions(data);
  if (!is_cancelled)
    ompt::in_sync_region(me, ompt_sync_region_barrier_implicit_workshare, TUTTI_OMPT_CALL_SITE,
                         [&me] { wait_at_barrier(me, false); });
}

TUTTI_OMP void GOMP_task_reduction_remap(std::size_t count, std::size_t originals,
                                         void** pointers) {
  thread& me = self();
  const std::uintptr_t rank = me.now.rank;
  auto* const newest = me.now.current->group->reductions;
  for (std::size_t i = 0; i < count; ++i) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(pointers[i]);
    bool is_found = false;
    for (auto* d = newest; d != nullptr && !is_found; d = reinterpret_cast<std::uintptr_t*>(d[4])) {
      const bool is_copy = wanted >= d[2] && wanted < d[6];
      const std::uintptr_t offset = is_copy ? (wanted - d[2]) % d[1] : 0;
      for (std::uintptr_t j = 0; j < d[0] && !is_found; ++j) {
        const std::uintptr_t* const variable = d + 7 + 3 * j;
        if (is_copy ? variable[1] != offset : variable[0] != wanted) continue;
        is_found = true;
        pointers[i] = reinterpret_cast<void*>(d[2] + rank * d[1] + variable[1]);
        if (i < originals) pointers[count + i] = reinterpret_cast<void*>(variable[0]);
      }
      if (is_copy && !is_found && i >= originals) {
        is_found = true;
        pointers[i] = reinterpret_cast<void*>(d[2] + rank * d[1] + offset);
      }
    }
    if (!is_found)
      fatal("couldn't find matching task_reduction or reduction with task modifier for %p",
            pointers[i]);
  }
}
