// SPDX-License-Identifier: Apache-2.0
// One thread notifies another again and again, after random delays, by each kind of event. A
// wake-up that is lost shows as a deadline that passes.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tutti/event/condition_variable.hpp"
#include "tutti/event/event.hpp"
#include "tutti/event/workers.hpp"
#include "tutti/wait/list.hpp"

namespace tutti::test {

using memory = event_memory<native>;
using parking_at_once = park_wait<memory, 0>;

// No wait of these tests takes so long unless its notification is lost.
inline constexpr auto lost_after = std::chrono::seconds(60);
inline deadline soon_enough() { return deadline_after(lost_after); }

// Delays of 0 to 2 us, and now and then of 40 us, so that the waiter is met in each of its states.
class delays {
 public:
  explicit delays(std::uint32_t seed) : random_(seed) {}
  void next() {
    const auto drawn = static_cast<std::uint32_t>(random_());
    const std::uint64_t ns = drawn % 64 == 0 ? 40'000 : drawn % 4 == 0 ? drawn / 64 % 2'000 : 0;
    if (ns == 0) return;
    const std::uint64_t end = native::now_ns() + ns;
    while (native::now_ns() < end) {
    }
  }

 private:
  std::minstd_rand random_;
};

// The notifier goes on when the receiver has counted the last notification. It yields meanwhile,
// because the receiver may need its core.
class acknowledged {
 public:
  void note(std::uint64_t count) noexcept {
    // release: pairs with await().
    count_.store(count, release);
  }
  bool await(std::uint64_t count) const {
    const std::uint64_t end = native::now_ns() + std::uint64_t{120} * 1'000'000'000;
    // acquire: pairs with note().
    while (count_.load(acquire) != count) {
      if (native::now_ns() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  alignas(cache_line) std::atomic<std::uint64_t> count_{0};
};

// Calls notify(k) here and receive(k), which returns false if it waited in vain, in another thread,
// for k = 1 .. count.
template <class Notify, class Receive>
void play(std::uint64_t count, Notify notify, Receive receive) {
  acknowledged done;
  std::thread receiver([&] {
    delays late(1);
    for (std::uint64_t k = 1; k <= count; ++k) {
      late.next();
      if (!receive(k)) {
        ADD_FAILURE() << "notification " << k << " was lost";
        return;
      }
      done.note(k);
    }
  });
  delays late(2);
  for (std::uint64_t k = 1; k <= count; ++k) {
    late.next();
    notify(k);
    if (!done.await(k)) break;
  }
  receiver.join();
}

template <class Wait>
void notify_a_condition(std::uint64_t count) {
  basic_eventcount<native, Wait> event;
  std::atomic<std::uint64_t> told{0};
  std::uint64_t data = 0;
  play(
      count,
      [&](std::uint64_t k) {
        data = k;
        // release: publishes the data.
        told.store(k, release);
        event.notify_one();
      },
      [&](std::uint64_t k) {
        // acquire: sees the data.
        return event.wait([&]() noexcept { return told.load(acquire) == k; }, soon_enough()) &&
               data == k;
      });
}

template <class Wait>
void notify_in_steps(std::uint64_t count) {
  basic_eventcount<native, Wait> event;
  std::atomic<std::uint64_t> told{0};
  play(
      count,
      [&](std::uint64_t k) {
        // release: as above.
        told.store(k, release);
        event.notify_all();
      },
      [&](std::uint64_t k) {
        for (;;) {
          const auto key = event.prepare_wait();
          // acquire: as above.
          if (told.load(acquire) == k) {
            event.cancel_wait(key);
            return true;
          }
          if (!event.commit_wait(key, soon_enough())) return false;
        }
      });
}

template <class Wait>
void notify_under_a_mutex(std::uint64_t count) {
  basic_condition_variable<native, Wait> changed;
  std::mutex mutex;
  std::uint64_t told = 0;
  play(
      count,
      [&](std::uint64_t k) {
        {
          const std::lock_guard lock(mutex);
          told = k;
        }
        changed.notify_one();
      },
      [&](std::uint64_t k) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, lost_after, [&] { return told == k; });
      });
}

template <class Wait>
void signal_one(std::uint64_t count) {
  basic_event<native, Wait> event;
  play(
      count, [&](std::uint64_t) { event.signal(); },
      [&](std::uint64_t) { return event.wait_for(lost_after); });
  EXPECT_FALSE(event.try_take());
}

template <class Wait>
void broadcast_to_one(std::uint64_t count) {
  basic_event<native, Wait> event;
  event_place seen = event.now();
  play(
      count, [&](std::uint64_t) { event.broadcast(); },
      [&](std::uint64_t) { return event.wait_past_for(seen, lost_after) == 1; });
}

template <class Wait>
void post_to_one(std::uint64_t count) {
  std::uint64_t sum = 0;
  basic_event_workers<native, Wait> all(1, 1);
  const action_id name = all.add(
      [](void* to, rank_t, std::uintptr_t payload) { *static_cast<std::uint64_t*>(to) += payload; },
      &sum);
  play(
      count, [&](std::uint64_t k) { all.post(0, 0, name, k); },
      [&](std::uint64_t) { return all.wait_for(0, lost_after) == 1; });
  EXPECT_EQ(sum, count * (count + 1) / 2);
}

// All kinds with one wait policy.
template <class Wait>
void notify_in_every_way(std::uint64_t count) {
  notify_a_condition<Wait>(count);
  notify_in_steps<Wait>(count);
  notify_under_a_mutex<Wait>(count);
  signal_one<Wait>(count);
  broadcast_to_one<Wait>(count);
  post_to_one<Wait>(count);
}

// Several senders post to workers, which now and then poll and otherwise wait. Each post must run
// once, in its sender's order.
template <class Wait>
void post_from_many(rank_t senders, rank_t workers, std::uint64_t each) {
  struct worker {
    std::vector<std::uint64_t> last;
    std::uint64_t count = 0;
  };
  std::vector<worker> seen(workers);
  struct message {
    std::vector<worker>* seen;
  } to{&seen};
  basic_event_workers<native, Wait> all(workers, senders, 64);
  const action_id name = all.add(
      [](void* argument, rank_t sender, std::uintptr_t payload) {
        // A payload is the worker's number and the sender's count of posts to that worker.
        worker& mine = (*static_cast<message*>(argument)->seen)[payload % 16];
        EXPECT_EQ(mine.last[sender] + 1, payload / 16);
        mine.last[sender] = payload / 16;
        ++mine.count;
      },
      &to);
  std::vector<std::thread> threads;
  for (rank_t w = 0; w < workers; ++w) {
    seen[w].last.resize(senders);
    threads.emplace_back([&, w] {
      const std::uint64_t expected = each / workers * senders;
      while (seen[w].count < expected) {
        if (all.poll(w) != 0) continue;
        if (all.wait_for(w, lost_after) == 0) {
          ADD_FAILURE() << "worker " << w << " has " << seen[w].count << " posts";
          return;
        }
      }
      EXPECT_EQ(all.wait_for(w, std::chrono::milliseconds(1)), 0u);
    });
  }
  for (rank_t s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      auto me = all.as_sender(s);
      for (std::uint64_t k = 0; k < each / workers * workers; ++k)
        me.post(static_cast<rank_t>(k % workers), name, (k / workers + 1) * 16 + k % workers);
    });
  for (std::thread& t : threads) t.join();
  for (const worker& w : seen) EXPECT_EQ(w.count, each / workers * senders);
}

}  // namespace tutti::test
