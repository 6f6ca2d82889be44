// SPDX-License-Identifier: Apache-2.0
// The list of wait policies. What chooses one by name, the conformance suite, the model checker,
// the C interface, the benchmarks, `tutti info` and the table of docs/waiting.md are made from it.
// A new policy is a header and an entry here.
// Hosted only: it names the policies by std::string_view.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "tutti/platform/monitor.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/monitor.hpp"
#include "tutti/wait/park.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/spin.hpp"
#include "tutti/wait/yield.hpp"

namespace tutti {

struct wait_info {
  std::string_view name;
  std::string_view summary;
  std::string_view best_when;
  std::string_view fails_when;
  // A waiter never gives its core away, so waits are slow if there are more threads than cores.
  bool burns_the_core = false;
  // Whether this machine has what the policy needs.
  bool (*available)() noexcept = []() noexcept { return true; };
  // The list sets it if the policy has a function set_patience.
  bool has_patience = false;
};

namespace registry {

// An entry describes a wait policy and names its type for a memory policy. `Shortest` is the same
// policy with as few polls as possible, for the model checker.
template <template <class> class Wait, template <class> class Shortest = Wait>
struct wait_entry {
  template <class Memory>
  using type = Wait<Memory>;
  template <class Memory>
  using shortest = Shortest<Memory>;
};

template <class M>
using park_after_100 = park_wait<M, 100>;
template <class M>
using park_after_1 = park_wait<M, 1>;

struct adaptive : wait_entry<adaptive_wait> {
  static constexpr wait_info info{
      "adaptive",
      "spins, yields or parks, depending on what it has learned about the cores; the default",
      "always: it is the default", "see the last section"};
};
struct spin : wait_entry<spin_wait> {
  static constexpr wait_info info{
      "spin", "polls; for cores that no other thread uses",
      "every participant has a core of its own",
      "two participants share a core: an episode takes a time slice of the scheduler, which is "
      "milliseconds",
      true};
};
struct yield : wait_entry<yield_wait> {
  static constexpr wait_info info{
      "yield", "polls 8 times, then yields the core between two polls",
      "there are more participants than cores, and no other process is busy",
      "another process is busy: each yield can cost that process's whole slice"};
};
struct park : wait_entry<park_after_100, park_after_1> {
  static constexpr wait_info info{
      "park", "polls 100 times, then sleeps on a futex",
      "there are more participants than cores, and another process is busy",
      "otherwise: a wake-up takes 10 to 50 µs"};
};
struct monitor : wait_entry<monitor_wait> {
  static constexpr wait_info info{
      "monitor",
      "halts the core until the line changes (umwait, mwaitx, wfe)",
      "`spin` would be the best: it takes less power and leaves the other hyper-thread more of the "
      "core",
      "`spin` fails",
      true,
      []() noexcept { return platform::monitor() != platform::monitor_kind::none; }};
};

using waits = std::tuple<adaptive, spin, yield, park, monitor>;

template <class Wait>
constexpr wait_info info_of_wait() noexcept {
  wait_info info = Wait::info;
  info.has_patience = requires(typename Wait::template type<native> & wait, patience p) {
    wait.set_patience(p);
  };
  return info;
}

}  // namespace registry

// The same list as values.
inline constexpr auto wait_policies = []<class... W>(std::tuple<W...>*) {
  return std::array{registry::info_of_wait<W>()...};
}(static_cast<registry::waits*>(nullptr));

// The wait policy of what is made without a name.
inline constexpr std::string_view default_wait = registry::adaptive::info.name;

}  // namespace tutti
