// SPDX-License-Identifier: Apache-2.0
#include "workloads/synthetic/round.hpp"

#include <functional>
#include <tuple>

#include "bench/harness/statistics.hpp"
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
      if (work_.walking() != nullptr)
        overheads_.push_back(overhead());
      else
        runtime_.open(body_.call);
      ++done_;
      if (!request_.verify_each) continue;
      fault_ = work_.fault(done_);
      if (!fault_.empty()) return false;
    }
    return true;
  }

  // What the regions since the last call took beyond the longest walk: their median in ns.
  double median_overhead() {
    const double median = overheads_.empty() ? 0 : bench::median_of(overheads_);
    overheads_.clear();
    return median;
  }

  std::string fault() const { return fault_.empty() ? work_.fault(done_) : fault_; }

 private:
  // Each rank times its walk by its own clock, so the clocks need not agree.
  double overhead() {
    const std::uint64_t begin = bench::ordered_ticks();
    runtime_.open(body_.call);
    const std::uint64_t whole = bench::ordered_ticks() - begin;
    return bench::to_ns(static_cast<std::int64_t>(whole - work_.walking()->longest()));
  }

  const round_request& request_;
  bench::region_runtime& runtime_;
  workload& work_;
  // All threads read this in every region, so it is kept away from what the master writes.
  const struct alignas(cache_line) { std::function<void(rank_t)> call; } body_;
  alignas(cache_line) std::uint64_t done_ = 0;
  std::string fault_;
  std::vector<double> overheads_;
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
  all.median_overhead();
  for (std::uint64_t batch = 0; right && batch < request.batches; ++batch) {
    const std::uint64_t begin = bench::ordered_ticks();
    right = all.regions(each);
    const double ns = bench::to_ns(bench::ordered_ticks() - begin);
    outcome.duration_ns += ns;
    outcome.samples.push_back(ns / static_cast<double>(each));
    if (work.walking() != nullptr) outcome.overheads.push_back(all.median_overhead());
  }
  outcome.fault = all.fault();
  return outcome;
}

workload& workload_store::of(const round_request& request) {
  const auto key = [](const round_request& r) {
    return std::tie(r.threads, r.length, r.set_bytes, r.lines, r.at_random, r.seed, r.cpus);
  };
  if (last_ == nullptr || key(request) != key(made_for_)) {
    // The old work is freed before the next one takes memory.
    last_ = nullptr;
    const walk_shape shape{static_cast<std::size_t>(request.set_bytes), request.lines,
                           request.at_random};
    last_ = std::make_unique<workload>(request.threads, request.length, request.cpus, request.seed,
                                       multiply_and_sum_floors, shape);
    made_for_ = request;
  }
  return *last_;
}

}  // namespace tutti::synthetic
