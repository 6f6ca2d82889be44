// SPDX-License-Identifier: Apache-2.0
// Takes the memory away after a barrier or a team has been made: their calls arrive and wait
// nevertheless, tell how many are missing, and no exception passes through C.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <vector>

#include "tutti.h"
#include "tutti/barrier/barrier.hpp"
#include "tutti/team/team.hpp"

namespace {

std::atomic<bool> is_out{false};

struct out_of_memory {
  out_of_memory() noexcept { is_out = true; }
  ~out_of_memory() { is_out = false; }
  out_of_memory(const out_of_memory&) = delete;
  out_of_memory& operator=(const out_of_memory&) = delete;
};

void* take(std::size_t bytes, std::size_t alignment) {
  void* const taken =
      is_out ? nullptr
             : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (taken == nullptr) throw std::bad_alloc();
  return taken;
}

}  // namespace

// The compiler knows no other partner of free() than malloc().
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
void* operator new(std::size_t bytes) { return take(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

// 2 participants draw tickets, and 64 may have stripes.
class OutOfMemory : public testing::TestWithParam<std::uint32_t> {
 protected:
  OutOfMemory() { EXPECT_EQ(tutti_barrier_create(&barrier_, GetParam(), nullptr, nullptr), 0); }
  ~OutOfMemory() override { tutti_barrier_destroy(barrier_); }

  // All ranks but rank 0 arrive.
  void others_arrive() {
    std::uint64_t phase = 0;
    for (std::uint32_t r = 1; r < GetParam(); ++r) tutti_barrier_arrive(barrier_, &phase);
  }

  tutti_barrier* barrier_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Participants, OutOfMemory, testing::Values(2U, 64U));

TEST_P(OutOfMemory, ARankArrives) {
  others_arrive();
  int error = TUTTI_ENOMEM;
  {
    const out_of_memory now;
    error = tutti_barrier_wait(barrier_, 0);
  }
  EXPECT_EQ(error, TUTTI_OK);
}

TEST_P(OutOfMemory, ALateRankHasArrivedAndGoesOnInItsPhase) {
  for (int phase = 0; phase < 3; ++phase) {
    int late = TUTTI_OK, still_late = TUTTI_OK, ended = TUTTI_OK;
    {
      const out_of_memory now;
      late = tutti_barrier_wait_for(barrier_, 0, 1000);
      still_late = tutti_barrier_resume_for(barrier_, 0, 1000);
      others_arrive();
      ended = tutti_barrier_resume_for(barrier_, 0, 30'000'000'000);
    }
    EXPECT_EQ(late, TUTTI_ETIMEDOUT);
    EXPECT_EQ(still_late, TUTTI_ETIMEDOUT) << "phase " << phase;
    EXPECT_EQ(ended, TUTTI_OK);
  }
}

TEST_P(OutOfMemory, ALateParticipantIsToldHowManyAreMissing) {
  std::uint32_t missing = 0, still_missing = 0;
  std::uint64_t phase = 0;
  {
    const out_of_memory now;
    EXPECT_EQ(tutti_barrier_arrive_and_wait_for(barrier_, 1000, &missing), TUTTI_ETIMEDOUT);
    tutti_barrier_arrive(barrier_, &phase);
    EXPECT_EQ(tutti_barrier_wait_phase_for(barrier_, 0, 1000, &still_missing),
              GetParam() == 2 ? TUTTI_OK : TUTTI_ETIMEDOUT);
  }
  EXPECT_EQ(missing, GetParam() - 1);
  EXPECT_EQ(still_missing, GetParam() - 2);
}

using namespace std::chrono_literals;

// A call without memory for the list of the missing tells their number, and the same call with
// memory then tells both.
class OutOfMemoryInCpp : public OutOfMemory {
 protected:
  tutti::barrier<> sync_{static_cast<std::ptrdiff_t>(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Participants, OutOfMemoryInCpp, testing::Values(2U, 64U));

TEST_P(OutOfMemoryInCpp, ALateRankHasArrivedAndKnowsHowManyAreMissing) {
  sync_.make_records();
  tutti::timed_result late;
  {
    const out_of_memory now;
    late = sync_.arrive_and_wait_for(0, 1us);
  }
  EXPECT_FALSE(late);
  EXPECT_EQ(late.missing, GetParam() - 1);
  EXPECT_TRUE(late.missing_ranks.empty());
  late = sync_.wait_for(late.phase, 1us);
  EXPECT_EQ(late.missing_ranks.size(), GetParam() - 1);
  for (std::uint32_t r = 1; r < GetParam(); ++r) (void)sync_.arrive_as(r);
  EXPECT_TRUE(sync_.wait_for(late.phase, 30s));
}

TEST(OutOfMemoryByName, ALateRankKnowsHowManyAreMissing) {
  tutti::barrier sync(3, tutti::barrier_options{.algorithm = "central"});
  sync.make_records();
  tutti::timed_result late;
  {
    const out_of_memory now;
    late = sync.arrive_and_wait_for(0, 1us);
  }
  EXPECT_FALSE(late);
  EXPECT_EQ(late.missing, 2u);
  EXPECT_TRUE(late.missing_ranks.empty());
}

TEST(OutOfMemoryInATeam, ALateRegionIsWaitedForAgain) {
  tutti::team team({.threads = 2, .place = tutti::platform::placement::none});
  std::atomic<bool> go_on{false};
  tutti::timed_result late = team.run_for(1us, [&](tutti::member& me) {
    // acquire: pairs with the store of the test.
    while (me.rank() == 1 && !go_on.load(std::memory_order_acquire)) tutti::native::relax();
  });
  ASSERT_FALSE(late);
  {
    const out_of_memory now;
    late = team.wait_for(1us);
  }
  EXPECT_FALSE(late);
  EXPECT_EQ(late.missing, 1u);
  EXPECT_TRUE(late.missing_ranks.empty());
  go_on.store(true, std::memory_order_release);  // release: pairs with the rank's load.
  EXPECT_TRUE(team.wait_for(30s));
}

}  // namespace
