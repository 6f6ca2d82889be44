// SPDX-License-Identifier: Apache-2.0
// Barriers by name, as the C interface and programs use them.

#include "tutti/registry.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tutti/platform/futex.hpp"

namespace {

using namespace std::chrono_literals;

// The rest of a wait that has no deadline must not end before the other participant comes.
TEST(BarriersByName, AWaitWithoutADeadlineWaits) {
  for (const std::string name : {"default", "default_rankless", "ticket", "dissemination"}) {
    const auto sync = tutti::make_barrier(name, 2);
    bool came = false;
    std::thread late([&] {
      std::this_thread::sleep_for(30ms);
      came = true;
      sync->arrive_and_wait(1);
    });
    EXPECT_TRUE(sync->arrive_and_wait(0, tutti::deadline(tutti::platform::forever_ns))) << name;
    EXPECT_TRUE(came) << name;
    late.join();
  }
}

}  // namespace
