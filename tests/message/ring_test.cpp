// SPDX-License-Identifier: Apache-2.0
// Tests rings alone (order, sizes, laps, room, releases in any order) and between two threads, with
// data behind the messages.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tutti/message/ring_reader.hpp"
#include "tutti/message/ring_table.hpp"
#include "tutti/message/ring_writer.hpp"

namespace tutti {
namespace {

struct pipe {
  explicit pipe(std::size_t bytes, std::size_t batch = 64)
      : rings(2, bytes), writer(rings.from(0)[1], batch), reader(rings.to(1)[0]) {}

  bool send(const void* data, std::size_t bytes) {
    if (!writer.fits_open_run(bytes)) return writer.append_to_new_run(data, bytes);
    writer.append(data, bytes);
    return true;
  }
  template <class T>
  bool send(const T& value) {
    return send(&value, sizeof value);
  }
  bool can_take() { return reader.has_message() || reader.refill(); }
  received take() { return reader.take(0); }
  bool release(const received& message) { return reader.release_message(message.index); }

  ring_table<> rings;
  ring_writer<> writer;
  ring_reader<> reader;
};

// The bytes of message k of a seed; they differ from those of every other message.
std::vector<std::byte> content(unsigned k, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(k * 31 + i * 7 + bytes);
  return data;
}
bool holds(const received& message, unsigned k, std::size_t bytes) {
  const auto expected = content(k, bytes);
  return message.size == bytes &&
         (bytes == 0 || std::memcmp(message.data, expected.data(), bytes) == 0);
}

TEST(Ring, KeepsTheOrderOfMixedSizesOverManyLaps) {
  for (const std::size_t ring_bytes : {256u, 1024u, 4096u}) {
    pipe p(ring_bytes);
    std::mt19937 random(7);
    std::vector<std::size_t> sizes;
    unsigned sent = 0, taken = 0;
    for (int step = 0; step < 20000; ++step) {
      if (random() % 2 == 0) {
        // Half of the messages have the size of the one before, so that runs have several; some are
        // as large as the ring, and larger.
        const std::size_t bytes = random() % 2 == 0 && !sizes.empty() ? sizes.back()
                                  : random() % 50 == 0                ? random() % (3 * ring_bytes)
                                                                      : random() % 65;
        const auto data = content(sent, bytes);
        if (!p.send(data.data(), bytes)) continue;
        sizes.push_back(bytes);
        ++sent;
      } else if (random() % 3 == 0) {
        p.writer.flush();
      } else if (p.can_take()) {
        const received message = p.take();
        ASSERT_TRUE(holds(message, taken, sizes[taken])) << taken << " of ring " << ring_bytes;
        ASSERT_EQ(message.index, taken);
        ASSERT_TRUE(p.release(message));
        ++taken;
      }
    }
    p.writer.flush();
    for (; p.can_take(); ++taken) {
      const received message = p.take();
      ASSERT_TRUE(holds(message, taken, sizes[taken]));
      p.release(message);
    }
    EXPECT_EQ(taken, sent);
    EXPECT_EQ(p.writer.sent(), sent);
    EXPECT_GT(sent, 1000u);
  }
}

TEST(Ring, ShowsNothingBeforeItIsFlushedOrABatchIsFull) {
  pipe p(4096, 64);
  ASSERT_TRUE(p.send(std::uint64_t{1}));
  EXPECT_FALSE(p.can_take());
  EXPECT_TRUE(p.writer.is_behind());
  EXPECT_TRUE(p.writer.flush());
  EXPECT_FALSE(p.writer.is_behind());
  EXPECT_FALSE(p.writer.flush());
  ASSERT_TRUE(p.can_take());
  EXPECT_EQ(p.take().as<std::uint64_t>(), 1u);
  for (int i = 0; i < 32; ++i) p.send(std::uint64_t{2});
  EXPECT_TRUE(p.can_take());
}

TEST(Ring, TellsTheTruthAboutItsRoom) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{24}, inline_message}) {
    pipe p(256);
    const auto data = content(0, bytes);
    int sent = 0;
    for (; p.writer.has_room(); ++sent) ASSERT_TRUE(p.send(data.data(), bytes)) << sent;
    EXPECT_GT(sent, 0);
    EXPECT_LT(sent, 64);
    // The ring is full: the messages are visible without a flush, and come out whole.
    int taken = 0;
    std::vector<received> held;
    for (; p.can_take(); ++taken) held.push_back(p.take());
    EXPECT_EQ(taken, sent);
    EXPECT_FALSE(p.writer.has_room()) << "nothing is released yet";
    for (const received& message : held) EXPECT_TRUE(holds(message, 0, bytes));
    for (const received& message : held) EXPECT_TRUE(p.release(message));
    // This look gives the room back.
    EXPECT_FALSE(p.can_take());
    EXPECT_TRUE(p.writer.has_room());
  }
}

TEST(Ring, TakesReleasesInAnyOrderAndEachOnce) {
  pipe p(256);
  std::mt19937 random(3);
  std::vector<received> held;
  std::uint64_t next = 0, expected = 0;
  int in_vain = 0;
  for (int step = 0; step < 50000; ++step) {
    while (p.writer.has_room()) p.send(next++);
    p.writer.flush();
    while (held.size() < 5 && p.can_take()) {
      held.push_back(p.take());
      ASSERT_EQ(held.back().as<std::uint64_t>(), expected++);
    }
    // The reader's look for more gives the room back; the writer finds it in the next step.
    in_vain = held.empty() ? in_vain + 1 : 0;
    ASSERT_LT(in_vain, 2) << "stuck at " << step;
    if (held.empty()) continue;
    const std::size_t which = random() % held.size();
    ASSERT_TRUE(p.release(held[which]));
    ASSERT_FALSE(p.release(held[which])) << "released twice";
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
  }
  received never;
  never.index = expected;
  EXPECT_FALSE(p.release(never));
}

TEST(Ring, CarriesMessagesLargerThanItself) {
  pipe p(256);
  for (unsigned k = 0; k < 200; ++k) {
    const std::size_t bytes = 100 + 1000 * (k % 7);
    const auto data = content(k, bytes);
    ASSERT_TRUE(p.send(data.data(), bytes));
    p.writer.flush();
    ASSERT_TRUE(p.can_take());
    const received message = p.take();
    ASSERT_TRUE(holds(message, k, bytes));
    ASSERT_TRUE(p.release(message));
  }
}

// The messages point at plain data: ThreadSanitizer sees a missing release or acquire as a race.
TEST(Ring, PublishesWhatItsMessagesSpeakOf) {
  constexpr std::uint32_t count = 200'000;
  pipe p(1024, 256);
  std::vector<std::uint32_t> said(count);
  std::thread reader([&] {
    for (std::uint32_t k = 0; k < count;) {
      if (!p.can_take()) {
        std::this_thread::yield();
        continue;
      }
      const received message = p.take();
      ASSERT_EQ(message.as<std::uint32_t>(), k);
      ASSERT_EQ(said[k], k + 1);
      p.release(message);
      ++k;
    }
  });
  for (std::uint32_t k = 0; k < count; ++k) {
    said[k] = k + 1;
    while (!p.writer.has_room()) std::this_thread::yield();
    p.send(k);
    if (k % 100 == 0) p.writer.flush();
  }
  p.writer.flush();
  reader.join();
}

TEST(RingTable, HasARingForEachPairAndNoneTwice) {
  ring_table<> rings(3, 300);
  EXPECT_EQ(rings.ring_bytes(), 512u);
  for (rank_t a = 0; a < 3; ++a)
    for (rank_t b = 0; b < 3; ++b) {
      const auto there = rings.from(a)[b], here = rings.to(b)[a];
      EXPECT_EQ(there.cells, here.cells);
      EXPECT_EQ(there.writers, here.writers);
      EXPECT_EQ(there.readers, here.readers);
      EXPECT_EQ(there.readers, rings.from(b)[a].writers) << "the reader tells on its own line";
    }
  EXPECT_NE(rings.from(0)[1].cells, rings.from(1)[0].cells);
}

}  // namespace
}  // namespace tutti
