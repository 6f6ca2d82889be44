// SPDX-License-Identifier: Apache-2.0
// A named algorithm is the one thing in barrier.hpp that needs the compiled library: without it, this does not link.
#include <tutti/barrier/barrier.hpp>

int main() {
  tutti::barrier<> sync(1, tutti::barrier_options{.algorithm = "mcs"});
  sync.arrive_and_wait(0);
}
