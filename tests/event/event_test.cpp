// SPDX-License-Identifier: Apache-2.0
// What eventcounts, condition variables and events promise, with every wait policy of the list;
// between virtual ranks, and between processes.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

#include "cli/shared_memory.hpp"
#include "tests/event/notifications.hpp"
#include "tutti/comm/any_wait.hpp"
#include "tutti/platform/across_processes.hpp"
#include "tutti/team/team.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

// Calls check.operator()<Wait>() for every wait policy that this machine has.
template <class Check, class... Entry>
void with_every_wait(Check check, std::tuple<Entry...>*) {
  const auto one = [&]<class E>(E) {
    if (!E::info.available()) return;
    SCOPED_TRACE(std::string(E::info.name));
    check.template operator()<typename E::template type<memory>>();
  };
  (one(Entry()), ...);
}
template <class Check>
void with_every_wait(Check check) {
  with_every_wait(check, static_cast<registry::waits*>(nullptr));
}

template <class Wait>
constexpr bool never_yields =
    std::is_same_v<Wait, spin_wait<memory>> || std::is_same_v<Wait, monitor_wait<memory>>;

TEST(Event, LosesNoNotification) {
  // Beside other work a waiter that never yields can cost a time slice for each notification.
  with_every_wait(
      []<class Wait>() { notify_in_every_way<Wait>(never_yields<Wait> ? 200 : 2'000); });
  notify_in_every_way<parking_at_once>(2'000);
  notify_in_every_way<any_wait<memory>>(500);
}

TEST(Event, RunsEveryPostOfEightSendersOnce) {
  post_from_many<adaptive_wait<memory>>(8, 1, 12'500);
  post_from_many<parking_at_once>(8, 1, 2'500);
  post_from_many<adaptive_wait<memory>>(8, 2, 2'500);
}

// ---- eventcount

TEST(Eventcount, TellsWhetherAnybodyWaits) {
  eventcount event;
  EXPECT_FALSE(event.notify_all());
  const auto key = event.prepare_wait();
  EXPECT_EQ(event.announced(), 1u);
  EXPECT_TRUE(event.notify_one());
  event.commit_wait(key);
  EXPECT_FALSE(event.notify_one_ordered());
  event.cancel_wait(event.prepare_wait());
  EXPECT_FALSE(event.notify_all_ordered());
}

TEST(Eventcount, KeepsDeadlinesAndCancellations) {
  with_every_wait([]<class Wait>() {
    basic_eventcount<native, Wait> event;
    const auto never = []() noexcept { return false; };
    EXPECT_FALSE(event.wait(never, deadline_after(2ms)));
    EXPECT_FALSE(event.commit_wait(event.prepare_wait(), deadline_after(2ms)));
    EXPECT_TRUE(event.wait([]() noexcept { return true; }, deadline_after(0ms)));
    cancellation cancelled;
    std::thread canceller([&] { cancelled.request(); });
    EXPECT_FALSE(event.wait(never, deadline(cancelled)));
    canceller.join();
    EXPECT_EQ(event.announced(), 0u);
  });
}

TEST(Eventcount, HasThePatienceOfItsPolicy) {
  eventcount adaptive(patience::passive());
  EXPECT_TRUE(adaptive.set_patience(patience::active()));
  basic_eventcount<native, parking_at_once> parked;
  EXPECT_FALSE(parked.set_patience(patience::active()));
  EXPECT_THROW((basic_eventcount<native, any_wait<memory>>(2, "park", patience::active())),
               std::invalid_argument);
}

TEST(Eventcount, WakesOneOfSeveralForEachItem) {
  basic_eventcount<native, parking_at_once> event;
  std::atomic<int> items{0}, taken{0};
  const auto take = [&]() noexcept {
    int there = items.load();
    while (there > 0)
      if (items.compare_exchange_weak(there, there - 1)) return true;
    return false;
  };
  std::vector<std::thread> takers;
  for (int i = 0; i < 4; ++i)
    takers.emplace_back([&] {
      EXPECT_TRUE(event.wait(take, soon_enough()));
      ++taken;
    });
  for (int i = 0; i < 4; ++i) {
    items.fetch_add(1);
    event.notify_one_ordered();
  }
  for (std::thread& t : takers) t.join();
  EXPECT_EQ(taken, 4);
}

// ---- condition variable

// The least that a lock must have. It lets other virtual ranks of its thread run.
class own_lock {
 public:
  void lock() noexcept {
    while (locked_.exchange(true)) native::yield();
  }
  void unlock() noexcept { locked_.store(false); }

 private:
  std::atomic<bool> locked_{false};
};

TEST(ConditionVariable, TakesAnyLockAndWakesAll) {
  with_every_wait([]<class Wait>() {
    own_lock lock;
    basic_condition_variable<native, Wait> changed;
    bool go = false;
    int through = 0;
    std::vector<std::thread> waiters;
    for (int i = 0; i < 3; ++i)
      waiters.emplace_back([&] {
        lock.lock();
        changed.wait(lock, [&] { return go; });
        ++through;
        lock.unlock();
      });
    std::this_thread::sleep_for(1ms);
    lock.lock();
    go = true;
    lock.unlock();
    changed.notify_all();
    for (std::thread& t : waiters) t.join();
    EXPECT_EQ(through, 3);
  });
}

TEST(ConditionVariable, HoldsTheLockAfterADeadline) {
  std::mutex mutex;
  condition_variable changed;
  std::unique_lock lock(mutex);
  EXPECT_FALSE(changed.wait_for(lock, 1ms));
  EXPECT_TRUE(lock.owns_lock());
  EXPECT_FALSE(changed.wait_until(lock, std::chrono::steady_clock::now() + 1ms));
  EXPECT_FALSE(
      changed.wait_until(lock, std::chrono::system_clock::now() + 1ms, [] { return false; }));
  EXPECT_TRUE(changed.wait_for(lock, 0ms, [] { return true; }));
  EXPECT_TRUE(lock.owns_lock());
}

// std::unique_lock throws if it is not held. The waiter must not stay announced, or the destructor
// would wait for it.
TEST(ConditionVariable, ForgetsAWaiterWhoseLockThrows) {
  std::mutex mutex;
  condition_variable changed;
  std::unique_lock lock(mutex, std::defer_lock);
  // The site says that the source is compiled without checks.
  EXPECT_THROW(changed.wait(lock, tutti::call_site{}), std::system_error);
  EXPECT_THROW((void)changed.wait_for(lock, 1ms, tutti::call_site{}), std::system_error);
}

TEST(ConditionVariable, MayBeDestroyedOnceAllAreNotified) {
  for (int i = 0; i < 200; ++i) {
    std::mutex mutex;
    auto changed = std::make_unique<condition_variable>();
    bool go = false;
    int waiting = 0;
    std::vector<std::thread> waiters;
    for (int w = 0; w < 2; ++w)
      waiters.emplace_back([&] {
        std::unique_lock lock(mutex);
        ++waiting;
        while (!go) changed->wait(lock);
      });
    for (;;) {
      const std::lock_guard lock(mutex);
      if (waiting == 2) break;
    }
    {
      const std::lock_guard lock(mutex);
      go = true;
      changed->notify_all();
    }
    changed.reset();
    for (std::thread& t : waiters) t.join();
  }
}

// ---- event

TEST(SignalAndBroadcast, CountSignalsThatNobodyWaitsFor) {
  event ready;
  EXPECT_FALSE(ready.try_take());
  EXPECT_FALSE(ready.wait_for(1ms));
  ready.signal(2);
  ready.signal();
  ready.wait();
  EXPECT_TRUE(ready.wait_until(std::chrono::steady_clock::now()));
  EXPECT_TRUE(ready.try_take());
  EXPECT_FALSE(ready.try_take());
}

TEST(SignalAndBroadcast, GiveALateReceiverWhatItMissed) {
  event ready;
  event_place seen = ready.now();
  EXPECT_EQ(ready.wait_past_for(seen, 1ms), 0u);
  ready.broadcast();
  ready.broadcast();
  EXPECT_EQ(ready.wait_past(seen), 2u);
  EXPECT_EQ(ready.wait_past_until(seen, std::chrono::steady_clock::now() + 1ms), 0u);
  EXPECT_EQ(seen.broadcasts(), ready.now().broadcasts());
  // A broadcast is no signal.
  EXPECT_FALSE(ready.try_take());
}

TEST(SignalAndBroadcast, ReachEachReceiverOnce) {
  with_every_wait([]<class Wait>() {
    const int receivers = never_yields<Wait> ? 1 : 5, broadcasts = 300;
    basic_event<native, Wait> ready;
    const event_place begin = ready.now();
    std::vector<std::thread> threads;
    for (int r = 0; r < receivers; ++r)
      threads.emplace_back([&] {
        event_place seen = begin;
        std::uint32_t told = 0;
        while (told < broadcasts) {
          const std::uint32_t more = ready.wait_past_for(seen, lost_after);
          if (more == 0) break;
          told += more;
        }
        EXPECT_EQ(told, static_cast<std::uint32_t>(broadcasts));
      });
    delays late(3);
    for (int i = 0; i < broadcasts; ++i) {
      late.next();
      ready.broadcast();
    }
    for (std::thread& t : threads) t.join();
  });
}

TEST(SignalAndBroadcast, WakeVirtualRanks) {
  team all({.threads = 2, .ranks = 8, .place = platform::placement::none});
  event ready, done;
  const event_place begin = ready.now();
  for (int region = 0; region < 50; ++region) {
    std::atomic<int> told{0};
    all.run([&](member& me) {
      if (me.rank() == 0) {
        ready.broadcast();
        for (rank_t r = 1; r < me.size(); ++r) EXPECT_TRUE(done.wait_for(lost_after));
        return;
      }
      event_place seen(begin.broadcasts() + static_cast<std::uint32_t>(region));
      EXPECT_EQ(ready.wait_past_for(seen, lost_after), 1u);
      ++told;
      done.signal();
    });
    EXPECT_EQ(told, 7);
  }
}

// Rank 0 lets the others go, one after another, by an eventcount and by a condition variable.
TEST(Eventcount, WakesVirtualRanks) {
  constexpr int regions = 50;
  team all({.threads = 2, .ranks = 6, .place = platform::placement::none});
  eventcount changed;
  own_lock lock;
  condition_variable moved;
  rank_t turn = 0;
  for (int region = 0; region < regions; ++region) {
    std::atomic<bool> is_open{false};
    turn = 0;
    all.run([&](member& me) {
      if (me.rank() == 0) {
        is_open.store(true);
        changed.notify_all();
      } else {
        EXPECT_TRUE(changed.wait([&]() noexcept { return is_open.load(); }, soon_enough()));
      }
      lock.lock();
      EXPECT_TRUE(moved.wait_for(lock, lost_after, [&] { return turn == me.rank(); }));
      ++turn;
      lock.unlock();
      moved.notify_all();
    });
    EXPECT_EQ(turn, all.size());
  }
}

// Plays `count` turns of two, of which the child has the odd ones; await(turn) and end_turn() are
// those of a process. Returns the child's exit status.
template <class Await, class EndTurn>
int take_turns(int count, Await await, EndTurn end_turn) {
  const auto play = [&](int mine) {
    delays late(static_cast<std::uint32_t>(mine) + 6);
    for (int turn = mine; turn < count; turn += 2) {
      if (!await(turn)) return false;
      late.next();
      end_turn();
    }
    return true;
  };
  const pid_t child = fork();
  if (child == 0) _exit(play(1) ? 0 : 1);
  EXPECT_TRUE(play(0));
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Eventcount, ReachesAnotherProcess) {
  struct shared {
    basic_eventcount<across_processes, adaptive_wait<event_memory<across_processes>>> changed;
    std::atomic<int> turn{0};
  };
  const cli::shared_object<shared> both;
  const auto await = [&](int turn) {
    return both->changed.wait([&]() noexcept { return both->turn.load() == turn; }, soon_enough());
  };
  const auto end_turn = [&] {
    both->turn.fetch_add(1);
    both->changed.notify_all_ordered();
  };
  EXPECT_EQ(take_turns(1'000, await, end_turn), 0);
}

TEST(ConditionVariable, ReachesAnotherProcess) {
  struct shared {
    own_lock lock;
    basic_condition_variable<across_processes, park_wait<event_memory<across_processes>, 0>>
        changed;
    int turn = 0;
  };
  const cli::shared_object<shared> both;
  const auto await = [&](int turn) {
    both->lock.lock();
    const bool in_time =
        both->changed.wait_for(both->lock, lost_after, [&] { return both->turn == turn; });
    both->lock.unlock();
    return in_time;
  };
  const auto end_turn = [&] {
    both->lock.lock();
    ++both->turn;
    both->lock.unlock();
    both->changed.notify_one();
  };
  EXPECT_EQ(take_turns(1'000, await, end_turn), 0);
}

TEST(SignalAndBroadcast, ReachAnotherProcess) {
  using waiting = adaptive_wait<event_memory<across_processes>>;
  struct shared {
    basic_event<across_processes, waiting> there, back;
  };
  const cli::shared_object<shared> both;
  constexpr int count = 500;
  const pid_t child = fork();
  if (child == 0) {
    delays late(4);
    event_place seen;
    for (int i = 0; i < count; ++i) {
      late.next();
      if (both->there.wait_past_for(seen, lost_after) != 1) _exit(1);
      both->back.signal();
    }
    _exit(0);
  }
  delays late(5);
  for (int i = 0; i < count; ++i) {
    late.next();
    both->there.broadcast();
    if (!both->back.wait_for(lost_after)) break;
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// A waiter that gives up must not keep a wake-up that another one needs.
TEST(SignalAndBroadcast, AreNotKeptByAWaiterThatGivesUp) {
  basic_event<native, parking_at_once> ready;
  std::atomic<int> taken{0};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> waiters;
  for (int w = 0; w < 3; ++w)
    waiters.emplace_back([&, w] {
      std::minstd_rand random(static_cast<unsigned>(w) + 1);
      while (!is_over) {
        const auto patience = w == 0 ? std::chrono::microseconds(lost_after)
                                     : std::chrono::microseconds(random() % 100);
        taken += ready.wait_for(patience);
      }
    });
  for (int k = 1; k <= 2'000; ++k) {
    ready.signal();
    const auto end = std::chrono::steady_clock::now() + lost_after;
    while (taken < k && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (taken < k) {
      ADD_FAILURE() << "signal " << k << " was lost";
      break;
    }
  }
  is_over = true;
  ready.signal(3);
  for (std::thread& t : waiters) t.join();
}

TEST(SignalAndBroadcast, ReachHundredsOfThreads) {
  constexpr std::uint32_t receivers = 300, broadcasts = 5;
  event ready, done;
  const event_place begin = ready.now();
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < receivers; ++r)
    threads.emplace_back([&] {
      event_place seen = begin;
      for (std::uint32_t i = 0; i < broadcasts; ++i) {
        EXPECT_EQ(ready.wait_past_for(seen, lost_after), 1u);
        done.signal();
      }
    });
  for (std::uint32_t i = 0; i < broadcasts; ++i) {
    ready.broadcast();
    for (std::uint32_t r = 0; r < receivers; ++r) EXPECT_TRUE(done.wait_for(lost_after));
  }
  for (std::thread& t : threads) t.join();
}

// A child process that does its work until it is killed.
template <class Work>
pid_t start_child(Work work) {
  const pid_t child = fork();
  if (child == 0)
    for (;;) work();
  return child;
}
void kill_child(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(SignalAndBroadcast, SurviveKilledProcesses) {
  using waiting = park_wait<event_memory<across_processes>, 0>;
  struct shared {
    basic_event<across_processes, waiting> ready;
    std::atomic<std::uint64_t> told{0};
  };
  // It is not destroyed: the killed receivers count as waiting.
  const cli::shared_memory memory(sizeof(shared));
  shared* const both = ::new (memory.base()) shared;
  for (int i = 0; i < 10; ++i) {
    const pid_t receiver = start_child([&] { both->ready.wait(); });
    std::this_thread::sleep_for(1ms);
    kill_child(receiver);
  }
  std::thread notifier([&] {
    std::this_thread::sleep_for(5ms);
    both->ready.signal();
  });
  EXPECT_TRUE(both->ready.wait_for(lost_after));
  notifier.join();
  // A wait whose deadline passes finds what a killed notifier has told without a wake-up.
  std::uint64_t taken = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = start_child([&] {
      ++both->told;
      both->ready.signal();
    });
    for (int k = 0; k < 50; ++k) taken += both->ready.wait_for(20ms);
    kill_child(child);
    while (both->ready.wait_for(1ms)) ++taken;
  }
  // Each child may have been killed between its count and its signal.
  EXPECT_LE(taken, both->told.load());
  EXPECT_GE(taken + 20, both->told.load());
  EXPECT_GT(taken, 0u);
}

}  // namespace
}  // namespace tutti::test
