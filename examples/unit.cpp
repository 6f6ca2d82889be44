// SPDX-License-Identifier: Apache-2.0
// Threads that synchronise through a barrier unit of an FPGA: unit DEVICE [THREADS]. DEVICE is a
// file that can be mapped, such as /dev/uio0 or the BAR of a PCI device.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <tutti/barrier/barrier.hpp>
#include <vector>

#include "hardware/driver/mapped_device.hpp"
#include "hardware/driver/providers.hpp"
#include "hardware/driver/registers.hpp"

int main(int argc, char** argv) {
  using namespace tutti;
  rank_t count = 2;
  bool is_count = true;
  if (argc > 2) {
    const char* const end = argv[2] + std::strlen(argv[2]);
    const auto [rest, error] = std::from_chars(argv[2], end, count);
    is_count = error == std::errc{} && rest == end && count >= 1 && count <= 1024;
  }
  if (argc < 2 || argc > 3 || !is_count) {
    std::fputs("usage: unit DEVICE [THREADS]     (1 to 1024 threads, or 2)\n", stderr);
    return 2;
  }
  try {
    auto device = std::make_shared<hardware::mapped_device>(argv[1], hardware::window_bytes);
    // From here on "unit" is an algorithm like the others.
    const hardware::provider unit("unit", hardware::harp_barriers(device));
    barrier sync(count, barrier_options{.algorithm = "unit"});
    std::vector<std::jthread> threads;
    for (rank_t rank = 0; rank < count; ++rank)
      threads.emplace_back([&sync, rank] {
        for (int episode = 0; episode < 1000; ++episode) sync.arrive_and_wait(rank);
      });
    threads.clear();
    std::printf("%u threads met 1000 times through %s\n", count, argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "unit: %s\n", error.what());
    return 1;
  }
}
