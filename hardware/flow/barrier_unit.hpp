// SPDX-License-Identifier: Apache-2.0
// What the testbenches of barrier units share: drivers, the pauses of threads, episodes cut by
// resets, and the numbers of threads to try.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "hardware/flow/testbench.hpp"
#include "tests/conformance/trace.hpp"

namespace tutti::rtl {

// A function that draws a pause: none, below `usual`, or now and then below `longest`. Its
// arguments do not matter.
inline auto moody(std::uint64_t seed, std::uint64_t usual, std::uint64_t longest) {
  return [random = std::mt19937_64(seed), usual, longest](auto...) mutable -> std::uint64_t {
    const auto mood = random() % 16;
    return mood < 8 ? 0 : mood < 15 ? random() % usual : random() % longest;
  };
}

// Threads at a unit's ports, and its registers. Derived has cycle(episodes), which steps everything
// by a cycle, done(episodes), which tells whether all threads have passed so many episodes, and
// request(address, write, value).
template <class Derived>
class unit_driver {
 public:
  bool run(std::uint64_t episodes, std::uint64_t most_cycles) {
    for (std::uint64_t c = 0; c < most_cycles && !self().done(episodes); ++c)
      self().cycle(episodes);
    return self().done(episodes);
  }

  void write(std::uint64_t address, std::uint64_t value) { self().request(address, true, value); }
  std::uint64_t read(std::uint64_t address) { return self().request(address, false, 0); }

  const test::trace& passages() const { return passages_; }

 protected:
  test::trace passages_;

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
};

// A thread that arrives and then waits.
struct arriving_thread {
  // It pauses until this cycle, and last arrived in that one.
  std::uint64_t until = 0, arrived = 0;
  std::uint64_t episode = 0;
  bool waits = false;
};

// Whether all threads but `absent` have passed so many episodes.
template <class Threads>
bool all_passed(const Threads& threads, rank_t absent, std::uint64_t episodes) {
  for (rank_t t = 0; t < threads.size(); ++t)
    if (t != absent && threads[t].episode < episodes) return false;
  return true;
}

// Resets the unit in the middle of episodes. Driver stands for n threads at the unit's ports:
// run(episodes, most_cycles), reset_by_software() and passages().
template <class Driver>
std::string survives_resets(Driver& driver, rank_t n) {
  for (int round = 0; round < 10; ++round) {
    driver.run(1'000'000, 1 + static_cast<std::uint64_t>(round) * 7);
    driver.reset_by_software();
    if (!driver.run(4, 100'000)) return "stuck after a reset";
    if (std::string wrong = test::check(driver.passages(), n, 4); !wrong.empty())
      return "after a reset: " + wrong;
  }
  return {};
}

// Calls lives(bench, arguments, n) and misuse(bench, n) for the most threads and for half as many,
// then measure(bench, n) for every number. Each returns what went wrong.
template <class Lives, class Misuse, class Measure>
std::string check_sizes(testbench& bench, const arguments& with, rank_t most, Lives lives,
                        Misuse misuse, Measure measure) {
  for (const rank_t n : {most, std::max<rank_t>(most / 2, 1)}) {
    std::string wrong = lives(bench, with, n);
    if (wrong.empty()) wrong = misuse(bench, n);
    if (!wrong.empty()) return std::to_string(n) + " threads: " + wrong;
  }
  for (rank_t n = 1; n <= most; ++n)
    if (std::string wrong = measure(bench, n); !wrong.empty())
      return std::to_string(n) + " threads: " + wrong;
  return {};
}

}  // namespace tutti::rtl
