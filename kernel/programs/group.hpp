// SPDX-License-Identifier: Apache-2.0
// Threads for the programs: one on each core, or on chosen cores, and threads that only yield.
#pragma once

#include <atomic>
#include <initializer_list>

#include "kernel/core/core.hpp"
#include "kernel/core/panic.hpp"
#include "kernel/core/text.hpp"
#include "kernel/core/thread.hpp"

namespace tutti::kernel {

// Runs work(core) in a thread on each of the first `count` cores, and waits for all.
template <class Work>
void run_on_cores(u32 count, Work work) {
  struct job {
    Work* work;
    u32 core;
  };
  job jobs[machine::most_cores];
  thread* threads[machine::most_cores];
  for (u32 i = 0; i < count; ++i) {
    jobs[i] = {&work, i};
    const auto run = [](void* argument) {
      const job& mine = *static_cast<job*>(argument);
      (*mine.work)(mine.core);
    };
    threads[i] = create(i, run, &jobs[i], "work");
  }
  for (u32 i = 0; i < count; ++i) join(threads[i]);
}

// A thread on each core that computes for a while and yields, again and again, as the background
// thread of the paper's kernel does.
class background_threads {
 public:
  // `work` is the length of a turn in polls.
  explicit background_threads(u32 work) noexcept : work_(work) {
    for (u32 i = 0; i < cores(); ++i) threads_[i] = create(i, run, this, "background");
  }
  ~background_threads() {
    // relaxed: join() orders the rest.
    is_over_.store(true, relaxed);
    for (u32 i = 0; i < cores(); ++i) join(threads_[i]);
  }
  background_threads(const background_threads&) = delete;
  background_threads& operator=(const background_threads&) = delete;

 private:
  static void run(void* argument) {
    const background_threads& all = *static_cast<background_threads*>(argument);
    // relaxed: only the end matters.
    while (!all.is_over_.load(relaxed)) {
      for (u32 i = 0; i < all.work_; ++i) machine::pause();
      yield();
    }
  }

  u32 work_;
  std::atomic<bool> is_over_{false};
  thread* threads_[machine::most_cores] = {};
};

// What the clock counts: the word unit= of the command line, if it is one of these. On a virtual
// machine no ticks are cycles.
inline const char* unit_of(const char* line) noexcept {
  for (const char* each : {"instructions", "emulated_ticks"})
    if (text::is_value(line, "unit", each)) return each;
  if (text::is_value(line, "unit", "cycles"))
    return machine::described().is_virtual ? "emulated_ticks" : "cycles";
  return "ticks";
}

// Counts the checks of a program and prints those that fail.
class checks {
 public:
  template <class... Parts>
  void expect(bool holds, const Parts&... what) noexcept {
    ++count_;
    if (holds) return;
    ++failed_;
    print("failed: ", what...);
  }
  // Prints the result and returns whether all held.
  bool report(const char* name) const noexcept {
    print("{\"type\":\"checked\",\"program\":\"", name, "\",\"cores\":", cores(),
          ",\"checks\":", count_, ",\"failed\":", failed_, "}");
    return failed_ == 0;
  }

 private:
  u64 count_ = 0, failed_ = 0;
};

}  // namespace tutti::kernel
