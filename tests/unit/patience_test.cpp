// SPDX-License-Identifier: Apache-2.0
// Tests patience: the meaning of texts and times, what is refused, where it can be set, and the
// environment variable.

#include "tutti/wait/patience.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

#include "tutti/barrier/barrier.hpp"
#include "tutti/comm/communicator.hpp"
#include "tutti/reduce/reduction.hpp"
#include "tutti/registry.hpp"
#include "tutti/team/team.hpp"

namespace {

using namespace std::chrono_literals;
using tutti::patience;
using tutti::rank_t;

bool is_read(std::string_view text, patience& out) {
  return patience::parse(text.data(), text.size(), out);
}

TEST(Patience, ReadsNamesAndTimes) {
  EXPECT_EQ(patience("active"), patience::active());
  EXPECT_EQ(patience("balanced"), patience::balanced());
  EXPECT_EQ(patience("passive"), patience::passive());
  EXPECT_EQ(patience("200us").ns(), 200'000u);
  EXPECT_EQ(patience("1.5ms").ns(), 1'500'000u);
  EXPECT_EQ(patience("7ns").ns(), 7u);
  EXPECT_EQ(patience(".5s").ns(), 500'000'000u);
  EXPECT_EQ(patience("0.0001us"), patience::passive()) << "less than the clock can tell";
  EXPECT_EQ(patience("0ms"), patience::passive());
}

TEST(Patience, IsATimeOfChrono) {
  EXPECT_EQ(patience(200us).ns(), 200'000u);
  EXPECT_EQ(patience(2s).ns(), 2'000'000'000u);
  EXPECT_EQ(patience(std::chrono::duration<double, std::milli>(0.25)).ns(), 250'000u);
  EXPECT_EQ(patience(0ns), patience::passive());
  EXPECT_FALSE(patience(std::chrono::hours::max()).is_active()) << "long is not for ever";
}

TEST(Patience, RefusesWhatMeansNothing) {
  for (const char* text :
       {"", "busy", "Active", "active ", "200", "us", "200 us", "-5us", "1e3us", "1.2.3us",
        "200usx", ".us", "99999999999999999999s", "10000000000s", "nan", "+5us"}) {
    patience untouched = patience::passive();
    EXPECT_FALSE(is_read(text, untouched)) << text;
    EXPECT_EQ(untouched, patience::passive());
    try {
      patience refused(text);
      ADD_FAILURE() << "'" << text << "' was read";
    } catch (const std::invalid_argument& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(std::string("'") + text + "'"), std::string::npos);
      EXPECT_EQ(std::string(refusal.what()).find('\n'), std::string::npos) << "one sentence";
    }
  }
  EXPECT_THROW(patience(-1ns), std::invalid_argument);
  EXPECT_THROW(patience(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())),
               std::invalid_argument);
}

TEST(Patience, IsSetWhereverOneWaits) {
  tutti::barrier<> sync(2, tutti::barrier_options{.patience = "200us"});
  EXPECT_TRUE(sync.set_patience(patience::passive()));
  for (const tutti::algorithm_info& algorithm : tutti::algorithms) {
    EXPECT_TRUE(tutti::make_barrier(algorithm.name, 2, "adaptive", patience::active()) != nullptr);
    EXPECT_TRUE(tutti::make_barrier(algorithm.name, 2)->set_patience(1ms)) << algorithm.name;
  }
  tutti::reduction<double> total(3, {}, tutti::reduction_algorithm::tree, 100us);
  EXPECT_TRUE(total.set_patience("balanced"));
  tutti::team workers({.threads = 2, .patience = patience::passive()});
  EXPECT_TRUE(workers.set_patience({}));
  tutti::team named({.threads = 2, .barrier = "mcs", .patience = 1ms});
  EXPECT_TRUE(named.set_patience(patience::active()));
  tutti::communicator comm(2, {.patience = "5us"});
  EXPECT_TRUE(comm.set_patience(patience::active()));
}

// A wait policy that counts its objects, and those of them whose patience has been set.
struct counted_wait : tutti::adaptive_wait<> {
  static inline int made, set;
  explicit counted_wait(rank_t participants) : adaptive_wait(participants) { ++made; }
  bool set_patience(patience p) noexcept {
    ++set;
    return adaptive_wait::set_patience(p);
  }
};

// A barrier that is made of others has several objects that wait.
TEST(Patience, IsSetForEveryWaitOfABarrier) {
  const auto expect_all_set = []<class Entry>(Entry*) {
    counted_wait::made = counted_wait::set = 0;
    const auto sync = Entry::template make<tutti::native, counted_wait>(4);
    EXPECT_TRUE(sync->set_patience(1ms)) << Entry::info.name;
    EXPECT_GT(counted_wait::made, 0) << Entry::info.name;
    EXPECT_EQ(counted_wait::set, counted_wait::made) << Entry::info.name;
  };
  [&]<class... Entry>(std::tuple<Entry...>*) {
    (expect_all_set(static_cast<Entry*>(nullptr)), ...);
  }(static_cast<tutti::registry::algorithms*>(nullptr));
}

TEST(Patience, IsRefusedByPoliciesThatHaveNone) {
  for (const char* policy : {"spin", "yield", "park"}) {
    EXPECT_THROW(tutti::make_barrier("central", 2, policy, patience::active()),
                 std::invalid_argument);
    EXPECT_FALSE(tutti::make_barrier("central", 2, policy)->set_patience(patience::active()));
    EXPECT_THROW(tutti::communicator(2, {.wait = policy, .patience = "1ms"}),
                 std::invalid_argument);
    EXPECT_THROW(tutti::team({.threads = 2, .barrier = "mcs", .wait = policy, .patience = "1ms"}),
                 std::invalid_argument);
  }
}

// The nanoseconds that this thread has run and, where the kernel counts them, those that it was
// ready to run while others had the processor.
struct processor_time {
  double ran = 0;
  double ready = 0;
  static processor_time now() {
    processor_time t;
    std::ifstream("/proc/thread-self/schedstat") >> t.ran >> t.ready;
    timespec ran{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
    t.ran = 1e9 * static_cast<double>(ran.tv_sec) + static_cast<double>(ran.tv_nsec);
    return t;
  }
};

// The shares of the time in which a waiter of this thread has a processor, and in which it wants
// one, while its partner is away for `away`.
struct shares {
  double taken, wanted;
};
shares processor_shares_of_a_wait(patience p, std::chrono::milliseconds away) {
  tutti::barrier<> sync(2, tutti::barrier_options{.patience = p});
  std::thread late([&] {
    std::this_thread::sleep_for(away);
    sync.arrive_and_wait();
  });
  const processor_time before = processor_time::now();
  sync.arrive_and_wait();
  const processor_time after = processor_time::now();
  late.join();
  const double all = 1e6 * static_cast<double>(away.count());
  const double ran = after.ran - before.ran;
  return {ran / all, (ran + after.ready - before.ready) / all};
}

TEST(Patience, DecidesWhatAWaitTakesOfTheProcessor) {
  EXPECT_LT(processor_shares_of_a_wait(patience::passive(), 60ms).taken, 0.25);
  EXPECT_LT(processor_shares_of_a_wait(1ms, 60ms).taken, 0.35);
  EXPECT_LT(processor_shares_of_a_wait(patience::balanced(), 60ms).taken, 0.35);
  // If others keep the cores busy, an active waiter gets less than it wants.
  double active = 0;
  for (int i = 0; i < 5 && active < 0.5; ++i)
    active = std::max(active, processor_shares_of_a_wait(patience::active(), 60ms).wanted);
  EXPECT_GT(active, 0.5);
}

// Runs in a process of its own, because the environment is read once.
int tell_the_environments_patience() {
  const patience said = patience::of_environment();
  if (!(said == patience().chosen())) return 1;
  return said.is_active()     ? 10
         : said.is_balanced() ? 11
         : said.is_passive()  ? 12
                              : static_cast<int>(said.ns() / 1000);
}

class EnvironmentDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
  void TearDown() override { unsetenv("TUTTI_PATIENCE"); }
};

TEST_F(EnvironmentDeathTest, SaysWhatTheProgramLeftOpen) {
  setenv("TUTTI_PATIENCE", "passive", 1);
  EXPECT_EXIT(std::_Exit(tell_the_environments_patience()), testing::ExitedWithCode(12), "");
  setenv("TUTTI_PATIENCE", "77us", 1);
  EXPECT_EXIT(std::_Exit(tell_the_environments_patience()), testing::ExitedWithCode(77), "");
  unsetenv("TUTTI_PATIENCE");
  EXPECT_EXIT(std::_Exit(tell_the_environments_patience()), testing::ExitedWithCode(11), "");
}

TEST_F(EnvironmentDeathTest, IsToldOnceWhatIsWrongAndWaitsBalanced) {
  setenv("TUTTI_PATIENCE", "soon", 1);
  EXPECT_EXIT(
      {
        patience::of_environment();
        tutti::barrier<> sync(2);
        std::_Exit(tell_the_environments_patience());
      },
      testing::ExitedWithCode(11),
      "^tutti: TUTTI_PATIENCE: patience 'soon' is neither [^\n]*; tutti uses balanced\n$");
}

TEST_F(EnvironmentDeathTest, DoesNotMatterToAProgramThatChooses) {
  setenv("TUTTI_PATIENCE", "active", 1);
  EXPECT_EXIT(std::_Exit(patience::passive().chosen().is_passive() &&
                                 patience::balanced().chosen().is_balanced()
                             ? 5
                             : 6),
              testing::ExitedWithCode(5), "");
}

}  // namespace
