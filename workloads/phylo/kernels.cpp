// SPDX-License-Identifier: Apache-2.0
// The loops in plain C++, and the choice of the instruction set.
#include "workloads/phylo/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "workloads/phylo/kernels_simd.hpp"

namespace tutti::phylo {
namespace {

using block_states = double[4][lanes];

void load(const factor& f, std::size_t rates, std::size_t block, std::size_t rate,
          block_states& x) {
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      x[j][lane] = f.tip != nullptr ? (f.tip[block * lanes + lane] >> j & 1)
                                    : f.partials[((block * rates + rate) * 4 + j) * lanes + lane];
    }
  }
}

void transform(const double* m, const block_states& x, block_states& y) {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t lane = 0; lane < lanes; ++lane) y[i][lane] = m[4 * i] * x[0][lane];
    for (std::size_t j = 1; j < 4; ++j) {
      for (std::size_t lane = 0; lane < lanes; ++lane) y[i][lane] += m[4 * i + j] * x[j][lane];
    }
  }
}

// Calls store(block, rate, products) for each block and rate.
template <class Store>
void for_each_product(const product& p, Store&& store) {
  block_states x, left, right;
  for (std::size_t block = p.first; block < p.last; ++block) {
    for (std::size_t rate = 0; rate < p.rates; ++rate) {
      const std::size_t matrix = p.rate_of_block != nullptr ? p.rate_of_block[block] : rate;
      load(p.left, p.rates, block, rate, x);
      transform(p.left.matrices + matrix * p.left.matrix_stride, x, left);
      load(p.right, p.rates, block, rate, x);
      transform(p.right.matrices + matrix * p.right.matrix_stride, x, right);
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t lane = 0; lane < lanes; ++lane) left[i][lane] *= right[i][lane];
      }
      store(block, rate, left);
    }
  }
}

void scale(const product& p, const scaling& s, double* out) {
  const std::size_t entries = p.rates * 4;
  for (std::size_t block = p.first; block < p.last; ++block) {
    double* x = out + block * entries * lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      double largest = 0;
      for (std::size_t i = 0; i < entries; ++i) largest = std::max(largest, x[i * lanes + lane]);
      const bool small = largest < scale_threshold;
      for (std::size_t i = 0; small && i < entries; ++i) x[i * lanes + lane] *= scale_factor;
      const std::size_t slot = block * lanes + lane;
      s.out[slot] = (s.left != nullptr ? s.left[slot] : 0) +
                    (s.right != nullptr ? s.right[slot] : 0) + (small ? 1 : 0);
    }
  }
}

void multiply(const product& p, const scaling& s, double* out) {
  for_each_product(p, [&](std::size_t block, std::size_t rate, const block_states& x) {
    std::copy_n(&x[0][0], 4 * lanes, out + (block * p.rates + rate) * 4 * lanes);
  });
  if (s.out != nullptr) scale(p, s, out);
}

void sum_of_products(const product& p, double* out) {
  for_each_product(p, [&](std::size_t block, std::size_t rate, const block_states& x) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      double& sum = out[block * lanes + lane];
      if (rate == 0) sum = 0;
      sum += (x[0][lane] + x[1][lane]) + (x[2][lane] + x[3][lane]);
    }
  });
}

derivatives differentiate(const double* table, const double* coefficients, const double* weights,
                          std::size_t rates, const std::uint16_t* rate_of_block, std::size_t first,
                          std::size_t last) {
  double d1[lanes] = {}, d2[lanes] = {};
  for (std::size_t block = first; block < last; ++block) {
    double f[3][lanes] = {};
    for (std::size_t rate = 0; rate < rates; ++rate) {
      const std::size_t which = rate_of_block != nullptr ? rate_of_block[block] : rate;
      for (std::size_t k = 0; k < 4; ++k) {
        const double* c = coefficients + (which * 4 + k) * 3;
        const double* x = table + ((block * rates + rate) * 4 + k) * lanes;
        for (std::size_t order = 0; order < 3; ++order) {
          for (std::size_t lane = 0; lane < lanes; ++lane) f[order][lane] += x[lane] * c[order];
        }
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      // The lower bound prevents a division by 0.
      const double inverse = 1.0 / std::max(f[0][lane], 0x1p-1000);
      const double slope = f[1][lane] * inverse;
      const double weight = weights[block * lanes + lane];
      d1[lane] += weight * slope;
      d2[lane] += weight * (f[2][lane] * inverse - slope * slope);
    }
  }
  return {sum_of_lanes(d1), sum_of_lanes(d2)};
}

}  // namespace

const kernels& portable_kernels() {
  static constexpr kernels table{"portable", multiply, sum_of_products, differentiate};
  return table;
}

const std::vector<kernels>& available_kernels() {
  static const std::vector<kernels> all = [] {
    std::vector<kernels> list = simd_kernels();
    list.push_back(portable_kernels());
    return list;
  }();
  return all;
}

const kernels& choose_kernels(std::string_view name) {
  const auto& all = available_kernels();
  if (name == "best") return all.front();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const kernels& k) { return name == k.name; });
  if (found != all.end()) return *found;
  std::string names = "best";
  for (const kernels& k : all) names += fmt::format(", {}", k.name);
  throw std::invalid_argument(fmt::format("'{}' is not one of {}", name, names));
}

}  // namespace tutti::phylo
