// SPDX-License-Identifier: Apache-2.0
// Ends the program when a barrier never returns: its threads cannot be stopped one by one.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tutti::bench {

// The exit status of a program that a watchdog has ended.
inline constexpr int hung_status = 4;

class watchdog {
 public:
  // `what` is for the sentence on standard error.
  watchdog(unsigned seconds, std::string what);
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace tutti::bench
