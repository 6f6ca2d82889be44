// SPDX-License-Identifier: Apache-2.0
// Threads that synchronise through a barrier unit of an FPGA: unit DEVICE [THREADS]. DEVICE is a
// file that can be mapped, such as /dev/uio0 or the BAR of a PCI device.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>
#include <tutti/barrier/barrier.hpp>
#include <vector>

#include "hardware/driver/mapped_device.hpp"
#include "hardware/driver/providers.hpp"
#include "hardware/driver/registers.hpp"

int main(int argc, char** argv) {
  using namespace tutti;
  if (argc < 2) {
    std::fputs("usage: unit DEVICE [THREADS]\n", stderr);
    return 2;
  }
  const auto count = static_cast<rank_t>(argc > 2 ? std::atoi(argv[2]) : 2);
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
