// SPDX-License-Identifier: Apache-2.0
// The memory that ranks share, with threads in their place: each publishes plain data before an
// episode and reads everybody's after it.
#include "preload/mpi/room.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace tutti::preload {
namespace {

class shared_room {
 public:
  explicit shared_room(rank_t ranks) : ranks_(ranks) {
    const std::size_t bytes = (room::bytes_for(ranks) + cache_line - 1) / cache_line * cache_line;
    base_.reset(std::aligned_alloc(cache_line, bytes));
    std::memset(base_.get(), 0, bytes);
    // A node with a CPU for each rank: many ranks arrive in groups.
    room::build(base_.get(), ranks, static_cast<long>(ranks));
  }
  // Runs body(view of the room) as each rank.
  void run(const std::function<void(room&)>& body) {
    std::vector<std::thread> all;
    for (rank_t r = 0; r < ranks_; ++r)
      all.emplace_back([&, r] {
        room mine = view(r);
        body(mine);
      });
    for (std::thread& one : all) one.join();
  }
  room view(rank_t rank) { return {base_.get(), ranks_, rank}; }

 private:
  struct release {
    void operator()(void* memory) const { std::free(memory); }
  };
  rank_t ranks_;
  std::unique_ptr<void, release> base_;
};

void pass(room& mine) {
  if (!mine.arrive()) {
    ASSERT_TRUE(mine.wait_for_others(no_deadline{}));
  }
}

// A value holds decimal digits, their number in the lowest four bits. Its operation appends digits:
// the result tells in which order the values were combined.
std::uint32_t digit(std::uint32_t value) { return value % 10 << 4 | 1; }
std::uint32_t appended(std::uint32_t left, std::uint32_t right) {
  std::uint32_t value = left >> 4;
  for (std::uint32_t i = 0; i < (right & 15); ++i) value *= 10;
  return (value + (right >> 4)) << 4 | ((left & 15) + (right & 15));
}
void append(void* left, const void* right, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t a, b;
    std::memcpy(&a, static_cast<std::byte*>(left) + sizeof a * i, sizeof a);
    std::memcpy(&b, static_cast<const std::byte*>(right) + sizeof b * i, sizeof b);
    a = appended(a, b);
    std::memcpy(static_cast<std::byte*>(left) + sizeof a * i, &a, sizeof a);
  }
}

class Room : public testing::TestWithParam<rank_t> {};

TEST_P(Room, PublishesWhatRanksWroteBeforeTheEpisode) {
  const rank_t ranks = GetParam();
  shared_room memory(ranks);
  std::vector<padded<std::uint32_t>> said(2 * std::size_t{ranks});
  memory.run([&](room& mine) {
    for (std::uint32_t episode = 1; episode <= 20000; ++episode) {
      padded<std::uint32_t>* const copy = &said[episode % 2 * ranks];
      copy[mine.me()].value = episode;
      pass(mine);
      for (rank_t r = 0; r < ranks; ++r) ASSERT_EQ(copy[r].value, episode);
    }
  });
}

void reduce_and_check(room& mine, std::uint32_t episode, std::size_t count) {
  std::array<std::uint32_t, 16> values{}, result{};
  const auto value_of = [&](rank_t rank, std::size_t i) {
    return digit(episode + 3 * rank + static_cast<std::uint32_t>(i));
  };
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(mine.me(), i);
  const std::size_t bytes = sizeof values[0] * count;
  mine.leave(values.data(), bytes);
  pass(mine);
  mine.combine_all(append, result.data(), count, bytes);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t expected = 0;
    for (rank_t r = 0; r < mine.ranks(); ++r) expected = appended(expected, value_of(r, i));
    ASSERT_EQ(result[i], expected) << "episode " << episode << ", value " << i;
  }
}

void broadcast_and_check(room& mine, std::uint32_t episode) {
  if (mine.ring_is_used_up()) pass(mine);
  if (mine.me() == episode % mine.ranks()) {
    mine.publish(&episode, sizeof episode);
    return;
  }
  std::uint32_t sent = 0;
  std::size_t bytes = 0;
  ASSERT_TRUE(mine.take(&sent, sizeof sent, bytes, no_deadline{}));
  ASSERT_EQ(sent, episode);
}

// Values of 4 to 64 bytes, with barriers and broadcasts between the reductions.
TEST_P(Room, CombinesTheValuesOfThisEpisodeInTheOrderOfRanks) {
  shared_room memory(GetParam());
  memory.run([](room& mine) {
    constexpr std::array<std::size_t, 5> counts{2, 1, 3, 2, 16};
    for (std::uint32_t episode = 0; episode < 20000; ++episode) {
      ASSERT_NO_FATAL_FAILURE(reduce_and_check(mine, episode, counts[episode % counts.size()]));
      if (episode % 3 == 0) pass(mine);
      if (episode % 2 == 0) {
        ASSERT_NO_FATAL_FAILURE(broadcast_and_check(mine, episode));
      }
    }
  });
}

TEST_P(Room, NamesTheRankThatHasNotArrivedAndGoesOnWhenItHas) {
  const rank_t ranks = GetParam(), absent = ranks - 1;
  shared_room memory(ranks);
  std::atomic<rank_t> complaints{0};
  memory.run([&](room& mine) {
    if (mine.me() == absent) {
      while (complaints.load() != absent) std::this_thread::yield();
      EXPECT_TRUE(mine.arrive());
      return;
    }
    EXPECT_FALSE(mine.arrive());
    EXPECT_FALSE(mine.wait_for_others(deadline(progressing::now_ns() + 20'000'000)));
    EXPECT_TRUE(mine.has_arrived(mine.me()));
    EXPECT_FALSE(mine.has_arrived(absent));
    complaints.fetch_add(1);
    EXPECT_TRUE(mine.wait_for_others(no_deadline{}));
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Room, testing::Values(2, 3, 4, 7, 9),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace tutti::preload
