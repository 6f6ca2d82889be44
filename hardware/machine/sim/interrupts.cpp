// SPDX-License-Identifier: Apache-2.0
// Interrupts between cores: random sends, each of which must arrive exactly when it is due, at the
// core that has the number, or at all others, and nowhere else.

#include <map>
#include <random>
#include <string>

#include "hardware/flow/testbench.hpp"

namespace {

using namespace tutti::rtl;

constexpr unsigned each = CORES / SOCKETS;

std::string run(testbench& bench, const arguments& with) {
  model& top = bench.top();
  std::mt19937_64 random(with.seed);
  // Some cores of each socket run; the others have no number.
  unsigned running = 1;
  const auto number_of = [&](unsigned core) {
    return core % each < running ? core / each * running + core % each : 0xffu;
  };
  // The masks that are due, by cycle.
  std::map<std::uint64_t, std::uint64_t> due;
  std::uint64_t sent = 0, arrived = 0;
  for (std::uint64_t now = 0; now < with.cycles; ++now) {
    if (now % 5000 == 0) {
      // What is on its way is lost in a reset.
      running = 1 + static_cast<unsigned>(random() % each);
      for (unsigned c = 0; c < CORES; ++c) {
        top.valid_i[c] = 0;
        top.number_i[c] = static_cast<std::uint8_t>(number_of(c));
      }
      bench.reset();
      due.clear();
    }
    for (unsigned c = 0; c < CORES; ++c) {
      // Calm and busy times.
      const bool sends = random() % (now / 500 % 2 == 0 ? 4 : 200) == 0 && number_of(c) != 0xff;
      top.valid_i[c] = sends;
      // One message in eight goes to all others.
      if (sends && random() % 8 == 0) {
        top.target_i[c] = 0xff;
        for (unsigned t = 0; t < CORES; ++t)
          if (t != c) due[now + (c / each == t / each ? NEAR : FAR)] |= std::uint64_t{1} << t;
        ++sent;
        continue;
      }
      const unsigned target = static_cast<unsigned>(random() % CORES);
      top.target_i[c] = static_cast<std::uint8_t>(number_of(target));
      // The tile lets no program send to a core that does not run.
      if (number_of(target) == 0xff) top.valid_i[c] = 0;
      if (top.valid_i[c]) {
        due[now + (c / each == target / each ? NEAR : FAR)] |= std::uint64_t{1} << target;
        ++sent;
      }
    }
    bench.settle();
    const std::uint64_t got = field(top.ipi_o, 0, CORES);
    const std::uint64_t want = due.contains(now) ? due[now] : 0;
    if (got != want)
      return "cycle " + std::to_string(now) + ": interrupts " + std::to_string(got) + ", not " +
             std::to_string(want);
    arrived += want != 0;
    due.erase(now);
    bench.tick();
  }
  if (sent == 0 || arrived == 0) return "nothing was sent";
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_after_reset(argc, argv, run); }
