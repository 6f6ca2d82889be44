// SPDX-License-Identifier: Apache-2.0
// Implements one step of the local search.
#include "workloads/streamcluster/gain.hpp"

namespace tutti::streamcluster {

// A centre belongs to the rank that owns its point, so that opening and closing store to the rank's
// own memory. For the tables by centre, the centres are numbered again in each step.
std::size_t gain_step::number_centres(collectives& me) {
  const assignment::range mine = a_.own(me);
  std::size_t centres = 0;
  for (std::size_t i = mine.begin; i < mine.end; ++i) centres += a_.open[i];
  a_.desks[me.rank()].centres = centres;
  me.barrier();

  std::size_t all = 0, next = 0;
  for (rank_t r = 0; r < me.size(); ++r) {
    if (r == me.rank()) next = all;
    all += a_.desks[r].centres;
  }
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    if (a_.open[i] != 0) a_.number[i] = static_cast<std::uint32_t>(next++);
  }
  a_.desks[me.rank()].dearer.assign(all, 0);
  if (me.decides()) closes_.resize(all);
  me.barrier();
  return all;
}

// Returns the saving (negative) for the points of this rank that x serves cheaper. dearer[] is, for
// each centre, what its other points would pay in addition if it closed.
quanta gain_step::price_mine(const collectives& me, std::size_t x) {
  quanta change = 0;
  quanta* dearer = a_.desks[me.rank()].dearer.data();
  a_.for_each_price(me, x, [&](std::size_t i, quanta price) {
    const quanta difference = price - a_.cost[i];
    if (difference < 0) {
      change += difference;
    } else {
      dearer[a_.number[a_.centre[i]]] += difference;
    }
  });
  return change;
}

// For this rank's share of the centres: the cost of closing for their points, and the number that
// close.
amounts gain_step::add_up_my_centres(const collectives& me, quanta z) {
  amounts mine{};
  const auto [begin, end] = me.block(closes_.size());
  for (std::size_t c = begin; c < end; ++c) {
    quanta dearer = 0;
    for (const desk& d : a_.desks) dearer += d.dearer[c];
    closes_[c] = dearer < z;
    if (closes_[c] == 0) continue;
    mine[0] += dearer;
    mine[1] += 1;
  }
  return mine;
}

void gain_step::carry_out(const collectives& me, std::size_t x) {
  a_.for_each_price(me, x, [&](std::size_t i, quanta price) {
    if (a_.open[i] != 0 && closes_[a_.number[i]] != 0) a_.open[i] = 0;
    if (price >= a_.cost[i] && closes_[a_.number[a_.centre[i]]] == 0) return;
    a_.centre[i] = static_cast<std::uint32_t>(x);
    a_.cost[i] = price;
  });
  if (a_.owns(me, x)) a_.open[x] = 1;
}

gain_step::verdict gain_step::try_to_open(collectives& me, std::size_t x, quanta z) {
  const std::size_t centres = number_centres(me);
  const quanta change = price_mine(me, x);
  me.barrier();
  amounts mine = add_up_my_centres(me, z);
  mine[0] += change;
  const amounts all = me.sum(mine);
  if (me.decides()) {
    // An open x costs nothing to close, so it closes and opens again, except if z is 0.
    const bool stays = a_.open[x] != 0 && closes_[a_.number[x]] == 0;
    const std::int64_t fewer = all[1] - (stays ? 0 : 1);
    // The product is in double because z times a count may not fit in 64 bits.
    const double saved = static_cast<double>(fewer) * static_cast<double>(z);
    const double gain = saved - static_cast<double>(all[0]);
    verdict_ = {0, centres};
    if (gain > 0) {
      verdict_ = {gain, static_cast<std::size_t>(static_cast<std::int64_t>(centres) - fewer)};
    }
  }
  me.barrier();
  const verdict decided = verdict_;
  if (decided.gain > 0) carry_out(me, x);
  return decided;
}

}  // namespace tutti::streamcluster
