// SPDX-License-Identifier: Apache-2.0
// Finds algorithms, wait policies and providers by name.

// The barrier that tutti chooses reports no misuse here, as in a release build.
#define TUTTI_CHECKS 0
#include "tutti/registry.hpp"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "src/registry_waiting.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/barrier/provider.hpp"
#include "tutti/platform/cpu_quota.hpp"
#include "tutti/platform/names.hpp"

namespace tutti {

namespace {
// A program that links the static library gets the file with the quota only if something calls it.
// This call makes every program that uses barriers by name get it.
[[maybe_unused]] const bool quota_counts = platform::tell_quota_to_headers();

// tutti::barrier.
template <bool Ranked>
class wrapped_default final : public any_barrier {
 public:
  wrapped_default(rank_t n, patience p)
      : n_(n), barrier_(static_cast<std::ptrdiff_t>(n), barrier_options{.patience = p}) {}

  void arrive_and_wait(rank_t rank) override { meet(rank); }
  bool arrive_and_wait(rank_t rank, deadline until) override {
    if constexpr (Ranked)
      return barrier_.arrive_and_wait_until(rank, time_of(until)).in_time;
    else
      return barrier_.arrive_and_wait_until(time_of(until)).in_time;
  }
  void episodes(rank_t rank, std::uint64_t count) override {
    for (; count > 0; --count) meet(rank);
  }
  rank_t participants() const noexcept override { return n_; }
  bool set_patience(patience p) noexcept override { return barrier_.set_patience(p); }

  bool is_anonymous() const noexcept override { return true; }
  void arrive_and_wait_without_rank() override { barrier_.arrive_and_wait(); }
  bool arrive_and_wait_without_rank(deadline until, rank_t& missing) override {
    const timed_result told = barrier_.arrive_and_wait_until(time_of(until));
    missing = told.missing;
    return told.in_time;
  }

 private:
  // The clock counts signed nanoseconds, so no deadline at all becomes one in 292 years.
  static std::chrono::steady_clock::time_point time_of(deadline until) noexcept {
    constexpr auto latest = static_cast<std::uint64_t>(std::chrono::nanoseconds::max().count());
    const auto ns = static_cast<std::int64_t>(smaller(until.ns(), latest));
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
  }

  void meet([[maybe_unused]] rank_t rank) {
    if constexpr (Ranked)
      barrier_.arrive_and_wait(rank);
    else
      barrier_.arrive_and_wait();
  }

  rank_t n_;
  barrier<> barrier_;
};

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

void require_wait(std::string_view wait) {
  const wait_info* policy = detail::find_by_name(wait_policies, wait);
  if (policy == nullptr)
    refuse("unknown wait policy " + quoted(wait) + " (known: " + detail::names_of(wait_policies) +
           ")");
  if (!policy->available())
    refuse("wait policy " + quoted(wait) + " needs an instruction that this CPU lacks");
}

// All providers. The object is made at the first use and never destroyed, because barriers may be
// made while the program ends.
struct providers {
  std::mutex lock;
  std::map<std::string, barrier_provider, std::less<>> by_name;

  static providers& all() {
    static auto& made = *new providers;
    return made;
  }
  // Returns an empty function if there is no provider with this name.
  barrier_provider find(std::string_view name) {
    const std::scoped_lock guard(lock);
    const auto found = by_name.find(name);
    return found != by_name.end() ? found->second : barrier_provider{};
  }
  std::vector<std::string> names() {
    const std::scoped_lock guard(lock);
    std::vector<std::string> all_names;
    for (const auto& [name, provider] : by_name) all_names.push_back(name);
    return all_names;
  }
};

bool is_of_the_registry(std::string_view name) {
  if (name == default_algorithm || name == default_rankless_algorithm) return true;
  return detail::find_by_name(algorithms, name) != nullptr;
}

[[noreturn]] void refuse_algorithm(std::string_view algorithm) {
  std::string known = std::string(default_algorithm) + ", " +
                      std::string(default_rankless_algorithm) + ", " + detail::names_of(algorithms);
  for (const std::string& name : providers::all().names()) known += ", " + name;
  refuse("unknown barrier algorithm " + quoted(algorithm) + " (known: " + known + ")");
}

std::unique_ptr<any_barrier> make_default(std::string_view algorithm, rank_t n,
                                          std::string_view wait, patience p) {
  if (wait != default_wait)
    refuse("algorithm " + quoted(algorithm) + " always waits adaptively, not by " + quoted(wait));
  if (algorithm == default_algorithm) return std::make_unique<wrapped_default<true>>(n, p);
  return std::make_unique<wrapped_default<false>>(n, p);
}

void require_count(rank_t participants) {
  if (participants == 0 || participants > barrier<>::max())
    refuse("a barrier is for 1 to " + std::to_string(barrier<>::max()) + " participants, not " +
           std::to_string(participants));
}

// Sets the patience that the program chose. Throws if the wait policy has no patience.
template <class Made>
void give_patience(Made& made, std::string_view wait, patience p) {
  if (p.is_open() || made.set_patience(p)) return;
  refuse("wait policy " + quoted(wait) + " has no patience; of the wait policies only " +
         detail::names_where(wait_policies, [](const wait_info& w) { return w.has_patience; }) +
         " has one");
}

// Tries each wait policy of the registry until the name fits.
template <class... Wait>
std::unique_ptr<any_barrier> make_named(std::string_view algorithm, rank_t n, std::string_view wait,
                                        std::tuple<Wait...>*) {
  std::unique_ptr<any_barrier> made;
  (void)((Wait::info.name == wait &&
          (made = detail::waiting<Wait>::make_barrier(algorithm, n), true)) ||
         ...);
  return made;
}

template <class... Wait>
std::unique_ptr<any_region> make_named_region(std::string_view algorithm, rank_t n,
                                              std::string_view wait, std::tuple<Wait...>*) {
  std::unique_ptr<any_region> made;
  (void)((Wait::info.name == wait &&
          (made = detail::waiting<Wait>::make_region(algorithm, n), true)) ||
         ...);
  return made;
}

}  // namespace

std::unique_ptr<any_barrier> make_barrier(std::string_view algorithm, rank_t participants,
                                          std::string_view wait, patience p) {
  require_count(participants);
  require_wait(wait);
  if (algorithm == default_algorithm || algorithm == default_rankless_algorithm)
    return make_default(algorithm, participants, wait, p);
  auto made = make_named(algorithm, participants, wait, static_cast<registry::waits*>(nullptr));
  if (made != nullptr) {
    give_patience(*made, wait, p);
    return made;
  }
  // The provider is called without the lock, because it may take long.
  const barrier_provider provider = providers::all().find(algorithm);
  if (!provider) refuse_algorithm(algorithm);
  if (wait != default_wait)
    refuse("the provider of " + quoted(algorithm) +
           " decides how to wait: it takes no wait policy " + quoted(wait));
  made = provider(participants);
  if (made == nullptr || made->participants() != participants)
    refuse("the provider of " + quoted(algorithm) + " made no barrier for " +
           std::to_string(participants) + " participants");
  if (!p.is_open() && !made->set_patience(p))
    refuse("the provider of " + quoted(algorithm) + " decides how to wait: it takes no patience");
  return made;
}

void add_barrier_provider(std::string_view name, barrier_provider provider) {
  if (name.empty() || !provider) refuse("a barrier provider needs a name and a function");
  if (is_of_the_registry(name))
    refuse("barrier algorithm " + quoted(name) +
           " belongs to the registry: the provider needs another name");
  providers& all = providers::all();
  const std::scoped_lock guard(all.lock);
  if (!all.by_name.emplace(name, std::move(provider)).second)
    refuse("a barrier provider " + quoted(name) + " exists already");
}

std::vector<std::string> barrier_provider_names() { return providers::all().names(); }

bool is_barrier_name(std::string_view name) noexcept {
  if (is_of_the_registry(name)) return true;
  providers& all = providers::all();
  const std::scoped_lock guard(all.lock);
  return all.by_name.find(name) != all.by_name.end();
}

void remove_barrier_provider(std::string_view name) noexcept {
  providers& all = providers::all();
  const std::scoped_lock guard(all.lock);
  const auto found = all.by_name.find(name);
  if (found != all.by_name.end()) all.by_name.erase(found);
}

std::unique_ptr<any_region> make_region(std::string_view algorithm, rank_t participants,
                                        std::string_view wait, patience p) {
  require_count(participants);
  require_wait(wait);
  auto made =
      make_named_region(algorithm, participants, wait, static_cast<registry::waits*>(nullptr));
  if (made == nullptr) refuse_algorithm(algorithm);
  give_patience(*made, wait, p);
  return made;
}

}  // namespace tutti
