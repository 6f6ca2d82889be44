// SPDX-License-Identifier: Apache-2.0
// Linux's membarrier, which interrupts every CPU that runs a thread of this process and returns
// when all have answered. It wakes nobody: a word that receivers poll changes once it has returned,
// so the time is an interrupt there and back, and a transfer of the word.
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "bench/contenders/contender.hpp"
#include "tutti/platform/pause.hpp"

namespace tutti::bench {
namespace {

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

std::string why_membarrier_is_missing() {
  const long commands = membarrier(MEMBARRIER_CMD_QUERY);
  if (commands < 0) return std::string("membarrier: ") + std::strerror(errno);
  if ((commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
    return "this system has no expedited membarrier";
  return {};
}

class by_membarrier final : public counting_notifier<std::uint32_t> {
 public:
  explicit by_membarrier(rank_t receivers) : counting_notifier(receivers) {
    membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  }
  void notify() override {
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    // release: publishes what is notified; pairs with the receivers' loads.
    word_.fetch_add(1, release);
  }
  void wait(rank_t receiver) override {
    std::uint32_t& seen = seen_by(receiver);
    std::uint32_t now = 0;
    // acquire: pairs with notify().
    while ((now = word_.load(acquire)) == seen) platform::pause();
    seen = now;
  }

 private:
  alignas(cache_line) std::atomic<std::uint32_t> word_{0};
};

}  // namespace

std::vector<contender> peer_membarrier() {
  return {{.family = "membarrier",
           .name = "membarrier",
           .summary = "Linux: interrupts all cores of the process, whose receivers poll",
           .unavailable = why_membarrier_is_missing(),
           .wait = "spin",
           .events = make_notifier<by_membarrier>}};
}

}  // namespace tutti::bench
