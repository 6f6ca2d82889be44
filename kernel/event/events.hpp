// SPDX-License-Identifier: Apache-2.0
// Asynchronous events between cores, after the Active Messages of Hale and Dinda 2018, section
// IV.B: the sender names an action and a payload, and an interrupt runs the action on the receiving
// core. The slots of the events are tutti/event/inbox.hpp, the actions tutti/event/actions.hpp.
//
// The interrupt's handler finds the slots of its core, by the core's number, the ids of actions in
// the slots, and by the id the action's description, which it runs. If a program has one type of
// event only, on_single_event() puts the action itself behind the interrupt.
//
// An action runs with interrupts off, on the handler's stack, and must not wait, nor use
// floating-point registers. It may post events, signal condition variables, and remove actions.
#pragma once

#include "kernel/core/core.hpp"
#include "kernel/platform/policy.hpp"
#include "tutti/event/actions.hpp"
#include "tutti/event/inbox.hpp"

namespace tutti::kernel {

using event_action = void (*)(void* argument, rank_t sender, std::uintptr_t payload);

// Prepares the events of all cores. Call it once, before any other function of this file. Each pair
// of cores has room for `capacity` counted events under way, a power of two.
void start_events(u32 capacity = 64) noexcept;

// How a receiver is told that there are events: by an interrupt, or, if the machine has them, by a
// remote call. Call it while no events are under way.
enum class told_by : u8 { interrupt, remote_call };
void tell_by(told_by how) noexcept;

action_id add_action(event_action act, void* argument) noexcept;
// Returns when no core runs the action any more; it runs on none later. Two actions that run at the
// same time must not remove each other: each would wait for the other's end.
bool remove_action(action_id action) noexcept;

// Whether each post is one run of the action, or posts that the receiver has not yet seen are one.
enum class counting : u8 { each, level };

// Posts an event to a core. Returns false if a counted event finds no room, or if the core does not
// exist. An event of an action that is not in the table is dropped: a level event where it is
// posted, a counted one where it arrives.
bool post_event(u32 core, action_id action, u64 payload, counting how = counting::each) noexcept;
// Posts an event to all other cores, with one interrupt for all. Returns how many had no room.
u32 broadcast_event(action_id action, u64 payload, counting how = counting::each) noexcept;

// Runs the events of this core now, for a core that polls. Returns how many.
u32 take_events() noexcept;

// The short cut: this action, without a table, for interrupts that send_single_event() sends.
void on_single_event(machine::handler act) noexcept;
void send_single_event(u32 core) noexcept;
void broadcast_single_event() noexcept;

// Events that came after their action was removed.
u64 dropped_events() noexcept;

// An event that its receiver polls for in memory: the sender counts up, the receiver spins.
class alignas(cache_line) polled_event {
 public:
  void notify() noexcept {
    // relaxed: only the sender writes it. release: publishes what the sender wrote; pairs with
    // wait().
    count_.store(count_.load(relaxed) + 1, release);
  }
  // Returns the count once it is not `seen`.
  native_word wait(native_word seen) const noexcept {
    native_word now;
    // acquire: pairs with notify().
    while ((now = count_.load(acquire)) == seen) machine::pause();
    return now;
  }

 private:
  std::atomic<native_word> count_{0};
};

}  // namespace tutti::kernel
