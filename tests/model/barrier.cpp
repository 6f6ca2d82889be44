// SPDX-License-Identifier: Apache-2.0
// Checks tutti::barrier: tickets, dropped ranks, records of ranks, striped counters, the completion
// function.
#define TUTTI_CHECKS 0

#include "tutti/barrier/barrier.hpp"

#include <array>

#include "tests/model/checked.hpp"
#include "tests/model/data_check.hpp"
#include "tests/model/subjects.hpp"
#include "tutti/wait/park.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::model {
namespace {

struct count_phases {
  checked_plain<unsigned>* phases;
  void operator()() const noexcept { *phases = *phases + 1; }
};

template <class Wait, class Completion>
using checked_barrier = tutti::barrier<Completion, checked, Wait>;

enum class calls { ranked, anonymous, split };

struct shape {
  rank_t threads;
  calls how;
  // Every rank but 0 drops out in a phase drawn at random, or stays.
  bool drops;
  // A member of barrier_options.
  rank_t few = 5;
  // A member of barrier_options.
  rank_t fan = 4;
  // The arrivals that each thread counts at once (split).
  std::ptrdiff_t both = 1;
};

template <class Wait, class Completion>
class phases : public scenario {
 public:
  explicit phases(shape s)
      : shape_(s), barrier_(s.threads * s.both, completion(), {"", "adaptive", s.few, s.fan}) {
    for (rank_t rank = 0; rank < s.threads; ++rank)
      last_[rank] = s.drops && rank > 0 ? rl::rand(count + 1) : count;
  }

  void thread(rank_t rank) override {
    for (unsigned phase = 0; phase < count; ++phase) {
      board_.write(phase, rank);
      if (last_[rank] == phase) return drop(rank);
      meet(rank, phase);
      for (rank_t other = 0; other < shape_.threads; ++other)
        if (last_[other] >= phase) board_.check(phase, other);
      if constexpr (has_completion) RL_ASSERT(completed_ == phase + 1);
    }
  }

 private:
  static constexpr unsigned count = 3;
  static constexpr bool has_completion = !std::is_same_v<Completion, no_completion>;

  Completion completion() {
    if constexpr (has_completion)
      return {&completed_};
    else
      return {};
  }

  void drop(rank_t rank) {
    if (shape_.how == calls::ranked)
      barrier_.arrive_and_drop_as(rank);
    else
      barrier_.arrive_and_drop();
  }

  void meet(rank_t rank, unsigned phase) {
    if (shape_.how == calls::ranked) return barrier_.arrive_and_wait(rank);
    if (shape_.how == calls::anonymous) return barrier_.arrive_and_wait();
    auto token = barrier_.arrive(shape_.both);
    RL_ASSERT(token.phase() == phase);
    barrier_.wait(std::move(token));
  }

  shape shape_;
  checked_plain<unsigned> completed_{0};
  checked_barrier<Wait, Completion> barrier_;
  std::array<unsigned, most_threads> last_{};
  board board_;
};

// Nobody waits. Each completion must see what the one before it has done.
class only_arriving : public scenario {
 public:
  explicit only_arriving(rank_t threads)
      : barrier_(threads, count_phases{&completed_}, {"", "adaptive", 0, 1}) {}

  void thread(rank_t /*rank*/) override {
    for (unsigned i = 0; i < 2; ++i) (void)barrier_.arrive();
  }

 private:
  checked_plain<unsigned> completed_{0};
  checked_barrier<spin_wait<checked>, count_phases> barrier_;
};

std::string name_of(const shape& s) {
  std::string name = s.how == calls::ranked      ? "with ranks"
                     : s.how == calls::anonymous ? "without ranks"
                                                 : "arrive, then wait";
  if (s.both > 1) name += ", " + std::to_string(s.both) + " arrivals a call";
  if (s.drops) name += ", dropping";
  return name + ", n = " + std::to_string(s.threads);
}

template <class Wait>
void add_shape(const std::string& wait, shape s, std::vector<program>& to) {
  to.push_back({wait + ", " + name_of(s), s.threads, [s]() -> std::unique_ptr<scenario> {
                  return std::make_unique<phases<Wait, no_completion>>(s);
                }});
  // One leaf per participant makes two levels, and three with more than two participants. A
  // completion function needs the striped counters.
  s.few = 0;
  s.fan = 1;
  to.push_back(
      {wait + ", completion, " + name_of(s), s.threads, [s]() -> std::unique_ptr<scenario> {
         return std::make_unique<phases<Wait, count_phases>>(s);
       }});
}

}  // namespace

std::vector<subject> barrier_subjects() {
  subject made{"tutti::barrier", {}};
  for (rank_t n = 2; n <= 4; ++n)
    for (const bool drops : {false, true})
      for (const calls how : {calls::ranked, calls::anonymous}) {
        add_shape<spin_wait<checked>>("spin", {n, how, drops}, made.programs);
        add_shape<park_wait<checked, 1>>("park", {n, how, drops}, made.programs);
      }
  for (rank_t n = 2; n <= 3; ++n) {
    shape s{n, calls::split, false};
    add_shape<spin_wait<checked>>("spin", s, made.programs);
    s.both = 2;
    add_shape<park_wait<checked, 1>>("park", s, made.programs);
    made.programs.push_back(
        {"without waiting, completion, n = " + std::to_string(n), n,
         [n]() -> std::unique_ptr<scenario> { return std::make_unique<only_arriving>(n); }});
  }
  return {std::move(made)};
}

}  // namespace tutti::model
