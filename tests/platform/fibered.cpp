// SPDX-License-Identifier: Apache-2.0
// Runs threads as fibers: it decides which runs next, and moves the clock.

#include "tests/platform/fibered.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tutti::test {

namespace {

constexpr std::size_t stack_bytes = 256 * 1024;
constexpr std::uint64_t forever = UINT64_MAX;

// The exceptions that a thread handles, which the C++ ABI defines (section 2.2.2).
struct exceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;
};
exceptions& exceptions_here() noexcept {
  return *reinterpret_cast<exceptions*>(abi::__cxa_get_globals());
}

}  // namespace

struct fibered_world::thread {
  fiber_context at;
  std::unique_ptr<char[]> stack;
  std::function<void()> body;
  exceptions handled;
  // What it sleeps on, or null.
  const void* address = nullptr;
  std::uint64_t until = forever;
  bool has_ended = false;
  sim::objects_of_thread locals;

  bool is_ready(std::uint64_t now) const noexcept {
    return !has_ended && (address == nullptr || until <= now);
  }
};

fibered_world::fibered_world(fibered_options options)
    : options_(options), random_(options.seed), outside_(std::make_unique<thread>()) {}
fibered_world::~fibered_world() = default;

void fibered_world::run(std::function<void()> body) {
  for (fibered::hints& each : fibered::all_hints()) each = {};
  current_ = this;
  running_ = start(std::move(body));
  outside_->handled = std::exchange(exceptions_here(), {});
  outside_->at.leave_for(threads_[running_]->at);
  exceptions_here() = outside_->handled;
  current_ = nullptr;
}

void fibered_world::begin() {
  fibered_world& world = *current_;
  thread& me = *world.threads_[world.running_];
  me.body();
  me.has_ended = true;
  world.wake(&me, UINT_MAX);
  const bool is_last = std::all_of(world.threads_.begin(), world.threads_.end(),
                                   [](const auto& each) { return each->has_ended; });
  if (is_last) me.at.leave_for(world.outside_->at);
  world.switch_to(world.choose());
}

std::size_t fibered_world::start(std::function<void()> body) {
  auto made = std::make_unique<thread>();
  made->stack = std::make_unique<char[]>(stack_bytes);
  made->body = std::move(body);
  // The stack grows downwards and begins at a multiple of 16 bytes.
  const auto top =
      reinterpret_cast<std::uintptr_t>(made->stack.get() + stack_bytes) & ~std::uintptr_t{15};
  made->at.prepare(reinterpret_cast<void*>(top), stack_bytes - 16, &begin);
  threads_.push_back(std::move(made));
  return threads_.size() - 1;
}

void fibered_world::join(std::size_t number) noexcept {
  thread& other = *threads_[number];
  while (!other.has_ended) sleep(&other, forever);
}

void fibered_world::step(std::uint64_t ns) noexcept {
  constexpr std::uint64_t most_steps = 50'000'000;
  now_ += ns;
  trace_ = (trace_ ^ running_) * 0x100000001b3u + ns;
  if (++steps_ > most_steps) give_up("the threads do not get anywhere");
  if (one_of(options_.steps_between_switches)) switch_to(choose());
}

void fibered_world::yield(std::uint64_t ns) noexcept {
  step(ns);
  switch_to(choose());
}

void fibered_world::sleep(const void* address, std::uint64_t until) noexcept {
  thread& me = *threads_[running_];
  me.address = address;
  me.until = until;
  switch_to(choose());
  me.address = nullptr;
  me.until = forever;
}

void fibered_world::wake(const void* address, unsigned how_many) noexcept {
  for (const auto& each : threads_) {
    if (each->address != address || how_many == 0) continue;
    each->address = nullptr;
    --how_many;
  }
}

sim::objects_of_thread& fibered_world::locals() noexcept { return threads_[running_]->locals; }

void fibered_world::switch_to(std::size_t next) noexcept {
  if (next == running_) return;
  thread& from = *threads_[running_];
  from.handled = exceptions_here();
  exceptions_here() = threads_[next]->handled;
  running_ = next;
  from.at.leave_for(threads_[next]->at);
}

std::size_t fibered_world::choose() noexcept {
  std::size_t ready = 0;
  std::uint64_t first = forever;
  for (const auto& each : threads_) {
    ready += each->is_ready(now_) ? 1 : 0;
    if (!each->has_ended) first = std::min(first, each->until);
  }
  if (ready == 0) {
    if (first == forever) give_up("all threads sleep");
    now_ = std::max(now_, first);
    return choose();
  }
  std::size_t chosen = random_() % ready;
  for (std::size_t i = 0;; ++i)
    if (threads_[i]->is_ready(now_) && chosen-- == 0) return i;
}

void fibered_world::give_up(const char* why) const noexcept {
  std::fprintf(stderr, "fibered: %s (seed %llu, step %llu)\n", why,
               static_cast<unsigned long long>(options_.seed),
               static_cast<unsigned long long>(steps_));
  for (std::size_t i = 0; i < threads_.size(); ++i)
    std::fprintf(stderr, "  thread %zu %s\n", i,
                 threads_[i]->has_ended            ? "has ended"
                 : threads_[i]->address != nullptr ? "sleeps"
                                                   : "can run");
  std::abort();
}

}  // namespace tutti::test
