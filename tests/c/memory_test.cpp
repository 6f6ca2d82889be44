// SPDX-License-Identifier: Apache-2.0
// Takes the memory away after a barrier has been made: its calls arrive and wait nevertheless, and
// no exception passes through C.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tutti.h"

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

}  // namespace
