// SPDX-License-Identifier: Apache-2.0
// The process of an OpenMP peer: the harness runs inside a parallel region of the runtime that it is linked with.
#include <stdexcept>
#include <string>

#include "harness/placement.hpp"
#include "harness/worker.hpp"
#include "openmp_region.h"

namespace tutti::bench {
namespace {

class openmp_team final : public team {
 public:
  rank_t size() const override { return size_; }
  void resize(rank_t size) { size_ = size; }

  void run(const std::function<void(rank_t)>& body) override {
    const auto call = [](void* context, unsigned rank) {
      (*static_cast<const std::function<void(rank_t)>*>(context))(rank);
    };
    const unsigned made =
        tutti_openmp_run(size_, call, const_cast<void*>(static_cast<const void*>(&body)));
    // Rank 0 is this thread: threads that it makes later inherit its mask, and the runtime counts the CPUs in it.
    pin_this_thread(any_cpu);
    tutti_openmp_release();
    if (made != size_) {
      throw std::runtime_error("OpenMP made a team of " + std::to_string(made) + " threads, not " +
                               std::to_string(size_));
    }
  }

 private:
  rank_t size_ = 1;
};

class openmp_barrier final : public subject {
 public:
  void arrive_and_wait(rank_t) override { tutti_openmp_barrier(); }
  void episodes(rank_t, std::uint64_t count) override { tutti_openmp_episodes(count); }
};

team& team_of(rank_t threads) {
  static openmp_team the_team;
  the_team.resize(threads);
  return the_team;
}

}  // namespace
}  // namespace tutti::bench

int main() {
  tutti::bench::openmp_barrier barrier;
  return tutti::bench::serve(tutti::bench::team_of, barrier);
}
