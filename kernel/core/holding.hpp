// SPDX-License-Identifier: Apache-2.0
// Holds a lock or a mutex as long as it lives.
#pragma once

namespace tutti::kernel {

template <class Lock>
class holding {
 public:
  explicit holding(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~holding() { lock_.unlock(); }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;

 private:
  Lock& lock_;
};

}  // namespace tutti::kernel
