// SPDX-License-Identifier: Apache-2.0
// Measures the cycles from the last arrival to the first and the last departure, and prints them as
// JSON lines. A message takes as long to the structure and back as an access to the L3 of a machine
// of Hetland et al. 2019; unit.toml has the sizes (SOCKETS sockets of LOCAL threads). In `first`
// and `last` one thread arrives long after all others. In `first_together` and `last_together` all
// arrive in one cycle, and the structure takes one message a cycle.

#include <algorithm>

#include "hardware/hbs/sim/sockets.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;

struct span {
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
};

span from_last_arrival(const test::trace& passages) {
  std::uint64_t arrival = 0;
  span s;
  for (const test::passage& p : passages) arrival = std::max(arrival, p.arrive);
  for (const test::passage& p : passages) {
    s.first = std::min(s.first, p.leave - arrival);
    s.last = std::max(s.last, p.leave - arrival);
  }
  return s;
}

std::string measure(testbench& bench, unsigned l3) {
  span spans[2];
  sockets_plan p;
  p.groups.resize(1);
  for (rank_t s = 0; s < SOCKETS; ++s)
    for (rank_t t = 0; t < LOCAL; ++t) p.groups[0].push_back({s, t});
  p.to_structure = l3 / 2;
  p.back = l3 - l3 / 2;
  for (const bool together : {false, true}) {
    p.think = [together](rank_t, rank_t r, std::uint64_t) -> std::uint64_t {
      return together || r != 0 ? 0 : 2'000;
    };
    sockets s(bench, p);
    if (!s.run(1, 20'000)) return "stuck";
    if (std::string wrong = s.check(1); !wrong.empty()) return wrong;
    spans[together] = from_last_arrival(s.passages(0));
  }
  std::printf(
      "{\"participants\": %u, \"l3_cycles\": %u, \"first\": %llu, \"last\": %llu, "
      "\"first_together\": %llu, "
      "\"last_together\": %llu}\n",
      SOCKETS * LOCAL, l3, static_cast<unsigned long long>(spans[0].first),
      static_cast<unsigned long long>(spans[0].last),
      static_cast<unsigned long long>(spans[1].first),
      static_cast<unsigned long long>(spans[1].last));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  return run_after_reset(argc, argv, [](testbench& bench, const arguments&) -> std::string {
    // 0 is the structure alone; the others are the paper's values for the L3 of its machines and
    // for the Phi's network.
    for (const unsigned l3 : {0u, 20u, 38u, 42u, 48u, 64u, 88u})
      if (std::string wrong = measure(bench, l3); !wrong.empty()) return wrong;
    return {};
  });
}
