// SPDX-License-Identifier: Apache-2.0
// needs Eigen3::Eigen of Eigen3 NO_MODULE, for region
// Eigen's NonBlockingThreadPool, Eigen::ThreadPool: a task for each worker, put into its own queue,
// which meet with the caller. The rendezvous is also the join: Eigen's own Barrier would put the
// caller to sleep in every region.
#include <optional>
#include <unsupported/Eigen/CXX11/ThreadPool>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/rendezvous.hpp"
#include "bench/contenders/summing_runtime.hpp"

namespace tutti::bench {
namespace {

class eigen_pool final : public summing_runtime<eigen_pool> {
 public:
  explicit eigen_pool(rank_t threads)
      : summing_runtime(threads), workers_(static_cast<int>(threads) - 1), rendezvous_(threads) {
    if (workers_ > 0) pool_.emplace(workers_);
  }

  template <class Body>
  void fork(Body body) {
    for (int worker = 0; worker < workers_; ++worker) {
      pool_->ScheduleWithHint(
          [this, body] {
            body(static_cast<rank_t>(pool_->CurrentThreadId() + 1));
            rendezvous_.meet();
          },
          worker, worker + 1);
    }
    body(0);
    rendezvous_.meet();
  }

 private:
  const int workers_;
  rendezvous rendezvous_;
  std::optional<Eigen::ThreadPool>
      pool_;  // its end joins the workers, which still may be in the rendezvous
};

}  // namespace

std::vector<contender> peer_eigen() {
  return only_regions<eigen_pool>("thread pool",
                                  "Eigen: each worker executes one task; the tasks meet");
}

}  // namespace tutti::bench
