// SPDX-License-Identifier: Apache-2.0
// Notifications inside a kernel whose threads stay on their CPUs, as Hale and Dinda 2018 have them:
// interrupts between processors, and condition variables without system calls.
#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "sim/notify.hpp"
#include "sim/simulated.hpp"
#include "sim/world.hpp"
#include "tutti/platform/array.hpp"

namespace tutti::sim {
namespace {

world& here() noexcept { return *world::current(); }
const machine& hardware() noexcept { return here().hardware(); }

// The handler is all that runs: what the paper calls an IPI, and the bound of the others.
class by_interrupt : public notification {
 public:
  by_interrupt(rank_t receivers, std::uint32_t first) : receivers_(receivers), first_(first) {}
  void tell_one() override {
    here().spend(hardware().interrupt_send);
    here().interrupt(first_, enter());
  }
  // One write sends it to all.
  void tell_all() override {
    here().spend(hardware().interrupt_send);
    for (rank_t r = 0; r < receivers_; ++r) here().interrupt(first_ + r, enter());
  }
  void await_one() override { here().await_interrupt(); }
  void await_all(rank_t) override { here().await_interrupt(); }

 protected:
  rank_t receivers() const noexcept { return receivers_; }

 private:
  virtual sim_time enter() const noexcept { return hardware().interrupt_enter; }

  rank_t receivers_;
  std::uint32_t first_;
};

// The projection of the paper's figure 20: an interrupt that enters the kernel as a system call
// does.
class by_remote_call final : public by_interrupt {
 public:
  using by_interrupt::by_interrupt;

 private:
  sim_time enter() const noexcept override { return hardware().system_call; }
};

// The handler looks up the action of its core. With a payload the sender first writes a slot of the
// receiver, which must be visible before the interrupt is sent; without one, as in the paper, an
// event writes nothing.
template <bool HasPayload>
class by_action final : public by_interrupt {
 public:
  by_action(rank_t receivers, std::uint32_t first)
      : by_interrupt(receivers, first), slots_(receivers) {}
  void tell_one() override {
    put(1);
    by_interrupt::tell_one();
  }
  void tell_all() override {
    put(receivers());
    by_interrupt::tell_all();
  }
  void await_one() override { await_all(0); }
  void await_all(rank_t receiver) override {
    here().await_interrupt();
    // acquire: pairs with the release of put(), for the payload.
    const std::uint32_t action = slots_[receiver].value.load(acquire);
    // relaxed: actions are registered before events are sent.
    static_cast<void>(actions_[action].load(relaxed));
  }

 private:
  void put(rank_t how_many) noexcept {
    if (!HasPayload) return;
    // release: publishes the payload.
    for (rank_t r = 0; r < how_many; ++r) slots_[r].value.store(1, release);
    here().fence();
  }

  array<padded<simulated_atomic<std::uint32_t>>> slots_;
  std::array<simulated_atomic<std::uint32_t>, 16> actions_;
};

class spin_lock {
 public:
  void lock() noexcept {
    // acquire: sees what the last holder wrote.
    while (word_.value.exchange(1, acquire) != 0)
      // relaxed: only a hint that exchange may succeed.
      while (word_.value.load(relaxed) != 0) simulated::relax();
  }
  // release: publishes what the holder wrote.
  void unlock() noexcept { word_.value.store(0, release); }

 private:
  padded<simulated_atomic<std::uint32_t>> word_;
};

// A notification puts the waiting thread into the run queue of its CPU, where it stays until the
// background thread of that CPU yields. With kicks an interrupt makes the CPU look at once. The
// time ends when the thread runs; a program's mutex comes after that.
template <bool Kicks>
class by_kernel_condition final : public notification {
 public:
  by_kernel_condition(rank_t receivers, std::uint32_t first)
      : first_(first), random_(first), seen_(receivers), ready_(receivers) {}
  void tell_one() override { tell(1); }
  void tell_all() override { tell(static_cast<rank_t>(seen_.size())); }
  void await_one() override { await_all(0); }
  void await_all(rank_t receiver) override {
    lock_.lock();
    // relaxed: the lock orders the count.
    if (count_.load(relaxed) == seen_[receiver]++) {
      sleepers_.push_back(receiver);
      lock_.unlock();
      sleep(receiver);
    } else {
      lock_.unlock();
    }
  }

 private:
  void tell(rank_t most) noexcept {
    lock_.lock();
    // relaxed: the lock orders the count.
    count_.store(count_.load(relaxed) + 1, relaxed);
    for (rank_t woken = 0; woken < most && !sleepers_.empty(); ++woken) {
      wake(sleepers_.front());
      sleepers_.pop_front();
    }
    lock_.unlock();
  }
  void wake(rank_t r) noexcept {
    // acq_rel: the lock of the run queue.
    ready_[r].value.exchange(1, acq_rel);
    if (!Kicks) return;
    here().spend(hardware().interrupt_send);
    here().interrupt(first_ + r, hardware().interrupt_enter);
  }
  void sleep(rank_t r) noexcept {
    here().spend(hardware().context_switch);
    if (!Kicks && hardware().background > 0) here().spend(random_.below(hardware().background));
    // acquire: sees what was written before the thread was put there.
    while (ready_[r].value.load(acquire) == 0) {
      if (Kicks)
        here().await_interrupt();
      else
        here().spend(hardware().background + 1);
    }
    // relaxed: nobody else writes while the thread runs.
    ready_[r].value.store(0, relaxed);
    here().spend(hardware().context_switch);
  }

  const std::uint32_t first_;
  generator random_;
  simulated_atomic<std::uint32_t> count_{0};
  std::vector<std::uint32_t> seen_;
  spin_lock lock_;
  std::deque<rank_t> sleepers_;
  // One word of each CPU's run queue.
  array<padded<simulated_atomic<std::uint32_t>>> ready_;
};

template <class T>
notifier of_kernel(const char* name, const char* summary) {
  return {.family = "hale_dinda",
          .name = name,
          .wait = "",
          .summary = summary,
          .interrupts = true,
          .make = [](rank_t receivers, std::uint32_t first) -> std::unique_ptr<notification> {
            return std::make_unique<T>(receivers, first);
          }};
}

}  // namespace

std::vector<notifier> kernel_notifiers() {
  return {
      of_kernel<by_interrupt>("interrupt", "an interrupt, until its handler begins"),
      of_kernel<by_action<false>>("action", "an interrupt whose handler looks up an action"),
      of_kernel<by_action<true>>("action_payload", "the same, with a payload for each receiver"),
      of_kernel<by_remote_call>("remote_call", "an interrupt as cheap as a system call"),
      of_kernel<by_kernel_condition<false>>("kernel_condition",
                                            "a kernel's condition variable, by the run queue"),
      of_kernel<by_kernel_condition<true>>("kernel_condition_kick", "the same, with an interrupt")};
}

}  // namespace tutti::sim
