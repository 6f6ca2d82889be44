// SPDX-License-Identifier: Apache-2.0
// The threads of a run before it has a team.
//
// A team takes three tenths of a millisecond and more to make: it needs the machine's topology. A
// program of some milliseconds may consist of one long instruction. So threads that end with it
// execute the parts of a long instruction, and another thread reads the topology, when that pays,
// while the program goes on.
#pragma once

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "tutti/platform/native.hpp"
#include "tutti/platform/topology.hpp"
#include "vcode/machine/engines.hpp"

namespace tutti::vcode::engines {

class first_threads final : public preparation {
 public:
  // At most this many threads, the caller included.
  explicit first_threads(unsigned most) : most_(most) {}
  ~first_threads() override {
    join();
    if (reader_.joinable()) reader_.join();
  }

  void begin() override {
    try {
      reader_ = std::thread([this] {
        platform::machine();
        is_done_.store(true, release);  // release: pairs with the acquire in is_done().
      });
    } catch (const std::system_error&) {
      // The team reads the topology, if there can be one.
      is_done_.store(true, release);  // release: as above.
    }
  }
  // acquire: pairs with the releases in begin(). The topology is published by its own means.
  bool is_done() override { return is_done_.load(acquire); }

  own_share region(unsigned parts, void (*phase)(void* object, unsigned part),
                   void* object) override {
    join();
    parts_ = parts;
    // relaxed: no other thread is there.
    next_.store(1, relaxed);
    done_.store(0, relaxed);
    try {
      for (unsigned i = 1; i < std::min(most_, parts); ++i)
        threads_.emplace_back([this, phase, object] { take_parts(phase, object, next_part()); });
    } catch (const std::system_error&) {
      // The threads that are there and the caller take all parts.
    }
    own_share mine;
    // The caller has part 0.
    mine.parts = take_parts(phase, object, 0);
    mine.ended = native::now_ns();
    // acquire: pairs with the release in take_parts(); what the other parts have written is there.
    for (unsigned now = done_.load(acquire); now < parts; now = done_.load(acquire)) {
      done_.wait(now, acquire);  // acquire: as above.
    }
    return mine;
  }

 private:
  void join() {
    for (auto& each : threads_) each.join();
    threads_.clear();
  }

  // Executes `part` and then parts that nobody has taken; returns how many. A thread that is late
  // finds none.
  unsigned take_parts(void (*phase)(void* object, unsigned part), void* object, unsigned part) {
    unsigned taken = 0;
    for (; part < parts_; part = next_part()) {
      phase(object, part);
      ++taken;
      // release: publishes what the part has written; pairs with the acquire in region().
      if (done_.fetch_add(1, release) + 1 == parts_) done_.notify_one();
    }
    return taken;
  }
  // relaxed: the number alone tells which part it is; its data was there before the thread.
  unsigned next_part() { return next_.fetch_add(1, relaxed); }

  unsigned most_;
  unsigned parts_ = 0;
  std::atomic<unsigned> next_{0};
  std::atomic<unsigned> done_{0};
  std::vector<std::thread> threads_;
  std::thread reader_;
  std::atomic<bool> is_done_{false};
};

}  // namespace tutti::vcode::engines
