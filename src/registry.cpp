// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the registry with every wait policy, compiled once and found by name.

#include "tutti/registry.hpp"

#include <string>
#include <type_traits>

#include "tutti/barrier/barrier.hpp"

namespace tutti {
namespace {

template <class Barrier>
class wrapped final : public any_barrier {
 public:
  explicit wrapped(std::unique_ptr<Barrier> barrier) : barrier_(std::move(barrier)) {}

  void arrive_and_wait(rank_t rank) override { barrier_->arrive_and_wait(rank); }
  bool arrive_and_wait(rank_t rank, deadline until) override {
    return barrier_->arrive_and_wait(rank, until);
  }
  void episodes(rank_t rank, std::uint64_t count) override {
    for (; count > 0; --count) barrier_->arrive_and_wait(rank);
  }
  rank_t participants() const noexcept override { return barrier_->participants(); }

 private:
  std::unique_ptr<Barrier> barrier_;
};

// tutti::barrier as a user has it in a release build.
template <bool Ranked>
class wrapped_default final : public any_barrier {
 public:
  explicit wrapped_default(rank_t n) : n_(n), barrier_(static_cast<std::ptrdiff_t>(n)) {}

  void arrive_and_wait(rank_t rank) override { meet(rank); }
  bool arrive_and_wait(rank_t rank, deadline until) override {
    using clock = std::chrono::steady_clock;
    const clock::time_point when{std::chrono::nanoseconds(until.ns())};
    if constexpr (Ranked) return static_cast<bool>(barrier_.arrive_and_wait_until(rank, when));
    return static_cast<bool>(barrier_.arrive_and_wait_until(when));
  }
  void episodes(rank_t rank, std::uint64_t count) override {
    for (; count > 0; --count) meet(rank);
  }
  rank_t participants() const noexcept override { return n_; }

 private:
  void meet(rank_t rank) {
    if constexpr (Ranked)
      barrier_.arrive_and_wait(rank);
    else
      barrier_.arrive_and_wait();
  }

  rank_t n_;
  barrier<no_completion, false> barrier_;
};

template <class Algorithm, class Wait>
std::unique_ptr<any_barrier> make(rank_t n) {
  using policy = typename Wait::template type<native>;
  auto made = Algorithm::template make<native, policy>(n);
  return std::make_unique<wrapped<typename std::remove_reference_t<decltype(made)>::element_type>>(
      std::move(made));
}

// Calls visit(Entry{}) for the entry of this name; false if there is none.
template <class Name, class Visit, class... Entry>
bool find(std::string_view name, std::tuple<Entry...>*, Name name_of, Visit visit) {
  return ((name_of(Entry{}) == name && (visit(Entry{}), true)) || ...);
}

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

void require_wait(std::string_view wait) {
  std::string known;
  for (const wait_info& policy : wait_policies) {
    known += (known.empty() ? "" : ", ") + std::string(policy.name);
    if (policy.name != wait) continue;
    if (!policy.available())
      refuse("wait policy " + quoted(wait) + " needs an instruction that this CPU lacks");
    return;
  }
  refuse("unknown wait policy " + quoted(wait) + " (known: " + known + ")");
}

[[noreturn]] void refuse_algorithm(std::string_view algorithm) {
  std::string known =
      std::string(default_algorithm) + ", " + std::string(default_rankless_algorithm);
  for (const algorithm_info& info : algorithms) known += ", " + std::string(info.name);
  refuse("unknown barrier algorithm " + quoted(algorithm) + " (known: " + known + ")");
}

}  // namespace

std::unique_ptr<any_barrier> make_barrier(std::string_view algorithm, rank_t participants,
                                          std::string_view wait) {
  if (participants == 0 || participants > barrier<>::max())
    refuse("a barrier is for 1 to " + std::to_string(barrier<>::max()) + " participants, not " +
           std::to_string(participants));
  require_wait(wait);

  const bool ranked = algorithm == default_algorithm;
  if (ranked || algorithm == default_rankless_algorithm) {
    if (wait != registry::adaptive::name)
      refuse("algorithm " + quoted(algorithm) + " always waits adaptively, not by " + quoted(wait));
    if (ranked) return std::make_unique<wrapped_default<true>>(participants);
    return std::make_unique<wrapped_default<false>>(participants);
  }

  std::unique_ptr<any_barrier> made;
  const auto make_with = [&]<class Algorithm>(Algorithm) {
    find(
        wait, static_cast<registry::waits*>(nullptr),
        [](auto entry) { return decltype(entry)::name; },
        [&]<class Wait>(Wait) { made = make<Algorithm, Wait>(participants); });
  };
  if (!find(
          algorithm, static_cast<registry::algorithms*>(nullptr),
          [](auto entry) { return decltype(entry)::info.name; }, make_with))
    refuse_algorithm(algorithm);
  return made;
}

}  // namespace tutti
