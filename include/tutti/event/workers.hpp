// SPDX-License-Identifier: Apache-2.0
// Active messages between threads: a sender posts an action and a payload to a worker, which runs
// the action when it polls or waits.
//
//   tutti::event_workers all(workers, senders);
//   const auto add = all.add(add_payload, &sum);  // calls add_payload(&sum, sender, payload)
//   all.as_sender(3).post(worker, add, 42);      // sender 3
//   all.wait(worker);                            // the worker: runs what there is, or sleeps
//
// post() is counted: each post is one run of the action, in the order of each sender, however many
// senders there are. raise() coalesces: several raises of one action before the worker looks are
// one run, with the last payload. inbox.hpp has the slots, actions.hpp the table of actions.
//
// Cost       a post writes three lines and looks for a sleeper; a worker that is awake sees it
//            after one transfer of a line, and reads three
// Memory ordering: what a sender does before a post happens before the run of the action.
// Thread-safety: one thread at a time may post as a sender, and one may poll or wait as a worker.
// add() and remove() are thread-safe.
// Source     the events of Hale and Dinda 2018, section IV.B, without an interrupt
// Hosted only: it needs exceptions; std::vector and std::chrono are part of the interface.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tutti/barrier/timed.hpp"
#include "tutti/event/actions.hpp"
#include "tutti/event/eventcount.hpp"
#include "tutti/event/inbox.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<event_memory<Memory>>>
class basic_event_workers {
  using site = call_site;

 public:
  using action = typename action_table<Memory>::function;
  static constexpr action_id no_action = action_table<Memory>::none;

  // `capacity` is the number of posts of one sender to one worker that wait at the same time; it is
  // a power of two. Further arguments are those of the wait policy. Throws std::invalid_argument if
  // there is no worker or no sender, or if the capacity is no power of two, and std::bad_alloc if a
  // worker would need more than 2^40 places.
  basic_event_workers(rank_t workers, rank_t senders, std::uint32_t capacity = 256,
                      const auto&... wait_arguments)
      : actions_(workers), senders_(senders) {
    require(workers != 0 && senders != 0, "event_workers need at least one worker and one sender");
    // No machine has memory for so many; a larger number of their bytes could overflow.
    constexpr std::uint64_t most_places = std::uint64_t{1} << 40;
    if (std::uint64_t{senders} * capacity > most_places) throw std::bad_alloc();
    for (rank_t w = 0; w < workers; ++w)
      workers_.push_back(std::make_unique<worker>(senders, capacity, wait_arguments...));
  }

  rank_t workers() const noexcept { return static_cast<rank_t>(workers_.size()); }
  rank_t senders() const noexcept { return senders_; }

  // Sets the patience of all waits that begin later. Returns false if the wait policy has none.
  bool set_patience(patience p) noexcept {
    bool has_patience = false;
    for (const auto& each : workers_)
      has_patience = each->posted_to.set_patience(p) && each->has_room.set_patience(p);
    return has_patience;
  }

  // ---- actions

  // Returns the name of the action, or no_action if there are most_actions already. The action must
  // neither wait nor throw: an exception that leaves it ends the program.
  action_id add(action run, void* argument) noexcept { return actions_.add(run, argument); }
  // Removes the action, and returns when no worker runs it. Posts of it that wait are dropped. An
  // action that calls it gives the worker that runs it. Two actions that run at the same time must
  // not remove each other: each would wait for the other's end. Returns false if there is no such
  // action.
  bool remove(action_id name, rank_t by_worker = any_rank) noexcept {
    return actions_.remove(name, by_worker);
  }

  // ---- senders

  // Returns false if the sender's slots at this worker are full.
  bool try_post(rank_t sender, rank_t to, action_id name, std::uintptr_t payload,
                site where = site::here()) {
    check_sender(sender, where);
    check_worker(to, where);
    return try_post_to(*workers_[to], sender, name, payload);
  }
  // Waits for a free slot. An action must not call it, because its own worker may be the one that
  // must free the slot; it calls try_post().
  void post(rank_t sender, rank_t to, action_id name, std::uintptr_t payload,
            site where = site::here()) {
    check_sender(sender, where);
    check_worker(to, where);
    worker& w = *workers_[to];
    if (try_post_to(w, sender, name, payload)) [[likely]]
      return;
    w.has_room.wait([&]() noexcept { return try_post_to(w, sender, name, payload); });
  }
  // Posts an event that coalesces: the action runs at least once after this, with this payload or a
  // later one of this sender. It is dropped here if the action has been removed.
  void raise(rank_t sender, rank_t to, action_id name, std::uintptr_t payload,
             site where = site::here()) {
    check_sender(sender, where);
    check_worker(to, where);
    if (!actions_.has(name)) return;
    worker& w = *workers_[to];
    if (w.inbox.raise(sender, name, payload) == posted::first) w.posted_to.notify_all();
  }

  // The same calls as one sender.
  class outbox {
   public:
    bool try_post(rank_t to, action_id name, std::uintptr_t payload, site where = site::here()) {
      return all_->try_post(rank_, to, name, payload, where);
    }
    void post(rank_t to, action_id name, std::uintptr_t payload, site where = site::here()) {
      all_->post(rank_, to, name, payload, where);
    }
    void raise(rank_t to, action_id name, std::uintptr_t payload, site where = site::here()) {
      all_->raise(rank_, to, name, payload, where);
    }

   private:
    friend basic_event_workers;
    outbox(basic_event_workers& all, rank_t rank) noexcept : all_(&all), rank_(rank) {}
    basic_event_workers* all_;
    rank_t rank_;
  };
  outbox as_sender(rank_t rank) noexcept { return {*this, rank}; }

  // ---- workers

  // Runs the actions that have been posted, and returns for how many posts; those whose action has
  // been removed count too.
  std::uint32_t poll(rank_t me, site where = site::here()) {
    check_worker(me, where);
    worker& mine = *workers_[me];
    const std::uint32_t count =
        mine.inbox.take([&](rank_t sender, action_id name, std::uintptr_t payload) {
          actions_.run(me, sender, name, payload);
        });
    if (count != 0) mine.has_room.notify_all();
    return count;
  }
  // Waits until there is a post, and does what poll() does. Returns at least 1.
  std::uint32_t wait(rank_t me, site where = site::here()) {
    return wait_by(me, no_deadline{}, where);
  }
  // Return 0 if the deadline passed first.
  template <class Rep, class Period>
  std::uint32_t wait_for(rank_t me, std::chrono::duration<Rep, Period> timeout,
                         site where = site::here()) {
    return wait_by(me, deadline_after<Memory>(timeout), where);
  }
  template <class Clock, class Duration>
  std::uint32_t wait_until(rank_t me, std::chrono::time_point<Clock, Duration> when,
                           site where = site::here()) {
    return wait_by(me, deadline_at<Memory>(when), where);
  }
  template <class Deadline>
  std::uint32_t wait_by(rank_t me, Deadline until, site where = site::here()) {
    for (;;) {
      if (const std::uint32_t count = poll(me, where)) return count;
      worker& mine = *workers_[me];
      if (!mine.posted_to.wait([&]() noexcept { return mine.inbox.has_events(); }, until)) return 0;
    }
  }

 private:
  struct worker {
    worker(rank_t senders, std::uint32_t capacity, const auto&... wait_arguments)
        : inbox(senders, capacity),
          posted_to(rank_t{2}, wait_arguments...),
          has_room(senders, wait_arguments...) {}
    event_inbox<Memory> inbox;
    basic_eventcount<Memory, Wait> posted_to;
    basic_eventcount<Memory, Wait> has_room;
  };

  bool try_post_to(worker& w, rank_t sender, action_id name, std::uintptr_t payload) noexcept {
    const posted p = w.inbox.post(sender, name, payload);
    // The sender whose bit was the first tells the worker.
    if (p == posted::first) w.posted_to.notify_all();
    return p != posted::refused;
  }

  void check_sender(rank_t sender, site where) const {
    if (where.checks() && sender >= senders_) [[unlikely]]
      on_misuse("sender " + std::to_string(sender) + " is out of range for " +
                    std::to_string(senders_) + " senders",
                where.at());
  }
  void check_worker(rank_t me, site where) const {
    if (where.checks() && me >= workers()) [[unlikely]]
      on_misuse("worker " + std::to_string(me) + " is out of range for " +
                    std::to_string(workers()) + " workers",
                where.at());
  }

  action_table<Memory> actions_;
  rank_t senders_;
  std::vector<std::unique_ptr<worker>> workers_;
};

using event_workers = basic_event_workers<>;

}  // namespace tutti
