// SPDX-License-Identifier: Apache-2.0
// What `tutti bench event` times: one thread notifies several receivers, which wait.
#pragma once

#include <memory>

#include "tutti/platform/config.hpp"

namespace tutti::bench {

class notifier {
 public:
  notifier() = default;
  virtual ~notifier() = default;
  notifier(const notifier&) = delete;
  notifier& operator=(const notifier&) = delete;

  // A receiver's thread calls it before its first wait.
  virtual void enter(rank_t /*receiver*/) {}
  // Tells all receivers. The next call comes when all have returned from their wait.
  virtual void notify() = 0;
  // Returns once there was a notification that this receiver has not returned for.
  virtual void wait(rank_t receiver) = 0;
};

// T is made for a number of receivers.
template <class T>
std::unique_ptr<notifier> make_notifier(rank_t receivers) {
  return std::make_unique<T>(receivers);
}

}  // namespace tutti::bench
