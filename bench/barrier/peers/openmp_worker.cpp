// SPDX-License-Identifier: Apache-2.0
// The process of an OpenMP peer: the harness runs inside parallel regions of the runtime that it is linked with.
#include <fmt/format.h>

#include <stdexcept>

#include "bench/barrier/peers/openmp_region.h"
#include "bench/crew/serve.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/worker.hpp"

namespace tutti::bench {
namespace {

void run_region(rank_t threads, const std::function<void(rank_t)>& body) {
  const auto call = [](void* context, unsigned rank) {
    (*static_cast<const std::function<void(rank_t)>*>(context))(rank);
  };
  const unsigned made =
      tutti_openmp_run(threads, call, const_cast<void*>(static_cast<const void*>(&body)));
  if (made == threads) return;
  throw std::runtime_error(fmt::format("OpenMP made a team of {} threads, not {}", made, threads));
}

// Ends the threads of the runtime. Rank 0 is this thread: threads that it makes later inherit its mask, and the runtime
// counts the CPUs in it.
struct release_at_end {
  ~release_at_end() {
    pin_this_thread(any_cpu);
    tutti_openmp_release();
  }
};

class openmp_team final : public team {
 public:
  rank_t size() const override { return size_; }
  void resize(rank_t size) { size_ = size; }

  void run(const std::function<void(rank_t)>& body) override {
    const release_at_end release;
    run_region(size_, body);
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

class openmp_regions final : public region_crew {
 public:
  explicit openmp_regions(rank_t threads) : threads_(threads) {}
  void open(const std::function<void(rank_t)>& body) override { run_region(threads_, body); }
  void regions(std::uint64_t count, ledger& shares) override {
    tutti_openmp_regions(threads_, count, &shares[0]);
  }
  void reducing_regions(std::uint64_t count, ledger& shares) override {
    tutti_openmp_reducing_regions(threads_, count, &shares[0]);
  }
  void loops(std::uint64_t count, const axpy_loop& loop) override {
    tutti_openmp_axpy(threads_, count, loop.a, loop.x, loop.y, loop.elements);
  }

 private:
  const rank_t threads_;
  release_at_end release_;
};

class openmp_member final : public crew_member {
 public:
  openmp_member(rank_t rank, rank_t threads) : crew_member(rank), threads_(threads) {}
  void barriers(std::uint64_t count) override { tutti_openmp_episodes(count); }
  void reductions(std::uint64_t count, tutti_share& mine) override {
    tutti_openmp_reductions(threads_, count, &mine);
  }

 private:
  const rank_t threads_;
};

class openmp_meetings final : public meeting_crew {
 public:
  explicit openmp_meetings(rank_t threads) : threads_(threads) {}
  void enter(const std::function<void(crew_member&)>& body) override {
    tutti_openmp_forget_sums();
    run_region(threads_, [&](rank_t rank) {
      openmp_member me(rank, threads_);
      body(me);
    });
  }

 private:
  const rank_t threads_;
  release_at_end release_;
};

}  // namespace
}  // namespace tutti::bench

int main() {
  using namespace tutti::bench;
  openmp_barrier barrier;
  neighbours busy;
  const crew_makers makers{
      [](const crew_size& size) { return std::make_unique<openmp_regions>(size.threads); },
      [](const crew_size& size) { return std::make_unique<openmp_meetings>(size.threads); }};
  return serve([&](const nlohmann::json& asked) {
    return asks_for_crew(asked) ? answer_crew(asked, makers)
                                : answer_round(asked, team_of, barrier, busy);
  });
}
