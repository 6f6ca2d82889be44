// SPDX-License-Identifier: Apache-2.0
// The barrier of a team, which also waits until all tasks of the team have ended.
#pragma once

#include <cstdint>

#include "preload/openmp/atomic.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/wait/adaptive.hpp"

namespace tutti::openmp {

struct omp_team;
struct thread;

// The word counts tickets. Each phase has as many tickets as threads, and the last ticket ends it.
// A phase in which a task was made, and each phase if regions can be cancelled, has one ticket more,
// which a thread draws when all threads have arrived and no task is left. The lowest bit tells the
// waiters that there is something to look at: a task to run, or that the region is cancelled.
struct team_barrier {
  static constexpr std::uint32_t ticket = 2, look_again = 1;
  static constexpr std::uint32_t tickets_of(std::uint32_t word) noexcept {
    return word & ~look_again;
  }
  static constexpr bool has_passed(std::uint32_t word, std::uint32_t end) noexcept {
    return static_cast<std::int32_t>(tickets_of(word) - end) >= 0;
  }

  alignas(cache_line) atomic<std::uint32_t> word{0};
  // The constructs `single` that a thread has begun to run. They end at the barrier, so the core
  // that has received the line here draws its ticket without a further transfer.
  atomic<std::uint32_t> singles{0};
  adaptive_wait<> wait{0};
  // For the even and the odd phases of a region: the tickets at which all threads will have arrived
  // in the last phase in which a task was made. No thread is two phases ahead of another, so the
  // phases that anybody reads about have places of their own. Threads that make many tasks read them
  // while others change the word, so they lie on a line of their own.
  alignas(cache_line) atomic<std::uint32_t> with_tasks[2]{};

  // Returns the tickets at which the first phase of a region begins. All threads of the last region
  // have left by now, or need nothing but to see that their phase has ended.
  std::uint32_t restart() noexcept;
  // Gives the phase that ends with `all` tickets a further one.
  void note_task(bool is_odd, std::uint32_t all) noexcept;
  // Whether it has one. True once a task was made; false is final when all tickets have been seen.
  bool has_made_tasks(bool is_odd, std::uint32_t all) const noexcept;
  // Sets the bit and wakes the waiters.
  void tell_to_look() noexcept;
  // Clears the bit. The caller looks afterwards whether there is something to do.
  void clear_look_again() noexcept;
};

// Waits for all ranks and, if the team may have tasks, until all have ended. Returns true if the
// region is cancelled; only callers with `can_be_cancelled` then stop waiting.
bool wait_at_barrier(thread& me, bool can_be_cancelled);
// The barriers at the end of a region. The rank has left the order of combination of
// reproducible.hpp before, so it takes no turn there, unlike in wait_at_barrier().
void wait_at_end_without_tasks(thread& me);
void wait_at_end_with_tasks(thread& me);
// Tells all that wait at barriers of the team to look again.
void wake_barriers(omp_team& team);
// Tells those that wait at the team's barrier that there is a task, and wakes one that sleeps.
void wake_one_for_task(omp_team& team);

// Sleeps until the thread's wake word is no longer `seen`.
void sleep_until_woken(thread& me, std::uint32_t seen);
// Changes the thread's wake word.
void wake(thread& waiter) noexcept;

}  // namespace tutti::openmp
