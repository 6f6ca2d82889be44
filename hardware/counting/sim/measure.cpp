// SPDX-License-Identifier: Apache-2.0
// Measures the cycles of one episode for each path and 1 to THREADS threads: with all threads
// arriving in one cycle (from that cycle to the one in which the last learns of the departure, both
// included), and with threads that arrive again at once (cycles an episode).

#include <algorithm>

#include "hardware/counting/sim/crowd.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;

std::string measure(testbench& bench, main_memory& memory, rank_t n, reg::arrival_path a,
                    reg::departure_path d) {
  static const char* const arrivals[] = {"csr", "message", "memory"};
  static const char* const departures[] = {"csr", "lines", "line"};
  crowd_options o;
  o.threads = n;
  o.arrival = a;
  o.departure = d;
  crowd once(bench, memory, o);
  once.configure();
  if (!once.run(1, 100'000)) return "stuck";
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (const test::passage& p : once.passages()) {
    first = std::min(first, p.arrive);
    last = std::max(last, p.leave);
  }
  const std::uint64_t together = last - first + 1;

  constexpr std::uint64_t episodes = 200;
  crowd c(bench, memory, o);
  c.configure();
  const std::uint64_t begin = bench.cycle();
  if (!c.run(episodes, 10'000'000)) return "stuck";
  const double again = static_cast<double>(bench.cycle() - begin) / episodes;
  if (std::string wrong = test::check(c.passages(), n, episodes); !wrong.empty()) return wrong;
  std::printf(
      "{\"participants\": %u, \"arrival\": \"%s\", \"departure\": \"%s\", \"cycles\": %llu, "
      "\"cycles_again\": %.2f, \"overlaps\": %llu, \"polls_in_vain\": %llu}\n",
      n, arrivals[static_cast<int>(a)], departures[static_cast<int>(d)],
      static_cast<unsigned long long>(together), again,
      static_cast<unsigned long long>(c.overlaps()),
      static_cast<unsigned long long>(c.polls_in_vain()));
  // The paper's analysis as a lower bound: a port that takes one request a cycle cannot be faster.
  if (a == reg::arrival_path::csr && d == reg::departure_path::csr && together < 2 * n)
    return "faster than one request a cycle allows: the harness is wrong";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  return run_harness(argc, argv, [](const arguments& with) -> std::string {
    testbench bench(with);
    main_memory memory;
    bench.reset();
    for (rank_t n = 1; n <= THREADS; ++n)
      for (int a = 0; a < 3; ++a)
        for (int d = 0; d < 3; ++d) {
          if (a == 1 && n > 4) continue;
          const std::string wrong = measure(bench, memory, n, static_cast<reg::arrival_path>(a),
                                            static_cast<reg::departure_path>(d));
          if (!wrong.empty()) return std::to_string(n) + " threads: " + wrong;
        }
    return {};
  });
}
