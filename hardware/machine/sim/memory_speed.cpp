// SPDX-License-Identifier: Apache-2.0
// How many cycles a second the memory alone simulates, as JSON lines: all cores add to one word,
// all read their own words (hits), nobody does anything. It depends on the machine that simulates.

#include <chrono>

#include "hardware/machine/sim/memory_accesses.hpp"

namespace {

using namespace tutti::rtl;

std::string run(testbench& bench, const arguments& with) {
  access_ports ports(bench);
  for (const char* const work : {"one word", "hits", "nothing"}) {
    const bool same = work[0] == 'o', none = work[0] == 'n';
    std::uint64_t ended = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < with.cycles; ++i) {
      for (unsigned c = 0; c < CORES && !none; ++c)
        if (!ports.busy(c))
          ports.begin(c, {same ? op::add : op::load,
                          memory_base + (same ? 0 : 256 * LINE_BYTES + c * LINE_BYTES), 1, 0xf});
      ports.step([&](auto&&...) { ++ended; });
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (ended == 0 && !none) return "no access ends\n" + ports.waits();
    std::printf("{\"work\": \"%s\", \"accesses\": %llu, \"cycles_a_second\": %.0f}\n", work,
                static_cast<unsigned long long>(ended),
                static_cast<double>(with.cycles) / took.count());
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_after_reset(argc, argv, run); }
