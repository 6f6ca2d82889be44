// SPDX-License-Identifier: Apache-2.0
// Subset barriers of random threads, several at once, beside other traffic. Threads pause for no
// time, some time or long; barriers are created again with other threads. Nobody may be told before
// all have arrived, every episode must end, and no other message may be lost.

#include "hardware/socket/sim/threads.hpp"

namespace {

using namespace tutti::rtl;

std::string run(testbench& bench, const arguments& with) {
  socket_threads s(bench, with.seed);
  std::mt19937_64 random(with.seed);
  std::uint64_t episodes = 0;
  while (bench.cycle() < with.cycles) {
    s.load = RING == 1 ? 0 : static_cast<unsigned>(random() % 4) * 100;
    std::vector<std::vector<socket_thread>> members(BARRIERS);
    for (unsigned n = 0; n < tiles; ++n)
      for (unsigned t = 0; t < THREADS; ++t) {
        const unsigned b = random() % (BARRIERS + 1);
        if (b < BARRIERS) members[b].push_back({n, t});
      }
    bool all = true;
    for (unsigned b = 0; b < BARRIERS; ++b) all = all && !members[b].empty();
    if (!all) continue;
    for (unsigned b = 0; b < BARRIERS; ++b) s.create(b, members[b]);
    const unsigned longest = random() % 3 == 0 ? 1 : random() % 2 == 0 ? 40 : 400;
    s.think = [&random, longest](unsigned, unsigned, std::uint64_t) { return random() % longest; };
    const std::uint64_t count = 10 + random() % 20;
    if (!s.run(count, 200'000)) return s.wrong().empty() ? "stuck" : s.wrong();
    episodes += count * BARRIERS;
  }
  if (std::string wrong = s.finish(); !wrong.empty()) return wrong;
  std::printf("{\"episodes\": %llu, \"other_messages\": %llu}\n",
              static_cast<unsigned long long>(episodes), static_cast<unsigned long long>(s.sent()));
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_after_reset(argc, argv, run); }
