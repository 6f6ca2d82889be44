// SPDX-License-Identifier: Apache-2.0
// Runs the mesh with random threads under three kinds of load. The negative tests must be noticed:
// a message that never arrives, a thread that never waits, and a thread that sends while sending is
// disabled. A reset in the middle must change nothing.

#include "hardware/detector/sim/crowd.hpp"

namespace {

using namespace tutti::rtl;

std::string lives(testbench& bench, const arguments& with) {
  const std::uint64_t episodes = std::max<std::uint64_t>(with.cycles / 4'000, 8);
  std::uint64_t sent = 0;
  unsigned kind = 0;
  for (plan p : {plan{}, plan{.chatter = 60, .answers = 2, .think = 4},
                 plan{.chatter = 1, .answers = 9, .think = 2 * HOP_LATENCY, .dissent = 0}}) {
    crowd c(bench, p, with.seed + kind);
    if (std::string wrong = c.run(episodes, episodes * 400'000); !wrong.empty())
      return "plan " + std::to_string(kind) + ": " + wrong;
    if (c.between() < episodes) return "no traffic";
    const std::uint64_t expected =
        p.dissent == 0 ? episodes : episodes - (episodes + 2) / p.dissent;
    if (c.unanimous() != expected)
      return std::to_string(c.unanimous()) + " votes were unanimous, not " +
             std::to_string(expected);
    if (c.waves() <= 3 * episodes) return "no wave ever failed";
    sent += c.sent();
    ++kind;
  }
  std::printf("{\"check\": \"random\", \"episodes\": %llu, \"messages\": %llu}\n",
              static_cast<unsigned long long>(3 * episodes), static_cast<unsigned long long>(sent));
  return {};
}

std::string misuse(testbench& bench, const arguments& with) {
  const std::uint64_t long_enough = 20 * (2 * HOP_LATENCY * farthest() + 4 * nodes) + 20'000;
  crowd loses(bench, {.dissent = 0, .lose = 20}, with.seed);
  std::string said = loses.run(1'000, long_enough);
  if (said.find("stuck") != 0) return "a lost message does not stop the detection: " + said;

  constexpr unsigned lazy = threads - 1;
  crowd waits(bench, {.dissent = 0, .lazy = lazy}, with.seed);
  said = waits.run(1, long_enough);
  if (said.find("stuck in episode 0") != 0) return "released without one of them: " + said;
  for (unsigned n = 0; n < nodes; ++n)
    if (waits.ports().missing(n) != (n == lazy / threads_a_core / CORES))
      return "the master does not know which node is missing";

  crowd rude(bench, {.dissent = 0, .rude = 0}, with.seed);
  said = rude.run(2, long_enough);
  if ((rude.ports().error(0) & 1) == 0) return "sending while disabled is not reported";

  // A reset in the middle of this, with messages on the links, must leave nothing behind.
  crowd cut(bench, {.think = 4}, with.seed);
  if (!(said = cut.run(3, 3 * long_enough)).empty()) return "before the reset: " + said;
  crowd anew(bench, {}, with.seed + 1);
  said = anew.run(5, 5 * long_enough);
  return said.empty() ? said : "after a reset in the middle: " + said;
}

}  // namespace

int main(int argc, char** argv) {
  return run_harness(argc, argv, [](const arguments& with) -> std::string {
    testbench bench(with);
    std::string wrong = lives(bench, with);
    return wrong.empty() ? misuse(bench, with) : wrong;
  });
}
