// SPDX-License-Identifier: Apache-2.0
// The process of Rayon. It runs the benchmark's rounds in regions of bench/peers/rayon.
#include "bench/harness/worker.hpp"
#include "bench/peers/rayon/runtime.hpp"
#include "workloads/synthetic/round.hpp"

int main() {
  using namespace tutti::synthetic;
  using namespace tutti::bench;
  workload_store store;
  return answer_requests([&](const tutti::cli::json& asked) -> tutti::cli::json {
    const auto request = asked.at("synthetic").get<tutti::synthetic::round_request>();
    rayon_runtime runtime(request.threads, rayon_is_opened_outside());
    tutti::synthetic::round_outcome outcome;
    runtime.inside([&] { outcome = run_round(request, runtime, store.of(request)); });
    return {{"outcome", outcome}};
  });
}
