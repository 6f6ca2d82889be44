// SPDX-License-Identifier: Apache-2.0
// The C++ standard library's std::barrier.
#include <barrier>

#include "bench/barrier/peers.hpp"

namespace tutti::bench {

std::unique_ptr<subject> make_std_barrier(rank_t n) {
  return std::make_unique<plain_subject<std::barrier<>>>(static_cast<std::ptrdiff_t>(n));
}

}  // namespace tutti::bench
