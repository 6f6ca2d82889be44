// SPDX-License-Identifier: Apache-2.0
// The kernel, compiled for each instruction set and chosen at run time (Highway). This file is
// compiled without contraction to fused multiply-adds, which round differently and do not exist on
// every machine.
#include "workloads/streamcluster/distance.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "workloads/streamcluster/distance.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// highway.h must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tutti::streamcluster::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

const char* instructions() { return hwy::TargetName(HWY_TARGET); }

void distances(const float* HWY_RESTRICT tile, std::size_t dimensions,
               const float* HWY_RESTRICT point, float* HWY_RESTRICT out) {
  const hn::CappedTag<float, tile_points / 4> lanes;
  const std::size_t n = hn::Lanes(lanes);
  using vector = hn::Vec<decltype(lanes)>;
  // Four sums at a time hide the latency of the addition.
  for (std::size_t first = 0; first < tile_points; first += 4 * n) {
    vector sum0 = hn::Zero(lanes), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    const float* row = tile + first;
    for (std::size_t j = 0; j < dimensions; ++j, row += tile_points) {
      const vector to = hn::Set(lanes, point[j]);
      const vector d0 = hn::Sub(hn::Load(lanes, row), to);
      const vector d1 = hn::Sub(hn::Load(lanes, row + n), to);
      const vector d2 = hn::Sub(hn::Load(lanes, row + 2 * n), to);
      const vector d3 = hn::Sub(hn::Load(lanes, row + 3 * n), to);
      sum0 = hn::Add(sum0, hn::Mul(d0, d0));
      sum1 = hn::Add(sum1, hn::Mul(d1, d1));
      sum2 = hn::Add(sum2, hn::Mul(d2, d2));
      sum3 = hn::Add(sum3, hn::Mul(d3, d3));
    }
    hn::Store(sum0, lanes, out + first);
    hn::Store(sum1, lanes, out + first + n);
    hn::Store(sum2, lanes, out + first + 2 * n);
    hn::Store(sum3, lanes, out + first + 3 * n);
  }
}

}  // namespace tutti::streamcluster::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tutti::streamcluster {

HWY_EXPORT(distances);
HWY_EXPORT(instructions);

void squared_distances(const float* tile, std::size_t dimensions, const float* point,
                       float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(distances)(tile, dimensions, point, out);
}

const char* distance_instructions() noexcept { return HWY_DYNAMIC_DISPATCH(instructions)(); }

}  // namespace tutti::streamcluster

#endif
