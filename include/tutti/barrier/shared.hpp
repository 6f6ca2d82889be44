// SPDX-License-Identifier: Apache-2.0
// tutti::shared_barrier: a barrier between processes of one machine, which tells who has died.
//
//   auto sync = tutti::shared_barrier::create_or_attach("stencil", 4);   // in each process
//   sync.join(rank);
//   for (...) {
//     work();
//     const auto met = sync.arrive_and_wait();
//     if (!met) complain(met.rank, met.process);    // that process has ended
//   }
//
// The barrier lies in POSIX shared memory that has a name, or in memory that the program mapped
// itself (build() and at()), such as a shared mapping that its children inherit. A participant is
// the thread that called join(); one thread of a process is usual. An object has one participant at
// most. Threads of one process can take part by one object each.
//
// Death: if a participant ends without leave(), by a signal, exit() or execve(), the kernel tells
// the others, usually within a millisecond (docs/processes.md). Every wait then ends with `died`,
// and names its rank and process. The barrier is broken for good: make another one. All survivors
// agree which phase was the last to end. A participant that is only stopped is waited for; use a
// deadline. A process that ends before it joins is not noticed either.
// fork(): a child is no participant. It may join() with the object that it inherited.
//
// Algorithm: shared_phases.hpp. Waits use process_wait (wait/between_processes.hpp); a sleeper
// sleeps on the word of the barrier and, after 0.2 ms, on one word of each other participant at
// once (futex_waitv, Linux 5.16; before it, sleepers look every millisecond). As insurance a
// sleeper also looks ten times a second: a stopped process may have got the only message, and with
// more than 128 participants each watches 127 others.
// Cost: one compare-and-swap for each arrival; 64 bytes and a cache line for each participant.
//
// Memory ordering: what a participant does before it arrives or leaves happens before any
// participant's return from the wait for that phase.
// Thread-safety: one thread at a time may use an object; participants call at the same time.
// Hosted only: needs the compiled library, and glibc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/barrier/timed.hpp"
#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/hosted.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

struct shared_barrier_options {
  // How long a wait keeps the processor before it sleeps (wait/patience.hpp).
  tutti::patience patience = {};
  // The permissions of the shared memory of a name, as for chmod. The default admits only the
  // processes of the user.
  unsigned mode = 0600;
};

// How a wait has ended. It converts to true if the phase has ended.
struct shared_result {
  // late: the deadline passed. died: a participant has died, and the phase will not end.
  enum class kind : std::uint8_t { ended, late, died };
  kind how = kind::ended;
  std::uint32_t phase = 0;
  // late: the number of arrivals that the phase lacked.
  rank_t missing = 0;
  // died: who.
  rank_t rank = 0;
  std::int32_t process = 0;
  explicit operator bool() const noexcept { return how == kind::ended; }
};

// Tells why a barrier cannot be made, attached or joined.
class TUTTI_API shared_barrier_error : public std::runtime_error {
 public:
  enum class reason {
    exists,       // create: the name is in use
    missing,      // attach: nobody has created the name
    other_kind,   // the memory holds something else, or the barrier of another version
    other_count,  // the barrier is for another number of participants
    died,         // a participant has died, others live
    stale,        // all participants have died or left
    taken,        // join: another participant has this rank, or had it until it left
    system        // the system refuses; the text tells why
  };
  shared_barrier_error(reason why, const std::string& what) : runtime_error(what), why_(why) {}
  reason why() const noexcept { return why_; }

 private:
  reason why_;
};

class TUTTI_CONTAINERS TUTTI_API shared_barrier {
 public:
  static constexpr rank_t most_participants = 1024;

  // ---- by name: 1 to 200 characters without '/', before which one '/' may stand. All throw
  // std::invalid_argument for another name and unless 1 <= participants <= most_participants.

  // Creates the barrier. The name must not be in use, not even by a stale barrier.
  static shared_barrier create(std::string_view name, rank_t participants,
                               shared_barrier_options options = {});
  // Uses a barrier that exists and is not stale. No participant may have died.
  static shared_barrier attach(std::string_view name, rank_t participants);
  // Does whichever is possible. It also replaces a stale barrier, whatever its number of
  // participants. Whoever comes first creates it.
  static shared_barrier create_or_attach(std::string_view name, rank_t participants,
                                         shared_barrier_options options = {});
  // Removes the name. The barrier stays until the last process that uses it ends. Returns false if
  // there was none.
  static bool unlink(std::string_view name);

  // ---- by address

  // Returns the number of bytes that a barrier takes.
  static std::size_t bytes_for(rank_t participants);
  // Builds a barrier in memory at a multiple of 128 bytes. One process does so, before the others
  // call at(). Throws std::invalid_argument if the memory is too small or its place is wrong.
  static void build(void* memory, std::size_t bytes, rank_t participants,
                    shared_barrier_options options = {});
  // Uses the barrier that somebody has built there. The memory must stay mapped while the object
  // exists.
  static shared_barrier at(void* memory, std::size_t bytes, rank_t participants);

  // Leaves, if a thread has joined by this object, and unmaps the memory of a name. If that is
  // another thread, which lives, the memory stays mapped until the process ends, because the thread
  // holds a mutex there; memory of the program (at()) must then stay mapped until the thread ends.
  ~shared_barrier();
  shared_barrier(shared_barrier&& other) noexcept;
  shared_barrier& operator=(shared_barrier&& other) noexcept;

  // ---- participants

  // Makes the calling thread the participant `rank`, or that of the lowest free rank. Returns the
  // rank. Throws shared_barrier_error (taken, died, stale), and std::invalid_argument for a rank
  // out of range and if the object has a participant.
  rank_t join(rank_t rank = any_rank);
  // Ends the part of this participant, which may have arrived in the present phase. Neither this
  // phase nor later ones expect it. Nobody can join as this rank again.
  void leave();

  // ---- for a participant; the calls throw std::invalid_argument if this object has none, or one
  // that has arrived in the present phase already

  // Arrives, and returns the phase to wait for.
  std::uint32_t arrive();
  // Waits for the end of the phase that this object's last arrival counted in. For a phase that has
  // ended it returns at once.
  [[nodiscard]] shared_result wait(std::uint32_t phase);
  [[nodiscard]] shared_result arrive_and_wait();
  // Arrives for the last time, without waiting.
  void arrive_and_drop();

  // The same with a deadline. If it passes, the arrival still counts: wait again for the phase.
  template <class Rep, class Period>
  [[nodiscard]] shared_result wait_for(std::uint32_t phase,
                                       std::chrono::duration<Rep, Period> timeout) {
    return wait_until_ns(phase, deadline_after(timeout).ns());
  }
  template <class Rep, class Period>
  [[nodiscard]] shared_result arrive_and_wait_for(std::chrono::duration<Rep, Period> timeout) {
    return wait_for(arrive(), timeout);
  }

  // ---- about the others; any thread may ask, and every answer is a snapshot

  // Returns the participants that have not arrived in `phase`, in ascending order.
  std::vector<rank_t> missing_ranks(std::uint32_t phase) const;
  // Returns the process of the participant `rank`, or 0 if nobody has joined as it.
  std::int32_t process_of(rank_t rank) const;

  rank_t participants() const noexcept;
  // Returns the rank of this object's participant, or any_rank.
  rank_t rank() const noexcept;
  // Sets the patience of all waits of all participants that begin later.
  void set_patience(patience p) noexcept;

 private:
  struct view;
  explicit shared_barrier(view* v) noexcept : view_(v) {}
  shared_result wait_until_ns(std::uint32_t phase, std::uint64_t deadline_ns);

  view* view_ = nullptr;
};

}  // namespace tutti
