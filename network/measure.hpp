// SPDX-License-Identifier: Apache-2.0
// Measures barriers between the hosts of a test bed, as figures 4 to 9 of Arap, Brown, Himebaugh
// and Swany do: the host's time of a call, average and least; the node's time after the call has
// reached it; and the node's time for the rank that comes last, which is what the packets need.
#pragma once

#include <string>
#include <vector>

#include "network/testbed.hpp"

namespace tutti::network {

struct measure_options {
  rank_t nodes = 4;
  unsigned topology = TUTTI_NET_STAR;
  // Barriers of the first two measurements; the third takes 200 at most.
  std::uint32_t calls = 2000;
  // The user-space reference instead of the kernel's programs.
  bool udp = false;
  cable_faults cable;
  std::chrono::seconds at_most{60};
  // No rank may be released before all have called; each rank checks it in each barrier.
  bool check = true;
};

struct samples {
  double least = 0, median = 0, p99 = 0, mean = 0;
  std::size_t count = 0;
};

// Takes the quantiles of times in ns.
samples summary(std::vector<std::uint32_t> times);

struct measurement {
  // ns of a call, over all ranks and calls.
  samples call;
  // ns between the call at the node and its release there. A tree: leaves only.
  samples offloaded;
  // The same of the rank that comes last while the others wait: the last rank.
  samples last_in;
  std::uint64_t repeats = 0, blocked = 0;
  std::array<std::uint64_t, TUTTI_NET_COUNTERS> counters{};
  // The path that served the communicator, as an endpoint says.
  std::string path;
};

// Throws std::runtime_error if a rank fails, hangs, or is released early.
measurement measure(testbed& bed, const measure_options& options);

}  // namespace tutti::network
