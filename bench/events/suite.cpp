// SPDX-License-Identifier: Apache-2.0
// The rounds of the event bench. Rank 0 notifies. It waits until all receivers have said that they
// are about to wait, lets the gap of the scenario pass, reads the clock, and notifies; each
// receiver reads the clock as soon as its wait has returned.
#include "bench/events/suite.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <random>

#include "bench/harness/start_gate.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/harness/ticks.hpp"
#include "bench/harness/watchdog.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/team/team.hpp"

namespace tutti::bench {
namespace {

constexpr double round_ns = 30e6;
constexpr double disturbed_round_ns_at_least = 60e6;
// Every round has this many notifications, so that one round is enough for a median.
constexpr std::uint64_t usual_trials = 100, most_trials = 1000, trials_to_try = 20;
// They are fewer, but at least a fifth, where the gaps of a round would last longer than this.
constexpr double gaps_ns = 2e9;
constexpr std::uint64_t least_part = 5;
// A gap that is at least so long is slept through where receivers share the notifier's core.
constexpr double long_gap_ns = 50e3;

// Why so many receivers cannot be measured on these cores; an empty string: they can.
std::string why_not(const contender& who, rank_t receivers, std::size_t cores) {
  if (who.events_on_fibers && receivers <= cores)
    return "virtual ranks share threads where there are more of them than cores";
  if (receivers >= cores && (who.wait == "spin" || who.wait == "monitor"))
    return "receivers that never give their core away need one each, and the notifier another one";
  return {};
}

// How many notifications fit in the time for gaps, of so many that are wanted.
std::uint64_t fitting(std::uint64_t wanted, const scenario& when) {
  const double part = gaps_ns / static_cast<double>(usual_trials) / std::max(when.gap.mean(), 1.0);
  const double fit = static_cast<double>(wanted) * std::min(part, 1.0);
  return std::max(static_cast<std::uint64_t>(fit), wanted / least_part);
}

std::vector<rank_t> threads_of(const std::vector<rank_t>& receivers) {
  std::vector<rank_t> threads = receivers;
  for (rank_t& n : threads) ++n;
  return threads;
}

}  // namespace

class event_suite::event_series final : public series {
 public:
  event_series(event_suite& of, event_result& to, bench::team& threads)
      : owner_(of), to_(to), threads_(threads), random_(of.plan_.length.seed) {}

  bool prepare() override {
    const watchdog guard = guarded();
    if (to_.who->events_on_fibers)
      fibers_.emplace(team_options{
          .threads = owner_.cores(), .ranks = to_.receivers, .patience = patience::passive()});
    notifier_ = to_.who->events(to_.receivers);
    const std::uint64_t begin = platform::now_ns();
    const std::uint64_t tries = fitting(trials_to_try, *to_.when);
    play(tries);
    const double each =
        static_cast<double>(platform::now_ns() - begin) / static_cast<double>(tries);
    trials_ =
        std::clamp(static_cast<std::uint64_t>(target_ns() / each), least_trials(), most_trials);
    // Whole turns, of nine short gaps and a long one.
    if (to_.when->gap.kind == course_kind::alternating) trials_ = (trials_ + 9) / 10 * 10;
    return true;
  }

  void measure() override {
    const watchdog guard = guarded();
    const std::vector<std::vector<double>> ns = play(trials_);
    std::vector<double> each, first, last, sigma;
    for (const auto& of_one : ns) {
      each.insert(each.end(), of_one.begin(), of_one.end());
      first.push_back(*std::min_element(of_one.begin(), of_one.end()));
      last.push_back(*std::max_element(of_one.begin(), of_one.end()));
      sigma.push_back(sigma_of(of_one));
    }
    const auto floors = owner_.floor_of(to_);
    const bool sound = owner_.neighbours_.ran();
    std::optional<double> floor;
    if (sound && !floors.empty()) floor = floors.back();
    const std::size_t sweep = owner_.sweeps_;
    for (auto [record, values] : {std::pair{&to_.each, &each}, std::pair{&to_.first, &first},
                                  std::pair{&to_.last, &last}, std::pair{&to_.sigma, &sigma}}) {
      record->add(*values, floor, sweep);
      ++record->rounds;
      if (!sound) ++record->flagged;
    }
  }

  double target_ns() const override {
    return to_.when->disturbed() ? disturbed_round_ns_at_least : round_ns;
  }
  double least_ns() const override {
    return to_.when->gap.mean() * static_cast<double>(least_trials());
  }
  void give_up(const std::string& reason) override { to_.not_measured = reason; }

 private:
  std::uint64_t least_trials() const { return fitting(usual_trials, *to_.when); }

  watchdog guarded() const {
    return {owner_.plan_.length.longest_round_s,
            fmt::format("{} (receivers: {})", name_of(*to_.who), to_.receivers)};
  }

  // Returns the times of all receivers, for each notification.
  std::vector<std::vector<double>> play(std::uint64_t trials) {
    const rank_t n = to_.receivers;
    const placement& where = owner_.plan_.where;
    const bool crowded = owner_.is_crowded(to_.threads());
    std::vector<std::uint64_t> sent(trials);
    std::vector<std::vector<std::uint64_t>> woken(n, std::vector<std::uint64_t>(trials));
    array<padded<std::atomic<std::uint64_t>>> ready(n);
    std::atomic<std::uint64_t> begun{0};
    const auto await_all = [&](std::uint64_t step) {
      for (auto& one : ready)
        // acquire: pairs with the receiver's store.
        while (one.value.load(acquire) != step) sched_yield();
    };
    neighbour_plan busy = neighbours_of(*to_.when, cores_of(where));
    owner_.neighbours_.select(busy);
    const auto notify_all = [&] {
      if (!busy.cpus.empty()) owner_.neighbours_.start();
      for (std::uint64_t t = 0; t < trials; ++t) {
        // release: all have returned from the last notification, so that none takes what is meant
        // for another; pairs with the receivers' loads.
        begun.store(t + 1, release);
        await_all(2 * t + 1);
        pass(at(to_.when->gap, t, random_), crowded || to_.when->disturbed());
        // Kept in a register: a notification that is a locked instruction waits for earlier stores.
        const std::uint64_t begin = ordered_ticks();
        notifier_->notify();
        sent[t] = begin;
        await_all(2 * t + 2);
      }
      if (!busy.cpus.empty()) owner_.neighbours_.stop();
    };
    // The receivers share the threads from rank 1 on, each of which may have several of them.
    const auto receive_here = [&](rank_t receiver) {
      receive(receiver, begun, ready[receiver].value, woken[receiver]);
    };
    blocking_gate gate(threads_.size());
    threads_.run([&](rank_t rank) {
      pin_this_thread(where.cpu_of(rank));
      if (rank > 0 && !fibers_) notifier_->enter(rank - 1);
      gate.arrive_and_wait();
      if (rank == 0) return notify_all();
      if (!fibers_) return receive_here(rank - 1);
      fibers_->run([&](member& me) {
        pin_this_thread(where.cpu_of(me.thread() + 1));
        receive_here(me.rank());
      });
    });
    return times(sent, woken);
  }

  void receive(rank_t receiver, const std::atomic<std::uint64_t>& begun,
               std::atomic<std::uint64_t>& ready, std::vector<std::uint64_t>& woken) {
    for (std::uint64_t t = 0; t < woken.size(); ++t) {
      // acquire: pairs with the notifier's store.
      while (begun.load(acquire) != t + 1) {
        platform::switch_fiber();
        sched_yield();
      }
      // release: this receiver has begun with the notification, or is done; pairs with the
      // notifier's loads.
      ready.store(2 * t + 1, release);
      notifier_->wait(receiver);
      woken[t] = ordered_ticks();
      // release: as above.
      ready.store(2 * t + 2, release);
    }
  }

  // The gap, in which receivers that share this core run.
  static void pass(double ns, bool shares_core) {
    if (!shares_core) return spin_for_ns(ns);
    if (ns >= long_gap_ns) {
      usleep(static_cast<useconds_t>(ns * 1e-3));
      return;
    }
    const std::uint64_t end = platform::now_ns() + static_cast<std::uint64_t>(ns);
    do sched_yield();
    while (platform::now_ns() < end);
  }

  std::vector<std::vector<double>> times(const std::vector<std::uint64_t>& sent,
                                         const std::vector<std::vector<std::uint64_t>>& woken) {
    const placement& where = owner_.plan_.where;
    std::vector<std::vector<double>> all(sent.size());
    for (rank_t r = 0; r < woken.size(); ++r) {
      const std::int64_t offset = where.pinned()
                                      ? owner_.floors_.offset_of(where.cpu_of(r + 1)).ticks -
                                            owner_.floors_.offset_of(where.cpu_of(0)).ticks
                                      : 0;
      for (std::size_t t = 0; t < sent.size(); ++t)
        all[t].push_back(to_ns(static_cast<std::int64_t>(woken[r][t] - sent[t]) - offset) -
                         owner_.clock_ns_);
    }
    return all;
  }

  event_suite& owner_;
  event_result& to_;
  bench::team& threads_;
  // The gaps that are random.
  std::mt19937_64 random_;
  // The threads whose virtual ranks are the receivers.
  std::optional<tutti::team> fibers_;
  std::unique_ptr<notifier> notifier_;
  std::uint64_t trials_ = trials_to_try;
};

event_suite::event_suite(event_plan plan)
    : plan_(std::move(plan)),
      floors_(plan_floors(threads_of(plan_.receivers), {plan_.where})),
      clock_ns_(timer_cost_ns()) {
  for (const auto& who : plan_.contenders)
    for (const rank_t n : plan_.receivers)
      for (const auto& when : plan_.scenarios) {
        if (plan_.is_wanted != nullptr && !plan_.is_wanted(who, n, when)) continue;
        std::string reason = why_not(who, n, cores_of(plan_.where).size());
        if (!reason.empty()) {
          left_out_.push_back({&who, n, &when, std::move(reason)});
          continue;
        }
        results_.emplace_back();
        results_.back().who = &who;
        results_.back().receivers = n;
        results_.back().when = &when;
      }
}

std::vector<double> event_suite::floor_of(const event_result& r) const {
  if (r.who->events_on_fibers) return {};
  if (!is_crowded(r.threads())) return floors_.line_one_way(plan_.where);
  return floors_.yield_rotation(r.threads(), cores_of(plan_.where));
}

void event_suite::run(const progress& report) {
  std::vector<std::unique_ptr<series>> all;
  for (event_result& r : results_) {
    // Virtual ranks have a team of their own, which another thread than the notifier's opens.
    const rank_t own = r.who->events_on_fibers ? 2 : r.threads();
    auto& threads = teams_[own];
    if (!threads) threads = std::make_unique<thread_team>(own);
    all.push_back(std::make_unique<event_series>(*this, r, *threads));
  }
  run_sweeps(
      all, plan_.length,
      [this] {
        ++sweeps_;
        floors_.sweep();
      },
      report);
}

}  // namespace tutti::bench
