// SPDX-License-Identifier: Apache-2.0
// Boost.Thread's boost::barrier.
#include <boost/thread/barrier.hpp>

#include "bench/barrier/peers.hpp"

namespace tutti::bench {
namespace {

class boost_subject final : public subject_base<boost_subject> {
 public:
  explicit boost_subject(rank_t n) : barrier_(n) {}
  void one_episode(rank_t) { barrier_.wait(); }

 private:
  boost::barrier barrier_;
};

}  // namespace

std::unique_ptr<subject> make_boost_barrier(rank_t n) { return std::make_unique<boost_subject>(n); }

}  // namespace tutti::bench
