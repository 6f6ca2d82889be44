// SPDX-License-Identifier: Apache-2.0
// The rounds. Each runs on a thread or in a process that ends with it or sleeps after it.
#include "workloads/synthetic/program/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <stdexcept>
#include <tuple>

#include "bench/floors/floors.hpp"
#include "bench/harness/round_length.hpp"
#include "bench/harness/watchdog.hpp"

namespace tutti::synthetic {
namespace {

// The same length as rounds of `tutti bench team`.
constexpr double free_round_ns = 6e6;
constexpr double crowded_round_ns = 10e6;
constexpr std::uint64_t batches = 8;
constexpr unsigned longest_round_s = 120;

class bench_run {
 public:
  bench_run(const plan& p, sweeps& s) : plan_(p), sweeps_(s) {}

  bool is_crowded(rank_t threads) const { return threads > bench::cores_of(plan_.where).size(); }

  round_request request_for(rank_t threads, std::size_t index) const {
    const situation& now = plan_.situations[index];
    round_request r;
    r.threads = threads;
    for (rank_t t = 0; t < threads && plan_.where.pinned(); ++t)
      r.cpus.push_back(plan_.where.cpu_of(t));
    r.length = plan_.length;
    r.set_bytes = set_bytes(now.set, threads);
    r.lines = plan_.lines;
    r.at_random = now.at_random;
    r.seed = plan_.run.seed;
    r.verify_each = plan_.length > 0;
    return r;
  }

  round_outcome run(const bench::contender& who, const round_request& request) {
    if (!who.in_process()) {
      auto& process = processes_[&who];
      if (!process)
        process = std::make_unique<bench::worker>(command_of(who, 0), who.process.settings);
      return process->request({{"synthetic", request}}).at("outcome").get<round_outcome>();
    }
    const auto place = std::tuple(request.threads, request.set_bytes, request.at_random);
    workload& work = stores_[place].of(request);
    // The master is a thread of its own, so that what the runtime keeps for it ends with it and
    // this thread stays unpinned.
    return std::async(
               std::launch::async,
               [&] {
                 const auto runtime = who.regions({request.threads, request.threads, request.cpus});
                 return run_round(request, *runtime, work);
               })
        .get();
  }

  // Returns zero where there is nothing to compare with.
  double line_transfer(rank_t threads) {
    if (!plan_.where.pinned() || is_crowded(threads) || bench::cores_of(plan_.where).size() < 2)
      return 0;
    return bench::line_transfer(two_, {plan_.where.cpu_of(0), plan_.where.cpu_of(1)});
  }

  void fail(const bench::contender& who, rank_t threads, const std::string& reason) {
    const auto known = [&](const failure& f) { return f.who == &who && f.threads == threads; };
    auto& all = sweeps_.failures;
    if (std::none_of(all.begin(), all.end(), known)) all.push_back({&who, threads, reason});
  }

  sweeps& s() { return sweeps_; }
  const std::string& name_of_situation(std::size_t index) const {
    return plan_.situations[index].name;
  }

 private:
  const plan& plan_;
  sweeps& sweeps_;
  bench::thread_team two_{2};
  std::map<std::tuple<rank_t, std::uint64_t, bool>, workload_store> stores_;
  std::map<const bench::contender*, std::unique_ptr<bench::worker>> processes_;
};

class cell final : public bench::series {
 public:
  cell(bench_run& run, std::size_t index) : run_(run), index_(index) {
    request_ = run_.request_for(result().threads, result().situation);
    speed_.target_ns = run_.is_crowded(result().threads) ? crowded_round_ns : free_round_ns;
  }

  bool prepare() override {
    const bench::watchdog guard(longest_round_s, title());
    bool is_right = true;
    try {
      speed_.calibrate([&](std::uint64_t regions) {
        request_.regions = regions;
        request_.warm_up = regions / 4 + 1;
        request_.batches = 1;
        const round_outcome outcome = run_.run(*result().who, request_);
        if (!outcome.fault.empty()) throw std::runtime_error(outcome.fault);
        return outcome.duration_ns;
      });
    } catch (const std::exception& e) {
      run_.fail(*result().who, result().threads, e.what());
      is_right = false;
    }
    return is_right;
  }

  void give_up(const std::string& reason) override {
    run_.fail(*result().who, result().threads, reason);
  }

  void measure() override {
    const bench::watchdog guard(longest_round_s, title());
    const std::uint64_t regions = speed_.episodes();
    request_.batches = regions >= 8 * batches ? batches : 1;
    request_.regions = regions / request_.batches * request_.batches;
    request_.warm_up = regions / 4 + 1;
    ++result().rounds;
    try {
      const double before = run_.line_transfer(result().threads);
      const round_outcome outcome = run_.run(*result().who, request_);
      const auto floor = bench::floor_between(before, run_.line_transfer(result().threads));
      if (!outcome.fault.empty()) throw std::runtime_error(outcome.fault);
      if (before > 0 && !floor) ++result().flagged;
      result().add(request_.set_bytes > 0 ? outcome.overheads : outcome.samples, floor,
                   run_.s().count);
      speed_.follow(outcome.duration_ns / static_cast<double>(request_.regions));
    } catch (const std::exception& e) {
      run_.fail(*result().who, result().threads, e.what());
    }
  }

  double target_ns() const override { return speed_.target_ns; }

 private:
  measurement& result() const { return run_.s().results[index_]; }
  std::string title() const {
    return fmt::format("{} with {} threads, {}", name_of(*result().who), result().threads,
                       run_.name_of_situation(result().situation));
  }

  bench_run& run_;
  const std::size_t index_;
  round_request request_;
  bench::round_length speed_;
};

}  // namespace

sweeps run_plan(const plan& p, const bench::progress& report) {
  sweeps s;
  for (std::size_t situation = 0; situation < p.situations.size(); ++situation) {
    for (const rank_t threads : p.threads) {
      for (const auto& who : p.contenders) {
        s.results.emplace_back();
        s.results.back().who = &who;
        s.results.back().threads = threads;
        s.results.back().situation = situation;
      }
    }
  }
  bench_run run(p, s);
  std::vector<std::unique_ptr<bench::series>> cells;
  for (std::size_t i = 0; i < s.results.size(); ++i)
    cells.push_back(std::make_unique<cell>(run, i));
  bench::run_sweeps(
      cells, p.run, [&] { ++s.count; }, report);
  return s;
}

}  // namespace tutti::synthetic
