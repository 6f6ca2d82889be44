// SPDX-License-Identifier: Apache-2.0
// What reproducible sums cost: exact sums and folds beside a plain loop, on data in the cache.
// Prints Google Benchmark's table; per_value (seconds) is the column of docs/reproducible-sums.md.

#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tutti/reduce/exact.hpp"
#include "tutti/reduce/fold.hpp"

namespace {

// How many binary orders of magnitude the values spread over: what the cost of an exact sum depends
// on.
std::vector<double> values_over(int orders, std::size_t count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> part(-1, 1);
  std::uniform_int_distribution<int> exponent(-orders / 2, orders / 2);
  std::vector<double> values(count);
  for (double& value : values) value = std::ldexp(part(random), exponent(random));
  return values;
}

void report(benchmark::State& state, std::size_t values) {
  state.counters["per_value"] = benchmark::Counter(
      static_cast<double>(values),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// Times sum(values); the arguments are the number of values and the orders of magnitude.
template <class Sum>
void time_sum(benchmark::State& state, Sum sum) {
  const std::vector<double> values =
      values_over(static_cast<int>(state.range(1)), static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    const double* data = values.data();
    benchmark::DoNotOptimize(data);
    benchmark::DoNotOptimize(sum(std::span<const double>(data, values.size())));
  }
  report(state, values.size());
}

double plain_loop(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}
// Sums as numerical libraries do: halves apart, blocks of 32 one after another.
double pairwise(std::span<const double> values) {
  if (values.size() <= 32) return plain_loop(values);
  const std::size_t half = values.size() / 2;
  return pairwise(values.first(half)) + pairwise(values.subspan(half));
}
double fold_plain(std::span<const double> values) { return fold_plain(tutti::plus{}, values); }
double fold(std::span<const double> values) { return tutti::fold(tutti::plus{}, values); }
double fold_minimum(std::span<const double> values) {
  return tutti::fold(tutti::minimum{}, values);
}
double exact_span(std::span<const double> values) {
  tutti::exact_sum<double> sum;
  sum.add(values);
  return sum.value();
}
double exact_each(std::span<const double> values) {
  tutti::exact_sum<double> sum;
  for (const double value : values) sum.add(value);
  return sum.value();
}

#define TUTTI_TIME_SUM(name)              \
  BENCHMARK_CAPTURE(time_sum, name, name) \
      ->ArgNames({"values", "orders"})    \
      ->ArgsProduct({{32, 100, 1000, 10'000, 1'000'000}, {0}})
TUTTI_TIME_SUM(plain_loop);
TUTTI_TIME_SUM(pairwise);
TUTTI_TIME_SUM(fold_plain);
TUTTI_TIME_SUM(fold);
TUTTI_TIME_SUM(fold_minimum);
TUTTI_TIME_SUM(exact_span)->ArgsProduct({{1000}, {20, 60, 200, 600, 1800}});
TUTTI_TIME_SUM(exact_each)->ArgsProduct({{1000}, {20, 60, 200, 600, 1800}});

template <class T>
void merge(benchmark::State& state) {
  tutti::exact_sum<T> sum(1), other(2);
  for (auto _ : state) {
    benchmark::DoNotOptimize(other);
    sum.merge(other);
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(merge<double>);
BENCHMARK(merge<float>);

template <class T>
void value(benchmark::State& state) {
  tutti::exact_sum<T> sum(T{1} / 3);
  for (auto _ : state) {
    benchmark::DoNotOptimize(sum);
    benchmark::DoNotOptimize(sum.value());
  }
}
BENCHMARK(value<double>);
BENCHMARK(value<float>);

void combine(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<double> into(count, 0.0);
  const std::vector<double> from = values_over(0, count);
  for (auto _ : state) {
    tutti::combine(tutti::plus{}, into, from);
    benchmark::ClobberMemory();
  }
  report(state, count);
}
BENCHMARK(combine)->ArgName("values")->Arg(1000)->Arg(1'000'000);

// The sums of so many ranks, each on a line of its own (stride 16) or packed.
template <class Fold>
void time_rows(benchmark::State& state, Fold fold_rows) {
  const auto rows = static_cast<tutti::rank_t>(state.range(0));
  const auto width = static_cast<std::size_t>(state.range(1));
  const auto stride = state.range(2) != 0 ? std::size_t{16} : width;
  const std::vector<double> values = values_over(0, rows * stride);
  std::array<double, tutti::fold_rows_widest> result{};
  for (auto _ : state) {
    const double* data = values.data();
    benchmark::DoNotOptimize(data);
    fold_rows(data, rows, width, stride, result.data());
    benchmark::DoNotOptimize(result);
  }
}
#define TUTTI_TIME_ROWS(name)                     \
  BENCHMARK_CAPTURE(time_rows, name, tutti::name) \
      ->ArgNames({"rows", "width", "lines"})      \
      ->ArgsProduct({{2, 8, 64}, {1, 2, 8}, {0, 1}})
TUTTI_TIME_ROWS(fold_rows_plain);
TUTTI_TIME_ROWS(fold_rows);

}  // namespace

BENCHMARK_MAIN();
