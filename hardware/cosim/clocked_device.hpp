// SPDX-License-Identifier: Apache-2.0
// What devices around a Verilated model have in common: one thread steps the clock, and the
// requests of all participants queue at one port.
#pragma once

#include <verilated.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "hardware/driver/device.hpp"

namespace tutti::hardware {

// Model has the ports clk_i and those that Derived drives. Derived has `bool cycle(request*)`,
// which steps one cycle and returns true if the model took the request in it, and `polls`, true if
// the model acts without requests; it calls start() when it is ready, and stop() before it ends.
template <class Derived, class Model>
class clocked_device : public device {
 public:
  std::uint64_t read(std::uint64_t offset) override { return ask(offset, false, 0); }
  void write(std::uint64_t offset, std::uint64_t value) override { ask(offset, true, value); }
  const std::string& name() const noexcept override { return name_; }
  // Reads and writes of its registers so far.
  std::uint64_t requests() const noexcept {
    // relaxed: a count of its own; callers read it when their participants have ended.
    return requests_.load(std::memory_order_relaxed);
  }

 protected:
  struct request {
    std::uint64_t offset, value;
    bool is_write;
    std::atomic<int> done{0};
  };

  explicit clocked_device(std::string name)
      : name_(std::move(name)), top_(std::make_unique<Model>(without_workers(context_), "top")) {}

  void start() {
    clock_ = std::thread([this] { run(); });
  }
  void stop() {
    {
      const std::lock_guard hold(lock_);
      stop_ = true;
    }
    wake_.notify_one();
    clock_.join();
    top_->final();
  }

  void tick() {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
    ++cycle_;
  }

  Model& top() noexcept { return *top_; }
  std::uint64_t now() const noexcept { return cycle_; }

 private:
  // The model runs in the clock's thread alone. Otherwise Verilator would make a thread pool, which
  // creating a second device would disturb.
  static VerilatedContext* without_workers(VerilatedContext& context) {
    context.threads(1);
    return &context;
  }

  std::uint64_t ask(std::uint64_t offset, bool is_write, std::uint64_t value) {
    // relaxed: see requests().
    requests_.fetch_add(1, std::memory_order_relaxed);
    request mine{offset, value, is_write};
    {
      const std::lock_guard hold(lock_);
      queue_.push_back(&mine);
    }
    wake_.notify_one();
    // acquire: pairs with the release of the clock's thread; the answer is there, and so is what
    // others wrote before the arrivals that this thread's departure follows.
    while (mine.done.load(std::memory_order_acquire) == 0)
      mine.done.wait(0, std::memory_order_acquire);
    // acquire: pairs with the release of the clock's thread, which stores 2 after its last access
    // to `mine`.
    while (mine.done.load(std::memory_order_acquire) != 2) std::this_thread::yield();
    return mine.value;
  }

  void run() {
    int idle = 0;
    std::unique_lock hold(lock_);
    while (!stop_) {
      request* next = nullptr;
      if (!queue_.empty()) {
        next = queue_.front();
        idle = 0;
      } else if (++idle > 64) {
        // Wake up to poll memory too, since a write to memory does not wake this thread.
        wake_.wait_for(hold, std::chrono::microseconds(Derived::polls ? 50 : 1'000'000),
                       [this] { return stop_ || !queue_.empty(); });
        idle = 0;
        continue;
      }
      hold.unlock();
      const bool taken = static_cast<Derived&>(*this).cycle(next);
      hold.lock();
      if (taken && next != nullptr) queue_.pop_front();
      if (taken && next != nullptr) {
        // release: publishes the answer; pairs with the acquire in ask().
        next->done.store(1, std::memory_order_release);
        next->done.notify_one();
        // release: hands `next` back to its owner; pairs with the second acquire in ask().
        next->done.store(2, std::memory_order_release);
      }
    }
  }

  std::string name_;
  VerilatedContext context_;
  std::unique_ptr<Model> top_;
  std::uint64_t cycle_ = 0;
  std::atomic<std::uint64_t> requests_{0};
  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<request*> queue_;
  bool stop_ = false;
  std::thread clock_;
};

}  // namespace tutti::hardware
