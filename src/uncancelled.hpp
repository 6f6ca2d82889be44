// SPDX-License-Identifier: Apache-2.0
// Calls of the system libraries that could end a cancelled thread (pthread_cancel) in the middle of
// what tutti does.
#pragma once

#include <pthread.h>

namespace tutti {

// While it exists, nothing cancels the calling thread.
class uncancelled {
 public:
  uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~uncancelled() { pthread_setcancelstate(before_, nullptr); }
  uncancelled(const uncancelled&) = delete;
  uncancelled& operator=(const uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace tutti
