// SPDX-License-Identifier: Apache-2.0
// A stack and the place where it continues. It uses tutti's own switch if there is one for the
// processor, and Boost.Context's otherwise. CMake refuses a build that has neither.
#pragma once

#include <cstddef>

#include "tutti/platform/stack_switch.hpp"

#if !TUTTI_HAS_STACK_SWITCH
#include <boost/context/detail/fcontext.hpp>
#endif

namespace tutti {

class fiber_context {
 public:
  // Prepares the stack of `bytes` bytes that ends at `top` for the first switch to it, which calls
  // begin() there. begin() must not return.
  void prepare([[maybe_unused]] void* top, [[maybe_unused]] std::size_t bytes,
               void (*begin)()) noexcept {
#if TUTTI_HAS_STACK_SWITCH
    at_ = platform::prepare_stack(top, begin);
    control_ = platform::float_control::now();
#else
    at_ = boost::context::detail::make_fcontext(top, bytes, &arrive_first);
    begin_ = begin;
#endif
  }

  // Leaves this stack for `to` and returns when another stack switches back to it.
  [[gnu::always_inline]] void leave_for(fiber_context& to) noexcept {
#if TUTTI_HAS_STACK_SWITCH
    control_ = platform::float_control::now();
    platform::switch_stack(at_, to.at_);
    control_.restore();
#else
    passage p{this, &to};
    keep(boost::context::detail::jump_fcontext(to.at_, &p));
#endif
  }

 private:
#if TUTTI_HAS_STACK_SWITCH
  platform::suspended at_ = nullptr;
  platform::float_control control_;
#else
  struct passage {
    fiber_context* from;
    fiber_context* to;
  };
  static passage& keep(boost::context::detail::transfer_t t) noexcept {
    auto& p = *static_cast<passage*>(t.data);
    p.from->at_ = t.fctx;
    return p;
  }
  static void arrive_first(boost::context::detail::transfer_t t) { keep(t).to->begin_(); }

  boost::context::detail::fcontext_t at_ = nullptr;
  void (*begin_)() = nullptr;
#endif
};

}  // namespace tutti
