// SPDX-License-Identifier: Apache-2.0
#include "workloads/synthetic/workload.hpp"

#include <fmt/format.h>

#include <cmath>
#include <future>
#include <random>

#include "bench/harness/placement.hpp"

namespace tutti::synthetic {

std::int64_t multiply_and_sum_floors(const vectors& mine) {
  const std::size_t length = mine.v3.size();
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < length; ++i) {
    mine.v3[i] = mine.v1[i] * mine.v2[i];
    sum += static_cast<std::int64_t>(std::floor(mine.v3[i]));
  }
  return sum;
}

namespace {

// The numbers of every rank, between -100 and 100, so that floor is not truncation.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : engine_(seed) {}
  double next() {
    // A std distribution would differ between standard libraries.
    return static_cast<double>(engine_() >> 11) * 0x1p-53 * 200 - 100;
  }

 private:
  std::mt19937_64 engine_;
};

// Uses integers alone, so that it shares nothing with the kernel: the largest n with n <= product.
std::int64_t floor_of(double product) {
  auto n = static_cast<std::int64_t>(product);
  if (static_cast<double>(n) > product) --n;
  return n;
}

}  // namespace

workload::workload(rank_t ranks, std::size_t length, const std::vector<int>& cpus,
                   std::uint64_t seed, kernel work, const walk_shape& shape)
    : length_(length), work_(work), results_(ranks) {
  // The vectors are made on a separate thread, which stays where it is put.
  const auto make = [&] {
    team_options options;
    options.threads = ranks;
    options.place = platform::placement::none;
    team owners(options);
    owners.run([&](member& me) {
      bench::pin_this_thread(cpus.empty() ? bench::any_cpu : cpus[me.rank() % cpus.size()]);
    });
    if (shape.bytes != 0) walk_ = std::make_unique<walk>(owners, shape);
    return std::make_unique<memory>(owners, length);
  };
  memory_ = std::async(std::launch::async, make).get();
  numbers random(seed);
  for (std::size_t i = 0; i < length; ++i) {
    const double a = random.next(), b = random.next();
    expected_ += floor_of(a * b);
    for (rank_t rank = 0; rank < ranks; ++rank) {
      memory_->v1[rank][i] = a;
      memory_->v2[rank][i] = b;
    }
  }
}

void workload::reset() {
  for (padded<result>& each : results_) each.value = {};
}

std::string workload::describe(rank_t rank, std::uint64_t regions) const {
  const result& other = results_[rank].value;
  if (other.regions != regions)
    return fmt::format("rank {} has ended {} of {} regions", rank, other.regions, regions);
  if (other.sum == expected_)
    return fmt::format("region {}: rank {} read other values on its walk than rank 0", regions,
                       rank);
  return fmt::format("region {}: rank {} found the sum {}, not {}", regions, rank, other.sum,
                     expected_);
}

}  // namespace tutti::synthetic
