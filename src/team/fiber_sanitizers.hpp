// SPDX-License-Identifier: Apache-2.0
// Tells ThreadSanitizer and AddressSanitizer that a thread changes its stack. Without them it does
// nothing.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TUTTI_TSAN 1
#endif
#if __has_feature(address_sanitizer)
#define TUTTI_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TUTTI_TSAN 1
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TUTTI_ASAN 1
#endif

#ifdef TUTTI_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef TUTTI_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tutti {

// The sanitizers' state of one stack. For ThreadSanitizer a switch orders what the two fibers do,
// which is true because they share a thread.
class fiber_sanitizers {
 public:
#ifdef TUTTI_TSAN
  ~fiber_sanitizers() {
    if (is_ours_) __tsan_destroy_fiber(handle_);
  }
#endif

  // Registers a fiber's stack. It must not be called for the stack of the thread itself.
  void know_stack([[maybe_unused]] void* top, [[maybe_unused]] std::size_t bytes) {
#ifdef TUTTI_ASAN
    bottom_ = static_cast<char*>(top) - bytes;
    bytes_ = bytes;
#endif
#ifdef TUTTI_TSAN
    handle_ = __tsan_create_fiber(0);
    is_ours_ = true;
#endif
  }

  // Must be called before the stack's memory is freed, so that the next owner of the memory does
  // not find the shadow of the last frames.
  void forget_stack() noexcept {
#ifdef TUTTI_ASAN
    __asan_unpoison_memory_region(bottom_, bytes_);
#endif
  }

  void leave_for([[maybe_unused]] fiber_sanitizers& to) noexcept {
#ifdef TUTTI_ASAN
    __sanitizer_start_switch_fiber(&fake_stack_, to.bottom_, to.bytes_);
    to.came_from_ = this;
#endif
#ifdef TUTTI_TSAN
    if (!is_ours_) handle_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to.handle_, 0);
#endif
  }

  // Announces the last switch: this stack is no longer needed.
  void end_for([[maybe_unused]] fiber_sanitizers& to) noexcept {
#ifdef TUTTI_ASAN
    __sanitizer_start_switch_fiber(nullptr, to.bottom_, to.bytes_);
    to.came_from_ = this;
#endif
#ifdef TUTTI_TSAN
    __tsan_switch_to_fiber(to.handle_, 0);
#endif
  }

  // Must be called first on the stack that was switched to.
  void arrived() noexcept {
#ifdef TUTTI_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_, &came_from_->bottom_, &came_from_->bytes_);
#endif
  }

 private:
#ifdef TUTTI_ASAN
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  fiber_sanitizers* came_from_ = nullptr;
#endif
#ifdef TUTTI_TSAN
  void* handle_ = nullptr;
  bool is_ours_ = false;
#endif
};

}  // namespace tutti
