// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/between_nodes.hpp"

namespace tutti::preload {
namespace {

class over_mpi final : public between_nodes {
 public:
  over_mpi(const library& mpi, bool is_leader) noexcept : mpi_(mpi), is_leader_(is_leader) {}
  bool make(handle comm, int rank) noexcept {
    return mpi_.comm_split(comm, is_leader_ ? 0 : mpi_.undefined, rank, &leaders_) == 0;
  }
  // The leaders' communicator is freed with the one that it serves, by all leaders.
  ~over_mpi() override {
    if (is_leader_) mpi_.comm_free(&leaders_);
  }
  int barrier() noexcept override { return mpi_.barrier(leaders()); }
  int bcast(void* data, int bytes, int node) noexcept override {
    return mpi_.bcast(data, bytes, mpi_.byte, node, leaders());
  }
  int allreduce(void* values, int count, handle type, handle op) noexcept override {
    return mpi_.allreduce(mpi_.in_place, values, count, type, op, leaders());
  }

 private:
  handle leaders() const noexcept { return mpi_.value(leaders_); }

  const library& mpi_;
  bool is_leader_;
  handle_space leaders_{};
};

}  // namespace

std::unique_ptr<between_nodes> leaders_by_mpi(const library& mpi, handle comm, bool is_leader,
                                              int rank, bool& is_made) {
  auto made = std::make_unique<over_mpi>(mpi, is_leader);
  is_made = made->make(comm, rank);
  return made;
}

}  // namespace tutti::preload
