// SPDX-License-Identifier: Apache-2.0
// Whether this thread is inside a call that the preload serves.
#pragma once

namespace tutti::preload {

// MPI's own functions may call each other; those calls are its own.
class inside_a_call {
 public:
  inside_a_call() noexcept { ++depth; }
  ~inside_a_call() { --depth; }
  inside_a_call(const inside_a_call&) = delete;
  inside_a_call& operator=(const inside_a_call&) = delete;
  static bool already() noexcept { return depth > 0; }

 private:
  static inline thread_local int depth = 0;
};

}  // namespace tutti::preload
