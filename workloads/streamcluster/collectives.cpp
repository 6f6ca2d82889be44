// SPDX-License-Identifier: Apache-2.0
// Synchronises ranks by tutti's team, or by the barriers that programs use otherwise.
#include "workloads/streamcluster/collectives.hpp"

#include <pthread.h>

#include <barrier>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "workloads/streamcluster/streamcluster.hpp"

namespace tutti::streamcluster {
namespace {

constexpr std::array<std::string_view, 2> foreign_names{"pthread", "std"};

// bench/peers has this barrier too. The library of this workload depends on tutti alone, so that it
// can be copied into another project, and wraps it in a few lines of its own.
class pthread_adapter {
 public:
  explicit pthread_adapter(rank_t n) {
    if (pthread_barrier_init(&barrier_, nullptr, n) != 0) {
      throw std::runtime_error("pthread_barrier_init failed");
    }
  }
  ~pthread_adapter() { pthread_barrier_destroy(&barrier_); }
  pthread_adapter(const pthread_adapter&) = delete;
  pthread_adapter& operator=(const pthread_adapter&) = delete;
  void arrive_and_wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

// The state that the ranks share. The parts of a sum are in two arrays used in turn: a rank that
// writes one of them again has met all others since they read it.
template <class Barrier>
struct foreign_state {
  explicit foreign_state(rank_t n)
      : barrier(n), parts{std::vector<part>(n), std::vector<part>(n)} {}
  struct alignas(128) part {
    amounts value;
  };
  Barrier barrier;
  std::array<std::vector<part>, 2> parts;
};

template <class Barrier>
class foreign_collectives final : public collectives {
 public:
  foreign_collectives(member& me, foreign_state<Barrier>& state) noexcept
      : collectives(me.rank(), me.size()), state_(state) {}

 private:
  void meet() override { state_.barrier.arrive_and_wait(); }
  amounts combine(const amounts& mine) override {
    auto& parts = state_.parts[turn_ ^= 1];
    parts[rank()].value = mine;
    state_.barrier.arrive_and_wait();
    amounts total{};
    for (const auto& part : parts) total = plus{}(total, part.value);
    return total;
  }

  foreign_state<Barrier>& state_;
  unsigned turn_ = 0;
};

template <class Barrier>
rank_group foreign_ranks(team& ranks) {
  if (ranks.size() > ranks.threads()) {
    throw std::invalid_argument(
        "a third-party barrier needs a thread for each rank: " + std::to_string(ranks.size()) +
        " ranks on " + std::to_string(ranks.threads()) + " threads");
  }
  return {ranks.size(), [&ranks](const std::function<void(collectives&)>& body) {
            foreign_state<Barrier> state(ranks.size());
            ranks.run([&](member& me) {
              foreign_collectives<Barrier> point(me, state);
              body(point);
            });
          }};
}

}  // namespace

std::span<const std::string_view> foreign_barriers() noexcept { return foreign_names; }

rank_group ranks_of(team& ranks, collectives_kind kind) {
  switch (kind) {
    case collectives_kind::pthread: return foreign_ranks<pthread_adapter>(ranks);
    case collectives_kind::standard: return foreign_ranks<std::barrier<>>(ranks);
    case collectives_kind::team: break;
  }
  return ranks_of(ranks);
}

clustering cluster(team& ranks, source& points, const options& how) {
  return cluster(ranks_of(ranks, how.collectives), points, how);
}

}  // namespace tutti::streamcluster
