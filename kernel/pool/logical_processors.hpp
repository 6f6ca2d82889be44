// SPDX-License-Identifier: Apache-2.0
// A pool of logical processors as the runtime Legion has it (Hale and Dinda 2018, section III.B):
// each is a thread that runs tasks one after another. The submitter of a task tells all of them;
// those that are idle wake up and race for the task.
//
// A Notice is how they are told; look() and wait() miss no tell() between them:
//   look()        what has been told so far
//   wait(i, seen) processor i waits until look() would return something else
//   tell()        ends all waits
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti::kernel {

template <class Notice>
class logical_processors {
 public:
  using task = void (*)(void* argument) noexcept;

  explicit logical_processors(Notice& notice) noexcept : notice_(notice) {}

  // Gives the task to one of the processors. One thread submits, and only after the task before
  // has begun.
  void submit(task run, void* argument) noexcept {
    task_ = run;
    argument_ = argument;
    // release: publishes the task; pairs with claim().
    submitted_.fetch_add(1, std::memory_order_release);
    notice_.tell();
  }

  // What the thread of processor i runs until end().
  void serve(std::uint32_t i) noexcept {
    for (bool was_told = false;;) {
      const auto seen = notice_.look();
      // acquire: pairs with end().
      if (over_.load(std::memory_order_acquire)) return;
      if (try_one()) {
        was_told = false;
        continue;
      }
      if (was_told) count_lost_race();
      notice_.wait(i, seen);
      was_told = true;
    }
  }

  // Runs the task if nobody else has claimed it. Returns whether it did.
  bool try_one() noexcept {
    // acquire: the next line reads at least this number, because whoever claimed it has seen it
    // submitted; pairs with the exchange below.
    std::uint64_t mine = claimed_.load(std::memory_order_acquire);
    // acquire: the task is seen; pairs with submit().
    if (mine == submitted_.load(std::memory_order_acquire)) return false;
    // release: pairs with the load above.
    // relaxed: if it fails, another processor has the task.
    if (!claimed_.compare_exchange_strong(mine, mine + 1, std::memory_order_release,
                                          std::memory_order_relaxed))
      return false;
    task_(argument_);
    return true;
  }

  // Lets serve() return on all processors.
  void end() noexcept {
    // release: pairs with serve().
    over_.store(true, std::memory_order_release);
    notice_.tell();
  }

  // How often a processor was told of a task that another one had claimed.
  void count_lost_race() noexcept {
    lost_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count.
  }
  std::uint64_t lost_races() const noexcept {
    return lost_.load(std::memory_order_relaxed);  // relaxed: a count.
  }

 private:
  Notice& notice_;
  task task_ = nullptr;
  void* argument_ = nullptr;
  alignas(128) std::atomic<std::uint64_t> submitted_{0};
  std::atomic<bool> over_{false};
  alignas(128) std::atomic<std::uint64_t> claimed_{0};
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace tutti::kernel
