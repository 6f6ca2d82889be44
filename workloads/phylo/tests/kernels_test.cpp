// SPDX-License-Identifier: Apache-2.0
// Compares every instruction set that this processor has with the plain loops, and with the others
// to the last bit.
#include "workloads/phylo/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

namespace tutti::phylo {
namespace {

struct aligned_doubles {
  explicit aligned_doubles(std::size_t n) : memory(n + lanes), size(n) {
    void* p = memory.data();
    std::size_t space = memory.size() * sizeof(double);
    data = static_cast<double*>(std::align(64, n * sizeof(double), p, space));
  }
  std::vector<double> values() const { return {data, data + size}; }
  std::vector<double> memory;
  std::size_t size;
  double* data;
};

// Random operands for `blocks` blocks of `rates` rates.
struct problem {
  static constexpr std::size_t blocks = 7, matrix_count = 5;

  problem(std::size_t rates_, bool by_site, double scale)
      : rates(rates_),
        left(blocks * rates * 32),
        right(blocks * rates * 32),
        weights(blocks * lanes),
        tips(blocks * lanes),
        matrices(matrix_count * 16),
        coefficients(matrix_count * 12),
        scales(blocks * lanes) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(0.001, 1);
    for (std::size_t i = 0; i < left.size; ++i) left.data[i] = uniform(random) * scale;
    for (std::size_t i = 0; i < right.size; ++i) right.data[i] = uniform(random) * scale;
    for (std::size_t i = 0; i < weights.size; ++i) weights.data[i] = double(random() % 5);
    for (auto& tip : tips) tip = static_cast<state_set>(1 + random() % 15);
    for (double& x : matrices) x = uniform(random);
    for (double& x : coefficients) x = uniform(random) - 0.2;
    for (auto& s : scales) s = static_cast<std::uint32_t>(random() % 3);
    if (by_site) {
      for (std::size_t b = 0; b < blocks; ++b) {
        rate_of_block.push_back(static_cast<std::uint16_t>(random() % matrix_count));
      }
    }
  }

  product job(bool left_tip, bool right_tip, std::size_t first, std::size_t last) const {
    product p;
    p.left = {left_tip ? nullptr : left.data, left_tip ? tips.data() : nullptr, matrices.data(),
              16};
    p.right = {right_tip ? nullptr : right.data, right_tip ? tips.data() : nullptr, matrices.data(),
               0};
    p.rates = rates;
    p.rate_of_block = rate_of_block.empty() ? nullptr : rate_of_block.data();
    p.first = first;
    p.last = last;
    return p;
  }

  std::size_t rates;
  aligned_doubles left, right, weights;
  std::vector<state_set> tips;
  std::vector<double> matrices, coefficients;
  std::vector<std::uint32_t> scales;
  std::vector<std::uint16_t> rate_of_block;
};

struct outcome {
  std::vector<double> products, scaled, sums;
  std::vector<std::uint32_t> counts;
  derivatives slopes;
};

outcome run(const kernels& k, const problem& p, bool left_tip, bool right_tip, std::size_t first,
            std::size_t last) {
  const product job = p.job(left_tip, right_tip, first, last);
  aligned_doubles products(p.left.size), scaled(p.left.size), sums(p.weights.size);
  outcome o;
  o.counts.assign(p.scales.size(), 99);
  k.multiply(job, {}, products.data);
  k.multiply(job, {left_tip ? nullptr : p.scales.data(), nullptr, o.counts.data()}, scaled.data);
  k.sum_of_products(job, sums.data);
  o.slopes = k.differentiate(p.left.data, p.coefficients.data(), p.weights.data, p.rates,
                             job.rate_of_block, first, last);
  o.products = products.values();
  o.scaled = scaled.values();
  o.sums = sums.values();
  return o;
}

// Compares relative to a few roundings of the terms that were added.
void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-14 * std::abs(b[i])) << i;
}

bool fused(const kernels& k) {
  const std::string name = k.name;
  return name != "portable" && name != "sse4";
}

class EveryKernel : public testing::TestWithParam<std::tuple<int, bool, bool, double>> {};

TEST_P(EveryKernel, ComputesWhatThePlainLoopsDo) {
  const auto [rates, left_tip, right_tip, scale] = GetParam();
  const bool by_site = rates == 0;
  const problem p(by_site ? 1 : static_cast<std::size_t>(rates), by_site, scale);
  for (const auto& [first, last] : {std::pair<std::size_t, std::size_t>{0, 7}, {2, 5}, {3, 3}}) {
    const outcome plain = run(portable_kernels(), p, left_tip, right_tip, first, last);
    const outcome* first_fused = nullptr;
    std::vector<outcome> all;
    all.reserve(available_kernels().size());
    for (const kernels& k : available_kernels()) {
      SCOPED_TRACE(k.name);
      all.push_back(run(k, p, left_tip, right_tip, first, last));
      const outcome& o = all.back();
      expect_near(o.products, plain.products);
      expect_near(o.scaled, plain.scaled);
      expect_near(o.sums, plain.sums);
      EXPECT_EQ(o.counts, plain.counts);
      EXPECT_NEAR(o.slopes[0], plain.slopes[0], 1e-12 * (1 + std::abs(plain.slopes[0])));
      EXPECT_NEAR(o.slopes[1], plain.slopes[1], 1e-12 * (1 + std::abs(plain.slopes[1])));
      if (fused(k) && first_fused == nullptr) first_fused = &o;
      const outcome& same = fused(k) ? *first_fused : plain;
      EXPECT_EQ(o.products, same.products);
      EXPECT_EQ(o.scaled, same.scaled);
      EXPECT_EQ(o.sums, same.sums);
      EXPECT_EQ(o.slopes, same.slopes);
    }
  }
}

// The last one is so small that every pattern must be scaled. 0 rates: one by block.
INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel,
                         testing::Combine(testing::Values(0, 1, 4, 5), testing::Bool(),
                                          testing::Bool(), testing::Values(1.0, 0x1p-200)));

TEST(Kernels, OnlySmallPatternsAreScaledAndCounted) {
  for (const kernels& k : available_kernels()) {
    SCOPED_TRACE(k.name);
    problem p(4, false, 1.0);
    // Pattern 3 of block 1 underflows. Pattern 4 has one small rate, which does not cause scaling.
    for (std::size_t entry = 0; entry < 16; ++entry) {
      p.left.data[(16 + entry) * lanes + 3] *= 0x1p-300;
      if (entry < 4) p.left.data[(16 + entry) * lanes + 4] *= 0x1p-300;
    }
    const outcome o = run(k, p, false, false, 0, 7);
    for (std::size_t slot = 0; slot < o.counts.size(); ++slot) {
      const bool small = slot == lanes + 3;
      EXPECT_EQ(o.counts[slot], p.scales[slot] + (small ? 1 : 0)) << slot;
    }
    for (std::size_t i = 0; i < o.scaled.size(); ++i) {
      const bool small = i / (16 * lanes) == 1 && i % lanes == 3;
      EXPECT_EQ(o.scaled[i], o.products[i] * (small ? scale_factor : 1.0)) << i;
    }
  }
}

TEST(Kernels, OutsideOfItsBlocksNothingIsWritten) {
  const problem p(4, false, 1.0);
  for (const kernels& k : available_kernels()) {
    SCOPED_TRACE(k.name);
    const outcome o = run(k, p, false, true, 2, 5);
    for (std::size_t i = 0; i < o.products.size(); ++i) {
      const std::size_t block = i / (16 * lanes);
      if (block < 2 || block >= 5) {
        EXPECT_EQ(o.products[i], 0) << i;
      } else {
        EXPECT_NE(o.products[i], 0) << i;
      }
    }
  }
}

TEST(Kernels, AreChosenByName) {
  EXPECT_STREQ(choose_kernels("portable").name, "portable");
  EXPECT_STREQ(choose_kernels("best").name, available_kernels().front().name);
  for (const kernels& k : available_kernels()) EXPECT_EQ(&choose_kernels(k.name), &k);
  EXPECT_THROW(choose_kernels("nonsense"), std::invalid_argument);
  EXPECT_THROW(choose_kernels(""), std::invalid_argument);
}

}  // namespace
}  // namespace tutti::phylo
