// SPDX-License-Identifier: Apache-2.0
// Tests the communicators of a device in namespaces that the test makes: their places in the
// arrays of the kernel's programs, what killed processes leave, and their identifiers.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include "network/tests/namespaces.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;
using namespace tutti::network::test;
using namespace std::chrono_literals;

// Calls function() in a process that ends at once, inside of it or behind it.
template <class Function>
void in_child_that_ends(Function function) {
  const pid_t child = ::fork();
  if (child == 0) {
    function();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

// Processes that make communicators on a device at once get a place each.
TEST(namespaces, no_two_communicators_get_one_place) {
  NEEDS_TESTBED();
  testbed bed(4);
  const shared_array<std::atomic<unsigned>> owners(TUTTI_NET_MEMBERS);
  EXPECT_EQ(bed.run(
                [&](rank_t r) {
                  bed.enter_host(0);
                  const program_maps maps = open_maps("eth0");
                  tutti_net_member m = member_of(bed.options(TUTTI_NET_RING, r));
                  // With many that stay, the kernel keeps several side by side.
                  for (m.table.communicator = static_cast<std::uint16_t>(12000 + 12 * r);
                       m.table.communicator % 12 != 11; ++m.table.communicator)
                    ++owners[maps.start(m)];
                  const auto end = clock::now() + 2s;
                  for (unsigned i = 0; clock::now() < end; i = (i + 1) % 1000) {
                    m.table.communicator = static_cast<std::uint16_t>(4 * i + r);
                    const std::uint32_t place = maps.start(m);
                    if (++owners[place] != 1)
                      throw std::runtime_error("two in place " + std::to_string(place));
                    --owners[place];
                    maps.stop(m.table.communicator);
                  }
                },
                20s),
            "");
}

// What a process that was killed has left in the device is found and freed.
TEST(namespaces, communicators_of_a_killed_process_are_freed) {
  NEEDS_TESTBED();
  testbed bed(1);
  const std::string error = bed.run(
      [&](rank_t) {
        in_child_that_ends([&] {
          auto o = bed.options(TUTTI_NET_RING, 0);
          o.communicator = 5;
          const xdp_endpoint e("eth0", o);
          ::_exit(0);
        });
        auto o = bed.options(TUTTI_NET_RING, 0);
        o.communicator = 6;
        const xdp_endpoint alive("eth0", o);
        const program_maps maps = open_maps("eth0");
        if (maps.members().size() != 2) throw std::runtime_error("the dead one has left nothing");
        using state = owning_process::state;
        const auto dead = maps.owner_of(5), here = maps.owner_of(6);
        if (!dead || dead->now != state::has_ended || !here || here->now != state::runs ||
            here->number != static_cast<std::uint32_t>(::getpid()) || maps.owner_of(7))
          throw std::runtime_error("other owners");
        maps.stop_orphans();
        const auto left = maps.members();
        if (left.size() != 1 || left[0].table.communicator != 6)
          throw std::runtime_error("the wrong one was freed");
      },
      20s);
  EXPECT_EQ(error, "");
}

// So is a place that a process has claimed, but not used yet.
TEST(namespaces, a_place_that_a_killed_process_was_claiming_is_freed) {
  NEEDS_TESTBED();
  testbed bed(1);
  const std::string error = bed.run(
      [&](rank_t) {
        const program_maps maps = open_maps("eth0");
        for (std::uint16_t c = 0; c + 1 < TUTTI_NET_MEMBERS; ++c)
          in_child_that_ends([&] { maps.claim(c); });
        const std::uint16_t mine = TUTTI_NET_MEMBERS;
        const std::uint32_t place = maps.claim(mine);
        maps.stop_orphans();
        tutti_net_member m = member_of(bed.options(TUTTI_NET_RING, 0));
        for (std::uint16_t c = 0; c + 1 < TUTTI_NET_MEMBERS; ++c) {
          m.table.communicator = c;
          if (maps.start(m) == place) throw std::runtime_error("a claim of a live one was freed");
        }
      },
      20s);
  EXPECT_EQ(error, "");
}

TEST(namespaces, communicators_run_out_with_a_sentence) {
  NEEDS_TESTBED();
  testbed bed(1);
  EXPECT_EQ(bed.run(
                [&](rank_t) {
                  std::vector<std::unique_ptr<xdp_endpoint>> all;
                  auto o = bed.options(TUTTI_NET_RING, 0);
                  for (int i = 0; i < TUTTI_NET_MEMBERS; ++i, ++o.communicator)
                    all.push_back(std::make_unique<xdp_endpoint>("eth0", o));
                  for (const int communicator : {3, 100}) {
                    try {
                      o.communicator = static_cast<std::uint16_t>(communicator);
                      xdp_endpoint more("eth0", o);
                    } catch (const device_error&) {
                      continue;
                    }
                    throw std::runtime_error("one more than there is room for");
                  }
                  all.erase(all.begin() + 7);
                  const xdp_endpoint again("eth0", o);
                },
                20s),
            "");
}

// They block in one ring buffer, and whoever looks first takes out the events of all.
TEST(namespaces, threads_that_wait_on_one_device_take_no_wake_up_from_each_other) {
  NEEDS_TESTBED();
  constexpr rank_t n = 2;
  constexpr unsigned threads = 4;
  testbed bed(n);
  const all_ready ready(n);
  const std::string error = bed.run(
      [&](rank_t r) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
        (void)::sched_setaffinity(0, sizeof one, &one);
        std::vector<std::unique_ptr<xdp_endpoint>> all;
        for (unsigned t = 0; t < threads; ++t) {
          auto o = bed.options(TUTTI_NET_STAR, r);
          o.communicator = static_cast<std::uint16_t>(t);
          all.push_back(std::make_unique<xdp_endpoint>("eth0", o));
          // It blocks at once, and nothing but an event wakes it.
          all.back()->how.looking = all.back()->how.looking_alone = 0ns;
          all.back()->how.first_repeat = all.back()->how.longest_repeat = 1s;
        }
        ready.wait();
        std::atomic<unsigned> slow{0};
        const auto wait_often = [&](xdp_endpoint& e) {
          std::minstd_rand chance(1 + e.table().communicator);
          for (int i = 0; i < 200; ++i) {
            // Rank 0 waits for rank 1.
            if (r == 1)
              std::this_thread::sleep_for(std::chrono::microseconds(200 + chance() % 600));
            const auto begin = clock::now();
            e.barrier(begin + 20s);
            if (clock::now() - begin > 500ms) ++slow;
          }
        };
        std::vector<std::thread> waiting;
        for (const auto& e : all) waiting.emplace_back([&] { wait_often(*e); });
        for (std::thread& t : waiting) t.join();
        std::this_thread::sleep_for(100ms);
        if (slow > 0) throw std::runtime_error(std::to_string(slow) + " waits were slow");
      },
      60s);
  EXPECT_EQ(error, "");
}

TEST(namespaces, communicators_are_agreed_on_and_used_again) {
  NEEDS_TESTBED();
  constexpr rank_t n = 4;
  testbed bed(n);
  bed.inject_faults({.lose = 0.01});
  const all_ready ready(n);
  const std::string error = bed.run(
      [&](rank_t r) {
        xdp_endpoint world("eth0", bed.options(TUTTI_NET_TREE, r));
        ready.wait();
        // One rank has room for two more only.
        identifiers ids(r == 2 ? 2 : 63);
        const auto make = [&](const group::agreement& a) {
          return endpoint_of(bed, TUTTI_NET_DISSEMINATION, a);
        };
        for (unsigned round = 0; round < 20; ++round) {
          const unsigned colour = (r + round) % (1 + round % 3);
          const auto first = group::split(world, ids, colour, make);
          const auto second = group::split(world, ids, 0, make);
          if (!first || !second) throw std::runtime_error("no communicator");
          if ((**second).size() != n) throw std::runtime_error("another size");
          std::array<std::uint64_t, 1> members{1ull << r};
          (**first).allreduce(TUTTI_NET_OR, members, clock::now() + 20s);
          std::uint64_t expected = 0;
          for (const rank_t m : first->agreed().members) expected |= 1ull << m;
          if (members[0] != expected) throw std::runtime_error("others' values");
          std::string why;
          if (group::split(world, ids, 0, make, &why) || why.empty())
            throw std::runtime_error("rank 2 had no room, but this rank did not fall back");
        }
        if (ids.in_use() != 0) throw std::runtime_error("identifiers stay in use");
        world.barrier(clock::now() + 20s);
        std::this_thread::sleep_for(100ms);
      },
      60s);
  EXPECT_EQ(error, "");
}

}  // namespace
