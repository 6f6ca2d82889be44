// SPDX-License-Identifier: Apache-2.0
// Tells ThreadSanitizer and AddressSanitizer that a thread changes its stack. Their functions are
// weak symbols, because the program may be built with a sanitizer although the library is not.
// Without a sanitizer a switch costs a few comparisons.
#pragma once

#include <cstddef>

#include "tutti/platform/thread_sanitizer.hpp"

extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                  std::size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom,
                                                   std::size_t* bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(void const volatile* address, std::size_t bytes);
}

namespace tutti {

// The sanitizers' state of one stack. For ThreadSanitizer a switch orders what the two fibers do,
// which is true because they share a thread.
class fiber_sanitizers {
 public:
  fiber_sanitizers() noexcept = default;
  ~fiber_sanitizers() {
    if (is_ours_) __tsan_destroy_fiber(handle_);
  }
  fiber_sanitizers(const fiber_sanitizers&) = delete;
  fiber_sanitizers& operator=(const fiber_sanitizers&) = delete;

  // Registers a fiber's stack. It must not be called for the stack of the thread itself.
  void know_stack(void* top, std::size_t bytes) {
    bottom_ = static_cast<char*>(top) - bytes;
    bytes_ = bytes;
    if (!platform::under_thread_sanitizer()) return;
    handle_ = __tsan_create_fiber(0);
    is_ours_ = true;
  }

  // Must be called before the stack's memory is freed, so that the next owner of the memory does
  // not find the shadow of the last frames.
  void forget_stack() noexcept {
    if (under_address_sanitizer()) __asan_unpoison_memory_region(bottom_, bytes_);
  }

  void leave_for(fiber_sanitizers& to) noexcept {
    if (under_address_sanitizer()) [[unlikely]] {
      __sanitizer_start_switch_fiber(&fake_stack_, to.bottom_, to.bytes_);
      to.came_from_ = this;
    }
    if (platform::under_thread_sanitizer()) [[unlikely]] {
      if (!is_ours_) handle_ = __tsan_get_current_fiber();
      __tsan_switch_to_fiber(to.handle_, 0);
    }
  }

  // Announces the last switch: this stack is no longer needed.
  void end_for(fiber_sanitizers& to) noexcept {
    if (under_address_sanitizer()) {
      __sanitizer_start_switch_fiber(nullptr, to.bottom_, to.bytes_);
      to.came_from_ = this;
    }
    if (platform::under_thread_sanitizer()) __tsan_switch_to_fiber(to.handle_, 0);
  }

  // Must be called first on the stack that was switched to.
  void arrived() noexcept {
    if (under_address_sanitizer()) [[unlikely]]
      __sanitizer_finish_switch_fiber(fake_stack_, &came_from_->bottom_, &came_from_->bytes_);
  }

 private:
  static bool under_address_sanitizer() noexcept {
    return &__asan_unpoison_memory_region != nullptr;
  }

  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  fiber_sanitizers* came_from_ = nullptr;
  void* handle_ = nullptr;
  bool is_ours_ = false;
};

}  // namespace tutti
