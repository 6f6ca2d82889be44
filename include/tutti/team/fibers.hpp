// SPDX-License-Identifier: Apache-2.0
// Several participants on one thread, each a fiber with a stack of its own. Every wait of tutti in
// a fiber lets the next fiber run (platform/fibers.hpp).
//
// A fiber must not block in a system call, because its whole thread would stop; `checks` detects
// and reports that. It must not expect thread_local variables of its own either, because all fibers
// of a thread share them.
// Hosted only: it needs stacks and the compiled library.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/hosted.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/team/forward.hpp"

namespace tutti {

struct fiber_options {
  // The size of each stack in bytes. A guard page lies below each stack, so an overflow ends the
  // program instead of changing other memory. Only the pages that are used take memory.
  std::size_t stack_bytes = 256 * 1024;
  // Whether to report a fiber that blocks its thread in a system call for more than a millisecond
  // (tutti::on_misuse). Without a value: if the source that makes the team is compiled with checks.
  std::optional<bool> checks = {};
};

namespace detail {

template <class Memory>
struct TUTTI_API region_of_thread {
  const basic_team<Memory>* team = nullptr;
};

// The team whose region this thread, or the fiber that runs on it, is in.
template <class Memory>
const basic_team<Memory>*& team_here() noexcept {
  return Memory::template local<region_of_thread<Memory>>().team;
}

}  // namespace detail

// The fibers of one thread. Only that thread may call its functions.
class TUTTI_API fiber_group {
 public:
  // Messages name the fibers by their ranks, which start at `first_rank`. Throws std::bad_alloc if
  // there is no memory for the stacks; its what() tells what ran out.
  fiber_group(rank_t count, rank_t first_rank, fiber_options options);
  ~fiber_group();
  fiber_group(const fiber_group&) = delete;
  fiber_group& operator=(const fiber_group&) = delete;

  rank_t size() const noexcept;

  // Returns an address that belongs to the fiber that runs on this thread, or null if none does.
  static const void* running() noexcept;

  // Calls body(context, i) in each fiber, i = 0 .. size()-1, and returns when all calls have
  // returned. `body` must not throw. The same thread must make all calls.
  void run(void (*body)(void* context, rank_t i), void* context);

  // Lets the other fibers run and returns when it is this fiber's turn again. A fiber that waits
  // for others of its own thread calls it.
  void let_others_run() noexcept;

  // Calls wait() and returns its result. Waits inside do not switch fibers: only a fiber for which
  // all others of its thread wait may call it.
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
