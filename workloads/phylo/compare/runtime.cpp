// SPDX-License-Identifier: Apache-2.0
// Implements two ways to open a region.
#include "workloads/phylo/compare/runtime.hpp"

#include <pthread.h>

#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tutti/reduce/operations.hpp"
#include "tutti/team/team.hpp"

namespace tutti::phylo::compare {
namespace {

class tutti_runtime : public runtime {
 public:
  explicit tutti_runtime(unsigned threads) : team_(threads) {}
  unsigned size() const override { return team_.size(); }
  derivatives run(const work& f) override {
    return team_.run_reduce(tutti::plus{}, [&](member& me) { return f(me.rank()); });
  }

 private:
  team team_;
};

// bench/peers has a pool between two pthread_barriers too. This library depends on the workload and
// on libpll alone, so that its test needs no harness, and has a few lines of its own.
class pthread_runtime : public runtime {
 public:
  explicit pthread_runtime(unsigned threads) : sums_(threads) {
    if (threads == 0) throw std::invalid_argument("at least one thread is needed");
    if (const int error = pthread_barrier_init(&barrier_, nullptr, threads); error != 0) {
      throw std::system_error(error, std::generic_category());
    }
    for (unsigned rank = 1; rank < threads; ++rank)
      workers_.emplace_back([this, rank] { work_as(rank); });
  }
  ~pthread_runtime() override {
    work_ = nullptr;
    pthread_barrier_wait(&barrier_);
    for (auto& worker : workers_) worker.join();
    pthread_barrier_destroy(&barrier_);
  }
  pthread_runtime(const pthread_runtime&) = delete;
  pthread_runtime& operator=(const pthread_runtime&) = delete;

  unsigned size() const override { return static_cast<unsigned>(sums_.size()); }
  derivatives run(const work& f) override {
    work_ = &f;
    pthread_barrier_wait(&barrier_);
    sums_[0].value = f(0);
    pthread_barrier_wait(&barrier_);
    derivatives total{};
    for (const auto& [value] : sums_) total = {total[0] + value[0], total[1] + value[1]};
    return total;
  }

 private:
  struct alignas(64) padded_sum {
    derivatives value{};
  };

  void work_as(unsigned rank) {
    while (true) {
      pthread_barrier_wait(&barrier_);
      if (work_ == nullptr) return;
      sums_[rank].value = (*work_)(rank);
      pthread_barrier_wait(&barrier_);
    }
  }

  pthread_barrier_t barrier_;
  const work* work_ = nullptr;
  std::vector<padded_sum> sums_;
  std::vector<std::thread> workers_;
};

}  // namespace

std::unique_ptr<runtime> make_runtime(std::string_view name, unsigned threads) {
  if (name == "tutti") return std::make_unique<tutti_runtime>(threads);
  if (name == "pthread") return std::make_unique<pthread_runtime>(threads);
  throw std::invalid_argument("'" + std::string(name) + "' is not tutti or pthread");
}

}  // namespace tutti::phylo::compare
