// SPDX-License-Identifier: Apache-2.0
// The life of a task, for the interfaces of GCC's and of clang's runtimes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "preload/openmp/core.hpp"

namespace tutti::openmp {

// The values of GOMP_task's flags.
enum : unsigned {
  flag_final = 2,
  flag_depend = 8,
  flag_priority = 16,
  flag_up = 256,
  flag_grainsize = 512,
  flag_if = 1024,
  flag_nogroup = 2048,
  flag_reduction = 4096,
  flag_detach = 8192,
  flag_strict = 16384,
};

// A task and its data, which are elsewhere if they are large.
struct task_with_data : task {
  void* allocated = nullptr;
  alignas(64) std::byte room[192];
};

// Makes a child of the current task, with one reference, which its end drops.
task& new_task(thread& me);
void* room_for_data(task& t, long size, long align);
void* copy_data(task& t, void* data, void (*copy)(void*, void*), long size, long align);
void drop(thread& me, task* t);

bool is_cancelled(const task& t);
// Whether the task that the thread is about to make runs before its maker goes on. One that waits
// for something does so only if the program says it.
bool is_included(thread& me, bool if_clause, bool waits);
void submit(thread& me, task& t, std::span<const dependence> depend);
void run_at_once(thread& me, task& t, std::span<const dependence> depend);
void wait_for_children(thread& me);
// Waits for those children that the list names.
void wait_for_dependences(thread& me, std::span<const dependence> depend);
void wait_for_group(thread& me, taskgroup& group);
void fulfill(thread& me, task& t);

// Under the crew's lock.
void add_dependences(thread& me, task& t, std::span<const dependence> list);
void forget_dependences(thread& me, task& t);

// How the iterations of a loop are divided.
struct taskloop_pieces {
  std::uint64_t count = 0, pieces = 1, share = 0, rest = 0;
  // The iterations of a piece before which `done` iterations come.
  std::uint64_t size_of(std::uint64_t piece, std::uint64_t done) const {
    return std::min(count - done, share + (piece < rest ? 1 : 0));
  }
};
// A grain of 0 means that the number of tasks is given; 0 tasks, that neither is.
taskloop_pieces divide_taskloop(std::uint64_t count, std::uint64_t grain, std::uint64_t tasks,
                                bool is_strict, unsigned threads);

}  // namespace tutti::openmp
