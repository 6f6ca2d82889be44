// SPDX-License-Identifier: Apache-2.0
// Fibers on Boost.Context, which does no more than switch stacks: whose turn it is, what the thread does when all of them
// wait, and what the sanitizers must be told is here.

#include "tutti/team/fibers.hpp"

#include <cxxabi.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "fiber_sanitizers.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/futex.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

namespace {

namespace context = boost::context;

// What C++ and C keep for each thread but mean for each flow of control.
class flow_state {
 public:
  void save() noexcept {
    const auto* globals = reinterpret_cast<const exceptions*>(abi::__cxa_get_globals());
    exceptions_ = *globals;
    errno_ = errno;
    team_here_ = detail::team_here;
  }
  void restore() const noexcept {
    *reinterpret_cast<exceptions*>(abi::__cxa_get_globals()) = exceptions_;
    errno = errno_;
    detail::team_here = team_here_;
  }

 private:
  // The C++ ABI fixes these two (section 2.2.2): exceptions being handled, and how many are on their way.
  struct exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };
  exceptions exceptions_;
  int errno_ = 0;
  const team* team_here_ = nullptr;
};

// Times that the kernel took the thread off its core because it blocked.
long blocked_so_far() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

}  // namespace

class fiber_group::host final : public platform::fiber_host {
 public:
  host(rank_t count, rank_t first_rank, const fiber_options& options)
      : first_rank_(first_rank), checks_(options.checks), fibers_(count) {
    context::protected_fixedsize_stack stacks(options.stack_bytes);
    for (rank_t i = 0; i < count; ++i) {
      fiber& made = fibers_[i];
      const context::stack_context stack = stacks.allocate();
      made.sanitizers.know_stack(stack.sp, stack.size);
      made.context =
          context::fiber(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack),
                         stacks, [this, i](context::fiber&& caller) {
                           came_from(std::move(caller));
                           fibers_[i].sanitizers.arrived();
                           live(i);
                           fibers_[i].sanitizers.end_for(main_.sanitizers);
                           return std::move(main_.context);
                         });
    }
  }

  // Lets every fiber return from its life. (Destroying one that is suspended would unwind its stack by an exception.)
  ~host() {
    is_ending_ = true;
    for (rank_t i = 0; i < size(); ++i) switch_to(main_, i, fibers_[i]);
  }
  host(const host&) = delete;
  host& operator=(const host&) = delete;

  rank_t size() const noexcept { return static_cast<rank_t>(fibers_.size()); }

  void run(void (*body)(void*, rank_t), void* context) {
    body_ = body;
    context_ = context;
    const rank_t count = size();
    for (rank_t i = 0; i < count; ++i) {
      fibers_[i].next = i + 1 < count ? i + 1 : 0;
      fibers_[i].previous = i > 0 ? i - 1 : count - 1;
    }
    alive_ = count;
    waiting_in_a_row_ = 0;
    platform::fiber_host* const outer = std::exchange(platform::fibers_here, this);
    switch_to(main_, 0, fibers_[0]);
    platform::fibers_here = outer;
  }

  bool switch_fiber() noexcept override {
    waiting_in_a_row_ = 0;
    return switch_to_next();
  }

  bool park_fiber(const void* word, std::uint32_t seen,
                  std::uint64_t deadline_ns) noexcept override {
    if (++waiting_in_a_row_ < alive_) return switch_to_next();
    // All of us wait. Only one word can be slept on, so the sleep is short.
    waiting_in_a_row_ = 0;
    constexpr std::uint64_t nap_ns = 500'000;
    platform::futex_wait(word, seen, std::min(deadline_ns, platform::now_ns() + nap_ns));
    forgive_blocking();
    switch_to_next();
    return true;
  }

  void let_others_run() noexcept {
    ++waiting_in_a_row_;
    switch_to_next();
  }

  void forgive_blocking() noexcept {
    if (checks_) fibers_[current_].blocked_before = blocked_so_far();
  }

 private:
  struct fiber {
    context::fiber context;
    fiber_sanitizers sanitizers;
    flow_state state;
    rank_t next = 0, previous = 0;  // in the ring of those that have not finished
    long blocked_before = 0;
  };

  // The life of fiber i: one call of the body for each run.
  void live(rank_t i) {
    while (!is_ending_) {
      if (checks_) fibers_[i].blocked_before = blocked_so_far();
      body_(context_, i);
      check_not_blocked(i);
      fiber& me = fibers_[i];
      fibers_[me.previous].next = me.next;
      fibers_[me.next].previous = me.previous;
      waiting_in_a_row_ = 0;
      if (--alive_ == 0)
        switch_to(me, current_, main_);
      else
        switch_to(me, me.next, fibers_[me.next]);
    }
  }

  bool switch_to_next() noexcept {
    fiber& me = fibers_[current_];
    if (alive_ < 2) return false;
    check_not_blocked(current_);
    switch_to(me, me.next, fibers_[me.next]);
    forgive_blocking();
    return true;
  }

  void switch_to(fiber& from, rank_t index, fiber& to) noexcept {
    from.state.save();
    from_ = &from;
    current_ = index;
    from.sanitizers.leave_for(to.sanitizers);
    context::fiber caller = std::move(to.context).resume();
    came_from(std::move(caller));
    from.sanitizers.arrived();
    from.state.restore();
  }

  // First thing after each switch: keeps what was left.
  void came_from(context::fiber&& caller) noexcept { from_->context = std::move(caller); }

  void check_not_blocked(rank_t i) noexcept {
    if (!checks_ || blocked_so_far() == fibers_[i].blocked_before) return;
    on_misuse(
        "virtual rank " + std::to_string(first_rank_ + i) +
            " blocked its thread in a system call: the other ranks of the thread could not run",
        {"tutti::team", 0});
    fibers_[i].blocked_before = blocked_so_far();
  }

  const rank_t first_rank_;
  const bool checks_;
  std::vector<fiber> fibers_;
  fiber main_;  // the thread outside of the fibers
  fiber* from_ = nullptr;
  rank_t current_ = 0;
  rank_t alive_ = 0;
  rank_t waiting_in_a_row_ = 0;  // turns since one of us last did anything but wait
  bool is_ending_ = false;
  void (*body_)(void*, rank_t) = nullptr;
  void* context_ = nullptr;
};

fiber_group::fiber_group(rank_t count, rank_t first_rank, fiber_options options)
    : host_(std::make_unique<host>(count, first_rank, options)) {}
fiber_group::~fiber_group() = default;

rank_t fiber_group::size() const noexcept { return host_->size(); }
void fiber_group::run(void (*body)(void*, rank_t), void* context) { host_->run(body, context); }
void fiber_group::let_others_run() noexcept { host_->let_others_run(); }
void fiber_group::forgive_blocking() noexcept { host_->forgive_blocking(); }

}  // namespace tutti
