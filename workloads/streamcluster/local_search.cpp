// SPDX-License-Identifier: Apache-2.0
// The local search. Every rank runs this code; one rank makes the decisions.
#include "workloads/streamcluster/local_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tutti::streamcluster {
namespace {

// PARSEC's constants: the sweep goes on while it improves the cost by this share, first roughly,
// then well.
constexpr double rough = 0.1;
constexpr double fine = 0.001;
// The search for z ends when its bounds are this close.
constexpr double close_enough = 0.999;

// 3 k ln k, as in PARSEC; for small k, where that is too few to include a point of every cluster, 3
// k + 10.
std::size_t tries(std::size_t k) {
  const auto n = static_cast<double>(k);
  return std::max(static_cast<std::size_t>(3 * n * std::log(n)), 3 * k + 10);
}

}  // namespace

local_search::local_search(rank_t ranks, std::size_t k_min, std::size_t k_max, std::uint64_t seed)
    : k_min_(k_min), k_max_(k_max), points_(ranks), gain_(points_), random_(seed) {}

// The place in order_ of the next point that becomes a centre, or the end.
std::size_t local_search::next_to_open(std::size_t from, quanta z) {
  for (std::size_t i = from; i < order_.size(); ++i) {
    const quanta cost = points_.cost[order_[i]];
    if (random_.unit() * static_cast<double>(z) < static_cast<double>(cost)) return i;
  }
  return order_.size();
}

void local_search::open_online(collectives& me, state& s) {
  if (me.decides()) {
    ++counts_.prices;
    random_.shuffle(order_);
    next_ = 0;
  }
  me.barrier();
  points_.serve_all_from(me, order_[0]);
  while (true) {
    me.barrier();
    if (me.decides()) next_ = next_to_open(next_ + 1, s.z);
    me.barrier();
    if (next_ == order_.size()) break;
    points_.open_for_mine(me, order_[next_]);
  }
  const amounts all = points_.total(me);
  s.centres = static_cast<std::size_t>(all[1]);
  s.total = static_cast<double>(all[0]) + static_cast<double>(s.z) * static_cast<double>(all[1]);
}

// Chooses a random sample by weight, large enough that some point of each large cluster is in it.
void local_search::choose_candidates(collectives& me) {
  if (me.decides()) {
    const point_set& set = points_.points();
    const std::size_t count = tries(k_min_);
    candidates_.clear();
    if (count >= set.size()) {
      candidates_ = order_;
    } else {
      std::vector<double> until(set.size());
      double sum = 0;
      for (std::size_t i = 0; i < set.size(); ++i) until[i] = sum += set.weight(i);
      for (std::size_t c = 0; c < count; ++c) {
        const auto at = std::upper_bound(until.begin(), until.end() - 1, random_.unit() * sum);
        candidates_.push_back(static_cast<std::uint32_t>(at - until.begin()));
      }
    }
  }
  me.barrier();
}

// Sweeps over the candidates until a sweep gains too little.
void local_search::improve(collectives& me, state& s, double accuracy) {
  const std::size_t steps = tries(k_max_);
  double gained;
  do {
    if (me.decides()) random_.shuffle(candidates_);
    me.barrier();
    gained = 0;
    std::uint64_t opened = 0;
    for (std::size_t i = 0; i < steps; ++i) {
      const std::uint32_t x = candidates_[i % candidates_.size()];
      const gain_step::verdict v = gain_.try_to_open(me, x, s.z);
      gained += v.gain;
      s.centres = v.centres;
      opened += v.gain > 0 ? 1 : 0;
    }
    s.total -= gained;
    if (me.decides()) {
      counts_.gain_steps += steps;
      counts_.gains += opened;
    }
  } while (gained > accuracy * s.total);
  me.barrier();
}

bool local_search::is_near(std::size_t centres) const noexcept {
  const auto k = static_cast<double>(centres);
  const auto least = static_cast<double>(k_min_), most = static_cast<double>(k_max_);
  return (k <= 1.1 * most && k >= 0.9 * least) || (k <= most + 2 && k >= least - 2);
}

void local_search::search_price(collectives& me, state& s) {
  while (true) {
    improve(me, s, rough);
    if (is_near(s.centres)) improve(me, s, fine);
    if (s.centres >= k_min_ && s.centres <= k_max_) return;
    const quanta before = s.z;
    (s.centres > k_max_ ? s.low : s.high) = s.z;
    if (static_cast<double>(s.low) >= close_enough * static_cast<double>(s.high)) return;
    s.z = s.low + (s.high - s.low) / 2;
    if (s.z == before) return;
    s.total += static_cast<double>(s.z - before) * static_cast<double>(s.centres);
    if (me.decides()) ++counts_.prices;
  }
}

// The search for z may end outside the bounds: with few points, with many points at one place, or
// with k_min near k_max.
void local_search::enforce_bounds(collectives& me) {
  std::size_t centres = points_.settle(me);
  while (centres > k_max_) {
    points_.merge(me);
    centres = points_.settle(me);
  }
  while (centres < k_min_ && points_.split(me)) ++centres;
}

bool local_search::run(collectives& me, const point_set& set) {
  const quanta cost_of_one_centre = points_.begin(me, set);
  if (cost_of_one_centre < 0) return false;
  if (me.decides()) {
    ++counts_.searches;
    order_.resize(set.size());
    std::iota(order_.begin(), order_.end(), 0U);
  }
  me.barrier();
  if (set.size() <= k_max_) {
    points_.open_all(me);
    me.barrier();
    return true;
  }
  state s{0, cost_of_one_centre / 2, cost_of_one_centre, 0, 0};
  open_online(me, s);
  while (s.centres < k_min_ && s.z > 0) {
    s.high = s.z;
    s.z /= 2;
    open_online(me, s);
  }
  choose_candidates(me);
  search_price(me, s);
  enforce_bounds(me);
  me.barrier();
  return true;
}

}  // namespace tutti::streamcluster
