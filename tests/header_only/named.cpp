// SPDX-License-Identifier: Apache-2.0
// Named algorithms are the only part of barrier.hpp that needs the compiled library, so this
// program does not link without it.
#include <tutti/barrier/barrier.hpp>

int main() {
  tutti::barrier<> sync(1, tutti::barrier_options{.algorithm = "mcs"});
  sync.arrive_and_wait(0);
}
