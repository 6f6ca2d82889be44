// SPDX-License-Identifier: Apache-2.0
// What the preload knows of a communicator of MPI: which path its collective calls take, and why.
//
// A communicator is set up in its first call of MPI_Barrier, MPI_Bcast or MPI_Allreduce that can be
// served, whoever made it. All its ranks make that call, so all set it up together: they tell each
// other where they run, the first rank of each node makes the room, the others open it, and only if
// all have succeeded is the communicator served. Otherwise all ranks leave its calls to MPI.
//
// An attribute tells when MPI frees the communicator. The program may have attributes, too, whose
// delete functions make collective calls on it, and each rank may have set them earlier or later
// than this one. So it is served, for the thread that frees it, until MPI_Comm_free returns; for
// the others it ends at once, because MPI may give its handle to another one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "preload/mpi/between_nodes.hpp"
#include "preload/mpi/communicator_table.hpp"
#include "preload/mpi/library.hpp"
#include "preload/mpi/progress_pace.hpp"
#include "preload/mpi/room.hpp"

namespace tutti::preload {

// How values of a type are combined; `op` is null if the preload does not serve it.
struct reduction {
  combine op = nullptr;
  std::size_t bytes_each = 0;
};

// Aligned, because the place of its members in lines changes a reduction of 100 ns by 20.
class alignas(cache_line) communicator {
 public:
  // Whether MPI may be asked about a communicator. Before MPI_Init, after MPI_Finalize, and with a
  // handle that is none, MPI reports the mistake, unless the communicator is one of a session.
  static bool can_be_asked_for(const library& mpi, handle comm) noexcept;
  // Whether a call before has set it up, be it served or not.
  static bool is_set_up(const library& mpi, handle comm) noexcept {
    return find(mpi.key(comm)) != nullptr;
  }
  // Returns the communicator, which this call sets up if necessary; null if it is not served. MPI
  // knows the communicator. Collective.
  static communicator* of(const library& mpi, handle comm) noexcept {
    communicator* const known = find(mpi.key(comm));
    if (known != nullptr) [[likely]]
      return known->room_ ? known : nullptr;
    return set_up(mpi, comm);
  }
  // Returns it only if it has been set up before, and is served. A call that must not wait for the
  // others uses this.
  static communicator* of_if_known(const library& mpi, handle comm) noexcept {
    communicator* const known = find(mpi.key(comm));
    return known != nullptr && known->room_ ? known : nullptr;
  }

  int size() const noexcept { return size_; }
  int rank() const noexcept { return rank_; }
  // Whether MPI_Ibarrier is served.
  bool polls_barriers() const noexcept { return polls_barriers_; }

  // What the preload knows of a reduction of this type by this operation. Programs mostly repeat
  // the last one.
  reduction reduction_by(handle type, handle op) noexcept {
    if (mpi_.key(type) != last_type_ || mpi_.key(op) != last_op_) [[unlikely]]
      look_up(type, op);
    return last_;
  }

  // The calls. They return MPI's error codes. In a barrier of two ranks on one node the one that
  // comes last needs no register but those that every function may use, so the compiler saves none.
  int barrier() noexcept {
    ++served_.barriers;
    if (!is_of_two_) return barrier_of_many();
    if (!room_->arrive_of_two()) return wait_for_other();
    if (room_->is_asleep()) return wake_other();
    return pace_.looks() ? look() : 0;
  }
  // `data` has `bytes` bytes, at most room::most_bytes. `sent` is what the root has sent.
  int bcast(void* data, std::size_t bytes, int root, std::size_t& sent) noexcept;
  // Inlined into both of its callers: a call with nine arguments costs 20 ns.
  [[gnu::always_inline]] int allreduce(const void* mine, void* result, std::size_t count,
                                       std::size_t bytes, combine op, handle type,
                                       handle mpi_op) noexcept {
    ++served_.reductions;
    room_->leave(mine, bytes);
    arrive_and_wait(allreduce_name);
    if (outer_) return allreduce_between_nodes({result, count, bytes, op, type, mpi_op});
    room_->combine_all(op, result, count, bytes);
    return 0;
  }

  // A started barrier keeps the room, also beyond MPI_Comm_free.
  room& hold() noexcept;
  // Lets MPI work on what it has begun, beside a wait for others on this communicator, which may
  // have been freed.
  void make_progress() noexcept;
  // A call that was not served although the communicator is.
  void note_passed_on() noexcept { ++passed_on_; }
  void let_go() noexcept;

  // Call these before and after MPI_Comm_free and MPI_Comm_disconnect, in the same thread.
  static void begin_to_free(const library& mpi, handle comm) noexcept;
  static void end_of_freeing(const library& mpi, handle comm, bool is_freed) noexcept;
  // Where nobody stands before these calls, as in Open MPI's component: `frees_are_told`, and
  // forget() is called, at least once, before MPI gives the handle to another communicator.
  static inline bool frees_are_told = false;
  static void forget(const library& mpi, handle comm) noexcept;
  // Call this when MPI_Finalize has returned: from now on MPI reports calls on the world and on the
  // communicators that the program has not freed. Those of sessions that were set up without the
  // world stay.
  static void end_of_world() noexcept;

  struct counts {
    std::uint64_t barriers = 0, started_barriers = 0, broadcasts = 0, reductions = 0;
  };

 private:
  communicator(const library& mpi, handle comm, bool has_world) noexcept
      : mpi_(mpi), comm_(comm), has_world_(has_world) {}
  static communicator* find(handle key) noexcept {
    communicator* const known = the_communicators.find(key);
    if (known != nullptr) [[likely]]
      return known;
    const being_freed* const here = freed_here(key);
    return here == nullptr ? nullptr : here->known;
  }
  // A communicator that this thread frees; `known` is set when its attribute is deleted, or when a
  // delete function makes the first call on it. A delete function may free another one. An error
  // handler that jumps out of MPI_Comm_free leaves this behind, on one rank perhaps. So it decides
  // only where a communicator is kept, and not whether one is set up, while this has room for more.
  struct being_freed {
    handle key = 0;
    communicator* known = nullptr;
  };
  static being_freed* freed_here(handle key) noexcept;
  [[gnu::cold, gnu::noinline]] void look_up(handle type, handle op) noexcept;
  [[gnu::cold, gnu::noinline]] static communicator* set_up(const library& mpi,
                                                           handle comm) noexcept;
  static int on_free(handle comm, int key, void* attribute, void* extra) noexcept;
  // Has MPI call on_free(). Returns false if MPI cannot.
  bool set_attribute() noexcept;
  // Nobody calls it any more.
  void end() noexcept;
  void say_what_was_served() const;

  // Returns the reason why it cannot be served; empty if it can.
  std::string join();
  bool is_of_one_job() const;
  // Sets the group of all ranks of the job. Returns false if MPI does not tell it.
  bool find_job(handle_space& group) const;
  std::string name() const;
  void say(const std::string& what) const;
  static constexpr auto barrier_name = "MPI_Barrier", allreduce_name = "MPI_Allreduce";
  [[gnu::noinline]] int barrier_of_many() noexcept;
  [[gnu::noinline]] int wait_for_other() noexcept;
  [[gnu::cold, gnu::noinline]] int wake_other() noexcept;
  // Each call does this when the others need nothing more from this rank, and before it waits for
  // them: a call that does not wait for long would make no progress otherwise.
  void progress_if_due() noexcept {
    if (pace_.looks()) [[unlikely]]
      look();
  }
  // Reads the clock. Returns 0.
  [[gnu::cold, gnu::noinline]] int look() noexcept;
  // What follows when the ranks of this node have arrived.
  int allreduce_between_nodes(const reduced& r) noexcept;
  // After an arrival that was not the last.
  [[gnu::noinline]] void wait_for_others(const char* call) noexcept;
  void arrive_and_wait(const char* call) noexcept {
    if (room_->arrive())
      progress_if_due();
    else
      wait_for_others(call);
  }
  void publish(const void* data, std::size_t bytes, const char* call) noexcept;
  std::size_t take(void* data, std::size_t most, int root, const char* call) noexcept;
  void make_room_in_ring(const char* call) noexcept;
  void begin() noexcept;
  // Calls wait(deadline, is_again) until it returns true.
  template <class Wait, class Missing, class Outside>
  void insist(const char* call, Wait wait, Missing is_missing, Outside is_outside) noexcept;
  std::uint64_t longer_ns() const noexcept;
  template <class Missing>
  [[gnu::cold, gnu::noinline]] void report(const char* call, Missing is_missing) noexcept;
  // Says who is missing, and ends the job.
  [[gnu::cold]] void end_job(const char* call, const std::string& missing) noexcept;
  [[gnu::cold]] void end_job_because(const std::string& why) noexcept;
  void abort() noexcept;

  const library& mpi_;
  handle comm_;
  int size_ = 0, rank_ = 0;
  std::optional<room> room_;
  std::size_t room_bytes_ = 0;
  // MPI calls on_free() when it is freed.
  bool tells_its_end_ = false;
  bool polls_barriers_ = false;
  // There are two ranks, on one node.
  bool is_of_two_ = false;
  std::uint64_t deadline_ns_ = 0;
  // Null if all ranks are on one node.
  std::unique_ptr<between_nodes> outer_;
  // The number of each rank's node, and its rank on its node. Empty if there is one node.
  std::vector<int> node_of_, place_on_node_;
  int node_ = 0;
  // The type and operation of the last reduction, by key. Handles of predefined ones never change
  // their meaning, and all others have none here.
  handle last_type_ = 0, last_op_ = 0;
  reduction last_;
  // What makes progress while a rank waits.
  void (*progress_)(std::uintptr_t comm) noexcept = nullptr;
  progress_pace pace_;
  counts served_;
  std::uint64_t passed_on_ = 0;
  std::string name_when_set_up_;
  // The communicator itself and the barriers that have been started.
  std::atomic<int> users_{1};
  std::atomic<bool> is_freed_{false};
  // Whether MPI_COMM_WORLD is there: between MPI_Init and MPI_Finalize. Otherwise this communicator
  // is one of a session.
  bool has_world_;
};

}  // namespace tutti::preload
