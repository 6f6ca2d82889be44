// SPDX-License-Identifier: Apache-2.0
// Networks of 2 to 8 nodes in four topologies: hosts with random pauses, several communicators at
// once, other traffic, repeated and corrupted packets. No host may depart early, no packet may be
// lost, and every packet must be well formed.

#include "hardware/innetwork/sim/network.hpp"

#include "hardware/flow/barrier_unit.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;

std::vector<rank_t> first(rank_t n) {
  std::vector<rank_t> all(n);
  for (rank_t r = 0; r < n; ++r) all[r] = r;
  return all;
}

bool fits(unsigned type, rank_t n) { return type != type_star || n - 1 <= PORTS; }

std::string run_one(const arguments& with, network_plan plan, std::uint64_t episodes,
                    const std::string& what, std::uint64_t* checked) {
  network net(with, std::move(plan));
  if (!net.run(episodes, 200'000 + 20'000 * episodes)) {
    const std::string wrong = net.check(episodes);
    return what + ": stuck or wrong: " + wrong;
  }
  if (std::string wrong = net.check(episodes); !wrong.empty()) return what + ": " + wrong;
  checked[0] += net.forwarded();
  checked[1] += net.spoilt();
  checked[2] += net.repeated();
  checked[3] += net.overlaps();
  checked[4] += net.damaged();
  return {};
}

std::string run(const arguments& with) {
  std::uint64_t checked[5] = {}, runs = 0, episodes = 0;
  const std::uint64_t each = std::max<std::uint64_t>(4, with.cycles / 2'000);
  for (unsigned type = type_ring; type <= type_butterfly; ++type)
    for (rank_t n = 2; n <= 8; ++n) {
      if (!fits(type, n)) continue;
      network_plan plan;
      plan.nodes = n;
      plan.latency = 1 + n;
      plan.communicators.push_back({17, make_topology(type, n), first(n)});
      const std::string what = plan.communicators[0].shape.name + " of " + std::to_string(n);
      // First without disturbance, then with all disturbances.
      for (const bool disturbed : {false, true}) {
        plan.think = moody(with.seed + n, 64, 600);
        if (disturbed) {
          // The centre of a star cannot carry more.
          plan.traffic = type == type_star ? 3 : 6;
          plan.faults = 12;
          plan.speed = {.offer = 12, .take = 12};
        }
        if (std::string w = run_one(with, plan, each, what, checked); !w.empty()) return w;
        ++runs;
        episodes += each;
      }
    }
  // Several communicators at once, on the same cables and on some of the nodes.
  for (unsigned type = type_ring; type <= type_butterfly; ++type) {
    const rank_t n = type == type_star ? std::min<rank_t>(PORTS + 1, 8) : 8;
    network_plan plan;
    plan.nodes = n;
    for (unsigned c = 0; c < COMMUNICATORS; ++c)
      plan.communicators.push_back({100 + c, make_topology(type, n), first(n)});
    plan.traffic = 3;
    plan.faults = 6;
    plan.think = moody(with.seed, 64, 400);
    const std::string what = plan.communicators[0].shape.name + ", several communicators";
    if (std::string w = run_one(with, plan, each, what, checked); !w.empty()) return w;
    ++runs;
    episodes += each * COMMUNICATORS;
  }
  // Three topologies side by side, each with its own cables.
  if (PORTS >= 8 && COMMUNICATORS >= 3) {
    network_plan plan;
    plan.nodes = 8;
    plan.communicators.push_back({1, ring(8, 0), {0, 3, 6, 1, 4, 7, 2, 5}});
    plan.communicators.push_back({2, binary_tree(7, 2), {7, 6, 5, 4, 3, 2, 1}});
    plan.communicators.push_back({3, butterfly(4, 5), {1, 3, 5, 7}});
    // A node has seven cables in both directions, with 13 beats a frame: traffic of 6 would exceed
    // the one beat a cycle that a node takes.
    plan.traffic = 3;
    plan.faults = 6;
    plan.think = moody(with.seed, 64, 400);
    if (std::string w = run_one(with, plan, each, "three topologies", checked); !w.empty())
      return w;
    ++runs;
    episodes += 3 * each;
  }
  if (checked[0] == 0 || checked[1] == 0 || checked[2] == 0 || checked[3] == 0 || checked[4] == 0)
    return "the harness disturbed nothing";
  std::printf(
      "{\"networks\": %llu, \"episodes\": %llu, \"forwarded\": %llu, \"spoilt\": %llu, "
      "\"repeated\": %llu, "
      "\"overlapping\": %llu, \"damaged\": %llu}\n",
      static_cast<unsigned long long>(runs), static_cast<unsigned long long>(episodes),
      static_cast<unsigned long long>(checked[0]), static_cast<unsigned long long>(checked[1]),
      static_cast<unsigned long long>(checked[2]), static_cast<unsigned long long>(checked[3]),
      static_cast<unsigned long long>(checked[4]));
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_harness(argc, argv, run); }
