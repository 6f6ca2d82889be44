// SPDX-License-Identifier: Apache-2.0
// The order of the rounds, and when there were enough.
#include "bench/harness/sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "tutti/platform/clock.hpp"

namespace tutti::bench {
namespace {

constexpr std::size_t least_rounds = 3;
constexpr double part_of_preparing = 0.2;  // of the progress that is shown
constexpr double most_preparing = 0.6;     // of the time: what is not prepared by then is given up

double seconds_now() { return static_cast<double>(platform::now_ns()) * 1e-9; }

struct entry {
  std::unique_ptr<series> timed_barrier;
  double spent_s = 0;
  std::size_t rounds = 0;
};

class sweeper {
 public:
  sweeper(std::vector<std::unique_ptr<series>>& all, const run_length& length,
          const progress& report)
      : length_(length), report_(report), random_(length.seed) {
    for (auto& s : all) entries_.push_back({std::move(s), 0, 0});
    all.clear();
  }

  void prepare() {
    std::size_t done = 0;
    std::erase_if(entries_, [&](entry& e) {
      report_("checking and calibrating", part_of_preparing * static_cast<double>(done++) /
                                              static_cast<double>(entries_.size()));
      if (time_is_up(most_preparing)) {
        e.timed_barrier->give_up("the time was too short to check and calibrate all of this run");
        return true;
      }
      const std::string reason = why_too_long(e);
      if (!reason.empty()) e.timed_barrier->give_up(reason);
      return !reason.empty() || !e.timed_barrier->prepare();
    });
  }

  bool enough() const {
    if (std::none_of(entries_.begin(), entries_.end(),
                     [&](const entry& e) { return has_time_for(e); })) {
      return true;
    }
    return (length_.rounds > 0 && sweeps_ >= length_.rounds) || time_is_up(1);
  }

  void sweep() {
    std::shuffle(entries_.begin(), entries_.end(), random_);
    std::size_t done = 0;
    ++sweeps_;
    for (auto& e : entries_) {
      tell(done++);
      if (time_is_up(1)) return;
      if (!sits_out(e) && has_time_for(e)) measure(e);
    }
  }

  std::size_t sweeps() const { return sweeps_; }

  void give_back(std::vector<std::unique_ptr<series>>& all) {
    for (auto& e : entries_) {
      if (e.rounds == 0) e.timed_barrier->give_up("the time was up before its first round");
      all.push_back(std::move(e.timed_barrier));
    }
  }

 private:
  double elapsed() const { return seconds_now() - begin_; }

  bool is_timed() const { return length_.rounds == 0 || length_.bounds_rounds; }

  bool time_is_up(double part) const { return is_timed() && elapsed() >= part * length_.seconds; }

  bool has_time_for(const entry& e) const {
    return !is_timed() || elapsed() + 1e-9 * e.timed_barrier->least_ns() <= length_.seconds;
  }

  // Why not even one round is possible; empty: it is.
  std::string why_too_long(const entry& e) const {
    const double least_s = 1e-9 * e.timed_barrier->least_ns();
    if (least_s > length_.longest_round_s) {
      return fmt::format("a round takes at least {:.1f} s, and after {} s it counts as hung",
                         least_s, length_.longest_round_s);
    }
    if (has_time_for(e)) return {};
    return fmt::format("a round takes at least {:.1f} s, and {:.1f} s of the time are left",
                       least_s, std::max(length_.seconds - elapsed(), 0.0));
  }

  void tell(std::size_t done) const {
    const auto count = static_cast<double>(entries_.size());
    const double sweep = static_cast<double>(sweeps_ - 1) + static_cast<double>(done) / count;
    const double fraction = length_.rounds > 0 ? sweep / static_cast<double>(length_.rounds)
                                               : std::min(elapsed() / length_.seconds, 0.99);
    report_(fmt::format("sweep {}: a round of each of {} series", sweeps_, entries_.size()),
            part_of_preparing + (1 - part_of_preparing) * fraction);
  }

  // What collapses must not eat the time of the others.
  bool sits_out(const entry& e) const {
    if (length_.rounds > 0 || e.rounds < least_rounds) return false;
    return e.spent_s > 3 * elapsed() / static_cast<double>(entries_.size()) &&
           e.spent_s / static_cast<double>(e.rounds) > 4e-9 * e.timed_barrier->target_ns();
  }

  static void measure(entry& e) {
    const double begin = seconds_now();
    e.timed_barrier->measure();
    e.spent_s += seconds_now() - begin;
    ++e.rounds;
  }

  const run_length& length_;
  const progress& report_;
  std::mt19937_64 random_;
  std::vector<entry> entries_;
  std::size_t sweeps_ = 0;
  const double begin_ = seconds_now();
};

}  // namespace

std::size_t run_sweeps(std::vector<std::unique_ptr<series>>& all, const run_length& length,
                       const std::function<void()>& before_each, const progress& report) {
  sweeper s(all, length, report);
  s.prepare();
  while (!s.enough()) {
    before_each();
    s.sweep();
  }
  s.give_back(all);
  return s.sweeps();
}

}  // namespace tutti::bench
