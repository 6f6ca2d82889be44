// SPDX-License-Identifier: Apache-2.0
// Threads that wait on a condition variable for their next round.
#include "bench/harness/team.hpp"

namespace tutti::bench {

thread_team::thread_team(rank_t size) {
  threads_.reserve(size);
  for (rank_t rank = 0; rank < size; ++rank) threads_.emplace_back([this, rank] { work(rank); });
}

thread_team::~thread_team() {
  {
    const std::lock_guard lock(mutex_);
    body_ = nullptr;
    ++generation_;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void thread_team::run(const std::function<void(rank_t)>& body) {
  std::unique_lock lock(mutex_);
  body_ = &body;
  running_ = size();
  ++generation_;
  wake_.notify_all();
  done_.wait(lock, [this] { return running_ == 0; });
}

void thread_team::work(rank_t rank) {
  std::uint64_t seen = 0;
  while (true) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return generation_ != seen; });
    seen = generation_;
    const auto* body = body_;
    if (body == nullptr) return;
    lock.unlock();
    (*body)(rank);
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace tutti::bench
