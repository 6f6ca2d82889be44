// SPDX-License-Identifier: Apache-2.0
// The process of an OpenMP peer. It runs the benchmark's rounds in parallel regions of the runtime
// with which it is linked (bench/barrier/peers/openmp_region.c, compiled by that runtime's
// compiler).
#include <fmt/format.h>

#include <stdexcept>

#include "bench/barrier/peers/openmp_region.h"
#include "bench/harness/placement.hpp"
#include "bench/harness/worker.hpp"
#include "workloads/synthetic/round.hpp"

namespace tutti::synthetic {
namespace {

class openmp_crew final : public bench::region_crew {
 public:
  explicit openmp_crew(rank_t threads) : threads_(threads) {}
  // Ends the runtime's threads. Rank 0 is this thread, whose CPU later threads would inherit.
  ~openmp_crew() override {
    bench::pin_this_thread(bench::any_cpu);
    tutti_openmp_release();
  }

  void open(const std::function<void(rank_t)>& body) override {
    const auto call = [](void* context, unsigned rank) {
      (*static_cast<const std::function<void(rank_t)>*>(context))(rank);
    };
    const unsigned made =
        tutti_openmp_run(threads_, call, const_cast<void*>(static_cast<const void*>(&body)));
    if (made == threads_) return;
    throw std::runtime_error(
        fmt::format("OpenMP made a team of {} threads, not {}", made, threads_));
  }
  void regions(std::uint64_t, bench::ledger&) override { refuse(); }
  void reducing_regions(std::uint64_t, bench::ledger&) override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw std::logic_error("this process runs only the synthetic benchmark");
  }

  const rank_t threads_;
};

}  // namespace
}  // namespace tutti::synthetic

int main() {
  using namespace tutti::synthetic;
  workload_store store;
  return tutti::bench::serve([&](const nlohmann::json& asked) -> nlohmann::json {
    const auto request = asked.at("synthetic").get<round_request>();
    openmp_crew crew(request.threads);
    return {{"outcome", run_round(request, crew, store.of(request))}};
  });
}
