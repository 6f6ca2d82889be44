// SPDX-License-Identifier: Apache-2.0
// The pool that everyone writes: threads that wait for a region, run it, and report. How they wait is the parameter.
#pragma once

#include <thread>
#include <vector>

#include "crew/crew.hpp"

namespace tutti::bench {

// Signals is made for n threads, the master included, and has
//   open()   the master: the region begins        await_open()   a worker: waits for it
//   close()  the master: waits for all workers    done()         a worker: is through it
// each call pair publishing what was written before it.
template <class Signals>
class pool_crew final : public region_crew_base<pool_crew<Signals>> {
 public:
  explicit pool_crew(rank_t threads) : signals_(threads), partial_(threads) {
    for (rank_t rank = 1; rank < threads; ++rank) {
      workers_.emplace_back([this, rank] { work(rank); });
    }
  }
  ~pool_crew() override {
    job_ = {nullptr, nullptr};
    signals_.open();
    for (auto& worker : workers_) worker.join();
  }

  template <class Body>
  void fork(Body body) {
    job_ = {[](void* context, rank_t rank) { (*static_cast<Body*>(context))(rank); }, &body};
    signals_.open();
    body(0);
    signals_.close();
  }

  template <class Body>
  pair_of_doubles fork_reduce(Body body) {
    fork([&](rank_t rank) { partial_[rank].value = body(rank); });
    pair_of_doubles sum;
    for (const auto& partial : partial_) sum = sum + partial.value;
    return sum;
  }

 private:
  struct job {
    void (*call)(void*, rank_t) = nullptr;  // null: the end
    void* context = nullptr;
  };
  struct alignas(cache_line) partial_sum {
    pair_of_doubles value;
  };

  void work(rank_t rank) {
    while (true) {
      signals_.await_open();
      if (job_.call == nullptr) return;
      job_.call(job_.context, rank);
      signals_.done();
    }
  }

  Signals signals_;
  job job_;
  std::vector<partial_sum> partial_;
  std::vector<std::thread> workers_;
};

}  // namespace tutti::bench
