// SPDX-License-Identifier: Apache-2.0
// What the functions of clang's interface have in common. Each names the place in the source and
// the number of the thread that calls it; both are unused here, because the thread knows itself.
#pragma once

#include <cstdint>

#include "preload/openmp/locks.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/threads.hpp"

// gomp.map gives their version, which is named VERSION, as in LLVM's library.
#define TUTTI_KMPC extern "C" [[gnu::visibility("default")]]

namespace tutti::openmp {

// The layout is the compiler's.
struct source_place {
  std::int32_t unused1;
  std::int32_t flags;
  std::int32_t unused2, unused3;
  const char* text;
};
// The values of the flags.
enum : std::int32_t {
  explicit_barrier = 0x20,
  implicit_barrier = 0x40,
  work_sections = 0x400,
  work_distribute = 0x800,
};

// The names of a critical region have 32 bytes of zeros, in which a lock has room.
inline small_lock& lock_in(void* name) { return *static_cast<small_lock*>(name); }

void end_kmpc_group(thread& me);

// Whether the thread runs a task that it makes at once, so that it knows the sizes of the copies
// that it combines later.
bool learns_sizes(const thread& me);

// Nestable locks (routines.cpp). The owner is the task for libgomp's programs and the thread for
// clang's, because the tasks that a thread runs one inside of another share LLVM's nestable locks.
void set_nest_lock(void* lock, const void* owner, ompt::call_site at);
int test_nest_lock(void* lock, const void* owner, ompt::call_site at);

}  // namespace tutti::openmp
