// SPDX-License-Identifier: Apache-2.0
// Communicator across processes: the participants of all processes of an MPI communicator send each other small messages,
// and can tell when all of them are done though nobody knows how many messages will come.
//
//   #include "tutti/mpi/calls_of_mpi_h.hpp"   // mpi.h, without its C++ interface
//   #include "tutti/mpi/communicator.hpp"
//
//   const tutti::mpi::calls mpi = tutti::mpi::calls_of_mpi_h();
//   tutti::mpi::communicator comm(mpi, tutti::mpi::handle_of(MPI_COMM_WORLD), {.threads = 2});
//   auto& me = comm.local(0);           // and comm.local(1) on another thread
//   me.send((me.rank() + 1) % me.size(), 42);
//   while (me.idle(true) == tutti::idle_result::message) me.release(me.recv());
//
// Ranks         process p has the participants p * threads .. p * threads + threads - 1.
// MPI           is used by one thread at a time, whichever communicators they use, each on a duplicate. Several threads
//               need MPI_THREAD_SERIALIZED or more; one thread, which made the communicator, needs nothing.
// Collective    making, destroying: all processes, or all members of a group. Meanwhile no other thread of the process
//               uses a communicator whose messages are packets, unless MPI runs with MPI_THREAD_MULTIPLE.
// Needs the compiled library tutti::mpi, which is linked to no MPI.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/mpi/calls.hpp"
#include "tutti/mpi/endpoint.hpp"
#include "tutti/mpi/options.hpp"
#include "tutti/mpi/process.hpp"
#include "tutti/mpi/shared_room.hpp"

namespace tutti::mpi {

class communicator {
 public:
  // Throws std::invalid_argument, with the same sentence on all processes, for options that cannot be or that differ
  // between processes, and for too low a thread level of MPI; std::runtime_error if MPI reports an error.
  communicator(const calls& mpi, handle of, const options& chosen = {});
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  rank_t size() const noexcept { return process_->participants(); }
  // Participants of this process, and the rank of the first.
  rank_t threads() const noexcept { return process_->threads(); }
  rank_t first_rank() const noexcept { return local_.front()->rank(); }
  rank_t processes() const noexcept { return process_->processes(); }
  // Whether messages travel through shared memory, and not as packets of MPI.
  bool is_shared() const noexcept { return room_ != nullptr; }

  // By the index within this process. Throws std::out_of_range.
  endpoint& local(rank_t thread) { return *local_.at(thread); }
  // By rank. Throws std::invalid_argument for a participant of another process.
  endpoint& operator[](rank_t rank);

  // A communicator of those ranks only, in that order. Called by every process that has one of them, and by no other;
  // `tag` tells groups apart that are made at the same time.
  std::unique_ptr<communicator> group(std::span<const rank_t> ranks, int tag = 0);

 private:
  communicator(const calls& mpi, handle of, const options& chosen, layout where);
  void share_memory();

  const calls& mpi_;
  options chosen_;
  handle group_comm_;
  bool owns_group_comm_ = false;
  std::unique_ptr<process> process_;
  handle node_comm_;
  shared_window window_;
  std::unique_ptr<shared_room> room_;
  std::vector<std::unique_ptr<endpoint>> local_;
};

static_assert(endpoint_like<endpoint>);

}  // namespace tutti::mpi
