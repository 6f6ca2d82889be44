// SPDX-License-Identifier: Apache-2.0
// A dot product with reproducible bits, on 1 to THREADS threads:
//   same threads  the same bits in every run with the same number of threads
//   any threads   the same bits for any number of threads, from blocks that depend only on the
//                 length
//   exact         the sum of the products, rounded only once
// Usage: dot [THREADS]

#include <bit>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "tutti/reduce/exact.hpp"
#include "tutti/team/team.hpp"

int main(int argc, char** argv) {
  const int most = argc > 1 ? std::atoi(argv[1]) : 5;
  if (most < 1 || most > 1000) {
    std::fprintf(stderr, "dot: THREADS must be 1 to 1000, not '%s'\n", argv[1]);
    return 2;
  }
  std::vector<double> x(100'000), y(x.size());
  std::mt19937_64 random(1);
  for (double& each : x) each = static_cast<double>(random()) - 0x1p63;
  for (double& each : y) each = static_cast<double>(random()) - 0x1p63;
  const auto product = [&](std::size_t i) { return x[i] * y[i]; };
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };

  std::uint64_t first_any = 0, first_exact = 0;
  bool as_promised = true;
  std::puts("threads  same threads      any threads       exact");
  for (int threads = 1; threads <= most; ++threads) {
    tutti::team team(static_cast<tutti::rank_t>(threads));
    const auto same = bits(team.parallel_reduce(0, x.size(), tutti::plus{}, product));
    const auto any = bits(team.parallel_reduce_any(0, x.size(), tutti::plus{}, product));
    const auto exact = bits(team.run_reduce(tutti::plus{},
                                            [&](tutti::member& me) {
                                              tutti::exact_sum<double> mine;
                                              const auto [from, to] = me.block(x.size());
                                              for (std::size_t i = from; i < to; ++i)
                                                mine.add(product(i));
                                              return mine;
                                            })
                                .value());
    std::printf("%7d  %016" PRIx64 "  %016" PRIx64 "  %016" PRIx64 "\n", threads, same, any, exact);

    if (threads == 1) first_any = any, first_exact = exact;
    as_promised = as_promised && any == first_any && exact == first_exact;
    for (int again = 0; again < 100; ++again)
      as_promised =
          as_promised && same == bits(team.parallel_reduce(0, x.size(), tutti::plus{}, product));
  }
  std::puts(as_promised ? "as promised" : "NOT AS PROMISED");
  return as_promised ? 0 : 1;
}
