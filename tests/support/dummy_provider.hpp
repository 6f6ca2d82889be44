// SPDX-License-Identifier: Apache-2.0
// A barrier provider "dummy" for tests: a barrier of the registry that counts the arrivals. Like a
// hardware unit it has one barrier at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include "tutti/barrier/any.hpp"
#include "tutti/barrier/provider.hpp"

namespace tutti::test {

// Registers the provider for the lifetime of this object.
class dummy_provider {
 public:
  static constexpr const char* name = "dummy";

  dummy_provider() {
    add_barrier_provider(name, [this](rank_t n) { return std::make_unique<counted>(*this, n); });
  }
  ~dummy_provider() { remove_barrier_provider(name); }
  dummy_provider(const dummy_provider&) = delete;
  dummy_provider& operator=(const dummy_provider&) = delete;

  // Returns the number of arrivals since the last call.
  std::uint64_t arrivals() noexcept { return arrivals_.exchange(0); }

 private:
  class counted final : public any_barrier {
   public:
    counted(dummy_provider& from, rank_t n) : from_(from), barrier_(make_barrier("central", n)) {
      if (from_.is_used_.exchange(true)) throw std::runtime_error("the unit has a barrier already");
    }
    ~counted() override { from_.is_used_.store(false); }
    void arrive_and_wait(rank_t rank) override {
      from_.arrivals_.fetch_add(1);
      barrier_->arrive_and_wait(rank);
    }
    bool arrive_and_wait(rank_t rank, deadline until) override {
      from_.arrivals_.fetch_add(1);
      return barrier_->arrive_and_wait(rank, until);
    }
    void episodes(rank_t rank, std::uint64_t count) override {
      for (; count > 0; --count) arrive_and_wait(rank);
    }
    rank_t participants() const noexcept override { return barrier_->participants(); }

   private:
    dummy_provider& from_;
    std::unique_ptr<any_barrier> barrier_;
  };

  std::atomic<std::uint64_t> arrivals_{0};
  std::atomic<bool> is_used_{false};
};

}  // namespace tutti::test
