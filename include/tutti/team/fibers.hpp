// SPDX-License-Identifier: Apache-2.0
// Several participants on one thread, each a fiber with a stack of its own. Every wait of tutti in a fiber lets the
// next one run (platform/fibers.hpp). Needs the compiled library.
//
// What a fiber must not do: block in a system call (its whole thread would stop), and expect thread_local variables
// for itself (all fibers of a thread see the same). With `checks` the first is found and reported.
// Hosted only: stacks and a library for switching between them.
#pragma once

#include <cstddef>
#include <memory>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/fibers.hpp"

namespace tutti {

struct fiber_options {
  // A guard page follows, so that an overflow is a fault and not a surprise. Touched pages only take memory.
  std::size_t stack_bytes = 256 * 1024;
  // Report a fiber that blocked its thread for more than a millisecond in a system call (tutti::on_misuse).
  bool checks = TUTTI_CHECKS != 0;
};

class team;

namespace detail {
// The team in whose region this thread, or the fiber that runs on it, is.
TUTTI_API inline constinit thread_local const team* team_here = nullptr;
}  // namespace detail

class TUTTI_API fiber_group {
 public:
  // `first_rank` names the fibers in messages. Throws std::bad_alloc without memory for the stacks.
  fiber_group(rank_t count, rank_t first_rank, fiber_options options);
  ~fiber_group();
  fiber_group(const fiber_group&) = delete;
  fiber_group& operator=(const fiber_group&) = delete;

  rank_t size() const noexcept;

  // Calls body(context, i) in each fiber, i = 0 .. size()-1, and returns when all calls have returned. `body` does not
  // throw. Always called by the same thread.
  void run(void (*body)(void* context, rank_t i), void* context);

  // In a fiber that waits for others of its own thread: lets them run. Returns when it is its turn again.
  void let_others_run() noexcept;

  // Waits inside keep the thread: for a fiber that knows that all others of its thread wait for it.
  template <class Wait>
  auto on_behalf_of_all(Wait wait) {
    platform::fiber_host* const here = platform::fibers_here;
    platform::fibers_here = nullptr;
    const auto result = wait();
    platform::fibers_here = here;
    forgive_blocking();
    return result;
  }

 private:
  void forgive_blocking() noexcept;

  class host;
  std::unique_ptr<host> host_;
};

}  // namespace tutti
