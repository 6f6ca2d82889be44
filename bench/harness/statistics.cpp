// SPDX-License-Identifier: Apache-2.0
// Order statistics of samples.
#include "bench/harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tutti::bench {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

summary summarize(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  summary s;
  s.min = samples.front();
  s.p1 = quantile(samples, 0.01);
  s.p25 = quantile(samples, 0.25);
  s.median = quantile(samples, 0.5);
  s.p75 = quantile(samples, 0.75);
  s.p99 = quantile(samples, 0.99);
  s.max = samples.back();
  // Rounded sums of equal samples lie beside them.
  s.mean = std::clamp(
      std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size()),
      s.min, s.max);
  s.samples = samples.size();
  return s;
}

double median_of(std::vector<double> samples) { return summarize(std::move(samples)).median; }

median_range range_of_median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  // Exactly k samples are below the median with this probability.
  const auto chance = [n](double k) {
    return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                    n * std::log(2));
  };
  std::size_t low = 0;
  double outside = 2 * chance(0);
  while (true) {
    const double next = outside + 2 * chance(static_cast<double>(low + 1));
    if (next > 0.05) break;
    outside = next;
    ++low;
  }
  return {samples[low], samples[samples.size() - 1 - low], 1 - outside};
}

double sigma_of(const std::vector<double>& samples) {
  double sum = 0, squares = 0;
  for (const double v : samples) sum += v;
  const double mean = sum / static_cast<double>(samples.size());
  for (const double v : samples) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(samples.size()));
}

}  // namespace tutti::bench
