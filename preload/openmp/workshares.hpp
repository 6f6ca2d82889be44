// SPDX-License-Identifier: Apache-2.0
// Worksharing constructs: loops, sections and scopes. The first thread that comes to one makes an
// object for it and appends it to the object of the construct before. Each thread follows this
// chain at its own pace, and the last thread that moves on from an object frees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "preload/openmp/atomic.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/locks.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::openmp {

struct omp_team;
struct thread;

// The iterations of a loop, and how they are distributed.
struct iterations {
  unsigned schedule = schedule_static;
  bool is_ordered = false;
  bool is_sections = false;
  // Iteration i has the value first + i * step; after the last one comes `end`. Arithmetic wraps
  // around, so it serves signed and unsigned loops, up and down.
  std::uint64_t first = 0, step = 1, end = 0, count = 0;
  std::uint64_t chunk = 1;
};

// What the program says about a construct.
struct plan : iterations {
  // Memory for all threads, which `scan` uses.
  std::size_t memory_bytes = 0;
  std::uintptr_t* reductions = nullptr;
  // The extents of a doacross loop.
  std::vector<std::uint64_t> extents;
};

// A construct that the threads of a team have begun. What they read all the time has a cache line
// of its own; the rest they write one after the other, and the thread that takes the last
// iterations then has the line with which it moves on.
struct alignas(cache_line) workshare : iterations {
  // What the plan has asked for: memory, and the first thread's reductions.
  void* memory = nullptr;
  std::uintptr_t* reductions = nullptr;
  // How far each thread (static) or each chunk of the outer doacross loop has come.
  atomic<std::uint64_t>* progress = nullptr;
  std::vector<std::uint64_t> extents;
  // The number of iterations handed out. The lock keeps it and the number of chunks together, for
  // ordered loops.
  alignas(cache_line) atomic<std::uint64_t> taken{0};
  atomic<workshare*> next{nullptr};
  std::uint64_t chunks = 0;
  // The threads that have moved on to the next construct.
  atomic<unsigned> passed{0};
  // The chunk whose ordered region may run.
  atomic<std::uint32_t> turn{0};
  small_lock lock;
};

// Moves the thread on to the next construct, which the first thread that comes makes.
workshare& next_workshare(thread& me, const plan& wanted, bool& is_first);
// Makes the construct with which a combined region such as `parallel for` begins, before it opens.
workshare* make_first_workshare(thread& me, omp_team& team, const plan& wanted);
// Frees what is left after a region.
void free_workshares(thread& me, omp_team& team);

}  // namespace tutti::openmp
