// SPDX-License-Identifier: Apache-2.0
// Tests parts of the machine: the arena, limits of control groups, random numbers, division of
// segments.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/scratch.hpp"
#include "vcode/machine/arena.hpp"
#include "vcode/machine/group_memory.hpp"
#include "vcode/machine/random_stream.hpp"
#include "vcode/machine/segment_view.hpp"
#include "vcode/machine/store.hpp"

namespace tutti::vcode {
namespace {

TEST(VcodeMemory, FollowsTheControlGroups) {
  const test::scratch files;
  const auto write = [&files](const std::string& path, const std::string& text) {
    const std::filesystem::path whole = files.path(path);
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  };
  write("root/proc/self/cgroup", "0::/outer/inner\n");
  write("root/proc/self/mountinfo", "30 25 0:26 / /groups rw - cgroup2 cgroup2 rw\n");
  write("root/groups/outer/inner/memory.max", "max\n");
  EXPECT_EQ(group_memory_limit(files.path("root")), std::numeric_limits<std::size_t>::max());
  write("root/groups/outer/memory.max", "800\n");
  EXPECT_EQ(group_memory_limit(files.path("root")), 700U);
  write("root/proc/self/cgroup", "4:cpu,memory:/job\n");
  write("root/proc/self/mountinfo", "30 25 0:26 / /old rw - cgroup cgroup rw,cpu,memory\n");
  write("root/old/job/memory.limit_in_bytes", "1600\n");
  EXPECT_EQ(group_memory_limit(files.path("root")), 1400U);
}

TEST(VcodeRandom, IsTheRecordedGeneratorAndJumps) {
  random_stream stream;
  for (const int wanted : {83, 86, 77, 15, 93}) EXPECT_EQ(stream.next() % 100, wanted);
  for (const std::uint32_t seed : {1U, 42U, 0U, 0x80000000U}) {
    random_stream stepping(seed);
    random_stream jumping(seed);
    for (int i = 0; i < 10007; ++i) stepping.next();
    jumping.jump(10007);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(jumping.next(), stepping.next());
  }
}

TEST(VcodeArena, PartsNeverOverlap) {
  arena memory(1 << 22);
  allocator from(memory);
  struct taken {
    allocator::part part;
    std::size_t bytes;
  };
  std::vector<taken> held;
  std::srand(3);
  for (int i = 0; i < 20000; ++i) {
    if (!held.empty() && std::rand() % 2 == 0) {
      const auto at = static_cast<std::size_t>(std::rand()) % held.size();
      from.free(held[at].part);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    const std::size_t bytes = std::size_t{1} << (std::rand() % 18);
    const allocator::part got = from.allocate(bytes);
    if (got.address == nullptr) continue;
    auto* const begin = static_cast<std::byte*>(got.address);
    ASSERT_GE(begin, memory.begin());
    ASSERT_LE(begin + bytes, memory.begin() + memory.size());
    for (const auto& each : held) {
      auto* const other = static_cast<std::byte*>(each.part.address);
      ASSERT_TRUE(begin + bytes <= other || other + each.bytes <= begin);
    }
    held.push_back({got, bytes});
  }
}

// Each page is reported once, over all runs of the arena.
TEST(VcodeArena, FreshPagesAreThoseThatNobodyTouched) {
  constexpr std::size_t page = allocator::page;
  arena memory(16 * page);
  {
    allocator first(memory);
    first.allocate(3 * page);
    EXPECT_EQ(first.take_fresh(2).second, 4 * page);
    EXPECT_EQ(first.take_fresh(2).second, 0U);
  }
  allocator second(memory);
  second.allocate(3 * page);
  EXPECT_EQ(second.take_fresh(2).second, 0U);
  second.allocate(4 * page);
  const auto [begin, bytes] = second.take_fresh(2);
  EXPECT_EQ(begin, reinterpret_cast<unsigned char*>(memory.begin() + 4 * page));
  EXPECT_EQ(bytes, 4 * page);
}

// Strips end at the largest position too.
TEST(VcodeSegments, StripsCoverARange) {
  struct limits {
    std::int32_t begin, end;
  };
  for (const limits of : {limits{0, 0},
                          {7, 8},
                          {0, 1024},
                          {0, 1025},
                          {INT32_MAX - 1000, INT32_MAX},
                          {INT32_MAX - 1024, INT32_MAX},
                          {INT32_MAX - 2500, INT32_MAX}}) {
    std::int64_t at = of.begin;
    EXPECT_TRUE(all_strips(of.begin, of.end, 1024, [&](std::int32_t begin, std::int32_t count) {
      EXPECT_EQ(begin, at);
      EXPECT_GT(count, 0);
      EXPECT_LE(count, 1024);
      at += count;
      return at <= of.end;
    }));
    EXPECT_EQ(at, of.end);
  }
  int calls = 0;
  EXPECT_FALSE(all_strips(0, 3000, 1024, [&](std::int32_t, std::int32_t) { return ++calls < 2; }));
  EXPECT_EQ(calls, 2);
}

// For any segments and any number of parts, every element and every segment belongs to exactly one
// part.
TEST(VcodeSegments, ArePartitioned) {
  std::srand(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int32_t> lengths, offsets{0};
    for (int j = std::rand() % 20; j > 0; --j) {
      lengths.push_back(std::rand() % 3 == 0 ? std::rand() % 5000 : std::rand() % 4);
      offsets.push_back(offsets.back() + lengths.back());
    }
    if (lengths.size() == 1) continue;
    block l, o, b;
    l.data = lengths.data();
    o.data = offsets.data();
    b.type = kind::segdes;
    b.length = static_cast<std::int32_t>(lengths.size());
    b.total = offsets.back();
    b.lengths = &l;
    b.offsets = &o;
    const segment_view view{value(&b)};
    for (const unsigned parts : {1U, 2U, 3U, 17U}) {
      for (const std::int32_t align : {1, 64, 1024, INT32_MAX}) {
        std::vector<int> seen(static_cast<std::size_t>(b.total));
        std::int32_t segment = 0;
        std::int32_t element = 0;
        for (unsigned p = 0; p < parts; ++p) {
          const segment_part mine = segment_part_of(view, p, parts, align);
          EXPECT_EQ(mine.begin, element);
          mine.each(view, [&](std::int32_t j, std::int32_t begin, std::int32_t end) {
            EXPECT_GE(j, segment);
            segment = j;
            EXPECT_EQ(begin, element);
            EXPECT_TRUE((begin - offsets[static_cast<std::size_t>(j)]) % align == 0);
            for (std::int32_t e = begin; e < end; ++e) ++seen[static_cast<std::size_t>(e)];
            element = end;
          });
          EXPECT_EQ(mine.end, element);
        }
        EXPECT_EQ(element, b.total);
        for (const int count : seen) EXPECT_EQ(count, 1);
      }
    }
  }
}

}  // namespace
}  // namespace tutti::vcode
