// SPDX-License-Identifier: Apache-2.0
// The providers on which the suite runs: every algorithm of the registry with every wait policy
// that this machine has, std::barrier as a control, and barriers that are broken in known ways.
#pragma once

#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/waits.hpp"
#include "tutti.h"
#include "tutti/registry.hpp"

namespace tutti::test {

using arrival = std::function<void(rank_t)>;

struct provider {
  std::string algorithm;
  std::string wait;
  // Any thread may come; ranks have no meaning.
  bool anonymous = false;
  std::function<arrival(rank_t n)> make;
  // The same with all functions of a barrier chosen at run time; empty for other providers.
  std::function<std::unique_ptr<any_barrier>(rank_t n)> make_any = {};

  bool burns_the_core() const { return tutti::test::burns_the_core(wait); }
  std::string name() const { return algorithm + (wait.empty() ? "" : "_" + wait); }
};
inline std::ostream& operator<<(std::ostream& out, const provider& p) { return out << p.name(); }

// For INSTANTIATE_TEST_SUITE_P.
inline constexpr auto name_of_parameter = [](const auto& test) { return test.param.name(); };

inline provider from_maker(std::string_view algorithm, const wait_info& wait, bool anonymous,
                           std::function<std::unique_ptr<any_barrier>(rank_t n)> make_any) {
  const auto make = [make_any](rank_t n) -> arrival {
    return [barrier = std::shared_ptr<any_barrier>(make_any(n))](rank_t rank) {
      barrier->arrive_and_wait(rank);
    };
  };
  return {std::string(algorithm), std::string(wait.name), anonymous, make, std::move(make_any)};
}

inline provider from_registry(std::string_view algorithm, const wait_info& wait, bool anonymous) {
  return from_maker(algorithm, wait, anonymous,
                    [a = std::string(algorithm), w = std::string(wait.name)](rank_t n) {
                      return make_barrier(a, n, w);
                    });
}

// The C interface: algorithm NULL or a name, with or without ranks.
inline provider from_c(const char* algorithm, bool anonymous) {
  const std::string name = "c_" + std::string(algorithm == nullptr ? "null" : algorithm) +
                           (anonymous ? "_rankless" : "");
  const auto make = [algorithm, anonymous](rank_t n) -> arrival {
    tutti_barrier* made = nullptr;
    if (const int error = tutti_barrier_create(&made, n, algorithm, nullptr))
      throw std::runtime_error(tutti_strerror(error));
    const std::shared_ptr<tutti_barrier> barrier(made, tutti_barrier_destroy);
    return [barrier, anonymous](rank_t rank) {
      const int error = anonymous ? tutti_barrier_arrive_and_wait(barrier.get())
                                  : tutti_barrier_wait(barrier.get(), rank);
      if (error != TUTTI_OK) throw std::runtime_error(tutti_strerror(error));
    };
  };
  return {name, "", anonymous, make};
}

inline std::vector<provider> c_providers() {
  return {from_c(nullptr, false), from_c(nullptr, true), from_c("pool", true),
          from_c("striped", true)};
}

// All providers that this machine can run.
inline std::vector<provider> providers() {
  std::vector<provider> all;
  all.push_back(
      from_registry(default_algorithm, *detail::find_by_name(wait_policies, default_wait), false));
  all.push_back(from_registry(default_rankless_algorithm,
                              *detail::find_by_name(wait_policies, default_wait), true));
  for (const algorithm_info& algorithm : algorithms)
    for (const wait_info& wait : wait_policies)
      if (wait.available()) all.push_back(from_registry(algorithm.name, wait, algorithm.anonymous));
  all.push_back({"std_barrier", "", true, [](rank_t n) -> arrival {
                   auto barrier = std::make_shared<std::barrier<>>(static_cast<std::ptrdiff_t>(n));
                   return [barrier](rank_t) { barrier->arrive_and_wait(); };
                 }});
  return all;
}

inline std::vector<provider> providers_where(const std::function<bool(const provider&)>& fits) {
  std::vector<provider> some;
  for (const provider& p : providers())
    if (fits(p)) some.push_back(p);
  return some;
}

// A central barrier that can be broken on purpose.
struct spoilt_barrier {
  // The number to which it counts.
  rank_t expected = 0;
  std::memory_order arrive = acq_rel, leave = acquire;
  // A rank that now and then does not wait.
  rank_t hurries = ~rank_t{0};
  // It ends the test of a broken barrier.
  std::chrono::milliseconds patience{3'600'000};

  std::atomic<rank_t> arrived{0};
  std::atomic<std::uint32_t> episode{0};
  std::atomic<std::uint32_t> calls{0};

  void arrive_and_wait(rank_t rank) {
    const std::uint32_t mine = episode.load(relaxed);
    if (arrived.fetch_add(1, arrive) + 1 == expected) {
      arrived.store(0, relaxed);
      episode.fetch_add(1, arrive);
      return;
    }
    if (rank == hurries && calls.fetch_add(1, relaxed) % 5 == 4) return;
    const auto end = std::chrono::steady_clock::now() + patience;
    while (episode.load(leave) == mine && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  }
};

}  // namespace tutti::test
