// SPDX-License-Identifier: Apache-2.0
// Runs fibers: it decides which fiber runs next and what the thread does when all of its fibers
// wait, and it tells the sanitizers.

#include "tutti/team/fibers.hpp"

#include <cxxabi.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "src/team/fiber_context.hpp"
#include "src/team/fiber_sanitizers.hpp"
#include "src/team/fiber_stack.hpp"
#include "src/team/member_here.hpp"
#include "src/team/own_blocking.hpp"
#include "src/uncancelled.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/futex.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/run_delay.hpp"

namespace tutti {

constinit thread_local member* detail::member_here = nullptr;

namespace {

// The state that C++ and C keep for each thread, but that each fiber needs for itself. The
// addresses are found once, because finding them takes as long as a switch.
class thread_state {
 public:
  // The exceptions that are being handled and the number of uncaught ones, which the C++ ABI
  // defines (section 2.2.2), errno, the team whose region the fiber is in, and its member there if
  // C opened the region.
  struct values {
    void* caught = nullptr;
    unsigned uncaught = 0;
    int error = 0;
    const basic_team<native>* region = nullptr;
    member* here = nullptr;
  };

  static thread_state here() noexcept {
    return {reinterpret_cast<exceptions*>(abi::__cxa_get_globals()), &errno,
            &detail::team_here<native>(), &detail::member_here};
  }
  void save(values& to) const noexcept {
    to = {exceptions_->caught, exceptions_->uncaught, *error_, *region_, *here_};
  }
  void restore(const values& from) const noexcept {
    *exceptions_ = {from.caught, from.uncaught};
    *error_ = from.error;
    *region_ = from.region;
    *here_ = from.here;
  }

 private:
  struct exceptions {
    void* caught;
    unsigned uncaught;
  };
  thread_state(exceptions* e, int* error, const basic_team<native>** region, member** here) noexcept
      : exceptions_(e), error_(error), region_(region), here_(here) {}

  exceptions* exceptions_;
  int* error_;
  const basic_team<native>** region_;
  member** here_;
};

// How often and how long this thread has been off its core by its own doing.
struct time_off_core {
  // How often the thread blocked. Waits for locks inside the kernel count too.
  long blocked = 0;
  std::uint64_t ns = 0;

  static time_off_core so_far() noexcept {
    time_off_core found;
    std::uint64_t queued = queued_ns();
    // The values belong to one moment only if the thread did not lose its core between them.
    for (int tries = 0; tries < 5; ++tries) {
      rusage usage{};
      getrusage(RUSAGE_THREAD, &usage);
      timespec cpu{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
      const auto busy_ns = static_cast<std::uint64_t>(cpu.tv_sec) * 1'000'000'000u +
                           static_cast<std::uint64_t>(cpu.tv_nsec);
      // Where others keep the core busy, the thread waits for its turn after a page fault, too.
      // That is not its doing, and neither is what the library does.
      found = {usage.ru_nvcsw, platform::now_ns() - busy_ns - queued - detail::own_blocking_ns};
      const std::uint64_t before = std::exchange(queued, queued_ns());
      if (queued == before) break;
    }
    return found;
  }
  // For how long this thread has been ready to run while others ran on its core; 0 if the system
  // does not tell.
  static std::uint64_t queued_ns() noexcept { return platform::run_delay::now_ns().value_or(0); }
  // Tells whether the thread blocked for long since `before`. Shorter times may be no mistake.
  // An allocation waits for the allocator's lock, and a page fault for that of the address space.
  // Where others keep the cores busy, the thread that holds the lock may have lost its core.
  bool has_slept_since(const time_off_core& before) const noexcept {
    constexpr std::uint64_t tolerated_ns = 200'000'000;
    return blocked != before.blocked && ns > before.ns + tolerated_ns;
  }
};

// There is no memory for the stack of a virtual rank. The text is in the object, because there may
// be no memory for it either.
class no_stack final : public std::bad_alloc {
 public:
  no_stack(rank_t rank, std::size_t bytes) noexcept {
    unsigned long mappings = 0;
    const uncancelled held;
    if (std::FILE* const limit = std::fopen("/proc/sys/vm/max_map_count", "re")) {
      if (std::fscanf(limit, "%lu", &mappings) != 1) mappings = 0;
      std::fclose(limit);
    }
    std::snprintf(text_, sizeof text_,
                  "tutti: the system has no stack of %zu bytes for virtual rank %u: its memory or "
                  "its mappings have run out (each stack takes two mappings, and vm.max_map_count "
                  "allows a process %lu)",
                  bytes, rank, mappings);
  }
  const char* what() const noexcept override { return text_; }

 private:
  char text_[320];
};

}  // namespace

class fiber_group::host final : public platform::fiber_host {
 public:
  host(rank_t count, rank_t first_rank, const fiber_options& options)
      : first_rank_(first_rank),
        checks_(options.checks.value_or(false) && !platform::under_thread_sanitizer()),
        fibers_(count) {
    // A smaller stack does not hold the frames of a wait and of an exception that is being thrown.
    constexpr std::size_t least = 16 * 1024;
    if (options.stack_bytes < least)
      refuse("a stack of " + std::to_string(options.stack_bytes) +
             " bytes is too small for a virtual rank: at least " + std::to_string(least));
    std::size_t unused = 0;
    for (fiber& made : fibers_) {
      try {
        made.stack = fiber_stack(options.stack_bytes);
      } catch (const std::bad_alloc&) {
        throw no_stack(first_rank + static_cast<rank_t>(&made - fibers_.data()),
                       options.stack_bytes);
      }
      made.sanitizers.know_stack(made.stack.top(), made.stack.bytes());
      made.at.prepare(made.stack.top() - unused, made.stack.bytes() - unused, &begin);
      // Each stack begins at a different place of a page. Otherwise the first lines of all stacks
      // would compete for a few sets of the cache.
      unused = (unused + apart) % page;
    }
  }

  // Lets every fiber return from live(). (Destroying a suspended fiber would unwind its stack by an
  // exception.)
  ~host() {
    is_ending_ = true;
    host* const outer_host = enter_thread();
    for (rank_t i = 0; i < size(); ++i) {
      switch_to(main_, i, fibers_[i]);
      fibers_[i].sanitizers.forget_stack();
      fibers_[i].stack = {};
    }
    running = outer_host;
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
    // Where all of these fibers wait, the thread sleeps. A fiber of another host that has called
    // this is not to blame.
    const detail::own_blocking ours;
    host* const outer_host = enter_thread();
    platform::fiber_host* const outer = std::exchange(platform::fibers_here, this);
    switch_to(main_, 0, fibers_[0]);
    platform::fibers_here = outer;
    running = outer_host;
  }

  bool switch_fiber() noexcept override {
    waiting_in_a_row_ = 0;
    return switch_to_next();
  }

  bool park_fiber(const void* word, std::uint32_t seen, std::uint64_t deadline_ns,
                  platform::futex_scope scope) noexcept override {
    parked& mine = fibers_[current_].parked_on;
    mine = {word, seen, deadline_ns, scope};
    if (++waiting_in_a_row_ < alive_) {
      const bool has_others = switch_to_next();
      mine.word = nullptr;
      return has_others;
    }
    waiting_in_a_row_ = 0;
    check_not_blocked(current_);
    if (!sleep_for_all()) {
      constexpr std::uint64_t nap_ns = 500'000;
      platform::futex_wait(word, seen, std::min(deadline_ns, platform::now_ns() + nap_ns), scope);
    }
    forgive_blocking();
    switch_to_next();
    mine.word = nullptr;
    return true;
  }

  void let_others_run() noexcept {
    ++waiting_in_a_row_;
    switch_to_next();
  }

  static const void* running_fiber() noexcept { return &running->fibers_[running->current_]; }

  void forgive_blocking() noexcept {
    if (checks_) fibers_[current_].before_turn = time_off_core::so_far();
  }

 private:
  // Makes this the running host and returns the previous one, whose fiber may be the caller. The
  // caller must restore it, because a fiber of that host may begin later.
  host* enter_thread() noexcept {
    thread_ = thread_state::here();
    return std::exchange(running, this);
  }

  static inline thread_local host* running = nullptr;
  static constexpr std::size_t page = 4096, apart = 7 * 64;

  // The word on which a fiber sleeps, or null.
  struct parked {
    const void* word = nullptr;
    std::uint32_t seen = 0;
    std::uint64_t deadline_ns = 0;
    platform::futex_scope scope = platform::futex_scope::process;
  };

  struct fiber {
    fiber_context at;
    fiber_stack stack;
    fiber_sanitizers sanitizers;
    thread_state::values state;
    // The neighbours in the ring of the fibers that have not finished.
    rank_t next = 0, previous = 0;
    parked parked_on;
    time_off_core before_turn;
  };

  // The first function on a stack.
  static void begin() {
    host& me = *running;
    const rank_t i = me.current_;
    me.fibers_[i].sanitizers.arrived();
    me.live(i);
    me.fibers_[i].sanitizers.end_for(me.main_.sanitizers);
    me.fibers_[i].at.leave_for(me.main_.at);
  }

  // Calls the body once for each run, as fiber i.
  void live(rank_t i) {
    while (!is_ending_) {
      // The body starts with the state of the thread, not with that of the previous fiber.
      thread_.restore(main_.state);
      if (checks_) fibers_[i].before_turn = time_off_core::so_far();
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

  // Sleeps until the wait of a fiber may have ended. Returns false, at once, if some fiber waits in
  // another way, the words are too many, or the kernel cannot sleep on several.
  bool sleep_for_all() noexcept {
    platform::futex_word words[platform::most_futex_words];
    unsigned count = 0;
    std::uint64_t deadline_ns = platform::forever_ns;
    rank_t i = current_;
    do {
      const parked& each = fibers_[i].parked_on;
      if (each.word == nullptr) return false;
      deadline_ns = std::min(deadline_ns, each.deadline_ns);
      const auto word = platform::futex_word::of(each.word, each.seen, each.scope);
      if (std::find(words, words + count, word) == words + count) {
        if (count == platform::most_futex_words) return false;
        words[count++] = word;
      }
      i = fibers_[i].next;
    } while (i != current_);
    if (count > 1) return platform::futex_wait_any(words, count, deadline_ns);
    const parked& only = fibers_[current_].parked_on;
    platform::futex_wait(only.word, only.seen, deadline_ns, only.scope);
    return true;
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
    thread_.save(from.state);
    current_ = index;
    from.sanitizers.leave_for(to.sanitizers);
    from.at.leave_for(to.at);
    from.sanitizers.arrived();
    thread_.restore(from.state);
  }

  void check_not_blocked(rank_t i) noexcept {
    if (checks_) [[unlikely]]
      report_if_blocked(i);
  }
  [[gnu::noinline]] void report_if_blocked(rank_t i) noexcept {
    if (!time_off_core::so_far().has_slept_since(fibers_[i].before_turn)) return;
    on_misuse(
        "virtual rank " + std::to_string(first_rank_ + i) +
            " blocked its thread in a system call: the other ranks of the thread could not run",
        {"tutti::team", 0});
    fibers_[i].before_turn = time_off_core::so_far();
  }

  const rank_t first_rank_;
  const bool checks_;
  std::vector<fiber> fibers_;
  // The thread outside of the fibers.
  fiber main_;
  thread_state thread_ = thread_state::here();
  rank_t current_ = 0;
  rank_t alive_ = 0;
  // The number of turns since a fiber last did anything but wait.
  rank_t waiting_in_a_row_ = 0;
  bool is_ending_ = false;
  void (*body_)(void*, rank_t) = nullptr;
  void* context_ = nullptr;
};

// A rank that opens or ends a team is not to blame for what the kernel waits for while it maps or
// unmaps stacks.
fiber_group::fiber_group(rank_t count, rank_t first_rank, fiber_options options) {
  const detail::own_blocking ours;
  host_ = std::make_unique<host>(count, first_rank, options);
}
fiber_group::~fiber_group() {
  const detail::own_blocking ours;
  host_.reset();
}

const void* fiber_group::running() noexcept {
  return platform::fibers_here == nullptr ? nullptr : host::running_fiber();
}

rank_t fiber_group::size() const noexcept { return host_->size(); }
void fiber_group::run(void (*body)(void*, rank_t), void* context) { host_->run(body, context); }
void fiber_group::let_others_run() noexcept { host_->let_others_run(); }
void fiber_group::forgive_blocking() noexcept { host_->forgive_blocking(); }

}  // namespace tutti
