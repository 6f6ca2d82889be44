// SPDX-License-Identifier: Apache-2.0
// Teams without memory for a new region after one that has failed: the error is the rank's, and the
// team works again once there is memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include "tests/team/teams.hpp"

namespace {

// How many more allocations of this thread succeed, if that is limited.
thread_local bool is_limited = false;
thread_local unsigned allowed = 0;
thread_local unsigned refused = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (is_limited && allowed == 0) {
    ++refused;
    throw std::bad_alloc();
  }
  if (is_limited) --allowed;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) & ~(alignment - 1);
  if (void* const p = std::aligned_alloc(alignment, rounded)) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
// g++ would warn of an inlined one that it frees what `new` has made.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace tutti::test {
namespace {

void limit_to(unsigned allocations) {
  is_limited = true;
  allowed = allocations;
  refused = 0;
}

// Runs a region in which rank 0 fails; from then on its thread has so many allocations. Returns
// how many it was refused.
unsigned fail(team& t, unsigned allocations) {
  int caught = 0;
  try {
    t.run([&](member& me) {
      if (me.rank() != 0) return me.barrier();
      limit_to(allocations);
      throw 17;
    });
  } catch (const int what) {
    caught = what;
  } catch (...) {
  }
  is_limited = false;
  EXPECT_EQ(caught, 17) << "after " << allocations << " allocations";
  return refused;
}

std::vector<shape> shapes() {
  return {{2}, {5}, {9}, {2, 5}, {2, 0, "central", "park"}, {2, 4, "dissemination", "park"}};
}

TEST(Memory, IsMissingAfterARegionThatFailed) {
  for (const shape& s : shapes()) {
    team t(s.options());
    unsigned allocations = 0;
    while (fail(t, allocations) > 0) {
      ++allocations;
      expect_works(t);
    }
    EXPECT_GT(allocations, 0u) << s;
  }
}

TEST(Memory, IsStillMissingInTheNextRegions) {
  for (const shape& s : shapes()) {
    team t(s.options());
    ASSERT_GT(fail(t, 0), 0u) << s;
    for (int region = 0; region < 2; ++region) {
      bool was_refused = false;
      limit_to(0);
      try {
        t.run([](member&) {});
      } catch (const std::bad_alloc&) {
        was_refused = true;
      }
      is_limited = false;
      EXPECT_TRUE(was_refused) << s;
    }
    t.set_patience({});
    std::atomic<unsigned> calls{0};
    t.parallel_for(0, 100, [&](std::size_t) { ++calls; });
    EXPECT_EQ(calls, 100u);
    expect_works(t);
  }
}

// The other ranks still use the array of the rank that has no memory.
TEST(Memory, IsMissingInAReductionOfArrays) {
  for (const rank_t ranks : {0u, 6u}) {
    team t({.threads = 3, .ranks = ranks});
    std::atomic<unsigned> strays{0};
    const auto add = [&](double a, double b) {
      if (a < 0 || b < 0) ++strays;
      for (int i = 0; i < 100; ++i) native::relax();
      return a + b;
    };
    const auto reduce = [&](member& me) {
      std::vector<double> mine(5000, 1.0);
      if (me.rank() == t.size() - 1) limit_to(0);
      try {
        me.reduce(add, std::span(mine));
      } catch (...) {
        is_limited = false;
        std::ranges::fill(mine, -1.0);
        throw;
      }
      is_limited = false;
    };
    EXPECT_THROW(t.run(reduce), std::bad_alloc);
    EXPECT_EQ(strays, 0u);
    expect_works(t);
  }
}

TEST(Memory, IsMissingAfterALateRegion) {
  team t(2);
  int caught = 0;
  try {
    (void)t.run_for(std::chrono::seconds(60), [](member& me) {
      if (me.rank() != 0) return;
      limit_to(0);
      throw 17;
    });
  } catch (const int what) {
    caught = what;
  }
  is_limited = false;
  EXPECT_EQ(caught, 17);
  EXPECT_GT(refused, 0u);
  expect_works(t);
}

TEST(Memory, IsNotNeededToEndTheTeam) {
  for (const shape& s : shapes()) {
    team t(s.options());
    EXPECT_GT(fail(t, 0), 0u) << s;
  }
}

}  // namespace
}  // namespace tutti::test
