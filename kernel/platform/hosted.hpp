// SPDX-License-Identifier: Apache-2.0
// The kernel's platform for code that is compiled for the hosted C++ library: with what teams need
// besides. It is a type of its own, because the library's templates differ between hosted and
// freestanding code, and the image has both.
#pragma once

#include <vector>

#include "kernel/core/core.hpp"
#include "kernel/platform/policy.hpp"
#include "tutti/platform/topology.hpp"
#include "tutti/team/no_fibers.hpp"

namespace tutti::kernel {

// The threads of a team: thread t runs on core t, modulo the number of cores.
class team_threads {
 public:
  static constexpr u64 stack_bytes = 1 << 18;

  void start(rank_t count, tutti::platform::placement, void (*body)(void*, rank_t), void* context) {
    places_.resize(count);
    for (rank_t t = 1; t < count; ++t) {
      places_[t] = {body, context, t};
      threads_.push_back(create(t % cores(), run, &places_[t], "team", stack_bytes));
    }
  }
  bool has_started() const noexcept { return !threads_.empty(); }
  void join() noexcept {
    for (thread* t : threads_) kernel::join(t);
    threads_.clear();
  }

 private:
  struct place {
    void (*body)(void*, rank_t);
    void* context;
    rank_t thread;
  };
  static void run(void* argument) {
    const place& mine = *static_cast<place*>(argument);
    mine.body(mine.context, mine.thread);
  }

  std::vector<place> places_;
  std::vector<thread*> threads_;
};

struct hosted_memory : memory {
  using threads = team_threads;
  using fiber_group = no_fibers;

  static u32 cores() noexcept { return kernel::cores(); }
  static u64 ticks() noexcept { return machine::ticks(); }
  static double ticks_per_ns() noexcept {
    return static_cast<double>(machine::ticks_per_us()) / 1000;
  }
  static int cpu() noexcept { return static_cast<int>(index_here()); }
  // Threads stay on their cores.
  static void leave_cpu(int) noexcept {}
  template <class T>
  static T& local() noexcept {
    static thread_local constinit T object{};
    return object;
  }
};

}  // namespace tutti::kernel
