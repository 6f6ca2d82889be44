// SPDX-License-Identifier: Apache-2.0
// The default implementations of any_barrier for algorithms that need ranks.

#include "tutti/barrier/any_class.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

namespace {
[[noreturn]] void refuse_without_rank() {
  refuse("this algorithm needs the same participants in every episode: arrive with a rank");
}
}  // namespace

void any_barrier::arrive_and_wait_without_rank() { refuse_without_rank(); }
bool any_barrier::arrive_and_wait_without_rank(deadline /*until*/, rank_t& /*missing*/) {
  refuse_without_rank();
}

}  // namespace tutti
