// SPDX-License-Identifier: Apache-2.0
// The process of an OpenMP peer. It runs the benchmark's rounds in parallel regions of the runtime
// with which it is linked (bench/peers/openmp/regions.c, compiled by that runtime's compiler).
#include "bench/harness/worker.hpp"
#include "bench/peers/openmp/runtime.hpp"
#include "workloads/synthetic/round.hpp"

int main() {
  using namespace tutti::synthetic;
  workload_store store;
  return tutti::bench::answer_requests([&](const tutti::cli::json& asked) -> tutti::cli::json {
    const auto request = asked.at("synthetic").get<round_request>();
    tutti::bench::openmp_regions regions(request.threads);
    return {{"outcome", run_round(request, regions, store.of(request))}};
  });
}
