// SPDX-License-Identifier: Apache-2.0
// The pool that everyone writes: threads that wait for a region, run it, and report. How they wait
// is the parameter.
#pragma once

#include <thread>
#include <vector>

#include "bench/contenders/summing_runtime.hpp"
#include "bench/harness/runtime.hpp"

namespace tutti::bench {

// Signals is made for n threads, the master included, and has
//   open()   the master: the region begins        await_open()   a worker: waits for it
//   close()  the master: waits for all workers    done()         a worker: is through it
// each call pair publishing what was written before it.
template <class Signals>
class pool_runtime final : public summing_runtime<pool_runtime<Signals>> {
 public:
  explicit pool_runtime(rank_t threads)
      : summing_runtime<pool_runtime<Signals>>(threads), signals_(threads) {
    for (rank_t rank = 1; rank < threads; ++rank) {
      workers_.emplace_back([this, rank] { work(rank); });
    }
  }
  ~pool_runtime() override {
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

 private:
  struct job {
    void (*call)(void*, rank_t) = nullptr;  // null: the end
    void* context = nullptr;
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
  std::vector<std::thread> workers_;
};

// Signals by two barriers: one begins a region, the other ends it.
template <class Barrier>
class two_barriers {
 public:
  explicit two_barriers(rank_t threads) : begin_(threads), end_(threads) {}
  void open() { begin_.arrive_and_wait(); }
  void await_open() { begin_.arrive_and_wait(); }
  void done() { end_.arrive_and_wait(); }
  void close() { end_.arrive_and_wait(); }

 private:
  Barrier begin_;
  Barrier end_;
};

template <class Signals>
std::unique_ptr<region_runtime> make_pool(const runtime_options& size) {
  return std::make_unique<pool_runtime<Signals>>(size.threads);
}

}  // namespace tutti::bench
