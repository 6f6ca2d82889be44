// SPDX-License-Identifier: Apache-2.0
// Each loop does the work of its whole program and is fused: it stores no vector that a programmer
// would not store.
#include "bench/vcode/loops.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>

namespace tutti::bench {
namespace {

using integers = std::vector<std::int32_t>;
using reals = std::vector<double>;

// The loops that a wide vector unit speeds up are compiled for several and choose when they start.
// Not in instrumented builds: the functions that choose run before a sanitizer is ready.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TUTTI_BENCH_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TUTTI_BENCH_WIDE
#endif

// One loop: no vector is stored. Sixteen running sums, as a programmer who knows the vector unit
// writes it.
TUTTI_BENCH_WIDE double dot_product(std::int32_t n) {
  constexpr std::int32_t lanes = 16;
  double sum[lanes] = {};
  for (std::int32_t i = 0; i < n; i += lanes) {
    for (std::int32_t l = 0; l < lanes; ++l) {
      const auto k = static_cast<std::uint32_t>(i + l);
      sum[l] += static_cast<double>(static_cast<std::int32_t>(k % 100)) *
                static_cast<double>(static_cast<std::int32_t>(k % 77));
    }
  }
  return std::accumulate(sum, sum + lanes, 0.0);
}

std::vector<double> dotp() { return {dot_product(10'000'000)}; }

// One loop, which stores the result only. INT wraps.
TUTTI_BENCH_WIDE void multiply_and_add(std::int32_t* to, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) to[i] = static_cast<std::int32_t>(i * i + i);
}

std::vector<double> muladd() {
  constexpr std::size_t n = 10'000'000;
  const std::unique_ptr<std::int32_t[]> result(new std::int32_t[n]);
  multiply_and_add(result.get(), n);
  return {static_cast<double>(result[100]), static_cast<double>(result[1000])};
}

std::vector<double> primes() {
  constexpr std::size_t n = 1'000'000;
  std::vector<std::uint8_t> is_prime(n, 1);
  for (std::size_t p = 2; p * p < n; ++p) {
    if (is_prime[p] == 0) continue;
    for (std::size_t k = p * p; k < n; k += p) is_prime[k] = 0;
  }
  integers found;
  for (std::size_t k = 2; k < n; ++k) {
    if (is_prime[k] != 0) found.push_back(static_cast<std::int32_t>(k));
  }
  return {static_cast<double>(found.size()), static_cast<double>(found.back())};
}

std::vector<double> quicksort() {
  constexpr std::size_t n = 1'000'000;
  // The same generator with the same seed, without disturbing the process's own.
  char words[128];
  random_data state{};
  initstate_r(1, words, sizeof words, &state);
  integers a(n);
  for (auto& each : a) random_r(&state, &each), each %= 1'000'000'000;
  std::sort(a.begin(), a.end());
  return {static_cast<double>(n), static_cast<double>(a[0]), static_cast<double>(a[n / 2]),
          static_cast<double>(a[n - 1])};
}

// A grid's five-point matrix by compressed rows, times a vector, again and again.
std::vector<double> sweeps(std::int32_t side, int count) {
  integers begin{0}, column;
  reals value;
  const std::int32_t n = side * side;
  for (std::int32_t i = 0; i < n; ++i) {
    for (const std::int32_t step : {-side, -1, 0, 1, side}) {
      if (i + step < 0 || i + step >= n) continue;
      column.push_back(i + step);
      value.push_back(step == 0 ? 0.2 : 0.19);
    }
    begin.push_back(static_cast<std::int32_t>(column.size()));
  }
  reals x(static_cast<std::size_t>(n), 1.0), y(x.size());
  for (int k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      double sum = 0;
      for (auto e = static_cast<std::size_t>(begin[i]); e < static_cast<std::size_t>(begin[i + 1]);
           ++e) {
        sum += value[e] * x[static_cast<std::size_t>(column[e])];
      }
      y[i] = sum;
    }
    std::swap(x, y);
  }
  // Looked at, so that the work is done; the program's own matrix is another.
  if (!(x[0] > 0)) abort();
  return {};
}

}  // namespace

const std::vector<plain_loop>& plain_loops() {
  static const std::vector<plain_loop> loops{
      {"dotp_1e7", dotp},
      {"muladd_1e7", muladd},
      {"primes_1e6", primes},
      {"quicksort_rand_1e6", quicksort},
      {"spmv_loop", [] { return sweeps(512, 100); }},
      {"jacobi_256_off", [] { return sweeps(256, 200); }},
  };
  return loops;
}

}  // namespace tutti::bench
