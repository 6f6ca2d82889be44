// SPDX-License-Identifier: Apache-2.0
// Communicator across processes: the participants of all processes of an MPI communicator send each
// other small messages, and detect when all of them are done even though none knows how many
// messages are still to come.
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
// Ranks         Process p has the participants p * threads .. p * threads + threads - 1.
// MPI           One thread at a time calls MPI, whichever communicators the threads use; each
//               communicator uses a duplicate. Several threads need MPI_THREAD_SERIALIZED or more.
//               A single thread, the one that made the communicator, needs no particular level.
// Collective    All processes, or all members of a group, make and destroy a communicator together.
//               Meanwhile no other thread of the process may use a communicator that sends packets,
//               unless MPI runs with MPI_THREAD_MULTIPLE.
// Threads       Each endpoint belongs to one thread at a time.
// Library       Needs the compiled library tutti::mpi, which links to no MPI.
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

// This process's part of the communicator.
class communicator {
 public:
  // `of` is the MPI communicator whose processes take part; `mpi` must outlive the communicator.
  // Throws std::invalid_argument, with the same sentence on all processes, for options that are not
  // valid or that differ between processes, and if MPI's thread level is too low. Throws
  // std::runtime_error if MPI reports an error.
  communicator(const calls& mpi, handle of, const options& chosen = {});
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  // The number of participants in all processes.
  rank_t size() const noexcept { return process_->participants(); }
  // The participants of this process, and the rank of the first one.
  rank_t threads() const noexcept { return process_->threads(); }
  rank_t first_rank() const noexcept { return local_.front()->rank(); }
  rank_t processes() const noexcept { return process_->processes(); }
  // Whether all messages travel through shared memory.
  bool is_shared() const noexcept { return room_ != nullptr && process_->is_one_node(); }
  // Whether those between participants of this node do.
  bool shares_node() const noexcept { return room_ != nullptr; }

  // The endpoint with index `thread` in this process. Throws std::out_of_range.
  endpoint& local(rank_t thread) { return *local_.at(thread); }
  // The endpoint of a rank. Throws std::invalid_argument for a participant of another process.
  endpoint& operator[](rank_t rank);

  // Makes a communicator of the participants `ranks`, in that order. Exactly the processes that
  // have one of them must call it. `tag` distinguishes groups that are made at the same time.
  std::unique_ptr<communicator> group(std::span<const rank_t> ranks, int tag = 0);

 private:
  communicator(const calls& mpi, handle of, const options& chosen, layout where);
  bool share_memory();
  rank_t participants_of(const std::vector<std::uint32_t>& processes) const;
  bool has_room(const std::vector<std::uint32_t>& node) const;

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
