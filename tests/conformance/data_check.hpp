// SPDX-License-Identifier: Apache-2.0
// Runs threads through any barrier: they publish plain data, arrive, leave, and check what all the
// others published.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/trace.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::test {

struct data_check {
  rank_t participants = 2;
  // The run ends after this many episodes or when its time is used up, but not before the least
  // number of episodes: with fewer cores than threads a pure spinner takes milliseconds per
  // episode.
  std::uint64_t most_episodes = 2'000;
  std::uint64_t fewest_episodes = 2;
  std::chrono::milliseconds time{100};
  // Every second participant comes milliseconds after the others.
  bool late_start = false;
  // Whether to delay before arrivals.
  bool random_delays = false;
  // All threads run on one CPU.
  bool one_core = false;
  // Stamps order the threads on x86, so not every run takes them.
  bool traced = false;
  // After this time the process ends and says who is stuck.
  std::chrono::seconds patience{100};
};

// Runs threads to their end. If they are stuck, it ends the process with a sentence.
class watched_threads {
 public:
  explicit watched_threads(std::chrono::seconds patience) : patience_(patience) {}

  // work(index) is the work of a thread.
  template <class Work>
  void run(rank_t threads, Work work, const std::function<std::string()>& describe) {
    std::vector<std::thread> all;
    for (rank_t i = 0; i < threads; ++i)
      all.emplace_back([this, work, i]() mutable {
        work(i);
        const std::lock_guard hold(lock_);
        ++finished_;
        changed_.notify_one();
      });
    {
      std::unique_lock hold(lock_);
      if (!changed_.wait_for(hold, patience_, [&] { return finished_ == threads; })) {
        std::fprintf(stderr, "stuck for %lld s: %s\n", static_cast<long long>(patience_.count()),
                     describe().c_str());
        std::abort();
      }
    }
    for (auto& thread : all) thread.join();
  }

 private:
  std::chrono::seconds patience_;
  std::mutex lock_;
  std::condition_variable changed_;
  rank_t finished_ = 0;
};

// Pins the calling thread to the first CPU that it may use.
inline void pin_to_first_cpu() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

// A counter from which all stamps are drawn. relaxed: only its own order matters, and it must not
// carry the happens-before that the barrier under test has to provide.
class stamps {
 public:
  std::uint64_t next() noexcept { return next_.fetch_add(1, relaxed); }

 private:
  std::atomic<std::uint64_t> next_{0};
};

// Sometimes nothing, sometimes a few microseconds of work, sometimes a yield.
class delay {
 public:
  explicit delay(rank_t seed) : random_(seed + 1) {}
  void operator()() {
    const auto kind = random_() % 8;
    if (kind < 4) return;
    if (kind == 7) return std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
    if (kind == 6) return std::this_thread::yield();
    for (volatile unsigned i = 0; i < random_() % 2'000;) i = i + 1;
  }

 private:
  std::minstd_rand random_;
};

template <class Arrive>
class running_check {
 public:
  running_check(const data_check& plan, Arrive arrive)
      : plan_(plan), arrive_(arrive), n_(plan.participants), members_(n_) {
    for (auto& board : boards_) board.resize(n_);
  }

  // Returns the first error, or an empty string.
  std::string run() {
    end_ = std::chrono::steady_clock::now() + plan_.time;
    watched_threads(plan_.patience)
        .run(
            n_, [this](rank_t rank) { attend(rank); }, [this] { return whereabouts(); });
    for (rank_t rank = 0; rank < n_; ++rank)
      if (!members_[rank].complaint.empty()) return members_[rank].complaint;
    if (!plan_.traced) return {};
    trace all;
    for (rank_t rank = 0; rank < n_; ++rank)
      all.insert(all.end(), members_[rank].passages.begin(), members_[rank].passages.end());
    // relaxed: all threads have been joined.
    return check(all, n_, members_[0].episode.load(relaxed));
  }

 private:
  struct alignas(cache_line) member {
    // relaxed throughout: others read it only for the sentence of a stuck run.
    std::atomic<std::uint64_t> episode{0};
    std::string complaint;
    trace passages;
  };
  struct alignas(16) sheet {
    std::uint64_t text = 0;
    // Rank 0 announces the end of the run.
    bool last = false;
  };

  static std::uint64_t text_of(rank_t rank, std::uint64_t episode) { return episode << 16 | rank; }

  void attend(rank_t rank) {
    member& me = members_[rank];
    if (plan_.one_core) pin_to_first_cpu();
    if (plan_.late_start && rank % 2 == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(2 + rank % 8));
    delay pause(rank);
    for (std::uint64_t episode = 0;; ++episode) {
      if (plan_.random_delays) pause();
      // Two boards in turn: no thread writes one again before all have read it and synchronised at
      // the other.
      auto& board = boards_[episode % 2];
      board[rank].text = text_of(rank, episode);
      if (rank == 0) board[0].last = is_last(episode);
      passage p{rank, episode, plan_.traced ? stamps_.next() : 0, 0};
      arrive_(rank);
      if (plan_.traced) {
        p.leave = stamps_.next();
        me.passages.push_back(p);
      }
      me.episode.store(episode + 1, relaxed);
      read(me, rank, episode);
      if (board[0].last) return;
    }
  }

  bool is_last(std::uint64_t episode) const {
    if (episode + 1 >= plan_.most_episodes) return true;
    return episode + 1 >= plan_.fewest_episodes && std::chrono::steady_clock::now() >= end_;
  }

  void read(member& me, rank_t rank, std::uint64_t episode) const {
    if (!me.complaint.empty()) return;
    for (rank_t other = 0; other < n_; ++other) {
      const std::uint64_t text = boards_[episode % 2][other].text;
      if (text == text_of(other, episode)) continue;
      me.complaint = "participant " + std::to_string(rank) + " left episode " +
                     std::to_string(episode) + " and read what participant " +
                     std::to_string(other) + " wrote in episode " + std::to_string(text >> 16);
      return;
    }
  }

  std::string whereabouts() const {
    std::string text = "participants and the episode they are in:";
    for (rank_t rank = 0; rank < n_; ++rank)
      text +=
          " " + std::to_string(rank) + ":" + std::to_string(members_[rank].episode.load(relaxed));
    return text;
  }

  const data_check plan_;
  Arrive arrive_;
  const rank_t n_;
  array<member> members_;
  std::vector<sheet> boards_[2];
  stamps stamps_;
  std::chrono::steady_clock::time_point end_;
};

// arrive(rank) arrives at the barrier under test and returns when all have arrived. The result is
// the first error, or empty.
template <class Arrive>
std::string hold(const data_check& plan, Arrive arrive) {
  return running_check<Arrive>(plan, arrive).run();
}

// `threads` threads at a barrier for n that any thread may use: `episodes` * n arrivals, by any of
// them.
template <class Arrive>
std::string hold_crowd(rank_t n, rank_t threads, std::uint64_t episodes, Arrive arrive,
                       std::chrono::seconds patience = std::chrono::seconds{100}) {
  std::atomic<std::int64_t> places{static_cast<std::int64_t>(n * episodes)};
  stamps clock;
  std::vector<trace> passages(threads);
  const auto work = [&](rank_t thread) {
    delay pause(thread);
    // relaxed: only the count matters.
    while (places.fetch_sub(1, relaxed) > 0) {
      pause();
      passage p{thread, passages[thread].size(), clock.next(), 0};
      arrive(thread);
      p.leave = clock.next();
      passages[thread].push_back(p);
    }
  };
  watched_threads(patience).run(threads, work, [&] {
    return "a crowd of " + std::to_string(threads) + " at a barrier for " + std::to_string(n);
  });
  trace all;
  for (const trace& t : passages) all.insert(all.end(), t.begin(), t.end());
  return check_crowd(all, n);
}

}  // namespace tutti::test
