// SPDX-License-Identifier: Apache-2.0
// Tests in namespaces what is attached to a device: which devices are refused, two processes that
// attach at once, programs that others take off or replace while ranks wait, and devices whose MTU
// or driver has no room.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "network/tests/namespaces.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;
using namespace tutti::network::test;
using namespace std::chrono_literals;

TEST(namespaces, a_host_without_its_programs_blames_no_other) {
  NEEDS_TESTBED();
  testbed bed(2);
  const all_ready ready(2), done(2);
  const std::string error = bed.run(
      [&](rank_t r) {
        xdp_endpoint e("eth0", bed.options(TUTTI_NET_STAR, r));
        ready.wait();
        if (r == 1) return done.wait();
        std::thread other([] {
          std::this_thread::sleep_for(50ms);
          detach("eth0");
        });
        std::string text;
        try {
          e.barrier(clock::now() + 500ms);
        } catch (const std::exception& failure) {
          text = failure.what();
        }
        other.join();
        done.wait();
        if (text != "eth0 has no program of tutti's; `tutti network attach eth0` attaches it")
          throw std::runtime_error(text);
      },
      20s);
  EXPECT_EQ(error, "");
}

// The driver of a veth device has room for notes, so the test counts what others would drop.
TEST(namespaces, a_driver_without_room_for_notes_is_named) {
  NEEDS_TESTBED();
  testbed bed(2);
  const std::string error = bed.run(
      [&](rank_t r) {
        if (r == 1) return;
        xdp_endpoint e("eth0", bed.options(TUTTI_NET_TREE, r));
        const __u32 counter = TUTTI_NET_COUNT_NO_ROOM;
        std::vector<std::uint64_t> each(
            static_cast<std::size_t>(std::max(libbpf_num_possible_cpus(), 1)), 1);
        if (bpf_map_update_elem(open_maps("eth0").fd("counters"), &counter, each.data(), BPF_ANY) !=
            0)
          throw std::runtime_error("the counter could not be set");
        e.barrier(clock::now() + 10s);
      },
      20s);
  EXPECT_NE(error.find("no room for the notes"), std::string::npos) << error;
  EXPECT_NE(error.find("--mode generic"), std::string::npos) << error;
}

// A small MTU is no reason to refuse a device, but attach, check and status say what does not fit.
TEST(namespaces, what_a_small_mtu_has_no_room_for_is_told) {
  NEEDS_TESTBED();
  testbed bed(1);
  EXPECT_EQ(
      bed.run(
          [&](rank_t) {
            if (const std::string text = what_does_not_fit("eth0"); !text.empty())
              throw std::runtime_error(text);
            for (const auto& [mtu, values] : {std::pair{"317", "31"}, {"100", "4"}, {"68", "0"}}) {
              if (std::system(("ip link set eth0 mtu " + std::string(mtu)).c_str()) != 0)
                throw std::runtime_error("the MTU could not be set");
              const std::string text = what_does_not_fit("eth0");
              if (text.find("more than " + std::string(values) + " values") == std::string::npos)
                throw std::runtime_error("said: " + text);
            }
          },
          20s),
      "");
}

// What does not fit the device is refused, because no repetition would help.
TEST(namespaces, a_small_mtu_takes_barriers_and_refuses_many_values) {
  NEEDS_TESTBED();
  constexpr rank_t n = 2;
  testbed bed(n);
  const all_ready ready(n);
  EXPECT_EQ(bed.run(
                [&](rank_t r) {
                  if (std::system("ip link set eth0 mtu 68") != 0)
                    throw std::runtime_error("the MTU could not be set");
                  xdp_endpoint e("eth0", bed.options(TUTTI_NET_TREE, r));
                  ready.wait();
                  for (int i = 0; i < 100; ++i) e.barrier(clock::now() + 20s);
                  std::array<std::uint64_t, 32> values{};
                  try {
                    e.allreduce(TUTTI_NET_SUM, values, clock::now() + 20s);
                  } catch (const device_error& error) {
                    if (std::strstr(error.what(), "needs an MTU of 318 bytes") == nullptr) throw;
                    e.barrier(clock::now() + 20s);
                    std::this_thread::sleep_for(100ms);
                    return;
                  }
                  throw std::runtime_error("the values were not refused");
                },
                60s),
            "");
}

// Another program takes the place of a node's, and knows nothing: the endpoint tells it the table
// and the episode, and the neighbours send again what it asks for.
TEST(namespaces, a_node_whose_program_is_replaced_goes_on) {
  NEEDS_TESTBED();
  constexpr rank_t n = 4;
  constexpr unsigned episodes = 30;
  testbed bed(n);
  bed.inject_faults({.lose = 0.02});
  for (const unsigned topology : {TUTTI_NET_RING, TUTTI_NET_DISSEMINATION}) {
    const shared_array<std::atomic<unsigned>> published(n);
    const all_ready ready(n);
    const std::string error = bed.run(
        [&](rank_t r) {
          xdp_endpoint e("eth0", bed.options(topology, r));
          ready.wait();
          for (unsigned episode = 1; episode <= episodes; ++episode) {
            // At some place in the others' barrier.
            if (r == episode / 10 % n && episode % 10 == 0) {
              detach("eth0");
              attach("eth0", xdp_mode::native);
            }
            // release, acquire: only the barrier orders the ranks.
            published[r].store(episode, std::memory_order_release);
            e.barrier(clock::now() + 20s);
            for (rank_t other = 0; other < n; ++other)
              // acquire: as above.
              if (published[other].load(std::memory_order_acquire) < episode)
                throw std::runtime_error("released before rank " + std::to_string(other));
          }
          if (r != 0 && e.revivals() == 0) throw std::runtime_error("no program was replaced");
          std::this_thread::sleep_for(100ms);
        },
        60s);
    EXPECT_EQ(error, "") << topology_names[topology];
  }
}

// A switch has no host that could tell it the episode; the arrivals do.
TEST(namespaces, a_switch_that_begins_again_goes_on) {
  NEEDS_TESTBED();
  constexpr rank_t n = 4;
  constexpr unsigned episodes = 30;
  testbed bed(n);
  const auto options = bed.options(TUTTI_NET_SWITCH, 0);
  bed.start_in_switch(options);
  const shared_array<std::atomic<unsigned>> published(n);
  const all_ready ready(n);
  const std::string error = bed.run(
      [&](rank_t r) {
        xdp_endpoint e("eth0", bed.options(TUTTI_NET_SWITCH, r));
        ready.wait();
        for (unsigned episode = 1; episode <= episodes; ++episode) {
          if (r == episode / 10 % n && episode % 10 == 0) {
            bed.restart_switch();
            bed.start_in_switch(options);
          }
          // release, acquire: only the barrier orders the ranks.
          published[r].store(episode, std::memory_order_release);
          e.barrier(clock::now() + 20s);
          for (rank_t other = 0; other < n; ++other)
            // acquire: as above.
            if (published[other].load(std::memory_order_acquire) < episode)
              throw std::runtime_error("released before rank " + std::to_string(other));
        }
        std::this_thread::sleep_for(100ms);
      },
      60s);
  EXPECT_EQ(error, "");
}

TEST(namespaces, a_device_with_a_program_is_refused) {
  NEEDS_TESTBED();
  testbed bed(1);
  EXPECT_EQ(bed.run(
                [&](rank_t) {
                  for (const char* device : {"eth0", "nothing"}) {
                    try {
                      attach(device, xdp_mode::native_or_generic);
                    } catch (const device_error&) {
                      continue;
                    }
                    throw std::runtime_error("attached twice");
                  }
                  detach("eth0");
                  try {
                    detach("eth0");
                  } catch (const device_error&) {
                    attach("eth0", xdp_mode::native_or_generic);
                    if (look_at("eth0").mode != "native") throw std::runtime_error("not native");
                    return;
                  }
                  throw std::runtime_error("detached twice");
                },
                20s),
            "");
}

// The second one looks at the device while the kernel still verifies the programs of the first.
TEST(namespaces, one_of_two_that_attach_at_once_succeeds) {
  NEEDS_TESTBED();
  testbed bed(2, xdp_mode::native, false);
  const shared_array<std::atomic<unsigned>> attached(1);
  const std::string error = bed.run(
      [&](rank_t r) {
        bed.enter_host(0);
        std::this_thread::sleep_for(r * 50ms);
        try {
          attach("eth0", xdp_mode::native);
        } catch (const device_error& e) {
          if (std::strstr(e.what(), "has tutti's programs already") == nullptr) throw;
          return;
        }
        ++attached[0];
      },
      60s);
  EXPECT_EQ(error, "");
  EXPECT_EQ(attached[0], 1u);
  EXPECT_EQ(bed.run(
                [&](rank_t r) {
                  if (r == 0 && look_at("eth0").verified.size() != 3)
                    throw std::runtime_error("programs are missing");
                },
                20s),
            "");
}

}  // namespace
