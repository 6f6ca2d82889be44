// SPDX-License-Identifier: Apache-2.0
// Checks the word of a barrier between processes: phases, participants that leave, and one that
// dies, whose end some other participant reports.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tests/model/checked.hpp"
#include "tests/model/data_check.hpp"
#include "tests/model/subjects.hpp"
#include "tutti/barrier/shared_phases.hpp"
#include "tutti/wait/between_processes.hpp"
#include "tutti/wait/park.hpp"
#include "tutti/wait/spin.hpp"

namespace tutti::model {
namespace {

// How a participant ends before the last phase.
enum class ending { none, leaving, leaving_after_arrival, dying };

template <class Wait>
class shared : public scenario {
 public:
  using phases = shared_phases<checked, Wait>;
  using outcome = typename phases::outcome;

  shared(rank_t threads, ending how)
      : n_(threads), how_(how), count_(episodes_for(threads)), phases_(threads) {
    ends_in_ = how == ending::none ? count_ : rl::rand(count_);
  }

  void thread(rank_t rank) override {
    typename phases::wait_state mine{};
    for (unsigned at = 0; at < count_; ++at) {
      board_.write(at, rank);
      if (rank == n_ - 1 && at == ends_in_) return end();
      // Nobody sees the end of a process in the word. The waiters of this model find it in another
      // one, as those of the library do, and all that see it report it.
      std::uint32_t phase = 0;
      const bool counts = phases_.arrive(phase);
      // relaxed: it must not help the barrier to order anything.
      if (how_ == ending::dying && dead_.load(relaxed) != 0)
        phases_.break_for(n_ - 1, dead_process);
      // A broken barrier tells why without a wait, too.
      if (!counts && phases_.is_broken()) return check_casualty(at);
      const outcome how = phases_.wait(phase, mine);
      if (how == outcome::broken) return check_casualty(at);
      RL_ASSERT(counts && how == outcome::ended && phase == at);
      const bool is_short = how_ != ending::none && at >= ends_in_;
      board_.check_all(at, is_short ? n_ - 1 : n_);
      if (is_short && how_ != ending::dying && at == ends_in_) board_.check(at, n_ - 1);
    }
  }

 private:
  static constexpr std::int32_t dead_process = 77;

  void end() {
    switch (how_) {
      case ending::leaving: return phases_.leave(false, 0);
      case ending::leaving_after_arrival: {
        std::uint32_t phase = 0;
        RL_ASSERT(phases_.arrive(phase));
        return phases_.leave(true, phase);
      }
      default:
        // The kernel sets a bit and wakes a waiter, who reports.
        // relaxed: see thread().
        dead_.store(1, relaxed);
        phases_.break_for(n_ - 1, dead_process);
    }
  }

  void check_casualty(unsigned at) {
    RL_ASSERT(how_ == ending::dying && at >= ends_in_);
    RL_ASSERT(phases_.died().rank == n_ - 1 && phases_.died().process == dead_process);
    // All agree that the phases before have ended.
    std::uint32_t phase = 0;
    RL_ASSERT(!phases_.arrive(phase) && phase == ends_in_);
  }

  rank_t n_;
  ending how_;
  unsigned count_;
  unsigned ends_in_;
  checked_atomic<std::uint32_t> dead_{0};
  phases phases_;
  board board_;
};

template <class Wait>
void add(const std::string& wait, rank_t n, std::vector<program>& to) {
  constexpr const char* names[] = {"", ", leaving", ", leaving after its arrival", ", dying"};
  for (const ending how :
       {ending::none, ending::leaving, ending::leaving_after_arrival, ending::dying})
    to.push_back(
        {wait + names[static_cast<int>(how)] + ", n = " + std::to_string(n), n,
         [=]() -> std::unique_ptr<scenario> { return std::make_unique<shared<Wait>>(n, how); }});
}

}  // namespace

std::vector<subject> shared_subjects() {
  subject made{"between processes", {}};
  for (rank_t n = 2; n <= 3; ++n) {
    add<spin_wait<checked>>("spin", n, made.programs);
    add<park_wait<checked, 1>>("park", n, made.programs);
  }
  add<process_wait<checked>>("process", 2, made.programs);
  return {std::move(made)};
}

}  // namespace tutti::model
