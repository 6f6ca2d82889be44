// SPDX-License-Identifier: Apache-2.0
// Active messages: programs whose handlers send, with rings that are always full, more participants
// than cores, and plain data behind each message, with every detector and wait policy.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/comm/detector_and_wait.hpp"
#include "tests/comm/run_threads.hpp"
#include "tutti/comm/active_messages.hpp"
#include "tutti/team/team.hpp"

namespace tutti {
namespace {

class Active : public test::DetectorAndWait {
 protected:
  static communicator_options options() { return options_with_small_rings(); }
};

// Every participant asks all others far more often than there is room for, and answers inside of
// the waits. Without the layer, programs that send while they hold a message deadlock here.
TEST_P(Active, QuestionsAreAnsweredWhileAllWaitForRoom) {
  constexpr std::uint32_t count = 150;
  for (const rank_t n : {1u, 2u, 3u, 7u}) {
    communicator comm(n, options());
    // Plain: written before a message that names the cell, read by its handler.
    std::vector<std::uint32_t> asked(n * n * count), answered(n * n * count);
    run_threads(n, [&](rank_t rank) {
      active_messages active(comm[rank]);
      std::vector<std::uint32_t> questions(n), answers(n);
      const auto cell = [&](rank_t from, rank_t to, std::uint32_t k) {
        return (from * n + to) * count + k;
      };
      const auto answer = active.on<std::uint32_t>([&](rank_t from, std::uint32_t k) {
        must(k == answers[from]++, "an answer out of order");
        must(answered[cell(from, rank, k)] == k + 5, "the data behind an answer");
      });
      const auto ask = active.on<std::uint32_t>([&](rank_t from, std::uint32_t k) {
        must(k == questions[from]++, "a question out of order");
        must(asked[cell(from, rank, k)] == k + 7, "the data behind a question");
        answered[cell(rank, from, k)] = k + 5;
        active.send(from, answer, k);
      });
      for (std::uint32_t k = 0; k < count; ++k)
        for (rank_t to = 0; to < n; ++to) {
          asked[cell(rank, to, k)] = k + 7;
          active.send(to, ask, k);
        }
      must(active.idle(true) == idle_result::unanimous, "votes");
      for (rank_t other = 0; other < n; ++other)
        must(questions[other] == count && answers[other] == count, "messages");
      must(active.kept() == 0 && active.waiting() == 0, "messages are left");
    });
  }
}

// Handlers of both kinds send on, at random, messages of all sizes; each episode ends when all is
// handled, and no handler runs in another one.
TEST_P(Active, HandlersCauseHandlersUntilTheEpisodeIsOver) {
  struct walk {
    std::uint32_t episode, hops;
  };
  for (const rank_t n : {2u, 5u}) {
    communicator comm(n, options());
    std::vector<std::uint64_t> sent(n), handled(n);
    run_threads(n, [&](rank_t rank) {
      active_messages active(comm[rank]);
      std::mt19937 random(rank + 17 * n);
      std::uint32_t episode = 0;
      active_handler<walk> at_once, later;
      active_handler<void> large;
      const auto go_on = [&](std::uint32_t hops) {
        if (hops == 0) return;
        const auto to = static_cast<rank_t>(random() % n);
        const walk next{episode, hops - 1};
        ++sent[rank];
        switch (random() % 3) {
          case 0: return active.send(to, at_once, next);
          case 1: return active.send(to, later, next);
          default:
            std::array<std::uint32_t, 40> words{};
            words[0] = episode;
            words[1] = hops - 1;
            active.send(to, large, words.data(), 4 * (2 + random() % 39));
        }
      };
      const auto take = [&](std::uint32_t in, std::uint32_t hops) {
        must(in == episode, "a handler in another episode");
        ++handled[rank];
        go_on(hops);
        if (hops == 6) go_on(hops);
      };
      at_once = active.on<walk>([&](rank_t, walk w) { take(w.episode, w.hops); });
      later = active.on_later<walk>([&](rank_t, walk w) { take(w.episode, w.hops); });
      large = active.on_bytes([&](rank_t, std::span<const std::byte> bytes) {
        std::array<std::uint32_t, 2> words{};
        std::memcpy(words.data(), bytes.data(), sizeof words);
        take(words[0], words[1]);
      });
      for (; episode < 10; ++episode) {
        for (int i = 0; i < 30; ++i) go_on(8);
        const bool wanted = episode % 2 == 0;
        const auto now = active.idle([&] { return wanted; }, handled[rank], plus{});
        must((now.result == idle_result::unanimous) == wanted, "votes");
      }
    });
    std::uint64_t all_sent = 0, all_handled = 0;
    for (rank_t rank = 0; rank < n; ++rank) {
      all_sent += sent[rank];
      all_handled += handled[rank];
    }
    EXPECT_EQ(all_sent, all_handled);
    EXPECT_GT(all_sent, 2000u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Active, test::detectors_and_waits(), test::name_of_both);

// The function that votes sends, its last send waits for room, and answers to the questions that
// come meanwhile are kept: they go out before the participant is idle. How many messages fill the
// ring is not known here, so their number varies.
TEST(ActiveVote, MayLeaveMessagesThatAreKept) {
  constexpr int questions = 5;
  for (int news = 1; news < 100; ++news) {
    communicator comm(2, {.ring_bytes = 512});
    std::vector<std::size_t> left(2), answered(2);
    run_threads(2, [&](rank_t rank) {
      active_messages active(comm[rank]);
      const auto inform = active.on<int>([](rank_t, int) {});
      const auto answer = active.on<int>([&](rank_t, int) { ++answered[rank]; });
      const auto ask =
          active.on<int>([&](rank_t from, int question) { active.send(from, answer, question); });
      if (rank == 1) {
        for (int i = 0; i < questions; ++i) active.send(0, ask, i);
        comm[1].flush();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      bool sends = rank == 0;
      active.idle([&] {
        if (std::exchange(sends, false))
          for (int i = 0; i < news; ++i) active.send(1, inform, i);
        return true;
      });
      left[rank] = active.kept();
    });
    ASSERT_EQ(left[0], 0u) << news;
    ASSERT_EQ(answered[1], std::size_t{questions}) << news;
  }
}

// Virtual ranks: one that waits lets the others of its thread run.
TEST(ActiveFibers, VirtualRanksLetEachOtherRun) {
  constexpr rank_t ranks = 12;
  team threads(team_options{.threads = 2, .ranks = ranks});
  communicator comm(ranks, {.ring_bytes = 256});
  std::vector<std::uint64_t> sums(ranks);
  threads.run([&](member& m) {
    active_messages active(comm[m.rank()]);
    const auto add =
        active.on<std::uint64_t>([&](rank_t, std::uint64_t k) { sums[m.rank()] += k; });
    const auto twice = active.on<std::uint64_t>([&](rank_t from, std::uint64_t k) {
      active.send(from, add, k);
      active.send(from, add, k);
    });
    for (std::uint64_t k = 0; k < 100; ++k)
      for (rank_t to = 0; to < ranks; ++to) active.send(to, twice, k);
    active.idle(true);
  });
  for (const std::uint64_t sum : sums) EXPECT_EQ(sum, 2 * ranks * 100u * 99u / 2);
}

TEST(ActiveMisuse, NoHandlerMayWait) {
  communicator comm(1);
  active_messages active(comm[0]);
  const auto idle = active.on<int>([&](rank_t, int) { active.idle(true); });
  const auto poll = active.on<int>([&](rank_t, int) { active.poll(); });
  const auto later = active.on_later<int>([&](rank_t, int) { active.idle(true); });
  for (const auto handler : {idle, poll, later}) {
    active.send(0, handler, 1);
    EXPECT_THROW(active.idle(true), std::invalid_argument);
  }
  EXPECT_EQ(active.idle(true), idle_result::unanimous) << "a message is still held";
}

TEST(ActiveMisuse, HandlersAreTheSameEverywhere) {
  communicator comm(2);
  active_messages one(comm[0]), other(comm[1]);
  const auto first = one.on<int>([](rank_t, int) {});
  const auto second = one.on<int>([](rank_t, int) {});
  (void)other.on<double>([](rank_t, double) {});
  EXPECT_THROW(one.send(2, first, 1), std::invalid_argument);
  one.send(1, first, 1);
  one.poll();
  EXPECT_THROW(other.poll(), std::invalid_argument);
  one.send(1, second, 1);
  one.poll();
  EXPECT_THROW(other.poll(), std::invalid_argument);
}

TEST(ActiveMisuse, LetsExceptionsThrough) {
  communicator comm(2);
  active_messages one(comm[0]), other(comm[1]);
  const auto handler = [](rank_t, int) { throw std::logic_error("of the program"); };
  const auto fails = one.on<int>(handler);
  (void)other.on<int>(handler);
  one.send(1, fails, 1);
  one.poll();
  EXPECT_THROW(other.poll(), std::logic_error);
  EXPECT_FALSE(other.poll());
}

}  // namespace
}  // namespace tutti
