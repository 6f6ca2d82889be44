// SPDX-License-Identifier: Apache-2.0
// The events that several senders post to one receiver, which an interrupt (or its own polling)
// makes look: no event is lost, and a sender that need not interrupt is told so.
//
// Each sender has slots of its own, so two senders never overwrite each other and no slot is
// written under a lock:
//   counted events   a ring of entries (action, payload): each post is one run of the action
//   level events     a bit for each of 32 actions, and the payload of the last raise: several
//                    raises before the receiver looks are one run
// After its slot, the sender sets its bit in a word of the receiver. If the word was 0, nobody has
// told the receiver since it last looked, and this sender must interrupt it. The receiver takes the
// word, which becomes 0, and then empties the slots of those senders.
//
// Cost       a post is three writes to lines of this pair of cores and one read-modify-write of the
//            receiver's word, at most one interrupt for all posts until the receiver looks
// Source     the slots replace the action lookup table of Hale and Dinda 2018, section IV.B, which
//            has one entry for each receiver
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

// What became of an event.
enum class posted : std::uint8_t {
  refused,    // the sender's ring is full: nothing was posted
  announced,  // the receiver has been told already and will look
  first,      // the receiver must be interrupted
};

// Names an action (actions.hpp): its place in the table, and the number of its registration there.
using action_id = std::uint32_t;
inline constexpr std::uint32_t most_actions = 32;

template <class Memory>
class event_inbox {
 public:
  // `capacity` is the number of counted events of one sender that wait at the same time; it is a
  // power of two. Throws std::invalid_argument if it is not.
  event_inbox(rank_t senders, std::uint32_t capacity)
      : senders_(senders),
        capacity_(capacity),
        entries_(std::size_t{senders} * capacity),
        slots_(senders),
        pending_((senders + 31) / 32) {
    require(capacity != 0 && (capacity & (capacity - 1)) == 0,
            "the capacity of an event_inbox must be a power of two");
  }

  // Posts one event. One thread at a time may post as `sender`, 0 .. senders-1.
  posted post(rank_t sender, action_id action, std::uintptr_t payload) noexcept {
    slot& mine = slots_[sender];
    // relaxed: only this sender writes it.
    const std::uint32_t tail = mine.written.load(relaxed);
    if (tail - mine.seen_taken == capacity_) {
      // acquire: the receiver has read the entries that are written again; pairs with its release.
      mine.seen_taken = mine.taken.load(Memory::order("event_inbox.room", acquire));
      if (tail - mine.seen_taken == capacity_) return posted::refused;
    }
    entry& e = entries_[entry_of(sender, tail)];
    e.action = action;
    e.payload = payload;
    // release: publishes the entry; pairs with the receiver's look at the tail, which may come
    // before this sender's bit is set.
    mine.written.store(tail + 1, Memory::order("event_inbox.publish", release));
    return announce(sender);
  }

  // Posts a level event: the action runs at least once after this, with this payload or a later
  // one. It is never refused. One thread at a time may post as `sender`.
  // The caller has found the action in the table (action_table::has). An action that has left it
  // would take the slot from the one that has its place now, whose raise would be lost.
  posted raise(rank_t sender, action_id action, std::uintptr_t payload) noexcept {
    slot& mine = slots_[sender];
    level& l = mine.levels[action % most_actions];
    // relaxed: only this sender writes it.
    const bool is_other = l.raised_action.load(relaxed) != action;
    // relaxed: a receiver that sees the payload below sees this too.
    if (is_other) l.raised_action.store(no_action, relaxed);
    // release: publishes what the payload stands for, and that the slot changes; pairs with
    // lower().
    l.raised_payload.store(payload, Memory::order("event_inbox.payload", release));
    // release: publishes the payload; pairs with lower().
    if (is_other) l.raised_action.store(action, Memory::order("event_inbox.name", release));
    // release: whoever takes the bit sees the slot; pairs with lower().
    mine.raised.fetch_or(std::uint32_t{1} << action % most_actions,
                         Memory::order("event_inbox.raise", release));
    return announce(sender);
  }

  // Calls run(sender, action, payload) for all events that were announced, in the order of each
  // sender, and returns how many. Only the receiver calls it, and not inside of `run`, which must
  // not throw.
  template <class Run>
  std::uint32_t take(Run run) {
    std::uint32_t count = 0;
    for (std::uint32_t group = 0; group < pending_.size(); ++group) {
      // acquire: sees the slots of all senders whose bits it takes; pairs with announce().
      std::uint32_t bits =
          pending_[group].value.exchange(0, Memory::order("event_inbox.take", acquire));
      for (rank_t sender = group * 32; bits != 0; ++sender, bits >>= 1)
        if ((bits & 1) != 0) count += empty(sender, run);
    }
    return count;
  }

  // Whether take() would find an event. The answer may be out of date.
  bool has_events() const noexcept {
    for (std::uint32_t group = 0; group < pending_.size(); ++group)
      // relaxed: take() orders.
      if (pending_[group].value.load(relaxed) != 0) return true;
    return false;
  }

  rank_t senders() const noexcept { return senders_; }

 private:
  template <class T>
  using atomic = typename Memory::template atomic<T>;

  struct entry {
    typename Memory::template plain<action_id> action{};
    typename Memory::template plain<std::uintptr_t> payload{};
  };
  static constexpr action_id no_action = ~action_id{0};
  struct level {
    atomic<action_id> raised_action{no_action};
    atomic<std::uintptr_t> raised_payload{0};
  };
  // The first line is the sender's, the second is written by both, the third is the receiver's.
  struct slot {
    alignas(cache_line) atomic<std::uint32_t> written{0};
    std::uint32_t seen_taken = 0;
    alignas(cache_line) atomic<std::uint32_t> raised{0};
    level levels[most_actions];
    alignas(cache_line) atomic<std::uint32_t> taken{0};
  };

  std::size_t entry_of(rank_t sender, std::uint32_t number) const noexcept {
    return std::size_t{sender} * capacity_ + (number & (capacity_ - 1));
  }

  posted announce(rank_t sender) noexcept {
    // release: publishes the slot to the receiver, which looks only at the slots whose bits it
    // takes; pairs with take().
    const std::uint32_t before = pending_[sender / 32].value.fetch_or(
        std::uint32_t{1} << sender % 32, Memory::order("event_inbox.announce", release));
    return before == 0 ? posted::first : posted::announced;
  }

  template <class Run>
  std::uint32_t empty(rank_t sender, Run& run) {
    slot& theirs = slots_[sender];
    std::uint32_t count = 0;
    // relaxed: only the receiver writes it.
    std::uint32_t next = theirs.taken.load(relaxed);
    // acquire: sees the entries; pairs with post().
    const std::uint32_t tail = theirs.written.load(Memory::order("event_inbox.look", acquire));
    for (; next != tail; ++count) {
      const entry& e = entries_[entry_of(sender, next)];
      const action_id action = e.action;
      const std::uintptr_t payload = e.payload;
      // release: the entry has been read and may be written again; pairs with the look for room.
      theirs.taken.store(++next, Memory::order("event_inbox.release", release));
      run(sender, action, payload);
    }
    // relaxed: a bit that is set later is announced later.
    if (theirs.raised.load(relaxed) == 0) return count;
    return count + lower(sender, theirs, run);
  }

  template <class Run>
  std::uint32_t lower(rank_t sender, slot& theirs, Run& run) {
    std::uint32_t count = 0;
    // acquire: sees the slots of the bits; pairs with raise().
    std::uint32_t bits = theirs.raised.exchange(0, Memory::order("event_inbox.lower", acquire));
    for (std::uint32_t i = 0; bits != 0; ++i, bits >>= 1) {
      if ((bits & 1) == 0) continue;
      level& l = theirs.levels[i];
      // acquire: sees this action's payload; pairs with raise().
      const action_id action = l.raised_action.load(Memory::order("event_inbox.which", acquire));
      // acquire: sees what the payload stands for, and the slot's change if it belongs to another
      // action; pairs with raise().
      const std::uintptr_t payload =
          l.raised_payload.load(Memory::order("event_inbox.read_payload", acquire));
      // relaxed: the load of the payload orders it. If the slot has changed, the sender raises an
      // action that has taken this one's place, and announces it later.
      if (action == no_action || l.raised_action.load(relaxed) != action) continue;
      run(sender, action, payload);
      ++count;
    }
    return count;
  }

  rank_t senders_;
  std::uint32_t capacity_;
  array<entry> entries_;
  array<slot> slots_;
  array<padded<atomic<std::uint32_t>>> pending_;
};

}  // namespace tutti
