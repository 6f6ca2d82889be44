// SPDX-License-Identifier: Apache-2.0
// Order statistics of samples.
#pragma once

#include <cstddef>
#include <vector>

namespace tutti::bench {

struct summary {
  double min = 0, p1 = 0, p25 = 0, median = 0, p75 = 0, p99 = 0, max = 0, mean = 0;
  std::size_t samples = 0;
};

// Quantiles are interpolated linearly; all zero for no samples.
summary summarize(std::vector<double> samples);

double median_of(std::vector<double> samples);

// Two samples between which the median of the population lies with this probability.
struct median_range {
  double low = 0, high = 0;
  double probability = 0;
};
// The narrowest such range with 95 % or more, by the ranks of the binomial distribution; the range
// of all samples if they are too few for that. There is at least one sample.
median_range range_of_median(std::vector<double> samples);

// The standard deviation of all samples, of which there is at least one.
double sigma_of(const std::vector<double>& samples);

}  // namespace tutti::bench
