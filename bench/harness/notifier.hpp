// SPDX-License-Identifier: Apache-2.0
// What `tutti bench event` times: one thread notifies several receivers, which wait.
#pragma once

#include <memory>

#include "tutti/platform/array.hpp"
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
  // Returns once for each notification; at once if one came since this receiver's last return.
  virtual void wait(rank_t receiver) = 0;
};

// A notifier that counts its notifications, and knows how many each receiver has returned for.
template <class Count>
class counting_notifier : public notifier {
 protected:
  explicit counting_notifier(rank_t receivers) : receivers_(receivers), seen_(receivers) {}
  bool has_one_receiver() const noexcept { return receivers_ == 1; }
  Count& seen_by(rank_t receiver) noexcept { return seen_[receiver].value; }

 private:
  rank_t receivers_;
  array<padded<Count>> seen_;
};

// For contender::events: makes a T, whose constructor takes the number of receivers.
template <class T>
std::unique_ptr<notifier> make_notifier(rank_t receivers) {
  return std::make_unique<T>(receivers);
}

}  // namespace tutti::bench
