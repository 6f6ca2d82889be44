// SPDX-License-Identifier: Apache-2.0
// An OpenMP runtime as a contender. Each OpenMP runtime has a program that is linked with it and
// with regions.c, which the runtime's own compiler compiles.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <stdexcept>

#include "bench/harness/placement.hpp"
#include "bench/harness/runtime.hpp"
#include "bench/harness/team.hpp"
#include "bench/harness/timed_barrier.hpp"
#include "bench/peers/openmp/regions.h"

namespace tutti::bench {

inline void run_openmp_region(rank_t threads, const std::function<void(rank_t)>& body) {
  const auto call = [](void* context, unsigned rank) {
    (*static_cast<const std::function<void(rank_t)>*>(context))(rank);
  };
  const unsigned made =
      tutti_openmp_run(threads, call, const_cast<void*>(static_cast<const void*>(&body)));
  if (made == threads) return;
  throw std::runtime_error(fmt::format("OpenMP made a team of {} threads, not {}", made, threads));
}

// Ends the threads of the runtime when its scope ends. It first lets this thread, which was rank 0
// and may be bound, run on all CPUs again: threads that it makes later inherit its mask, and the
// runtime counts the CPUs in it.
struct release_at_end {
  ~release_at_end() {
    pin_this_thread(any_cpu);
    tutti_openmp_release();
  }
};

class openmp_team final : public team {
 public:
  explicit openmp_team(rank_t size) : size_(size) {}
  rank_t size() const override { return size_; }

  void run(const std::function<void(rank_t)>& body) override {
    const release_at_end ends_threads;
    run_openmp_region(size_, body);
  }

 private:
  const rank_t size_;
};

class openmp_barrier final : public timed_barrier {
 public:
  void arrive_and_wait(rank_t) override { tutti_openmp_barrier(); }
  void episodes(rank_t, std::uint64_t count) override { tutti_openmp_episodes(count); }
};

class openmp_regions final : public region_runtime {
 public:
  explicit openmp_regions(rank_t threads) : threads_(threads) {}
  void open(const std::function<void(rank_t)>& body) override { run_openmp_region(threads_, body); }
  void regions(std::uint64_t count, checksums& sums) override {
    tutti_openmp_regions(threads_, count, &sums[0]);
  }
  void reducing_regions(std::uint64_t count, checksums& sums) override {
    tutti_openmp_reducing_regions(threads_, count, &sums[0]);
  }
  void loops(std::uint64_t count, const axpy_loop& loop) override {
    tutti_openmp_axpy(threads_, count, loop.a, loop.x, loop.y, loop.elements);
  }

 private:
  const rank_t threads_;
  release_at_end release_;
};

class openmp_rank final : public runtime_rank {
 public:
  openmp_rank(rank_t rank, rank_t threads) : runtime_rank(rank), threads_(threads) {}
  void barriers(std::uint64_t count) override { tutti_openmp_episodes(count); }
  void reductions(std::uint64_t count, tutti_checksum& mine) override {
    tutti_openmp_reductions(threads_, count, &mine);
  }

 private:
  const rank_t threads_;
};

class openmp_collectives final : public collective_runtime {
 public:
  explicit openmp_collectives(rank_t threads) : threads_(threads) {}
  void enter(const std::function<void(runtime_rank&)>& body) override {
    tutti_openmp_forget_sums();
    run_openmp_region(threads_, [&](rank_t rank) {
      openmp_rank me(rank, threads_);
      body(me);
    });
  }

 private:
  const rank_t threads_;
  release_at_end release_;
};

}  // namespace tutti::bench
