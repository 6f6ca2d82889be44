// SPDX-License-Identifier: Apache-2.0
// A unit modelled by Verilator, behind the interface of a device. One thread steps the clock; the
// requests of all participants queue at one port. Memory is a buffer that the model reads and
// writes with a delay of a few cycles.
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
#include <type_traits>

#include "hardware/driver/device.hpp"

namespace tutti::hardware {

template <class Model>
class simulated_device final : public device {
 public:
  explicit simulated_device(std::string name)
      : name_(std::move(name)),
        top_(std::make_unique<Model>(without_workers(context_), "top")),
        lines_(new word[words]) {
    top_->rst_ni = 0;
    for (int i = 0; i < 2; ++i) tick();
    top_->rst_ni = 1;
    clock_ = std::thread([this] { run(); });
  }

  ~simulated_device() override {
    {
      const std::lock_guard hold(lock_);
      stop_ = true;
    }
    wake_.notify_one();
    clock_.join();
    top_->final();
  }

  std::uint64_t read(std::uint64_t offset) override { return ask(offset, false, 0); }
  void write(std::uint64_t offset, std::uint64_t value) override { ask(offset, true, value); }
  const std::string& name() const noexcept override { return name_; }
  // Reads and writes of its registers so far.
  std::uint64_t requests() const noexcept {
    // relaxed: a count of its own; callers read it when their participants have ended.
    return requests_.load(std::memory_order_relaxed);
  }
  std::uint64_t window() const noexcept override { return UINT64_MAX; }
  shared_memory memory() noexcept override {
    if constexpr (has_memory)
      return {lines_.get(), words * 8, bus_address};
    else
      return {};
  }

 private:
  using word = std::atomic<std::uint64_t>;
  static constexpr std::size_t words = 4096;
  static constexpr std::uint64_t bus_address = 0x4000'0000;
  static constexpr bool has_memory = requires(Model & m) { m.rd_valid_o; };

  struct request {
    std::uint64_t offset, value;
    bool is_write;
    std::atomic<int> done{0};
  };

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
        wake_.wait_for(hold, std::chrono::microseconds(has_memory ? 50 : 1'000'000),
                       [this] { return stop_ || !queue_.empty(); });
        idle = 0;
        continue;
      }
      hold.unlock();
      const bool taken = cycle(next);
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

  // Steps one cycle; returns true if the model took the request in it.
  bool cycle(request* r) {
    top_->req_valid_i = r != nullptr;
    if (r != nullptr) {
      top_->req_write_i = r->is_write;
      top_->req_addr_i = static_cast<std::decay_t<decltype(top_->req_addr_i)>>(r->offset);
      top_->req_data_i = r->value;
    }
    top_->eval();
    bool taken = r != nullptr;
    if constexpr (requires(Model & m) { m.req_ready_o; }) taken = taken && top_->req_ready_o;
    if (taken && !r->is_write) r->value = top_->rsp_data_o;
    if constexpr (has_memory) serve_memory();
    tick();
    return taken;
  }

  void serve_memory() {
    top_->rd_ready_i = 1;
    top_->wr_ready_i = 1;
    top_->mem_valid_i = !flights_.empty() && flights_.front().due <= cycle_;
    if (top_->mem_valid_i) {
      top_->mem_tag_i = flights_.front().tag;
      top_->mem_data_i = flights_.front().value;
      flights_.pop_front();
    }
    top_->eval();
    if (top_->rd_valid_o) {
      // acquire: pairs with the release of a participant's arrival; the release of the departure
      // passes it on.
      const std::uint64_t value = at(top_->rd_addr_o).load(std::memory_order_acquire);
      flights_.push_back({cycle_ + 4, value, top_->rd_tag_o});
    }
    if (top_->wr_valid_o) {
      // release: publishes the arrivals; pairs with the acquire of the participants that depart.
      at(top_->wr_addr_o).store(top_->wr_data_o, std::memory_order_release);
    }
  }

  word& at(std::uint64_t address) { return lines_[(address - bus_address) / 8 % words]; }

  void tick() {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
    ++cycle_;
  }

  struct flight {
    std::uint64_t due, value;
    std::uint8_t tag;
  };

  std::string name_;
  VerilatedContext context_;
  std::unique_ptr<Model> top_;
  std::unique_ptr<word[]> lines_;
  std::deque<flight> flights_;
  std::uint64_t cycle_ = 0;
  std::atomic<std::uint64_t> requests_{0};
  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<request*> queue_;
  bool stop_ = false;
  std::thread clock_;
};

}  // namespace tutti::hardware
