// SPDX-License-Identifier: Apache-2.0
// k-median by local search: chooses k_min to k_max of the points as centres, so that the sum of the
// weighted squared distances to them is small.
//
// With a price z for each centre the problem needs no k. An online pass opens centres at random
// with a probability that grows with the distance (Meyerson, FOCS 2001), then gain steps improve
// the result (gain.hpp). A binary search finds a z for which the number of centres is between the
// bounds.
//
// Cost: some hundred gain steps.
// Source: O'Callaghan, Mishra, Meyerson, Guha and Motwani, "Streaming-data algorithms for
// high-quality clustering", ICDE 2002; the constants are those of PARSEC's StreamCluster.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/streamcluster/assignment.hpp"
#include "workloads/streamcluster/gain.hpp"
#include "workloads/streamcluster/random.hpp"

namespace tutti::streamcluster {

struct search_counts {
  std::uint64_t searches = 0;
  // The values of z tried, including restarts of the online pass.
  std::uint64_t prices = 0;
  std::uint64_t gain_steps = 0;
  // The gain steps that opened a centre.
  std::uint64_t gains = 0;
};

// All ranks share one object and call run() together.
class local_search {
 public:
  local_search(rank_t ranks, std::size_t k_min, std::size_t k_max, std::uint64_t seed);

  // Returns false if the points are not numbers or too far apart for a float. Otherwise points()
  // has the result: each point is served by its nearest centre, and there are k_min to k_max
  // centres; there are fewer than k_min only if the points are at fewer places. Up to k_max points
  // are all centres.
  bool run(collectives& me, const point_set& set);

  assignment& points() noexcept { return points_; }
  const search_counts& counts() const noexcept { return counts_; }

 private:
  // The state is the same on every rank.
  struct state {
    quanta low, z, high;
    // The cost with z for each centre.
    double total;
    std::size_t centres;
  };
  void open_online(collectives& me, state& s);
  std::size_t next_to_open(std::size_t from, quanta z);
  void choose_candidates(collectives& me);
  void improve(collectives& me, state& s, double accuracy);
  void search_price(collectives& me, state& s);
  bool is_near(std::size_t centres) const noexcept;
  void enforce_bounds(collectives& me);

  const std::size_t k_min_;
  const std::size_t k_max_;
  assignment points_;
  gain_step gain_;
  // Only rank 0 writes this.
  random_sequence random_;
  search_counts counts_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> candidates_;
  std::size_t next_ = 0;
};

}  // namespace tutti::streamcluster
