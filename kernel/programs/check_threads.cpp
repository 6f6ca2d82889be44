// SPDX-License-Identifier: Apache-2.0
// `check-threads`: threads, mutexes, condition variables, time, and memory. `wakeups=N` is the
// number of wake-ups of each form of condition variable.
#include "kernel/core/memory.hpp"
#include "kernel/core/text.hpp"
#include "kernel/event/condition.hpp"
#include "kernel/programs/group.hpp"
#include "kernel/programs/programs.hpp"

namespace tutti::kernel {

namespace {

u64 us(u64 count) noexcept { return count * machine::ticks_per_us(); }

// Threads of all cores, two on each, add to a plain number.
void check_mutex(checks& all, u64 count) {
  mutex lock;
  u64 sum = 0;
  run_on_cores(cores(), [&](u32) {
    for (u64 k = 0; k < count; ++k) {
      const holding hold(lock);
      ++sum;
    }
  });
  all.expect(sum == count * cores(), "the mutex let two threads in: ", sum);
}

// The first and the last core hand a turn to each other.
void check_wake_ups(checks& all, const char* name, wake_up how, u64 count) {
  mutex lock;
  condition changed[2] = {condition(how), condition(how)};
  u64 turn = 0;
  const auto work = [&](u64 mine) {
    for (u64 k = 0; k < count / 2; ++k) {
      const holding hold(lock);
      while (turn % 2 != mine) changed[mine].wait(lock);
      ++turn;
      changed[1 - mine].signal();
    }
  };
  struct job {
    decltype(work)* run;
    u64 mine;
  } jobs[2] = {{&work, 0}, {&work, 1}};
  const auto run = [](void* argument) {
    const job& j = *static_cast<job*>(argument);
    (*j.run)(j.mine);
  };
  thread* threads[2] = {create(0, run, &jobs[0], "ping"),
                        create(cores() - 1, run, &jobs[1], "pong")};
  for (thread* t : threads) join(t);
  all.expect(turn == count / 2 * 2, name, ": ", turn, " turns instead of ", count / 2 * 2);
}

// All cores wait; core 0 wakes them together, again and again.
void check_broadcasts(checks& all, const char* name, wake_up how, u64 count) {
  mutex lock;
  condition opened(how), everybody_waits(how);
  u64 episode = 0, waiting = 0, left = 0;
  run_on_cores(cores(), [&](u32 me) {
    for (u64 k = 1; k <= count; ++k) {
      const holding hold(lock);
      if (me == 0) {
        while (waiting < cores() - 1) everybody_waits.wait(lock);
        waiting = 0;
        episode = k;
        opened.broadcast();
        continue;
      }
      if (++waiting == cores() - 1) everybody_waits.signal();
      while (episode < k) opened.wait(lock);
      ++left;
    }
  });
  all.expect(left == count * (cores() - 1), name, ": ", left, " wake-ups by broadcasts");
}

void check_time(checks& all) {
  const u64 begin = machine::ticks();
  sleep_until(begin + us(3'000));
  all.expect(machine::ticks() - begin >= us(3'000), "a sleep was too short");
  {
    // A thread whose time has come waits for its turn.
    const background_threads background(50);
    for (u64 k = 1; k <= 5; ++k) sleep_until(machine::ticks() + us(20 * k));
  }

  mutex lock;
  condition never_signalled;
  lock.lock();
  const u64 before = machine::ticks();
  all.expect(!never_signalled.wait(lock, before + us(2'000)), "a wait ended without a signal");
  all.expect(machine::ticks() - before >= us(2'000), "a wait ended before its deadline");
  lock.unlock();
}

// The caller's slice begins with the call that sets it, even if the caller has run without a pause
// since the kernel started: a thread on its core runs although it only polls.
void check_first_slice(checks& all) {
  set_slice(us(100));
  std::atomic<bool> has_run{false};
  const auto run = [](void* argument) {
    // relaxed: only the value matters.
    static_cast<std::atomic<bool>*>(argument)->store(true, relaxed);
  };
  const u64 begin = machine::ticks();
  thread* const other = create(machine::here().index, run, &has_run, "other");
  // relaxed: the same.
  while (!has_run.load(relaxed) && machine::ticks() - begin < us(5'000'000)) machine::pause();
  all.expect(has_run.load(relaxed), "the thread that set the slice kept its core");
  join(other);
  set_slice(0);
}

// Two threads on a core, of which neither yields: both run only if there are slices.
void check_slices(checks& all) {
  set_slice(us(1'000));
  std::atomic<u32> running{0};
  std::atomic<bool> is_over{false};
  const auto run = [](void* argument) {
    // relaxed: a count; nothing is published by it.
    static_cast<std::atomic<u32>*>(argument)->fetch_add(1, relaxed);
  };
  struct spinner {
    std::atomic<bool>* is_over;
  } spin{&is_over};
  const auto spin_until_over = [](void* argument) {
    // relaxed: only the end matters.
    while (!static_cast<spinner*>(argument)->is_over->load(relaxed)) machine::pause();
  };
  const u32 where = cores() - 1;
  thread* first = create(where, spin_until_over, &spin, "spin");
  yield();
  thread* second = create(where, run, &running, "second");
  const u64 begin = machine::ticks();
  while (running.load(relaxed) == 0 && machine::ticks() - begin < us(5'000'000)) yield();
  all.expect(running.load(relaxed) == 1, "a thread that does not yield kept its core");
  is_over.store(true, relaxed);
  join(first);
  join(second);
  set_slice(0);
}

// Blocks of memory have one owner each, and come back whole.
void check_memory(checks& all) {
  run_on_cores(cores(), [&](u32 me) {
    constexpr u32 count = 64;
    u64* blocks[count];
    for (u32 round = 0; round < 20; ++round) {
      for (u32 i = 0; i < count; ++i) {
        blocks[i] = static_cast<u64*>(allocate(64 << i % 8));
        *blocks[i] = u64{me} << 32 | i;
      }
      for (u32 i = 0; i < count; ++i) {
        if (*blocks[i] != (u64{me} << 32 | i)) panic("a block of memory belongs to two owners");
        give_back(blocks[i]);
      }
    }
  });
  u64 after = 0, again = 0;
  for (u32 n = 0; n < machine::described().nodes; ++n) after += free_bytes(n);
  for (int i = 0; i < 100; ++i) give_back(allocate(1 << 20));
  for (u32 n = 0; n < machine::described().nodes; ++n) again += free_bytes(n);
  all.expect(after == again, "memory was lost");
}

}  // namespace

bool check_threads(const char* line) {
  const u64 wake_ups = text::number_of(line, "wakeups", 10'000);
  checks all;
  // The first, before this thread has given its core away.
  check_first_slice(all);
  check_memory(all);
  check_mutex(all, wake_ups / 10 + 100);
  check_time(all);
  check_slices(all);
  check_wake_ups(all, "condition variable with kick", wake_up::kicked, wake_ups);
  if (cores() > 1) check_broadcasts(all, "with kick", wake_up::kicked, wake_ups / 20 + 1);
  {
    // Without a kick a signalled thread waits for a yield of its core.
    const background_threads background(10);
    check_wake_ups(all, "condition variable", wake_up::queued, wake_ups);
    if (cores() > 1) check_broadcasts(all, "without kick", wake_up::queued, wake_ups / 20 + 1);
  }
  return all.report("check-threads");
}

}  // namespace tutti::kernel
