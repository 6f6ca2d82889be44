// SPDX-License-Identifier: Apache-2.0
// A round verifies what all ranks computed, and works with every provider of regions.
#include "workloads/synthetic/round.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <thread>

#include "bench/contenders/contender.hpp"

namespace tutti::synthetic {
namespace {

constexpr rank_t threads = 3;
constexpr std::size_t length = 1000;

round_request request_of(std::size_t vector_length) {
  round_request r;
  r.threads = threads;
  r.length = vector_length;
  r.regions = 40;
  r.warm_up = 5;
  r.batches = 2;
  r.verify_each = vector_length > 0;
  return r;
}

std::unique_ptr<bench::region_runtime> tuttis() {
  bench::runtime_options size;
  size.threads = size.ranks = threads;
  return bench::choose_teams({"default"}, {"adaptive"}).at(0).regions(size);
}

round_outcome round_with(std::size_t vector_length, kernel work) {
  const round_request request = request_of(vector_length);
  workload w(threads, vector_length, {}, 1, work);
  return run_round(request, *tuttis(), w);
}

TEST(Round, IsRightWithTheRightKernel) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, length}) {
    const round_outcome outcome = round_with(n, multiply_and_sum_floors);
    EXPECT_EQ(outcome.fault, "");
    EXPECT_EQ(outcome.samples.size(), 2U);
    for (const double sample : outcome.samples) EXPECT_GT(sample, 0);
  }
}

// Each of these variants is wrong in one way.
std::int64_t truncates(const vectors& mine) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < mine.v3.size(); ++i)
    sum += static_cast<std::int64_t>(mine.v1[i] * mine.v2[i]);
  return sum;
}
std::int64_t leaves_one_out(const vectors& mine) {
  return multiply_and_sum_floors({mine.v1, mine.v2, mine.v3.first(mine.v3.size() - 1)});
}
std::int64_t does_nothing(const vectors&) { return 0; }

TEST(Round, CatchesAWrongKernelInTheFirstRegion) {
  for (const kernel wrong : {truncates, leaves_one_out, does_nothing}) {
    const round_outcome outcome = round_with(length, wrong);
    EXPECT_TRUE(outcome.fault.starts_with("region 1: rank 0 found the sum ")) << outcome.fault;
    EXPECT_TRUE(outcome.samples.empty());
  }
}

// This one is right on every rank but the last, and wrong there only for a while.
std::atomic<int> calls{0};
std::int64_t is_wrong_once(const vectors& mine) {
  const std::int64_t sum = multiply_and_sum_floors(mine);
  return ++calls == 10 * static_cast<int>(threads) ? sum + 1 : sum;
}

TEST(Round, CatchesASingleWrongSum) {
  calls = 0;
  const round_outcome outcome = round_with(length, is_wrong_once);
  EXPECT_TRUE(outcome.fault.starts_with("region 10: rank ")) << outcome.fault;
}

// Runs ranks one after another. The variants leave the last rank out, or do not wait for it.
class serial_runtime : public bench::region_runtime {
 public:
  explicit serial_runtime(rank_t ranks) : ranks_(ranks) {}
  void place(const std::vector<int>&) override {}
  void open(const std::function<void(rank_t)>& body) override {
    for (rank_t rank = 0; rank < ranks_; ++rank) body(rank);
  }
  void regions(std::uint64_t, bench::checksums&) override {}
  void reducing_regions(std::uint64_t, bench::checksums&) override {}

 private:
  const rank_t ranks_;
};

TEST(Round, CatchesARankThatTakesNoPart) {
  for (const std::size_t n : {std::size_t{0}, length}) {
    workload w(threads, n, {}, 1);
    serial_runtime all(threads), one_less(threads - 1);
    EXPECT_EQ(run_round(request_of(n), all, w).fault, "");
    const std::string fault = run_round(request_of(n), one_less, w).fault;
    EXPECT_TRUE(fault.starts_with("rank 2 has ended 0 of ")) << fault;
  }
}

TEST(Workload, HasTheSameNumbersForEveryRankAndOthersForAnotherSeed) {
  workload w(threads, length, {}, 1), same(1, length, {}, 1), other(1, length, {}, 2);
  for (rank_t rank = 0; rank < threads; ++rank) w.enter(rank);
  same.enter(0);
  other.enter(0);
  EXPECT_EQ(w.fault(1), "");
  EXPECT_EQ(same.fault(1), "");
  EXPECT_EQ(other.fault(1), "");
  EXPECT_EQ(w.fault(2), "rank 0 has ended 1 of 2 regions");
  w.reset();
  EXPECT_EQ(w.fault(1), "rank 0 has ended 0 of 1 regions");
}

round_request walking_request() {
  round_request r = request_of(0);
  r.set_bytes = 1 << 14;
  r.lines = 100;
  return r;
}

TEST(Walk, IsMadeInEveryRegionAndItsTimeIsNotOverhead) {
  for (const bool at_random : {false, true}) {
    round_request r = walking_request();
    r.at_random = at_random;
    workload_store store;
    workload& w = store.of(r);
    const round_outcome outcome = run_round(r, *tuttis(), w);
    EXPECT_EQ(outcome.fault, "");
    ASSERT_EQ(outcome.overheads.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_GT(outcome.samples[i], 0);
    // 45 regions of 100 lines in a set of 256: each line has been read some 17 times.
    EXPECT_GT(w.walking()->sum(0), 10'000U);
    EXPECT_LT(w.walking()->sum(0), 90'000U);
  }
}

// A runtime whose threads come and go costs what it sleeps, whatever the walk costs.
class sleeping_runtime : public serial_runtime {
 public:
  using serial_runtime::serial_runtime;
  void open(const std::function<void(rank_t)>& body) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    serial_runtime::open(body);
  }
};

TEST(Walk, OverheadIsWhatTheRegionTakesBeyondTheLongestWalk) {
  round_request r = walking_request();
  r.threads = 1;
  r.regions = 4;
  r.warm_up = 1;
  // Some milliseconds of walking, which must not count.
  r.lines = 2'000'000;
  workload_store store;
  sleeping_runtime runtime(1);
  const round_outcome outcome = run_round(r, runtime, store.of(r));
  for (std::size_t i = 0; i < outcome.overheads.size(); ++i) {
    EXPECT_GE(outcome.overheads[i], 2e6);
    EXPECT_LT(outcome.overheads[i], outcome.samples[i]);
  }
}

TEST(Walk, AnotherSetIsAnotherWork) {
  workload_store store;
  round_request r = walking_request();
  const walk* const first = store.of(r).walking();
  EXPECT_EQ(store.of(r).walking(), first);
  r.set_bytes = 0;
  EXPECT_EQ(store.of(r).walking(), nullptr);
}

TEST(Walk, ASetHasANameOrANumberOfBytes) {
  EXPECT_EQ(set_bytes("none", 2), 0U);
  EXPECT_EQ(set_bytes("64", 2), 64U);
  EXPECT_EQ(set_bytes("3K", 2), 3072U);
  EXPECT_EQ(set_bytes("2G", 1), std::size_t{2} << 30);
  EXPECT_GE(set_bytes("memory", 2), std::size_t{64} << 20);
  for (const char* wrong : {"", "l4", "63", "0K", "-1", "5k", "1.5M", "99999999999999999999"})
    EXPECT_THROW(set_bytes(wrong, 2), std::invalid_argument) << wrong;
}

TEST(Workload, IsKeptWhileTheRequestStays) {
  workload_store store;
  round_request request = request_of(length);
  const workload* const first = &store.of(request);
  request.regions = 7;
  EXPECT_EQ(&store.of(request), first);
  request.length = 5;
  EXPECT_EQ(store.of(request).length(), 5U);
  request.threads = 1;
  EXPECT_EQ(store.of(request).ranks(), 1U);
}

// Every contender that `tutti bench team` knows in this process, with and without work.
class Runtimes : public testing::TestWithParam<bench::contender> {};

TEST_P(Runtimes, ComputeWhatTheyShould) {
  for (const std::size_t n : {std::size_t{0}, length}) {
    workload w(threads, n, {}, 1);
    bench::runtime_options size;
    size.threads = size.ranks = threads;
    const auto runtime = GetParam().regions(size);
    EXPECT_EQ(run_round(request_of(n), *runtime, w).fault, "");
  }
}

std::vector<bench::contender> in_process() {
  auto all = bench::choose_teams(
      {"default", "flags", "flags_padded", "recursive", "recursive_padded", "atomic", "mutex"},
      {"adaptive"});
  for (auto& peer : bench::all_peers())
    if (peer.in_process() && peer.does(bench::operation::region)) all.push_back(peer);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, Runtimes, testing::ValuesIn(in_process()), [](const auto& each) {
  std::string name = each.param.family + "_" + each.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace tutti::synthetic
