// SPDX-License-Identifier: Apache-2.0
// A wait policy chosen by name at run time. It costs one integer comparison per wait.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "tutti/platform/misuse.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/monitor.hpp"
#include "tutti/wait/park.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/spin.hpp"
#include "tutti/wait/yield.hpp"

namespace tutti {

template <class Memory = native>
class any_wait {
  enum class policy { adaptive, spin, yield, park, monitor };

 public:
  using wait_state = typename adaptive_wait<Memory>::wait_state;

  // Throws std::invalid_argument for a name that registry.hpp does not list, and for patience with
  // a policy that has none.
  explicit any_wait(rank_t participants, std::string_view name = "adaptive", patience p = {})
      : policy_(policy_of(name)), adaptive_(participants, p), park_(participants) {
    if (!p.is_open() && policy_ != policy::adaptive)
      refuse("wait policy '" + std::string(name) +
             "' has no patience: it always waits in its own way (adaptive has)");
  }

  // Returns false if the policy has no patience.
  bool set_patience(patience p) noexcept {
    return policy_ == policy::adaptive && adaptive_.set_patience(p);
  }

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(wait_state& mine, const Word& word, std::memory_order order, Ready ready,
             Deadline until = {}) noexcept {
    switch (policy_) {
      case policy::adaptive: return adaptive_.until(mine, word, order, ready, until);
      case policy::park: {
        typename park_wait<Memory>::wait_state none;
        return park_.until(none, word, order, ready, until);
      }
      case policy::yield: return stateless<yield_wait<Memory>>(word, order, ready, until);
      case policy::monitor: return stateless<monitor_wait<Memory>>(word, order, ready, until);
      case policy::spin: break;
    }
    return stateless<spin_wait<Memory>>(word, order, ready, until);
  }

  template <class Word>
  void notify(const Word& word) noexcept {
    if (policy_ == policy::adaptive) return adaptive_.notify(word);
    if (policy_ == policy::park) park_.notify(word);
  }
  template <class Word>
  void notify_ordered(const Word& word) noexcept {
    if (policy_ == policy::adaptive) return adaptive_.notify_ordered(word);
    if (policy_ == policy::park) park_.notify_ordered(word);
  }

 private:
  template <class Wait, class Word, class Ready, class Deadline>
  static bool stateless(const Word& word, std::memory_order order, Ready ready,
                        Deadline until) noexcept {
    typename Wait::wait_state none;
    return Wait(1).until(none, word, order, ready, until);
  }

  static policy policy_of(std::string_view name) {
    if (name == "adaptive") return policy::adaptive;
    if (name == "spin") return policy::spin;
    if (name == "yield") return policy::yield;
    if (name == "park") return policy::park;
    if (name == "monitor") return policy::monitor;
    refuse("wait policy '" + std::string(name) +
           "' is not one of adaptive, spin, yield, park, monitor");
  }

  policy policy_;
  adaptive_wait<Memory> adaptive_;
  park_wait<Memory> park_;
};

}  // namespace tutti
