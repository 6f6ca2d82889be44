// SPDX-License-Identifier: Apache-2.0
// The table of the actions that events name. An action may be removed while events for it are under
// way: after remove() has returned it does not run and will not run, and those events are dropped.
//
// A receiver writes which action it is about to run, and then looks whether that is still in the
// table. remove() takes the action out of the table, and then waits for the receivers that say that
// they run it. Sequential consistency puts these four operations in one order, so at least one of
// the two sides sees what the other did.
//
// Source     the action descriptor table of Hale and Dinda 2018, section IV.B; the announcements
//            are the hazard pointers of Michael 2004
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/event/inbox.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"

namespace tutti {

template <class Memory>
class action_table {
 public:
  // What an event runs. It may post events and remove actions, and must neither wait nor throw: an
  // exception ends the program, because other events of its receiver would be lost.
  using function = void (*)(void* argument, rank_t sender, std::uintptr_t payload);
  // add() returns it if the table is full.
  static constexpr action_id none = ~action_id{0};

  explicit action_table(rank_t receivers) : running_(receivers) {}

  // Thread-safe.
  action_id add(function act, void* argument) noexcept {
    lock_.lock();
    action_id made = none;
    for (std::uint32_t i = 0; i < most_actions && made == none; ++i) {
      description& d = descriptions_[i];
      // relaxed: only owners of the lock write it.
      const std::uint32_t last = d.registered.load(relaxed);
      if ((last & vacant) == 0 || d.is_leaving) continue;
      const std::uint32_t number = (last & ~vacant) % last_number + 1;
      d.act = act;
      d.argument = argument;
      // release: publishes the action to the receivers of its events; pairs with run().
      d.registered.store(number, Memory::order("actions.add", release));
      made = number * most_actions + i;
    }
    lock_.unlock();
    return made;
  }

  // Removes the action, and returns when no receiver runs it. If an action calls it, it gives the
  // receiver that runs it, whose run it does not wait for. Two actions that run at the same time
  // must not remove each other, nor several in a cycle: each would wait for the next one's end.
  // Returns false if the action is not in the table. Thread-safe.
  bool remove(action_id action, rank_t by_receiver = any_rank) noexcept {
    description& d = descriptions_[action % most_actions];
    lock_.lock();
    // relaxed: only owners of the lock write it.
    const bool is_there = d.registered.load(relaxed) == action / most_actions;
    if (is_there) {
      d.is_leaving = true;
      // seq_cst: in the one order before the looks below; pairs with the receiver's announcement
      // and look.
      d.registered.store(action / most_actions | vacant, Memory::order("actions.remove", seq_cst));
    }
    lock_.unlock();
    if (!is_there) return false;
    for (rank_t r = 0; r < running_.size(); ++r) {
      if (r == by_receiver) continue;
      // seq_cst: follows the removal in the one order, and sees what the action did; pairs with
      // the announcement and the end of run().
      while (running_[r].value.load(Memory::order("actions.await", seq_cst)) == action + 1)
        Memory::relax();
    }
    lock_.lock();
    d.is_leaving = false;
    lock_.unlock();
    return true;
  }

  // Returns whether the action is in the table. A thread that has the name from add(), or from a
  // thread that synchronised with it, finds the action until it is removed.
  bool has(action_id action) const noexcept {
    // relaxed: reads the registration that the name stands for, or a later one; run() orders what
    // the action reads.
    return descriptions_[action % most_actions].registered.load(relaxed) == action / most_actions;
  }

  // Runs an action as `receiver`, and returns false if it is no longer in the table. One thread at
  // a time may run actions as a receiver.
  bool run(rank_t receiver, rank_t sender, action_id action, std::uintptr_t payload) noexcept {
    auto& announced = running_[receiver].value;
    description& d = descriptions_[action % most_actions];
    // seq_cst: in the one order before the look; pairs with remove().
    announced.store(action + 1, Memory::order("actions.announce", seq_cst));
    // seq_cst: follows the announcement in the one order, and sees what add() wrote.
    const bool is_there =
        d.registered.load(Memory::order("actions.look", seq_cst)) == action / most_actions;
    if (is_there) {
      const function act = d.act;
      act(d.argument, sender, payload);
    }
    // release: what the action did comes before the return of remove(), which sees this.
    announced.store(0, Memory::order("actions.end", release));
    return is_there;
  }

 private:
  // A place without an action has this bit beside the number of its last registration. No name has
  // it in its number, so that the look of run() and remove() finds no action that was never added
  // either.
  static constexpr std::uint32_t vacant = std::uint32_t{1} << 31;
  // Registrations of a place are numbered 1 .. last_number, and then from 1 again; the number in
  // `none` is left out.
  static constexpr std::uint32_t last_number = none / most_actions - 1;
  static_assert(none / most_actions < vacant);

  struct alignas(cache_line) description {
    typename Memory::template atomic<std::uint32_t> registered{vacant};
    typename Memory::template plain<function> act{};
    typename Memory::template plain<void*> argument{};
    // Under the lock: somebody waits for its last run.
    bool is_leaving = false;
  };

  typename Memory::mutex lock_;
  description descriptions_[most_actions];
  // For each receiver the action that it runs plus one, or 0.
  array<padded<typename Memory::template atomic<std::uint32_t>>> running_;
};

}  // namespace tutti
