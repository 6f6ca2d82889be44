// SPDX-License-Identifier: Apache-2.0
// Each misuse in a build with checks is reported, with its values and its place.
#define TUTTI_CHECKS 1
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/comm/run_threads.hpp"

namespace tutti {
namespace {

struct reported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class EndpointMisuse : public testing::Test {
 protected:
  EndpointMisuse() : before_(on_misuse) {
    on_misuse = [](const std::string& what, const source_place& where) {
      throw reported(std::string(where.file) + ": " + what);
    };
  }
  ~EndpointMisuse() override { on_misuse = before_; }

  // Returns the report of the call, or an empty string.
  template <class F>
  static std::string report_of(F&& call) {
    try {
      call();
    } catch (const reported& r) {
      EXPECT_NE(std::string(r.what()).find("misuse_test.cpp"), std::string::npos)
          << "the place of the call";
      return r.what();
    }
    return {};
  }
  static void expect(const std::string& part, const std::string& report) {
    EXPECT_NE(report.find(part), std::string::npos) << "reported: '" << report << "'";
  }

  // Rank 0 has no more room to send to rank 1, and a message from it.
  void fill_ring_and_send_back(communicator& comm) {
    while (comm[0].try_send(1, &number, sizeof number)) {
    }
    comm[1].send(0, 1);
    comm[1].flush();
  }
  const std::uint64_t number = 1;

 private:
  misuse_handler before_;
};

TEST_F(EndpointMisuse, SendWithoutRoom) {
  communicator comm(2, {.ring_bytes = 256});
  while (comm[0].can_send(1)) comm[0].send(1, 1);
  const std::array<std::byte, 64> large{};
  // can_send() is false a little before the last byte is taken.
  std::string report;
  for (int i = 0; i < 4 && report.empty(); ++i)
    report = report_of([&] { comm[0].send(1, large.data(), large.size()); });
  expect("without room", report);
}

TEST_F(EndpointMisuse, RecvWithoutAMessage) {
  communicator comm(1);
  expect("without a message", report_of([&] { comm[0].recv(); }));
  comm[0].send(0, 1);
  EXPECT_EQ("", report_of([&] { comm[0].release(comm[0].recv()); }));
}

TEST_F(EndpointMisuse, ReleaseTwiceOrOfNothing) {
  communicator comm(1);
  comm[0].send(0, 1);
  comm[0].send(0, 2);
  ASSERT_TRUE(comm[0].can_recv());
  const received first = comm[0].recv(), second = comm[0].recv();
  EXPECT_EQ("", report_of([&] { comm[0].release(second); }));
  expect("released before", report_of([&] { comm[0].release(second); }));
  EXPECT_EQ("", report_of([&] { comm[0].release(first); }));
  expect("released before", report_of([&] { comm[0].release(first); }));
  received never;
  never.source = 5;
  expect("never received", report_of([&] { comm[0].release(never); }));
}

TEST_F(EndpointMisuse, RankOutOfRange) {
  communicator comm(2);
  expect("rank 2 is out of range", report_of([&] { comm[0].can_send(2); }));
  expect("rank 7 is out of range", report_of([&] { comm[0].send(7, 1); }));
}

TEST_F(EndpointMisuse, WaitsForRoomWithMessagesInHand) {
  communicator comm(2, {.ring_bytes = 256});
  fill_ring_and_send_back(comm);
  ASSERT_TRUE(comm[0].can_recv());
  const received held = comm[0].recv();
  const auto send = [&] {
    return report_of([&] {
      (void)comm[0].send_wait_for(1, number, std::chrono::milliseconds(1), [](const received&) {});
    });
  };
  expect("holds 1 messages while it waits for room", send());
  comm[0].release(held);
  EXPECT_EQ("", send());
  // While there is room no one waits, and one may hold messages.
  EXPECT_EQ("", report_of([&] { comm[1].send_wait(0, 1, [](const received&) {}); }));
}

// The rank receives and releases all that comes while it asks for room, but holds the message that
// it answers.
TEST_F(EndpointMisuse, AsksForRoomWithAMessageInHand) {
  communicator comm(2, {.ring_bytes = 256});
  fill_ring_and_send_back(comm);
  const auto ask_and_receive = [&] {
    while (!comm[0].can_send(1)) {
      if (comm[1].can_send(0)) comm[1].send(0, 2);
      drain(comm[0]);
    }
  };
  ASSERT_TRUE(comm[0].can_recv());
  const received held = comm[0].recv();
  expect("while it holds 1 messages", report_of(ask_and_receive));
  expect("while it holds 1 messages", report_of([&] {
           while (!comm[0].try_send(1, &number, sizeof number)) {
           }
         }));
  comm[0].release(held);
  // A rank that releases each message after it has asked once may ask for ever.
  EXPECT_EQ("", report_of([&] {
              for (std::uint32_t k = 0; k < 2 * held_message_check::most_questions; ++k) {
                comm[1].send(0, 1);
                comm[1].flush();
                drain(comm[0], [&](const received&) { EXPECT_FALSE(comm[0].can_send(1)); });
              }
            }));
}

TEST_F(EndpointMisuse, ReadsAMessageAsAnotherType) {
  communicator comm(1);
  comm[0].send(0, std::uint64_t{7});
  ASSERT_TRUE(comm[0].can_recv());
  const received message = comm[0].recv();
  EXPECT_EQ(message.as<std::uint64_t>(), 7u);
  expect("a message of 8 bytes of rank 0 is read as a value of 4 bytes",
         report_of([&] { (void)message.as<int>(); }));
  expect("is read as a value of 16 bytes",
         report_of([&] { (void)message.as<std::array<double, 2>>(); }));
  comm[0].release(message);
}

TEST_F(EndpointMisuse, WaitsInTheFunctionOfAWait) {
  communicator comm(3, {.ring_bytes = 256});
  const std::uint64_t value = 1;
  while (comm[0].try_send(1, &value, sizeof value)) {
  }
  const auto in_function = [&](auto call) {
    comm[1].send(0, 1);
    comm[1].flush();
    std::string report;
    EXPECT_FALSE(comm[0].send_wait_for(1, value, std::chrono::milliseconds(1),
                                       [&](const received&) { report = report_of(call); }));
    return report;
  };
  expect("calls send_wait() from the function",
         in_function([&] { comm[0].send_wait(2, 1, [](const received&) {}); }));
  expect("calls idle() from the function", in_function([&] { comm[0].idle(true); }));
  EXPECT_EQ("", in_function([&] {
              comm[0].try_send(2, &value, sizeof value);
              comm[0].flush();
            }));
}

TEST_F(EndpointMisuse, WaitsForRoomToNobody) {
  communicator comm(2);
  expect("rank 2 is out of range",
         report_of([&] { comm[0].send_wait(2, 1, [](const received&) {}); }));
}

// The rank holds its own messages. Every build refuses this, because the call could never return.
TEST_F(EndpointMisuse, WaitsForItself) {
  communicator comm(1, {.ring_bytes = 256});
  const std::uint64_t value = 1;
  while (comm[0].try_send(0, &value, sizeof value)) {
  }
  std::vector<received> held;
  while (comm[0].can_recv()) held.push_back(comm[0].recv());
  const auto send = [&] { comm[0].send_wait(0, value, [](const received&) {}); };
  expect("while it waits for room", report_of(send));
  on_misuse = [](const std::string&, const source_place&) {};
  EXPECT_THROW(send(), std::invalid_argument);
}

TEST_F(EndpointMisuse, TwoThreads) {
  communicator comm(2);
  std::atomic<bool> is_coming{false};
  std::thread waiting([&] {
    is_coming = true;
    finish(comm[0], true);
  });
  while (!is_coming) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::string report = report_of([&] { comm[0].flush(); });
  expect("two threads use the endpoint of rank 0", report);
  finish(comm[1], true);
  waiting.join();
}

TEST_F(EndpointMisuse, DifferentValuesInOneEpisode) {
  communicator comm(2);
  std::atomic<int> reports{0};
  std::vector<std::thread> threads;
  // The last thread to come finds the misuse. The others are never released, and give up.
  const auto come = [&](rank_t rank, auto value) {
    threads.emplace_back([&, rank, value] {
      try {
        (void)comm[rank].idle(true, value, plus{});
      } catch (const std::exception&) {
        ++reports;
        comm[rank].leave();
      }
    });
  };
  come(0, 1.0);
  come(1, 1);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(reports, 2);
}

}  // namespace
}  // namespace tutti
