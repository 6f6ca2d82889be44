// SPDX-License-Identifier: Apache-2.0
// Highway compiles this file once for each instruction set; the processor is asked at run time.
#include "workloads/phylo/kernels_simd.hpp"

// Vectors of unknown length (SVE, RVV) cannot be stored in arrays. The other disabled targets add
// nothing that the loops use.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_AVX3_DL | HWY_SSSE3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "workloads/phylo/kernels_simd.cpp"
// This must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tutti::phylo::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::CappedTag<double, lanes> d;
using vector = hn::Vec<decltype(d)>;
constexpr std::size_t width = hn::MaxLanes(d);
static_assert(lanes % width == 0);

HWY_INLINE void load_partials(const double* x, vector (&v)[4]) {
  for (std::size_t j = 0; j < 4; ++j) v[j] = hn::Load(d, x + j * lanes);
}

HWY_INLINE void load_tip(const state_set* sets, vector (&v)[4]) {
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const hn::Rebind<std::uint32_t, decltype(d)> d32;
  const hn::Rebind<std::uint64_t, decltype(d)> d64;
  const auto bits = hn::PromoteTo(d64, hn::PromoteTo(d32, hn::LoadU(d8, sets)));
  for (std::size_t j = 0; j < 4; ++j) {
    const auto may_be = hn::TestBit(bits, hn::Set(d64, std::uint64_t{1} << j));
    v[j] = hn::IfThenElseZero(hn::RebindMask(d, may_be), hn::Set(d, 1.0));
  }
}

// Row i of the matrix times the states.
HWY_INLINE vector row(const double* m, const vector (&x)[4], std::size_t i) {
  vector sum = hn::Mul(hn::Set(d, m[4 * i]), x[0]);
  for (std::size_t j = 1; j < 4; ++j) sum = hn::MulAdd(hn::Set(d, m[4 * i + j]), x[j], sum);
  return sum;
}

// Calls sink.begin(block, part), then sink.add(rate, products) for each rate, then sink.end().
// Parts are the vectors of a block.
template <bool left_is_tip, bool right_is_tip, class Sink>
HWY_INLINE void for_each_product(const product& p, Sink&& sink) {
  for (std::size_t block = p.first; block < p.last; ++block) {
    for (std::size_t part = 0; part < lanes; part += width) {
      vector left[4], right[4];
      if constexpr (left_is_tip) load_tip(p.left.tip + block * lanes + part, left);
      if constexpr (right_is_tip) load_tip(p.right.tip + block * lanes + part, right);
      sink.begin(block, part);
      for (std::size_t rate = 0; rate < p.rates; ++rate) {
        const std::size_t matrix = p.rate_of_block != nullptr ? p.rate_of_block[block] : rate;
        const std::size_t at = (block * p.rates + rate) * 4 * lanes + part;
        if constexpr (!left_is_tip) load_partials(p.left.partials + at, left);
        if constexpr (!right_is_tip) load_partials(p.right.partials + at, right);
        const double* m = p.left.matrices + matrix * p.left.matrix_stride;
        const double* n = p.right.matrices + matrix * p.right.matrix_stride;
        const vector products[4] = {
            hn::Mul(row(m, left, 0), row(n, right, 0)), hn::Mul(row(m, left, 1), row(n, right, 1)),
            hn::Mul(row(m, left, 2), row(n, right, 2)), hn::Mul(row(m, left, 3), row(n, right, 3))};
        sink.add(at, rate, products);
      }
      sink.end();
    }
  }
}

template <class Sink>
HWY_INLINE void dispatch_product(const product& p, Sink&& sink) {
  if (p.left.tip != nullptr && p.right.tip != nullptr) {
    for_each_product<true, true>(p, sink);
  } else if (p.left.tip != nullptr) {
    for_each_product<true, false>(p, sink);
  } else if (p.right.tip != nullptr) {
    for_each_product<false, true>(p, sink);
  } else {
    for_each_product<false, false>(p, sink);
  }
}

struct plain_sink {
  double* out;

  HWY_INLINE void begin(std::size_t, std::size_t) {}
  HWY_INLINE void add(std::size_t at, std::size_t, const vector (&x)[4]) {
    for (std::size_t i = 0; i < 4; ++i) hn::Store(x[i], d, out + at + i * lanes);
  }
  HWY_INLINE void end() {}
};

struct scaling_sink {
  double* out;
  const scaling& s;
  std::size_t rates;
  std::size_t block = 0, part = 0;
  vector largest = hn::Zero(d);

  HWY_INLINE void begin(std::size_t b, std::size_t p) {
    block = b;
    part = p;
    largest = hn::Zero(d);
  }
  HWY_INLINE void add(std::size_t at, std::size_t, const vector (&x)[4]) {
    for (std::size_t i = 0; i < 4; ++i) hn::Store(x[i], d, out + at + i * lanes);
    largest = hn::Max(largest, hn::Max(hn::Max(x[0], x[1]), hn::Max(x[2], x[3])));
  }
  HWY_INLINE void end() {
    const std::size_t slot = block * lanes + part;
    for (std::size_t i = 0; i < width; ++i) {
      s.out[slot + i] =
          (s.left != nullptr ? s.left[slot + i] : 0) + (s.right != nullptr ? s.right[slot + i] : 0);
    }
    const auto small = hn::Lt(largest, hn::Set(d, scale_threshold));
    if (HWY_LIKELY(hn::AllFalse(d, small))) return;
    const vector by = hn::IfThenElse(small, hn::Set(d, scale_factor), hn::Set(d, 1.0));
    for (std::size_t i = 0; i < rates * 4; ++i) {
      double* x = out + (block * rates * 4 + i) * lanes + part;
      hn::Store(hn::Mul(hn::Load(d, x), by), d, x);
    }
    HWY_ALIGN double scaled[width];
    hn::Store(hn::IfThenElseZero(small, hn::Set(d, 1.0)), d, scaled);
    for (std::size_t i = 0; i < width; ++i) s.out[slot + i] += scaled[i] != 0 ? 1 : 0;
  }
};

struct summing_sink {
  double* out;
  std::size_t slot = 0;
  vector sum = hn::Zero(d);

  HWY_INLINE void begin(std::size_t block, std::size_t part) {
    slot = block * lanes + part;
    sum = hn::Zero(d);
  }
  HWY_INLINE void add(std::size_t, std::size_t, const vector (&x)[4]) {
    sum = hn::Add(sum, hn::Add(hn::Add(x[0], x[1]), hn::Add(x[2], x[3])));
  }
  HWY_INLINE void end() { hn::Store(sum, d, out + slot); }
};

void multiply(const product& p, const scaling& s, double* out) {
  if (s.out != nullptr) {
    dispatch_product(p, scaling_sink{out, s, p.rates});
  } else {
    dispatch_product(p, plain_sink{out});
  }
}

void sum_of_products(const product& p, double* out) { dispatch_product(p, summing_sink{out}); }

derivatives differentiate(const double* table, const double* coefficients, const double* weights,
                          std::size_t rates, const std::uint16_t* rate_of_block, std::size_t first,
                          std::size_t last) {
  HWY_ALIGN double d1[lanes] = {};
  HWY_ALIGN double d2[lanes] = {};
  for (std::size_t part = 0; part < lanes; part += width) {
    vector sum1 = hn::Zero(d), sum2 = hn::Zero(d);
    for (std::size_t block = first; block < last; ++block) {
      const double* x = table + block * rates * 4 * lanes + part;
      const double* c = coefficients;
      if (rate_of_block != nullptr) c += std::size_t{rate_of_block[block]} * 12;
      vector f = hn::Zero(d), f1 = hn::Zero(d), f2 = hn::Zero(d);
      for (std::size_t i = 0; i < rates * 4; ++i, x += lanes, c += 3) {
        const vector entry = hn::Load(d, x);
        f = hn::MulAdd(entry, hn::Set(d, c[0]), f);
        f1 = hn::MulAdd(entry, hn::Set(d, c[1]), f1);
        f2 = hn::MulAdd(entry, hn::Set(d, c[2]), f2);
      }
      const vector inverse = hn::Div(hn::Set(d, 1.0), hn::Max(f, hn::Set(d, 0x1p-1000)));
      const vector slope = hn::Mul(f1, inverse);
      const vector weight = hn::Load(d, weights + block * lanes + part);
      sum1 = hn::MulAdd(weight, slope, sum1);
      sum2 = hn::MulAdd(weight, hn::NegMulAdd(slope, slope, hn::Mul(f2, inverse)), sum2);
    }
    hn::Store(sum1, d, d1 + part);
    hn::Store(sum2, d, d2 + part);
  }
  return {sum_of_lanes(d1), sum_of_lanes(d2)};
}

// The name that users know: Highway's AVX3 is AVX-512 with its extensions BW, CD, DQ and VL.
const char* name() {
  switch (HWY_TARGET) {
    case HWY_AVX3: return "avx512";
    case HWY_AVX2: return "avx2";
    case HWY_SSE4: return "sse4";
    case HWY_NEON: return "neon";
    default: return hwy::TargetName(HWY_TARGET);
  }
}

kernels table() { return {name(), multiply, sum_of_products, differentiate}; }

}  // namespace tutti::phylo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::phylo {

HWY_EXPORT(table);

std::vector<kernels> simd_kernels() {
  std::vector<kernels> list;
  // Targets are bits, and the lowest bit is the best. Each target in turn is made the only one to
  // choose from.
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    // The portable loops stand for what compilers build without vectors: g++ 12.2 the first, clang
    // and newer g++ the second.
    if (target == HWY_SCALAR || target == HWY_EMU128) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    list.push_back(HWY_DYNAMIC_DISPATCH(table)());
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return list;
}

}  // namespace tutti::phylo
#endif
