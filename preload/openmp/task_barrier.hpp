// SPDX-License-Identifier: Apache-2.0
// The barrier of a team: a ticket barrier (barrier/ticket.hpp) that also waits until all tasks have
// ended. Threads that wait run tasks.
//
// One word counts the tickets. A phase is what the team does between two barriers. It has as many
// tickets as the team has threads, and the last one ends it. A phase in which a task was made has
// one ticket more, which a thread draws when all threads have arrived and no task is left. The
// thread that makes the first task of a phase notes that before it arrives, so all threads that see
// the last one's ticket see the note. Thus a phase without tasks costs what a ticket barrier costs.
//
// *Who sees a new task?* A thread that makes a task notes it, puts it into a queue, and then looks
// whether threads have arrived. A thread arrives, and then looks at the note and the queues. The
// one order of seq_cst operations lets at least one of them see the other. Without it no task would
// be lost, but nobody would help its maker.
//
// The platform and the wait policy are parameters, so that the model checker runs this code
// (tests/model/task_barriers.cpp).
#pragma once

#include <cstdint>
#include <utility>

#include "tutti/platform/config.hpp"

namespace tutti::openmp {

// A group has at least so many threads (pass_by_groups).
template <class Memory, class Wait, unsigned FewestInGroup = 4>
class task_barrier {
 public:
  using wait_state = typename Wait::wait_state;

  // Where a thread is in its region.
  struct phase {
    // The tickets when the present phase began.
    std::uint32_t begin = 0;
    // Whether the thread has passed an odd number of the region's barriers that wait for tasks.
    bool is_odd = false;
    bool operator==(const phase&) const = default;
  };

  // The tickets at which the first phase of a region begins. All threads of the last region have
  // left by now, or need nothing but to see that their phase has ended.
  std::uint32_t restart() const noexcept {
    // relaxed: the opening of the region publishes them.
    return tickets_of(word_.load(relaxed));
  }
  // About how many phases a team of so many threads has ended; the number wraps around.
  std::uint32_t phases(unsigned size) const noexcept {
    // relaxed: a hint.
    return word_.load(relaxed) / (ticket * size);
  }
  // The constructs `single` that a thread of the team has begun to run, when a region begins.
  std::uint32_t singles(unsigned size) const noexcept {
    // relaxed: only ranks of the region change it, and the opening publishes it.
    return (size < least_size_of_groups ? singles_ : singles_of_many_).load(relaxed);
  }
  // Whether the caller is the first to come to the construct that `before` others precede, of which
  // nobody may have run some.
  bool is_first_at_single(std::uint32_t before, unsigned size) noexcept {
    auto& singles = size < least_size_of_groups ? singles_ : singles_of_many_;
    // Most threads of a large team come later, and need not take the line away from the others.
    // relaxed: the count publishes nothing.
    std::uint32_t now = singles.load(relaxed);
    while (static_cast<std::int32_t>(before - now) >= 0)
      // relaxed: see above.
      if (singles.compare_exchange_strong(now, before + 1, relaxed, relaxed)) return true;
    return false;
  }
  template <class Patience>
  void set_patience(Patience p) noexcept {
    wait_.set_patience(p);
  }

  // Where a thread of a region that can be cancelled is after the next barrier.
  static constexpr phase after(const phase& now, unsigned size) noexcept {
    return {all_of(now, size) + ticket, !now.is_odd};
  }

  // Arrives for a thread that does not wait.
  void arrive(const phase& now, unsigned size) noexcept {
    if (draw(all_of(now, size))) wait_.notify_ordered(word_);
  }
  // Waits for all threads of a team that has no tasks.
  void pass(wait_state& mine, phase& now, unsigned size) noexcept {
    now.begin = all_of(now, size);
    if (draw(now.begin)) return wait_.notify_ordered(word_);
    wait_until_passed(mine, now.begin);
  }
  // The same where each thread has a CPU. The threads of a group count their arrivals on a line of
  // its own, and the last one draws the tickets of all: with 16 threads the line on which the
  // others poll then changes four times, not 16. All threads of the team have to call it in this
  // phase.
  void pass_by_groups(wait_state& mine, phase& now, unsigned rank, unsigned size) noexcept {
    now.begin = all_of(now, size);
    if (draw_for_group(now.begin, rank, size)) return wait_.notify_ordered(word_);
    wait_until_passed(mine, now.begin);
  }
  // The least number of threads for which groups are faster: with 4 threads they take longer, with
  // 8 they do not (measured on 16 cores).
  static constexpr unsigned least_size_of_groups = 6;
  // Waits for all threads and until all tasks of the phase have ended. `tasks` is the caller's:
  //   take()           a task that it may run, or null
  //   run(task)        runs it
  //   are_queued()     whether there is one; the answer may be out of date
  //   have_all_ended() whether all tasks have ended that were made; called by threads that have
  //                    seen all arrivals
  //   stops(was_told)  for pass_or_stop(): whether the caller stops waiting. If it was told to
  //                    look, the others have not seen that
  template <class Tasks>
  void pass(wait_state& mine, phase& now, unsigned size, Tasks& tasks) {
    std::uint32_t end = all_of(now, size);
    if (!wait_without_tasks(mine, now.is_odd, end, draw(end))) {
      run_tasks(mine, end, tasks);
      end += ticket;
    }
    // Until here, tasks that the thread has run may have made others in this phase.
    now = {end, !now.is_odd};
  }
  // The same if the region can be cancelled. All phases have the additional ticket, then. Returns
  // false if tasks.stops() said so.
  template <class Tasks>
  bool pass_or_stop(wait_state& mine, phase& now, unsigned size, Tasks& tasks) {
    const std::uint32_t all = all_of(now, size);
    draw(all);
    const bool has_ended = run_tasks(mine, all, tasks);
    now = after(now, size);
    return has_ended;
  }

  // The thread is about to make a task: the phase gets its additional ticket.
  void note_task(const phase& now, unsigned size) noexcept {
    typename Memory::template atomic<std::uint32_t>& noted = with_tasks_[now.is_odd ? 1 : 0];
    const std::uint32_t all = all_of(now, size);
    // relaxed: the ticket of the thread publishes it.
    if (noted.load(relaxed) != all) noted.store(all, relaxed);
  }
  // The task is in a queue: wakes a thread that sleeps here, or lets one that polls look. `mine` is
  // the phase of the caller, or null if it is in another team.
  void announce_task(const phase* mine) noexcept {
    // seq_cst: the note and the task come before the look for arrivals; see above.
    Memory::fence("task_barrier.announce", seq_cst);
    // relaxed: see above.
    const std::uint32_t now = word_.load(relaxed);
    const bool has_arrivals = mine == nullptr || tickets_of(now) != mine->begin;
    if (has_arrivals && (now & look_again) == 0) wake_one();
  }
  // Tells all that wait that there is something to look at.
  void tell_to_look() noexcept {
    // seq_cst: follows what the waiters shall see; the one order puts it before the check for
    // sleepers.
    const std::uint32_t before =
        word_.fetch_or(look_again, Memory::order("task_barrier.tell", seq_cst));
    if ((before & look_again) == 0) wait_.notify_ordered(word_);
  }
  // Lets the next task or cancellation tell anew: for a thread that has been told, and before a
  // region if the last one has left something to look at.
  void clear_look_again() noexcept {
    // relaxed: a thread that has been told has a fence behind this; before a region nobody waits.
    word_.fetch_and(~look_again, relaxed);
  }

 private:
  static constexpr std::uint32_t ticket = 2, look_again = 1;

  static constexpr std::uint32_t tickets_of(std::uint32_t word) noexcept {
    return word & ~look_again;
  }
  static constexpr bool has_passed(std::uint32_t word, std::uint32_t end) noexcept {
    return static_cast<std::int32_t>(tickets_of(word) - end) >= 0;
  }
  // The tickets at which all threads have arrived.
  static constexpr std::uint32_t all_of(const phase& now, unsigned size) noexcept {
    return now.begin + size * ticket;
  }

  // Draws the thread's ticket. Returns true if it is the last thread to arrive.
  bool draw(std::uint32_t all) noexcept {
    // seq_cst: acquire and release pass all ranks' writes from ticket to ticket; the one order puts
    // the last ticket before the check for sleepers, and each before the look for tasks.
    const std::uint32_t before =
        word_.fetch_add(ticket, Memory::order("task_barrier.arrive", seq_cst));
    return tickets_of(before) + ticket == all;
  }

  // The same for one of the threads of a group. The others of the group return false.
  bool draw_for_group(std::uint32_t all, unsigned rank, unsigned size) noexcept {
    const unsigned fan = size <= FewestInGroup * most_groups
                             ? FewestInGroup
                             : (size + most_groups - 1) / most_groups;
    const unsigned first = rank - rank % fan, members = size - first < fan ? size - first : fan;
    group& mine = groups_[first / fan];
    // acq_rel: the last one of the group acquires what the others wrote; its tickets publish it.
    if (mine.arrived.fetch_add(1, Memory::order("task_barrier.arrive_in_group", acq_rel)) + 1 !=
        members)
      return false;
    // relaxed: the tickets publish it to the next phase.
    mine.arrived.store(0, relaxed);
    // seq_cst: see draw().
    const std::uint32_t before =
        word_.fetch_add(members * ticket, Memory::order("task_barrier.arrive_as_group", seq_cst));
    return tickets_of(before) + members * ticket == all;
  }

  std::uint32_t seen_tickets() const noexcept {
    // acquire: pairs with every ticket of the phase.
    return word_.load(Memory::order("task_barrier.wait", acquire));
  }

  // Whether a task was made in the phase. False is final if all tickets have been seen.
  bool has_made_tasks(bool is_odd, std::uint32_t all) const noexcept {
    // seq_cst: the one order puts it after the thread's ticket, and after the fence below.
    return with_tasks_[is_odd ? 1 : 0].load(Memory::order("task_barrier.look", seq_cst)) == all;
  }

  void wake_one() noexcept {
    // relaxed: notify_one orders it.
    word_.fetch_or(look_again, relaxed);
    wait_.notify_one(word_);
  }

  void wait_until_passed(wait_state& mine, std::uint32_t end) noexcept {
    // acquire: pairs with every ticket of the phase.
    wait_.until(mine, word_, Memory::order("task_barrier.wait", acquire),
                [end](std::uint32_t seen) { return has_passed(seen, end); });
  }

  // Waits until the thread is told to look, or the word has passed `end`.
  void wait_until_told_or(wait_state& mine, std::uint32_t end) noexcept {
    // acquire: pairs with every ticket of the phase.
    wait_.until(
        mine, word_, Memory::order("task_barrier.wait", acquire),
        [end](std::uint32_t seen) { return has_passed(seen, end) || (seen & look_again) != 0; });
  }

  // After the thread's ticket: waits until all have theirs. Returns false as soon as it sees that a
  // task was made in this phase.
  bool wait_without_tasks(wait_state& mine, bool is_odd, std::uint32_t all, bool is_last) noexcept {
    for (;;) {
      if (has_made_tasks(is_odd, all)) return false;
      if (is_last) {
        wait_.notify_ordered(word_);
        return true;
      }
      wait_until_told_or(mine, all);
      if (has_passed(seen_tickets(), all)) return !has_made_tasks(is_odd, all);
      clear_look_again();
      // seq_cst: a thread that makes a task and finds the bit set tells nobody. It has noted the
      // task before this, then.
      Memory::fence("task_barrier.told", seq_cst);
    }
  }

  // After the thread's ticket: runs tasks while it waits for the additional ticket.
  template <class Tasks>
  bool run_tasks(wait_state& mine, std::uint32_t all, Tasks& tasks) {
    const std::uint32_t end = all + ticket;
    bool has_waited = false;
    for (;;) {
      std::uint32_t now = seen_tickets();
      if (has_passed(now, end)) return true;
      const bool was_told = (now & look_again) != 0;
      if (was_told) clear_look_again();
      // seq_cst: puts the arrival, what it was told, and the end of a task before the looks at the
      // queues and at the counts.
      Memory::fence("task_barrier.look_for_tasks", seq_cst);
      if (tasks.stops(was_told)) return false;
      if (auto* const task = tasks.take()) {
        // A thread that makes many tasks at once wakes one thread, which wakes the next one. It
        // does so even if no thread sleeps: one that polls may have missed the bit that this one
        // cleared.
        if (std::exchange(has_waited, false) && tasks.are_queued()) wake_one();
        tasks.run(*task);
        continue;
      }
      now = seen_tickets();
      if (tickets_of(now) == all && tasks.have_all_ended()) {
        // seq_cst: as every ticket. relaxed: a failure is read again.
        if (word_.compare_exchange_weak(now, end | (now & look_again),
                                        Memory::order("task_barrier.end", seq_cst), relaxed)) {
          wait_.notify_ordered(word_);
          return true;
        }
        continue;
      }
      wait_until_told_or(mine, end);
      has_waited = true;
    }
  }

  static constexpr unsigned most_groups = 16;
  struct alignas(cache_line) group {
    typename Memory::template atomic<std::uint32_t> arrived{0};
  };

  alignas(cache_line) typename Memory::template atomic<std::uint32_t> word_{0};
  // They end at the barrier, so in a small team the core that has received the line here draws its
  // ticket without a further transfer.
  typename Memory::template atomic<std::uint32_t> singles_{0};
  Wait wait_{0};
  // For the even and the odd phases of a region: the tickets at which all threads will have arrived
  // in the last phase in which a task was made. No thread is two phases ahead of another, so the
  // phases that anybody reads about have places of their own. Threads that make many tasks read
  // them while others change the word, so they lie on a line of their own.
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> with_tasks_[2]{};
  // The count of a team whose threads would disturb those that draw tickets.
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> singles_of_many_{0};
  // How many threads of each group have arrived in this phase.
  group groups_[most_groups];
};

}  // namespace tutti::openmp
