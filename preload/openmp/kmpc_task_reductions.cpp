// SPDX-License-Identifier: Apache-2.0
// Clang's interface: reductions over tasks. Each variable has a copy for each thread.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "preload/openmp/environment.hpp"
#include "preload/openmp/kmpc.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"

namespace tutti::openmp {

// The layout is the compiler's.
struct reduced_variable {
  void* shared;
  void* original;
  std::size_t bytes;
  void (*begin)(void* copy, void* original);
  void (*end)(void* copy);
  void (*combine)(void* into, void* copy);
  unsigned flags;
};

// Clang's functions for a variable whose size is known at run time read it from a variable of the
// thread, which a task sets before it asks for its copy. So a copy cannot be made earlier, nor by
// another thread.
constexpr unsigned has_delayed_copies = 1;

struct copies {
  reduced_variable variable;
  std::size_t stride;
  // Those of all threads, or null if each thread makes its own.
  std::byte* memory;
  atomic<std::byte*>* of_thread;

  // Returns null if the thread has none yet.
  std::byte* of(unsigned rank) const {
    // relaxed: its thread wrote it, or one whose tasks the caller has waited for.
    return memory != nullptr ? memory + rank * stride : of_thread[rank].load(relaxed);
  }
  bool has(const void* address, unsigned threads) const {
    const auto is_in = [&](const std::byte* copy, std::size_t bytes) {
      const auto* const wanted = static_cast<const std::byte*>(address);
      return wanted >= copy && wanted < copy + bytes;
    };
    // A task that names a global variable passes its address, even if `shared` is a private copy.
    if (address == variable.shared || address == variable.original) return true;
    if (memory != nullptr) return is_in(memory, threads * stride);
    for (unsigned t = 0; t < threads; ++t) {
      const std::byte* const copy = of(t);
      if (copy != nullptr && is_in(copy, variable.bytes)) return true;
    }
    return false;
  }
};

namespace {

std::byte* allocate(std::size_t bytes) {
  void* const memory = std::aligned_alloc(64, bytes);
  if (memory == nullptr) fatal("Out of memory allocating %lu bytes", bytes);
  return static_cast<std::byte*>(memory);
}

void begin_copy(const reduced_variable& v, std::byte* copy) {
  if (v.begin != nullptr)
    v.begin(copy, v.original);
  else
    std::memset(copy, 0, v.bytes);
}

std::byte* own_copy(const copies& c, unsigned rank) {
  std::byte* copy = c.of(rank);
  if (copy == nullptr) {
    copy = allocate(c.stride);
    begin_copy(c.variable, copy);
    // relaxed: the end of the task publishes it.
    c.of_thread[rank].store(copy, relaxed);
  }
  return copy;
}

}  // namespace

struct kmpc_reductions {
  kmpc_reductions* outer = nullptr;
  unsigned threads = 0;
  // The thread that combines delayed copies has to know their sizes. It does when it has made a
  // copy of its own of each variable. Only that thread uses the member.
  bool needs_sizes = false;
  unsigned opened_by = 0;
  // Where the copies are shared, the variables of each thread are others, and their memory is not.
  bool owns_memory = true;
  std::vector<copies> all;
};

namespace {

kmpc_reductions* make_reductions(const thread& me, int count, const reduced_variable* variables) {
  auto* const made = new kmpc_reductions;
  made->threads = me.now.team->size;
  made->opened_by = me.now.rank;
  for (int i = 0; i < count; ++i) {
    const reduced_variable& v = variables[i];
    copies c{v, (v.bytes + 63) / 64 * 64, nullptr, nullptr};
    if ((v.flags & has_delayed_copies) != 0) {
      c.of_thread = new atomic<std::byte*>[made->threads] {};
      made->needs_sizes = true;
    } else {
      c.memory = allocate(c.stride * made->threads);
      for (unsigned t = 0; t < made->threads; ++t) begin_copy(v, c.memory + t * c.stride);
    }
    made->all.push_back(c);
  }
  return made;
}

void attach(thread& me, kmpc_reductions* made) {
  if (me.now.current->group == nullptr) start_group(me, false);
  taskgroup& group = *me.now.current->group;
  made->outer = group.of_clang;
  group.of_clang = made;
}

bool has_all_copies(const kmpc_reductions& r, unsigned rank) {
  return std::ranges::all_of(r.all, [rank](const copies& c) { return c.of(rank) != nullptr; });
}

// Adds the copies in the order of the ranks, unless the region is cancelled, and frees them.
void combine(kmpc_reductions& r, bool is_cancelled = false) {
  for (copies& c : r.all) {
    for (unsigned t = 0; t < r.threads; ++t) {
      std::byte* const copy = c.of(t);
      if (copy == nullptr) continue;
      if (!is_cancelled) c.variable.combine(c.variable.shared, copy);
      if (c.variable.end != nullptr) c.variable.end(copy);
      if (c.memory == nullptr) std::free(copy);
    }
    std::free(c.memory);
    delete[] c.of_thread;
  }
}

}  // namespace

void discard_reductions(thread& me) {
  task& current = *me.now.current;
  omp_team& team = *me.now.team;
  while (current.group != team.group) {
    taskgroup* const group = current.group;
    while (kmpc_reductions* const r = group->of_clang) {
      group->of_clang = r->outer;
      if (r->owns_memory) combine(*r, true);
      delete r;
    }
    current.group = group->outer;
    me.free_groups.give(group);
  }
  if (me.now.rank != 0) return;
  for (kmpc_reductions*& shared : team.shared_reductions) {
    if (shared == nullptr) continue;
    combine(*shared, true);
    delete shared;
    shared = nullptr;
  }
}

bool learns_sizes(const thread& me) {
  const taskgroup* const group = me.now.current->group;
  if (group == nullptr || group->of_clang == nullptr) return false;
  const kmpc_reductions& r = *group->of_clang;
  return r.opened_by == me.now.rank && r.needs_sizes;
}

void end_kmpc_group(thread& me) {
  taskgroup* const group = me.now.current->group;
  if (group == nullptr) return;
  wait_for_group(me, *group);
  while (kmpc_reductions* const r = group->of_clang) {
    group->of_clang = r->outer;
    if (r->owns_memory) combine(*r);
    delete r;
  }
  end_group(me);
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

TUTTI_KMPC void __kmpc_taskgroup(source_place*, int) {
  thread& me = self();
  start_group(me, false);
  if (ompt::is_on()) ompt::group_begins(me, TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC void __kmpc_end_taskgroup(source_place*, int) {
  thread& me = self();
  ompt::in_sync_region(me, ompt_sync_region_taskgroup, TUTTI_OMPT_CALL_SITE,
                       [&me] { end_kmpc_group(me); });
}

TUTTI_KMPC void* __kmpc_taskred_init(int, int count, reduced_variable* variables) {
  thread& me = self();
  attach(me, make_reductions(me, count, variables));
  return me.now.current->group;
}

namespace {

// What earlier compilers pass. Their function that begins a copy takes the copy alone.
struct earlier_variable {
  void* shared;
  std::size_t bytes;
  void (*begin)(void* copy, void* unused);
  void (*end)(void* copy);
  void (*combine)(void* into, void* copy);
  unsigned flags;
};

std::vector<reduced_variable> converted(int count, const earlier_variable* variables) {
  std::vector<reduced_variable> all;
  for (int i = 0; i < count; ++i) {
    const earlier_variable& v = variables[i];
    all.push_back({v.shared, v.shared, v.bytes, v.begin, v.end, v.combine, v.flags});
  }
  return all;
}

}  // namespace

TUTTI_KMPC void* __kmpc_task_reduction_init(int number, int count, earlier_variable* variables) {
  return __kmpc_taskred_init(number, count, converted(count, variables).data());
}

TUTTI_KMPC void* __kmpc_task_reduction_get_th_data(int, void* group, void* variable) {
  thread& me = self();
  auto* g = group != nullptr ? static_cast<taskgroup*>(group) : me.now.current->group;
  for (; g != nullptr; g = g->outer) {
    for (kmpc_reductions* r = g->of_clang; r != nullptr; r = r->outer) {
      for (const copies& c : r->all) {
        if (!c.has(variable, r->threads)) continue;
        std::byte* const copy = own_copy(c, me.now.rank);
        if (r->opened_by == me.now.rank && r->needs_sizes)
          r->needs_sizes = !has_all_copies(*r, me.now.rank);
        return copy;
      }
    }
  }
  fatal("couldn't find matching task_reduction or reduction with task modifier for %p", variable);
}

// A reduction of a region or of a loop in whose tasks variables take part: all threads have the
// same copies, and each has a variable of its own, to which the last thread adds them.
TUTTI_KMPC void* __kmpc_taskred_modifier_init(source_place*, int, int is_loop, int count,
                                              reduced_variable* variables) {
  thread& me = self();
  omp_team& team = *me.now.team;
  start_group(me, false);
  auto* const mine = new kmpc_reductions;
  {
    const locked guard(team.task_lock);
    kmpc_reductions*& shared = team.shared_reductions[is_loop != 0];
    if (shared == nullptr) {
      shared = make_reductions(me, count, variables);
      team.reduction_users[is_loop != 0] = team.size;
    }
    *mine = *shared;
  }
  mine->owns_memory = false;
  mine->opened_by = me.now.rank;
  for (int i = 0; i < count; ++i) mine->all[static_cast<std::size_t>(i)].variable = variables[i];
  attach(me, mine);
  return me.now.current->group;
}

TUTTI_KMPC void* __kmpc_task_reduction_modifier_init(source_place* place, int number, int is_loop,
                                                     int count, earlier_variable* variables) {
  return __kmpc_taskred_modifier_init(place, number, is_loop, count,
                                      converted(count, variables).data());
}

TUTTI_KMPC void __kmpc_task_reduction_modifier_fini(source_place*, int, int is_loop) {
  thread& me = self();
  omp_team& team = *me.now.team;
  taskgroup* const group = me.now.current->group;
  if (group == nullptr || group->of_clang == nullptr) return;
  wait_for_group(me, *group);
  kmpc_reductions* const mine = group->of_clang;
  kmpc_reductions* shared = nullptr;
  {
    const locked guard(team.task_lock);
    if (--team.reduction_users[is_loop != 0] == 0)
      shared = std::exchange(team.shared_reductions[is_loop != 0], nullptr);
  }
  if (shared != nullptr) {
    combine(*mine);
    delete shared;
  }
  group->of_clang = mine->outer;
  delete mine;
  end_group(me);
}
