// SPDX-License-Identifier: Apache-2.0
// Finds the length of one branch that maximises the likelihood: Newton-Raphson, kept between
// limits.
//
// A step that leaves the interval in which the slope changes its sign is replaced by bisection.
// Where the function is not concave (the second derivative is not negative), Newton's step would
// lead to a minimum, so only the slope's sign is used.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tutti::phylo {

struct newton_options {
  double least = 1e-6, most = 34;
  // The search ends when a step is shorter than this share of the length; the error after it is
  // about the square.
  double tolerance = 1e-3;
  unsigned most_steps = 32;
};

// slopes(length) returns {first, second} derivative of the function. Throws std::runtime_error if a
// derivative is not a number.
template <class Slopes>
double maximize(Slopes&& slopes, double start, const newton_options& o = {}) {
  double t = std::clamp(start, o.least, o.most);
  // The maximum is between these two.
  double rising = o.least, falling = o.most;
  for (unsigned step = 0; step < o.most_steps; ++step) {
    const auto [slope, curvature] = slopes(t);
    if (std::isnan(slope))
      throw std::runtime_error("a derivative of the likelihood is not a number");
    if (slope == 0 || (slope < 0 && t == o.least) || (slope > 0 && t == o.most)) return t;
    (slope > 0 ? rising : falling) = t;
    const bool concave = curvature < 0 && std::isfinite(curvature);
    const double by_sign = slope > 0 ? 8 * t : o.least;
    double next = std::clamp(concave ? t - slope / curvature : by_sign, o.least, o.most);
    // The limits themselves may be tried, but no length may be tried twice.
    const bool tried_low = rising > o.least && next <= rising;
    const bool tried_high = falling < o.most && next >= falling;
    if (tried_low || tried_high) next = std::sqrt(rising * falling);
    if (std::abs(next - t) <= o.tolerance * std::max(t, next)) return next;
    t = next;
  }
  return t;
}

}  // namespace tutti::phylo
