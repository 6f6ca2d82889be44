// SPDX-License-Identifier: Apache-2.0
// Linux's futex without anything around it: a word, and a system call to sleep and to wake.
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "bench/contenders/contender.hpp"
#include "tutti/platform/array.hpp"

namespace tutti::bench {
namespace {

class raw_futex final : public counting_notifier<std::uint32_t> {
 public:
  explicit raw_futex(rank_t receivers) : counting_notifier(receivers) {}
  void notify() override {
    // release: publishes what is notified; pairs with the receivers' loads.
    word_.fetch_add(1, release);
    syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, has_one_receiver() ? 1 : INT_MAX, nullptr,
            nullptr, 0);
  }
  void wait(rank_t receiver) override {
    std::uint32_t& seen = seen_by(receiver);
    std::uint32_t now = 0;
    // acquire: pairs with notify().
    while ((now = word_.load(acquire)) == seen)
      syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
    seen = now;
  }

 private:
  alignas(cache_line) std::atomic<std::uint32_t> word_{0};
};

}  // namespace

std::vector<contender> peer_futex() {
  return {{.family = "futex",
           .name = "futex",
           .summary = "Linux: a word and two system calls",
           .events = make_notifier<raw_futex>}};
}

}  // namespace tutti::bench
