// SPDX-License-Identifier: Apache-2.0
#include "bench/trials/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/floors/floors.hpp"
#include "bench/harness/start_gate.hpp"
#include "bench/harness/watchdog.hpp"
#include "bench/trials/fiber_team.hpp"
#include "tutti/platform/clock.hpp"

namespace tutti::bench {
namespace {

class trial_series final : public series {
 public:
  trial_series(trial_suite::result& to, team& threads, const placement& where,
               const std::vector<double>& floor, unsigned longest_round_s)
      : to_(to),
        threads_(threads),
        where_(where),
        floor_(floor),
        longest_round_s_(longest_round_s) {}

  // Finds how many operations make a round.
  bool prepare() override {
    for (double ns = 0; ns < target_ns() / 4 && count_ < most;) {
      count_ *= 4;
      ns = run();
      per_operation_ = ns / static_cast<double>(count_);
    }
    count_ = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(target_ns() / per_operation_), 16,
                                       most);
    return true;
  }
  void measure() override {
    const double ns = run() / static_cast<double>(count_);
    std::optional<double> floor;
    if (!floor_.empty()) floor = floor_.back();
    to_.record.add({ns}, floor, to_.record.rounds++);
  }
  double target_ns() const override { return 15e6; }
  void give_up(const std::string& reason) override { to_.not_measured = reason; }

 private:
  static constexpr std::uint64_t most = 1u << 24;

  double run() {
    const watchdog guard(longest_round_s_,
                         fmt::format("{} {}, {} with {} participants", to_.what.provider,
                                     to_.what.name, to_.what.metric, to_.what.threads));
    return to_.what.run(threads_, where_, count_);
  }

  trial_suite::result& to_;
  team& threads_;
  const placement& where_;
  const std::vector<double>& floor_;
  const unsigned longest_round_s_;
  std::uint64_t count_ = 16;
  double per_operation_ = 1;
};

}  // namespace

double time_team(team& threads, const placement& where, const std::function<void(rank_t)>& body) {
  // Fibers must not block a thread, and their team starts them together.
  if (dynamic_cast<fiber_team*>(&threads) != nullptr) {
    const std::uint64_t start = platform::now_ns();
    threads.run(body);
    return static_cast<double>(platform::now_ns() - start);
  }
  const rank_t n = threads.size();
  blocking_gate gate(n);
  starting_line line(n);
  const bool own_cores = where.pinned() && n <= cores_of(where).size();
  std::vector<std::uint64_t> begin(n), end(n);
  threads.run([&](rank_t rank) {
    pin_this_thread(where.cpu_of(rank));
    gate.arrive_and_wait();
    if (own_cores) line.arrive_and_wait();
    begin[rank] = platform::now_ns();
    body(rank);
    end[rank] = platform::now_ns();
  });
  return static_cast<double>(*std::max_element(end.begin(), end.end()) -
                             *std::min_element(begin.begin(), begin.end()));
}

team& trial_suite::team_of(const trial& what) {
  auto& made = teams_[{what.threads, what.fibers}];
  if (made == nullptr && what.fibers) made = std::make_unique<fiber_team>(what.threads);
  if (made == nullptr) made = std::make_unique<thread_team>(what.threads);
  return *made;
}

void trial_suite::run(const progress& report) {
  std::vector<std::unique_ptr<series>> all;
  for (const trial& t : plan_.trials) {
    results_.push_back({t, {}, {}});
    all.push_back(std::make_unique<trial_series>(results_.back(), team_of(t), plan_.where, floor_,
                                                 plan_.length.longest_round_s));
  }
  const std::vector<int> cpus = cores_of(plan_.where);
  thread_team two(2);
  const auto before_each = [&] {
    if (cpus.size() > 1) floor_.push_back(line_transfer(two, {cpus[0], cpus[1]}));
  };
  sweeps_ = run_sweeps(all, plan_.length, before_each, report);
}

}  // namespace tutti::bench
