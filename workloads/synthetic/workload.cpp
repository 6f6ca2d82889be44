// SPDX-License-Identifier: Apache-2.0
#include "workloads/synthetic/workload.hpp"

#include <fmt/format.h>

#include <future>

#include "bench/harness/placement.hpp"

namespace tutti::synthetic {

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
