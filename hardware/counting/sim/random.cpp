// SPDX-License-Identifier: Apache-2.0
// Runs the counting unit with constrained random threads on every path; the trace checker of
// tests/conformance judges the episodes. Each check returns what is wrong, or nothing.

#include <algorithm>
#include <random>
#include <string>

#include "hardware/counting/sim/crowd.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;
using reg::arrival_path;
using reg::departure_path;

constexpr rank_t most = THREADS;

std::string name_of(const crowd_options& o) {
  static const char* const arrivals[] = {"csr", "message", "memory"};
  static const char* const departures[] = {"csr", "lines", "line"};
  return std::to_string(o.threads) + " threads, arrival by " +
         arrivals[static_cast<int>(o.arrival)] + ", departure by " +
         departures[static_cast<int>(o.departure)] + ": ";
}

class scenario {
 public:
  explicit scenario(const arguments& with) : with_(with), bench_(with) { bench_.reset(); }

  std::string all() {
    const std::uint64_t episodes = std::max<std::uint64_t>(with_.cycles / 1'000, 10);
    for (const arrival_path a : {arrival_path::csr, arrival_path::message, arrival_path::memory})
      for (const departure_path d :
           {departure_path::csr, departure_path::lines, departure_path::line})
        for (const rank_t n : {most, std::min<rank_t>(most, 3)}) {
          if (a == arrival_path::message && n > 4) continue;
          crowd_options o;
          o.threads = n;
          o.arrival = a;
          o.departure = d;
          o.seed = with_.seed;
          o.shuffle_memory = true;
          o.memory_latency = d == departure_path::csr ? 1 : d == departure_path::lines ? 6 : 30;
          o.think = moody(with_.seed + n, 32, 1'000);
          std::string wrong = check_run(o, episodes);
          if (wrong.empty()) wrong = check_resets(o);
          if (wrong.empty() && n > 1) wrong = check_absent(o);
          if (!wrong.empty()) return name_of(o) + wrong;
        }
    if (std::string wrong = check_refusals(); !wrong.empty()) return wrong;
    if (most < 2) return {};
    if (std::string wrong = check_too_small_size(); !wrong.empty()) return wrong;
    return check_stale_flag();
  }

 private:
  std::string check_run(const crowd_options& o, std::uint64_t episodes) {
    crowd c(bench_, memory_, o);
    c.configure();
    if (!c.run(episodes, episodes * 40'000)) return "stuck";
    if (std::string wrong = test::check(c.passages(), o.threads, episodes); !wrong.empty())
      return wrong;
    // With one line for all, all threads leave in the same cycle.
    if (o.departure != departure_path::line && o.threads > 2 && episodes >= 50 && c.overlaps() == 0)
      return "generations never overlapped";
    if (const std::uint64_t e = c.read(reg::error); e != 0) return "errors " + std::to_string(e);
    if (const std::uint64_t e = c.read(reg::status); e != episodes)
      return "the unit counts " + std::to_string(e) + " episodes, not " + std::to_string(episodes);
    return {};
  }

  // A hard reset while some threads have arrived; afterwards the threads start again from episode
  // 0.
  std::string check_resets(const crowd_options& o) {
    crowd c(bench_, memory_, o);
    c.configure();
    std::mt19937_64 random(with_.seed);
    for (int round = 0; round < 20; ++round) {
      c.run(1'000'000, random() % (round % 2 == 0 ? 60 : 400));
      c.reset_by_software();
      if (!c.run(4, 200'000)) return "stuck after a reset";
      if (std::string wrong = test::check(c.passages(), o.threads, 4); !wrong.empty())
        return "after a reset: " + wrong;
    }
    return {};
  }

  // If one thread never arrives, no thread leaves.
  std::string check_absent(crowd_options o) {
    o.absent = static_cast<rank_t>(with_.seed % o.threads);
    crowd c(bench_, memory_, o);
    c.configure();
    if (c.run(1, 5'000)) return "threads left without participant " + std::to_string(o.absent);
    if (c.left(0) != 0) return "a thread left without participant " + std::to_string(o.absent);
    return {};
  }

  std::string check_refusals() {
    crowd_options o;
    o.threads = 1;
    crowd c(bench_, memory_, o);
    c.configure();
    const auto expect = [&](std::uint64_t address, std::uint64_t value, std::uint64_t bit) {
      c.write(reg::error, ~std::uint64_t{0});
      c.write(address, value);
      const std::uint64_t e = c.read(reg::error);
      return e == bit ? std::string{}
                      : "error register " + std::to_string(e) + " and not " + std::to_string(bit) +
                            " after a write of " + std::to_string(value) + " at " +
                            std::to_string(address);
    };
    for (const std::string& wrong :
         {expect(reg::size, 0, reg::bad_size), expect(reg::size, most + 1, reg::bad_size),
          expect(reg::arrival, 3, reg::bad_path), expect(reg::departure, 7, reg::bad_path),
          expect(reg::trigger(0, most), 1, reg::foreign_arrival)})
      if (!wrong.empty()) return wrong;
    if (c.read(reg::size) != 1) return "a refused size changed the size";
    // Messages exist for four threads only.
    if (most > 4) {
      c.write(reg::size, 5);
      if (std::string w = expect(reg::arrival, 1, reg::bad_path); !w.empty()) return w;
      c.write(reg::size, 4);
      c.write(reg::arrival, 1);
      if (std::string w = expect(reg::size, 5, reg::bad_size); !w.empty()) return w;
      if (std::string w = expect(reg::trigger(0, 0), 1, reg::wrong_path); !w.empty()) return w;
      c.write(reg::arrival, 0);
    }
    if (c.read(reg::id) != reg::id_value) return "wrong identity";
    if ((c.read(reg::capability) & 0xFFFF) != most) return "wrong capability";
    return {};
  }

  // The unit counts to one less than the number of threads; the checker must find it.
  std::string check_too_small_size() {
    crowd_options o;
    o.threads = most;
    o.believed = most - 1;
    o.think = [](rank_t t, std::uint64_t) { return std::uint64_t{t == most - 1 ? 100u : 0u}; };
    crowd c(bench_, memory_, o);
    c.configure();
    c.run(20, 100'000);
    if (test::check(c.passages(), most, 20).empty())
      return "the checker passes a unit with a size that is too small";
    return {};
  }

  // With arrivals by memory the flag alone is not enough: it still shows the last departure of this
  // copy.
  std::string check_stale_flag() {
    crowd_options o;
    o.threads = most;
    o.arrival = arrival_path::memory;
    o.flag_only = true;
    o.memory_latency = 100;
    o.think = moody(3, 32, 1'000);
    crowd c(bench_, memory_, o);
    c.configure();
    c.run(50, 1'000'000);
    if (test::check(c.passages(), most, 50).empty())
      return "a stale departure flag was never seen; it should have been";
    // The unit takes requests in order, so the flag is safe on this path.
    o.arrival = arrival_path::csr;
    o.think = moody(3, 32, 1'000);
    crowd safe(bench_, memory_, o);
    safe.configure();
    if (!safe.run(50, 1'000'000)) return "stuck with the flag";
    return test::check(safe.passages(), most, 50);
  }

  arguments with_;
  testbench bench_;
  main_memory memory_;
};

}  // namespace

int main(int argc, char** argv) {
  return run_harness(argc, argv, [](const arguments& with) { return scenario(with).all(); });
}
