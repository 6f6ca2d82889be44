// SPDX-License-Identifier: Apache-2.0
#include "workloads/synthetic/round.hpp"

#include <functional>
#include <tuple>

#include "bench/harness/ticks.hpp"

namespace tutti::synthetic {
namespace {

class rounds {
 public:
  rounds(const round_request& request, bench::region_runtime& runtime, workload& work)
      : request_(request), runtime_(runtime), work_(work), body_{[&work](rank_t rank) {
          work.enter(rank);
        }} {}

  // Returns false as soon as a result is wrong; fault() says which.
  bool regions(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      runtime_.open(body_.call);
      ++done_;
      if (!request_.verify_each) continue;
      fault_ = work_.fault(done_);
      if (!fault_.empty()) return false;
    }
    return true;
  }

  std::string fault() const { return fault_.empty() ? work_.fault(done_) : fault_; }

 private:
  const round_request& request_;
  bench::region_runtime& runtime_;
  workload& work_;
  // All threads read this in every region, so it is kept away from what the master writes.
  const struct alignas(cache_line) { std::function<void(rank_t)> call; } body_;
  alignas(cache_line) std::uint64_t done_ = 0;
  std::string fault_;
};

}  // namespace

round_outcome run_round(const round_request& request, bench::region_runtime& runtime,
                        workload& work) {
  runtime.place(request.cpus);
  work.reset();
  rounds all(request, runtime, work);
  round_outcome outcome;
  bool right = all.regions(request.warm_up);
  const std::uint64_t each = request.regions / request.batches;
  for (std::uint64_t batch = 0; right && batch < request.batches; ++batch) {
    const std::uint64_t begin = bench::ordered_ticks();
    right = all.regions(each);
    const double ns = bench::to_ns(bench::ordered_ticks() - begin);
    outcome.duration_ns += ns;
    outcome.samples.push_back(ns / static_cast<double>(each));
  }
  outcome.fault = all.fault();
  return outcome;
}

workload& workload_store::of(const round_request& request) {
  const auto key = [](const round_request& r) {
    return std::tie(r.threads, r.length, r.seed, r.cpus);
  };
  if (last_ == nullptr || key(request) != key(made_for_)) {
    // The old work is freed before the next one takes memory.
    last_ = nullptr;
    last_ = std::make_unique<workload>(request.threads, request.length, request.cpus, request.seed);
    made_for_ = request;
  }
  return *last_;
}

}  // namespace tutti::synthetic
