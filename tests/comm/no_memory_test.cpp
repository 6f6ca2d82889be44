// SPDX-License-Identifier: Apache-2.0
// Sends for which there is no memory: they throw, and lose neither this message nor a later one.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "tutti/comm/communicator.hpp"

namespace {

// The allocations of this thread until one fails; below 0: none fails.
thread_local int allocations_left = -1;

void* allocate(std::size_t bytes) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  void* const made = std::malloc(bytes == 0 ? 1 : bytes);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
// g++ would warn of an inlined one that it frees what `new` has made.
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete[](void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete[](void* at, std::size_t) noexcept { std::free(at); }

namespace tutti {
namespace {

using namespace std::chrono_literals;

// Whether a send of so many bytes throws if this allocation fails.
bool send_fails(communicator::endpoint& from, std::size_t bytes, int allocation) {
  const std::vector<std::byte> message(bytes);
  allocations_left = allocation;
  bool has_failed = false;
  try {
    from.send(1, message.data(), bytes);
  } catch (const std::bad_alloc&) {
    has_failed = true;
  }
  allocations_left = -1;
  return has_failed;
}

class NoMemory : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Bytes, NoMemory, testing::Values(5, 100'000));

TEST_P(NoMemory, LosesNothingAndTheEndIsFound) {
  for (int allocation = 0; allocation < 8; ++allocation) {
    communicator all(2);
    unsigned sent = send_fails(all[0], GetParam(), allocation) ? 0 : 1;
    const char text[] = "next";
    all[0].send(1, text, sizeof text);
    ++sent;
    all[0].flush();
    unsigned received = 0;
    while (all[1].can_recv()) {
      const auto message = all[1].recv();
      EXPECT_EQ(message.size, ++received == sent ? sizeof text : GetParam());
      all[1].release(message);
    }
    EXPECT_EQ(received, sent) << allocation;
    std::thread other([&] { EXPECT_TRUE(all[0].idle_for(true, 30s)); });
    EXPECT_TRUE(all[1].idle_for(true, 30s)) << allocation;
    other.join();
  }
}

}  // namespace
}  // namespace tutti
