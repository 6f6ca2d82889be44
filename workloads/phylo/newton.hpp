// SPDX-License-Identifier: Apache-2.0
// The length of one branch that maximises the likelihood: Newton-Raphson, kept between bounds.
//
// A step that leaves the interval in which the slope changes its sign is replaced by bisection; where the function is not
// concave (second derivative not negative) Newton's step would lead to a minimum, and the slope's sign alone is followed.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tutti::phylo {

struct newton_options {
  double least = 1e-6, most = 34;
  // Ends when a step is shorter than this share of the length: the error after it is about the square.
  double tolerance = 1e-3;
  unsigned most_steps = 32;
};

// slopes(length) gives {first, second} of the function.
template <class Slopes>
double maximize(Slopes&& slopes, double start, const newton_options& o = {}) {
  double t = std::clamp(start, o.least, o.most);
  double rising = o.least, falling = o.most;  // the maximum is between them
  for (unsigned step = 0; step < o.most_steps; ++step) {
    const auto [slope, curvature] = slopes(t);
    if (std::isnan(slope))
      throw std::runtime_error("a derivative of the likelihood is not a number");
    if (slope == 0 || (slope < 0 && t == o.least) || (slope > 0 && t == o.most)) return t;
    (slope > 0 ? rising : falling) = t;
    const bool concave = curvature < 0 && std::isfinite(curvature);
    const double by_sign = slope > 0 ? 8 * t : o.least;
    double next = std::clamp(concave ? t - slope / curvature : by_sign, o.least, o.most);
    // The bounds themselves may be tried; what has been tried already may not.
    const bool tried_low = rising > o.least && next <= rising;
    const bool tried_high = falling < o.most && next >= falling;
    if (tried_low || tried_high) next = std::sqrt(rising * falling);
    if (std::abs(next - t) <= o.tolerance * std::max(t, next)) return next;
    t = next;
  }
  return t;
}

}  // namespace tutti::phylo
