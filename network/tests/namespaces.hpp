// SPDX-License-Identifier: Apache-2.0
// What the tests share that make namespaces and attach the kernel's programs there.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "network/group.hpp"
#include "network/testbed.hpp"

#define NEEDS_TESTBED()                                              \
  do {                                                               \
    static const std::string why = why_no_testbed();                 \
    if (!why.empty()) GTEST_SKIP() << "no namespaces here: " << why; \
  } while (false)

namespace tutti::network::test {

// The endpoint of a communicator that its members agreed on.
inline std::unique_ptr<xdp_endpoint> endpoint_of(testbed& bed, unsigned topology,
                                                 const group::agreement& a) {
  xdp_options o = bed.options(topology, 0);
  std::vector<tutti_net_place> places;
  for (const rank_t m : a.members) places.push_back(o.places[m]);
  o.places = places;
  o.rank = a.rank;
  o.communicator = a.communicator;
  o.incarnation = a.incarnation;
  return std::make_unique<xdp_endpoint>("eth0", o);
}

// The tables of all hosts are there before any calls.
class all_ready {
 public:
  explicit all_ready(rank_t nodes) : nodes_(nodes), count_(1) {}
  // Returns when all nodes have called it.
  void wait() const {
    ++count_[0];
    while (count_[0] < nodes_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  const rank_t nodes_;
  const shared_array<std::atomic<unsigned>> count_;
};

struct counts {
  std::atomic<unsigned> published;
};

// Every rank publishes its episode first; on release everybody's is checked.
inline std::string run_barriers(testbed& bed, unsigned topology, unsigned episodes,
                                std::uint16_t communicator = 0,
                                std::chrono::seconds at_most = std::chrono::seconds(60)) {
  const rank_t n = bed.nodes();
  const shared_array<counts> published(n);
  for (rank_t r = 0; r < n; ++r)
    // relaxed: the processes do not exist yet.
    published[r].published.store(0, std::memory_order_relaxed);
  auto options = bed.options(topology, 0);
  options.communicator = communicator;
  if (topology == TUTTI_NET_SWITCH) bed.start_in_switch(options);
  const all_ready ready(n);
  const std::string error = bed.run(
      [&](rank_t r) {
        auto o = bed.options(topology, r);
        o.communicator = communicator;
        xdp_endpoint e("eth0", o);
        ready.wait();
        for (unsigned episode = 1; episode <= episodes; ++episode) {
          // release, acquire: only the barrier orders them; it must not be the test that does.
          published[r].published.store(episode, std::memory_order_release);
          e.barrier(clock::now() + at_most);
          for (rank_t other = 0; other < n; ++other)
            // acquire: as above.
            if (published[other].published.load(std::memory_order_acquire) < episode)
              throw std::runtime_error("released before rank " + std::to_string(other));
        }
        // The programs stay until nobody asks any more.
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
      },
      at_most);
  if (topology == TUTTI_NET_SWITCH) bed.stop_in_switch(communicator);
  return error;
}

}  // namespace tutti::network::test
