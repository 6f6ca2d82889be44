// SPDX-License-Identifier: Apache-2.0
// tutti::mpi::communicator: where its participants run, the memory that they share, and groups.
#include "tutti/mpi/communicator.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "tutti/platform/misuse.hpp"

namespace tutti::mpi {
namespace {

void check(const calls& mpi, int error, const char* what) {
  if (error == 0) return;
  std::array<char, 256> words{};
  mpi.text(error, words.data(), words.size());
  throw std::runtime_error(std::string("tutti: ") + what + " failed: " + words.data());
}

// Gives each process the same number of participants, in the order of the processes.
layout equal_layout(std::uint32_t processes, rank_t threads) {
  layout where;
  for (std::uint32_t p = 0; p < processes; ++p) {
    auto& ranks = where.participants.emplace_back();
    for (rank_t thread = 0; thread < threads; ++thread) {
      ranks.push_back(static_cast<rank_t>(where.process_of.size()));
      where.process_of.push_back(p);
      where.thread_of.push_back(thread);
    }
  }
  return where;
}

layout layout_of(const calls& mpi, handle of, const options& chosen) {
  if (mpi.version != calls::current_version)
    refuse("the table of MPI's functions has version " + std::to_string(mpi.version) +
           "; it must be " + std::to_string(calls::current_version));
  bool runs = false, serialized = false;
  check(mpi, mpi.state(&runs, &serialized), "MPI_Initialized");
  if (!runs) refuse("mpi::communicator: MPI is not initialized, or has been finalized");
  if (chosen.threads > 1 && !serialized)
    refuse("mpi::communicator: " + std::to_string(chosen.threads) +
           " threads need MPI initialized with MPI_THREAD_SERIALIZED or more");
  bool is_inter = false;
  check(mpi, mpi.is_intercommunicator(of, &is_inter), "MPI_Comm_test_inter");
  if (is_inter)
    refuse(
        "mpi::communicator: this communicator of MPI connects two groups of processes; merge them "
        "with MPI_Intercomm_merge first");
  int processes = 0;
  check(mpi, mpi.size(of, &processes), "MPI_Comm_size");
  // Values out of range are refused later, by all processes together, once they have met.
  const rank_t threads = std::clamp<rank_t>(chosen.threads, 1, 4096);
  return equal_layout(static_cast<std::uint32_t>(processes), threads);
}

}  // namespace

communicator::communicator(const calls& mpi, handle of, const options& chosen)
    : communicator(mpi, of, chosen, layout_of(mpi, of, chosen)) {}

communicator::communicator(const calls& mpi, handle of, const options& chosen, layout where)
    : mpi_(mpi),
      chosen_(chosen),
      process_(std::make_unique<process>(mpi, of, chosen, std::move(where))) {
  const std::size_t ring_bytes =
      shared_room::ring_bytes_for(participants_of(process_->processes_here()), chosen.ring_bytes);
  if (chosen.transport == "shared" &&
      !(process_->is_one_node() && has_room(process_->processes_here())))
    refuse("mpi::communicator: transport 'shared' needs all processes on one node, and at most " +
           std::to_string(shared_room::most_participants) + " participants");
  if (chosen.transport != "mpi" && !share_memory() && chosen.transport == "shared")
    refuse("mpi::communicator: transport 'shared': MPI cannot share memory between all processes");
  for (std::uint32_t thread = 0; thread < process_->threads(); ++thread)
    local_.push_back(std::make_unique<endpoint>(*process_, room_.get(), thread, ring_bytes));
}

rank_t communicator::participants_of(const std::vector<std::uint32_t>& some) const {
  std::size_t all = 0;
  for (const std::uint32_t one : some) all += process_->where().participants[one].size();
  return static_cast<rank_t>(all);
}

// Whether the participants of a node share a room. A single one beside other nodes has nobody to
// share it with.
bool communicator::has_room(const std::vector<std::uint32_t>& node) const {
  const rank_t here = participants_of(node);
  return here <= shared_room::most_participants && (here > 1 || process_->is_one_node());
}

// Makes the rooms of all nodes of this machine in one window, because Open MPI 4.1 takes one file
// for the windows of communicators that have no process in common. Returns false if MPI sees
// several machines where the kernel sees one; MPI is right.
bool communicator::share_memory() {
  // By node; the rooms begin at cache lines.
  std::vector<std::size_t> begins;
  std::size_t end = 0;
  for (const auto& node : process_->nodes()) {
    begins.push_back(end);
    if (!has_room(node)) continue;
    const rank_t here = participants_of(node);
    end += shared_room::bytes_for(here, shared_room::ring_bytes_for(here, chosen_.ring_bytes)) +
           cache_line;
    end -= end % cache_line;
  }
  check(mpi_, mpi_.same_node(process_->comm(), &node_comm_), "MPI_Comm_split_type");
  int rank = 0, sharers = 0;
  check(mpi_, mpi_.rank(node_comm_, &rank), "MPI_Comm_rank");
  check(mpi_, mpi_.size(node_comm_, &sharers), "MPI_Comm_size");
  std::size_t expected = 0;
  for (const auto& node : process_->nodes()) expected += node.size();
  if (static_cast<std::size_t>(sharers) != expected || end == 0) {
    mpi_.free_communicator(&node_comm_);
    return false;
  }
  // The window begins wherever MPI puts it.
  check(mpi_, mpi_.share(rank == 0 ? end + cache_line : 0, node_comm_, &window_),
        "MPI_Win_allocate_shared");
  const auto& here = process_->processes_here();
  if (has_room(here)) {
    const rank_t participants = participants_of(here);
    void* base = window_.base;
    // Every process maps whole pages, so the offset within them is the same.
    std::size_t space = end + cache_line;
    std::align(cache_line, end, base, space);
    room_ = std::make_unique<shared_room>(
        static_cast<std::byte*>(base) + begins[process_->node()], participants,
        shared_room::ring_bytes_for(participants, chosen_.ring_bytes),
        process_->index() == here.front());
  }
  // No process uses a room before it is built.
  const std::uint8_t built = 1;
  std::vector<std::uint8_t> all(expected);
  check(mpi_, mpi_.all_gather(&built, 1, all.data(), node_comm_), "MPI_Allgather");
  return true;
}

communicator::~communicator() {
  local_.clear();
  const bool is_whole = process_->leave();
  // With a dead member these calls would wait for ever, so they are left to the end of the process.
  if (window_.base != nullptr && is_whole) {
    mpi_.unshare(&window_);
    mpi_.free_communicator(&node_comm_);
  }
  process_.reset();
  if (owns_group_comm_ && is_whole) mpi_.free_communicator(&group_comm_);
}

endpoint& communicator::operator[](rank_t rank) {
  for (const auto& one : local_)
    if (one->rank() == rank) return *one;
  refuse("participant " + std::to_string(rank) +
         " is not in this process, whose first participant is " + std::to_string(first_rank()));
}

std::unique_ptr<communicator> communicator::group(std::span<const rank_t> ranks, int tag) {
  if (tag < 0 || tag > 30000)
    refuse("group: the tag is " + std::to_string(tag) + "; it must be 0 to 30000");
  const layout& all = process_->where();
  layout where;
  // The processes of this communicator that have members.
  std::vector<int> members;
  for (const rank_t rank : ranks) {
    if (rank >= size())
      refuse("group: rank " + std::to_string(rank) + " is out of range for a communicator of " +
             std::to_string(size()) + " participants");
    if (std::count(ranks.begin(), ranks.end(), rank) > 1)
      refuse("group: rank " + std::to_string(rank) + " is named twice");
    const int home = static_cast<int>(all.process_of[rank]);
    const auto at = std::find(members.begin(), members.end(), home);
    const auto member = static_cast<std::uint32_t>(at - members.begin());
    if (at == members.end()) {
      members.push_back(home);
      where.participants.emplace_back();
    }
    auto& there = where.participants[member];
    where.thread_of.push_back(static_cast<std::uint32_t>(there.size()));
    where.process_of.push_back(member);
    there.push_back(static_cast<rank_t>(where.process_of.size() - 1));
  }
  const int mine = static_cast<int>(process_->index());
  if (std::find(members.begin(), members.end(), mine) == members.end())
    refuse("group: no participant of process " + std::to_string(mine) + " is a member");
  handle made;
  check(mpi_,
        mpi_.of_group(process_->comm(), static_cast<int>(members.size()), members.data(), tag + 1,
                      &made),
        "MPI_Comm_create_group");
  std::unique_ptr<communicator> group(new communicator(mpi_, made, chosen_, std::move(where)));
  group->group_comm_ = made;
  group->owns_group_comm_ = true;
  return group;
}

}  // namespace tutti::mpi
