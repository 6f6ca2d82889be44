// SPDX-License-Identifier: Apache-2.0
// One interface over fork-join runtimes: empty and reducing regions, and barriers or reductions
// inside a region.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/checksums.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::bench {

// How large a runtime is to be, and where.
struct runtime_options {
  rank_t threads = 2;
  // If they are more than the threads, they are fibers.
  rank_t ranks = 2;
  // The CPU of each thread; empty: unpinned.
  std::vector<int> cpus;
};

// y += a x, element by element.
struct axpy_loop {
  double a = 1;
  const double* x = nullptr;
  double* y = nullptr;
  std::uint64_t elements = 0;
  rank_t ranks = 1;
  void part(std::uint64_t first, std::uint64_t last) const {
    for (std::uint64_t i = first; i < last; ++i) y[i] += a * x[i];
  }
};

// A runtime that opens regions. The thread that made it is rank 0 and calls everything. Made for
// one round and ended after it: nobody spins into the next one's.
class region_runtime {
 public:
  virtual ~region_runtime() = default;
  // Puts the threads on their CPUs. Throws std::runtime_error.
  virtual void place(const std::vector<int>& cpus);
  // One region: body(rank) once on each rank.
  virtual void open(const std::function<void(rank_t)>& body) = 0;
  // Calls it where regions are opened one by one: inside of whatever the runtime needs around them.
  virtual void inside(const std::function<void()>& call) { call(); }
  // Lives until the threads have ended: a runtime that does not join may still call a body after
  // open() has returned.
  void keep(std::shared_ptr<const void> what) { kept_.push_back(std::move(what)); }
  // Regions back to back; in each, every rank enters its checksum.
  virtual void regions(std::uint64_t count, checksums& sums) = 0;
  // The same, and in each the sum of everybody's two doubles goes to rank 0, which collects it.
  virtual void reducing_regions(std::uint64_t count, checksums& sums) = 0;
  // The loop again and again, divided as the runtime does it when it is not told how; here, a block
  // for each rank.
  virtual void loops(std::uint64_t count, const axpy_loop& loop);

 private:
  std::vector<std::shared_ptr<const void>> kept_;
};

// A rank inside a region that stays open.
class runtime_rank {
 public:
  explicit runtime_rank(rank_t rank) : rank_(rank) {}
  virtual ~runtime_rank() = default;
  rank_t rank() const { return rank_; }

  virtual void barriers(std::uint64_t count) = 0;
  // Sums over all ranks of `mine.width` doubles, to all ranks, which collect them.
  virtual void reductions(std::uint64_t count, tutti_checksum& mine) = 0;
  // What rank 0 wrote to `word` before the episode that was the last; ranks that share no memory
  // are told.
  virtual bool agreed(const bool& word) { return word; }

 private:
  const rank_t rank_;
};

// A runtime that has barriers and reductions inside a region.
class collective_runtime {
 public:
  virtual ~collective_runtime() = default;
  virtual void enter(const std::function<void(runtime_rank&)>& body) = 0;
  // Does what region_runtime::place() does.
  virtual void place(const std::vector<int>& cpus);
};

// Implements regions from Derived::fork(body) and fork_reduce(body), whose calls are inlined:
// body(rank) returns nothing, or the two doubles that are summed. A body is one pointer, so that it
// can travel with the news of the region: one that the workers had to fetch from the stack of the
// master, which writes around it all the time, costs a transfer more.
struct pair_of_doubles {
  double first = 0, last = 0;
  friend pair_of_doubles operator+(pair_of_doubles a, pair_of_doubles b) {
    return {a.first + b.first, a.last + b.last};
  }
};

template <class Derived>
class region_runtime_base : public region_runtime {
 public:
  void open(const std::function<void(rank_t)>& body) final {
    self().fork([&body](rank_t rank) { body(rank); });
  }
  void regions(std::uint64_t count, checksums& sums) final {
    tutti_checksum* const all = &sums[0];
    for (std::uint64_t i = 0; i < count; ++i) {
      self().fork([all](rank_t rank) { tutti_checksum_enter(all + rank); });
    }
  }
  void reducing_regions(std::uint64_t count, checksums& sums) final {
    tutti_checksum* const all = &sums[0];
    for (std::uint64_t i = 0; i < count; ++i) {
      const pair_of_doubles sum = self().fork_reduce([all](rank_t rank) {
        return pair_of_doubles{tutti_checksum_next(all + rank), all[rank].weight};
      });
      tutti_checksum_collect(all, sum.first, sum.last);
    }
  }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
};

// Makes a runtime that needs to know the number of threads only.
template <class Runtime>
std::unique_ptr<region_runtime> make_regions(const runtime_options& size) {
  return std::make_unique<Runtime>(size.threads);
}

}  // namespace tutti::bench
