// SPDX-License-Identifier: Apache-2.0
// Notifications on a simulated machine: how long it takes until the threads that wait go on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/machine.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::sim {

// Something that tells threads that they may go on.
class notification {
 public:
  virtual ~notification() = default;
  virtual void tell_one() = 0;
  virtual void tell_all() = 0;
  // Returns after tell_one(), for one of those who await it, or after the next tell_all() that this
  // receiver has not seen.
  virtual void await_one() = 0;
  virtual void await_all(rank_t receiver) = 0;
};

struct notifier {
  std::string family, name, wait, summary;
  // A receiver polls one word until it changes, and does nothing else.
  bool polls_without_end = false;
  // A kernel sends interrupts; the machine must have those.
  bool interrupts = false;
  // Receiver i is the world's thread `first` + i.
  std::unique_ptr<notification> (*make)(rank_t receivers, std::uint32_t first) = nullptr;
};
// Tutti's event with each wait policy; what programs have without it, a condition variable with its
// mutex, and a futex; and what kernels have (kernel_notify.cpp).
const std::vector<notifier>& notifiers();
// An interrupt, a message with an action, a remote system call, and condition variables of a
// kernel, as in Hale and Dinda 2018.
std::vector<notifier> kernel_notifiers();

struct notify_plan {
  // Receiver i waits on CPU i; the notifier runs on CPU 0.
  rank_t receivers = 1;
  std::uint32_t notifications = 100, warm_up = 5;
  std::uint64_t seed = 1;
  double poll_gap_ns = -1;
  // ns between the return of the last receiver and the next notification; 0: until all wait.
  double gap_ns = 0;
};

struct notified {
  // ns from the beginning of a notification until its receiver goes on, for each receiver in turn,
  // and which one that was.
  std::vector<double> unicast;
  std::vector<rank_t> unicast_receivers;
  // The last receiver of each broadcast, and the standard deviation over all receivers.
  std::vector<double> broadcast_last, broadcast_sigma;
};
// Throws std::invalid_argument unless the machine has a CPU for the notifier and each receiver.
void check_receivers(const machine& m, rank_t receivers);
// Throws the same unless the machine has what the notifier needs.
void check_notifier(const machine& m, const notifier& who);
// Throws the same, and `stuck`.
notified notify(const machine& m, const notifier& who, const notify_plan& plan);

}  // namespace tutti::sim
