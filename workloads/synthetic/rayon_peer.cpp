// SPDX-License-Identifier: Apache-2.0
// The process of Rayon. It runs the benchmark's rounds in regions of bench/region/peers/rayon.
#include "bench/harness/worker.hpp"
#include "bench/region/peers/rayon/rayon_crew.hpp"
#include "workloads/synthetic/round.hpp"

int main() {
  using namespace tutti::synthetic;
  using namespace tutti::bench;
  workload_store store;
  return serve([&](const nlohmann::json& asked) -> nlohmann::json {
    const auto request = asked.at("synthetic").get<tutti::synthetic::round_request>();
    rayon_crew crew(request.threads, rayon_is_opened_outside());
    tutti::synthetic::round_outcome outcome;
    crew.inside([&] { outcome = run_round(request, crew, store.of(request)); });
    return {{"outcome", outcome}};
  });
}
