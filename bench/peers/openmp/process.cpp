// SPDX-License-Identifier: Apache-2.0
// The process of an OpenMP peer: the harness runs inside parallel regions of the runtime that it is
// linked with.
#include "bench/contenders/peer_server.hpp"
#include "bench/peers/openmp/runtime.hpp"

int main() {
  using namespace tutti::bench;
  return serve(
      {.barrier = [](tutti::rank_t) { return std::make_unique<openmp_barrier>(); },
       .regions = make_regions<openmp_regions>,
       .collectives =
           [](const auto& size) { return std::make_unique<openmp_collectives>(size.threads); },
       .own_threads =
           [](tutti::rank_t threads) { return std::make_unique<openmp_team>(threads); }});
}
