// SPDX-License-Identifier: Apache-2.0
// Threads: the creator places a thread on a core, and it stays there. The ready threads of a core
// run in turn; if the core has a slice, a thread that runs for so long loses its turn.
#pragma once

#include <atomic>

#include "kernel/arch/machine.hpp"

namespace tutti::kernel {

struct bucket;

struct thread {
  enum class state : u8 { running, ready, blocked };

  machine::context context;
  core* home = nullptr;
  const char* name = "";
  state now = state::ready;

  // The links of the queue in which it is: ready, or waiting in a bucket (park.hpp).
  thread* next = nullptr;
  thread* previous = nullptr;
  const void* waits_for = nullptr;
  std::atomic<bucket*> waits_in{nullptr};

  // The sleep until a time: the clock's ticks, or 0, and whether the time has come.
  thread* next_timed = nullptr;
  u64 wake_at = 0;
  bool timed_out = false;

  void (*run)(void*) = nullptr;
  void* argument = nullptr;
  u8* stack = nullptr;
  u64 stack_bytes = 0;
  u8* thread_local_block = nullptr;
  // Its function has returned: join() waits for it to become 1.
  std::atomic<u32> has_ended{0};
  // It has ended and runs nowhere.
  std::atomic<bool> has_left{false};
};

inline constexpr u64 usual_stack_bytes = machine::thread_stack_bytes;

// Makes a thread that runs run(argument) on the core. Join it.
thread* create(u32 core, void (*run)(void*), void* argument, const char* name = "",
               u64 stack_bytes = usual_stack_bytes) noexcept;
// Waits until the thread has ended, and frees it.
void join(thread* t) noexcept;
[[noreturn]] void end_thread() noexcept;

thread& self() noexcept;
// Lets the next ready thread of this core run.
void yield() noexcept;
// Returns once the clock has reached `at` ticks.
void sleep_until(u64 at) noexcept;

// --- for the kernel's own code, with interrupts off

enum class wake_up { queued, kicked };
// Puts a blocked thread into its core's queue: at the end, or in front with an interrupt that lets
// it run at once. The caller's own core gets no interrupt: the caller runs on until it yields,
// waits, or its slice ends. Of several threads that are put in front, the last one runs first.
void make_ready(thread& t, wake_up how) noexcept;
// Runs the next ready thread. The caller has marked its own as blocked, or gets another turn.
void reschedule() noexcept;
void wake_at(thread& t, u64 at) noexcept;
void cancel_wake(thread& t) noexcept;

// Starts the threads of this core: the caller becomes its idle thread, and calls run_idle().
void start_threads(u32 index) noexcept;
[[noreturn]] void run_idle() noexcept;
// Sets the slice of all cores, in ticks; 0 is without preemption. That of the calling thread begins
// now, and those of threads that run on other cores at their next turn.
void set_slice(u64 ticks) noexcept;

}  // namespace tutti::kernel
