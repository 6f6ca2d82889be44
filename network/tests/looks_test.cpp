// SPDX-License-Identifier: Apache-2.0
// When a host looks at its word before it blocks, by what its last waits have taught it, how it
// learns whether it has its CPU alone, and when it repeats its call.
#include "network/looks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "network/endpoint.hpp"
#include "tutti/platform/run_delay.hpp"

namespace tutti::network {
namespace {

using namespace std::chrono_literals;

// Waits that block before one looks again.
std::uint32_t rest_of(looks& l) {
  std::uint32_t waits = 0;
  while (!l.are_next()) ++waits;
  return waits;
}

TEST(Looks, AreTakenAtFirst) {
  looks l;
  EXPECT_TRUE(l.are_next());
  l.were_enough();
  EXPECT_TRUE(l.are_next());
}

TEST(Looks, InVainRestForWhatTheyHaveCost) {
  looks l;
  l.were_in_vain(50us);
  EXPECT_EQ(rest_of(l), 1u);
  looks slice;
  slice.were_in_vain(3ms);
  EXPECT_EQ(rest_of(slice), 60u);
}

TEST(Looks, InVainAgainRestForTwiceAsManyWaitsUpToTheLongest) {
  looks l;
  for (const std::uint32_t waits : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u, 256u}) {
    l.were_in_vain(50us);
    EXPECT_EQ(rest_of(l), waits);
  }
}

TEST(Looks, ThatAreEnoughOftenEnoughForgetTheRest) {
  looks l;
  l.were_in_vain(400us);
  EXPECT_EQ(rest_of(l), 8u);
  for (int i = 0; i < 7; ++i) l.were_enough();
  l.were_in_vain(50us);
  EXPECT_EQ(rest_of(l), 16u);
  for (int i = 0; i < 16; ++i) l.were_enough();
  l.were_in_vain(50us);
  EXPECT_EQ(rest_of(l), 1u);
}

TEST(Looks, ThatLoseHoursRestNoLonger) {
  looks l;
  l.were_in_vain(2h);
  EXPECT_EQ(rest_of(l), looks::longest_rest);
}

void be_busy(std::chrono::nanoseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time;
       std::chrono::steady_clock::now() < end;) {
  }
}

std::optional<std::chrono::nanoseconds> run_delay_now() {
  const auto ns = platform::run_delay::now_ns();
  if (!ns) return {};
  return std::chrono::nanoseconds(*ns);
}

TEST(RunDelay, GrowsWhereTwoThreadsShareACpu) {
  const auto before = run_delay_now();
  if (!before) GTEST_SKIP() << "the kernel does not tell how long threads wait for a CPU";
  cpu_set_t usable, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof usable, &usable), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  // The other thread is bound as this one is.
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  std::thread other([] { be_busy(200ms); });
  be_busy(200ms);
  other.join();
  ASSERT_EQ(::sched_setaffinity(0, sizeof usable, &usable), 0);
  EXPECT_GT(*run_delay_now() - *before, 50ms);
}

// What the kernel says of this process, which has one thread.
std::chrono::nanoseconds delay_of_this_process() {
  std::ifstream file("/proc/self/schedstat");
  long long ran = 0, waited = -1;
  file >> ran >> waited;
  return std::chrono::nanoseconds(waited);
}

TEST(RunDelay, IsThatOfTheProcessItselfAfterAFork) {
  if (!run_delay_now()) GTEST_SKIP() << "the kernel does not tell how long threads wait for a CPU";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto before = delay_of_this_process();
    const auto now = run_delay_now();
    ::_exit(now && before <= *now && *now <= delay_of_this_process() ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(RunDelay, ClosesNoFileOfTheProgram) {
  if (!run_delay_now()) GTEST_SKIP() << "the kernel does not tell how long threads wait for a CPU";
  const int free = ::open("/dev/null", O_RDONLY);
  ASSERT_GE(free, 0);
  ::close(free);
  std::thread([free] {
    // Its file gets the number that is free. The program closes it, and uses the number again.
    run_delay_now();
    EXPECT_EQ(::close(free), 0);
    EXPECT_EQ(::open("/dev/null", O_RDONLY), free);
  }).join();
  EXPECT_EQ(::close(free), 0);
}

// A host whose node answers to the eighth call, and who only notes for how long it would wait.
class deaf_node final : public endpoint {
 public:
  explicit deaf_node(rank_t rank) : endpoint(make_table(TUTTI_NET_STAR, 4, rank)) {
    // So long that the time of the test itself does not count.
    how.first_repeat = 1000s;
    how.longest_repeat = 32000s;
  }
  std::vector<double> waits_s;

 private:
  void call(const tutti_net_message&, const std::uint64_t*) override {}
  bool wait(std::uint32_t, clock::time_point until) override {
    waits_s.push_back(std::chrono::duration<double>(until - clock::now()).count());
    return waits_s.size() == 8;
  }
  void result(std::uint32_t, std::span<std::uint64_t>) override {}
  std::vector<std::optional<progress>> inquire(clock::time_point) override { return {}; }
};

TEST(Repeats, ComeAtDoubledIntervalsThatDifferByChance) {
  deaf_node hosts[]{deaf_node(0), deaf_node(1), deaf_node(2), deaf_node(3)};
  for (deaf_node& host : hosts) {
    host.barrier();
    EXPECT_EQ(host.repeats(), 7u);
  }
  const double least_s[] = {1000, 2000, 4000, 8000, 16000, 32000, 32000, 32000};
  for (std::size_t i = 0; i < 8; ++i) {
    double first = 1e9, last = 0;
    for (const deaf_node& host : hosts) {
      EXPECT_GT(host.waits_s[i], 0.9 * least_s[i]);
      EXPECT_LE(host.waits_s[i], 1.5 * least_s[i]);
      first = std::min(first, host.waits_s[i]);
      last = std::max(last, host.waits_s[i]);
    }
    EXPECT_GT(last - first, 0.05 * least_s[i]) << "all hosts repeat at the same time";
  }
}

}  // namespace
}  // namespace tutti::network
