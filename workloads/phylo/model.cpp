// SPDX-License-Identifier: Apache-2.0
// Computes the eigenvectors of GTR and the categories of Gamma.
#include "workloads/phylo/model.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace tutti::phylo {
namespace {

using eigen_matrix = Eigen::Matrix4d;
using eigen_vector = Eigen::Vector4d;

eigen_matrix rate_matrix(const substitution& s) {
  eigen_matrix q = eigen_matrix::Zero();
  std::size_t pair = 0;
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j, ++pair) {
      q(i, j) = s.exchange[pair] * s.frequencies[static_cast<std::size_t>(j)];
      q(j, i) = s.exchange[pair] * s.frequencies[static_cast<std::size_t>(i)];
    }
  }
  double changes = 0;
  for (int i = 0; i < 4; ++i) {
    q(i, i) = -q.row(i).sum();
    changes -= s.frequencies[static_cast<std::size_t>(i)] * q(i, i);
  }
  return q / changes;
}

bool positive(double value) { return value > 0 && std::isfinite(value); }

}  // namespace

std::vector<double> gamma_rates(double alpha, unsigned categories) {
  // Below 0.01 the slowest rates vanish; above 10000 all rates are 1 to many digits.
  if (!(alpha >= 0.01 && alpha <= 1e4)) throw std::invalid_argument("alpha must be 0.01 to 10000");
  if (categories == 0 || categories > 64) {
    throw std::invalid_argument("the number of Gamma categories must be 1 to 64");
  }
  std::vector<double> rates(categories);
  // The share of the total rate below the category.
  double below = 0;
  for (unsigned i = 0; i < categories; ++i) {
    double up_to = 1;
    if (i + 1 < categories) {
      const double quantile = boost::math::gamma_p_inv(alpha, double(i + 1) / categories);
      up_to = boost::math::gamma_p(alpha + 1, quantile);
    }
    rates[i] = (up_to - below) * categories;
    below = up_to;
  }
  return rates;
}

model::model(const substitution& s, std::vector<double> rates)
    : parameters_(s), rates_(std::move(rates)) {
  if (!std::all_of(s.exchange.begin(), s.exchange.end(), positive)) {
    throw std::invalid_argument("the rates of exchange must be positive");
  }
  if (!std::all_of(s.frequencies.begin(), s.frequencies.end(), positive)) {
    throw std::invalid_argument("the frequencies must be positive");
  }
  if (rates_.empty() || !std::all_of(rates_.begin(), rates_.end(), [](double rate) {
        return rate >= 0 && std::isfinite(rate);
      })) {
    throw std::invalid_argument("the rates of sites must not be negative");
  }
  vector4& f = parameters_.frequencies;
  const double sum = std::accumulate(f.begin(), f.end(), 0.0);
  for (double& frequency : f) frequency /= sum;

  // With F the diagonal matrix of the frequencies, F^1/2 Q F^-1/2 is symmetric.
  const eigen_vector root = Eigen::Map<const eigen_vector>(f.data()).cwiseSqrt();
  const eigen_vector inverse = root.cwiseInverse();
  const eigen_matrix symmetric =
      root.asDiagonal() * rate_matrix(parameters_) * inverse.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<eigen_matrix> solver(symmetric);
  if (solver.info() != Eigen::Success) throw std::invalid_argument("the model has no eigenvectors");
  const eigen_matrix right = inverse.asDiagonal() * solver.eigenvectors();
  const eigen_matrix left = solver.eigenvectors().transpose() * root.asDiagonal();
  for (int i = 0; i < 4; ++i) {
    // Eigen sorts the eigenvalues in ascending order; the last one is 0 except for rounding.
    eigenvalues_[static_cast<std::size_t>(i)] = i == 3 ? 0.0 : solver.eigenvalues()(i);
    for (int j = 0; j < 4; ++j) {
      right_[static_cast<std::size_t>(4 * i + j)] = right(i, j);
      left_[static_cast<std::size_t>(4 * i + j)] = left(i, j);
    }
  }
}

model model::with_rates_by_site(const substitution& s, std::vector<double> rates) {
  model m(s, std::move(rates));
  m.by_site_ = true;
  return m;
}

void model::transitions(double length, std::span<double> out) const {
  for (std::size_t rate = 0; rate < rates_.size(); ++rate) {
    vector4 change;
    for (std::size_t k = 0; k < states; ++k) {
      change[k] = std::expm1(eigenvalues_[k] * rates_[rate] * length);
    }
    double* p = out.data() + rate * states * states;
    for (std::size_t i = 0; i < states; ++i) {
      for (std::size_t j = 0; j < states; ++j) {
        double sum = i == j ? 1.0 : 0.0;
        for (std::size_t k = 0; k < states; ++k) {
          sum += right_[4 * i + k] * change[k] * left_[4 * k + j];
        }
        p[4 * i + j] = std::max(sum, 0.0);
      }
    }
  }
}

}  // namespace tutti::phylo
