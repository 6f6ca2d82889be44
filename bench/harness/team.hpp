// SPDX-License-Identifier: Apache-2.0
// A fixed group of threads that sleeps between rounds.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tutti/platform/config.hpp"
#include "tutti/platform/interface_base.hpp"

namespace tutti::bench {

class team : public interface_base {
 public:
  virtual rank_t size() const = 0;
  // Runs body(rank) once on each thread, returns when all have; the same thread has the same rank
  // every time.
  virtual void run(const std::function<void(rank_t)>& body) = 0;
};

class thread_team final : public team {
 public:
  explicit thread_team(rank_t size);
  ~thread_team() override;

  rank_t size() const override { return static_cast<rank_t>(threads_.size()); }
  void run(const std::function<void(rank_t)>& body) override;

 private:
  void work(rank_t rank);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  // Null with a new generation ends the threads.
  const std::function<void(rank_t)>* body_ = nullptr;
  std::uint64_t generation_ = 0;
  rank_t running_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace tutti::bench
