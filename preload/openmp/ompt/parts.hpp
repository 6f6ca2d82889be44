// SPDX-License-Identifier: Apache-2.0
// What threads, teams and tasks remember for a tool. Without a tool nobody reads or writes it.
#pragma once

#include <atomic>
#include <cstdint>

#include "preload/openmp/ompt/omp-tools.h"

namespace tutti::openmp {
struct thread;
}

namespace tutti::openmp::ompt {

// Where the program has called the runtime: the return address, and the frame of the runtime's
// function, from which its callees' frames have lower addresses. GCC reads the frame's address from
// the stack pointer; clang needs a frame pointer for it.
struct call_site {
  const void* code = nullptr;
  void* frame = nullptr;
};
#if defined(__clang__)
#define TUTTI_OMPT_FRAME __builtin_frame_address(0)
inline constexpr int frame_flags = ompt_frame_runtime | ompt_frame_framepointer;
#else
#define TUTTI_OMPT_FRAME __builtin_dwarf_cfa()
inline constexpr int frame_flags = ompt_frame_runtime | ompt_frame_cfa;
#endif
// It belongs into the functions that the program calls.
#define TUTTI_OMPT_CALL_SITE \
  (::tutti::openmp::ompt::call_site{__builtin_return_address(0), TUTTI_OMPT_FRAME})

struct thread_part {
  ompt_data_t data{};
  int state = ompt_state_undefined;
  ompt_wait_id_t wait_id = 0;
  bool is_worker = false;
  // Whether the tool knows the thread.
  bool is_known = false;
  std::atomic<bool> is_in_callback{false};
  // The thread that the tool has got to know before.
  thread* older = nullptr;
};

struct team_part {
  ompt_data_t data{};
  int flags = 0;
  call_site opened_at;
};

struct task_part {
  ompt_data_t data{};
  ompt_frame_t frame{};
  int flags = 0;
  // The rank of the thread that runs it.
  unsigned rank = 0;
  // Whether its last event was that it waits for omp_fulfill_event. The team's lock protects it.
  bool has_detached = false;
  // The worksharing construct in which the task is, or 0.
  int work = 0;
  call_site work_at;
};

}  // namespace tutti::openmp::ompt
