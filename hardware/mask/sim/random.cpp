// SPDX-License-Identifier: Apache-2.0
// Drives the mask unit by its pins, with constrained random threads, arrivals delivered twice,
// strangers, and resets; measures the cycles from a common arrival to the last departure.

#include <algorithm>
#include <functional>

#include "hardware/driver/registers.hpp"
#include "hardware/flow/barrier_unit.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;
namespace reg = tutti::hardware;

struct plan {
  rank_t threads = 1;
  // If not 0, the size that the unit is given.
  rank_t believed = 0;
  rank_t absent = ~rank_t{0};
  // In one of this many cycles a thread's last arrival is delivered again; 0 for never.
  unsigned repeat = 0;
  std::function<std::uint64_t()> think = [] { return std::uint64_t{0}; };
};

class party : public unit_driver<party> {
  friend unit_driver<party>;

 public:
  party(testbench& bench, plan with, std::uint64_t seed)
      : bench_(bench), with_(std::move(with)), random_(seed), threads_(with_.threads) {
    write(reg::size, with_.believed != 0 ? with_.believed : with_.threads);
    write(reg::error, ~std::uint64_t{0});
    reset_by_software();
  }

  void reset_by_software() {
    write(reg::control, reg::control_enable | reg::control_reset);
    idle();
    // The contents of the pins' registers are gone too.
    idle();
    passages_.clear();
    for (thread& t : threads_) t = {.until = bench_.cycle() + with_.think()};
  }

  // Drives the pins of threads that take no part, for a cycle.
  void strangers(std::uint64_t pins) {
    bench_.top().pin_arrive_i = pins;
    bench_.top().pin_parity_i = 0;
    bench_.tick();
    idle();
    idle();
  }

  std::uint64_t repeated() const { return repeated_; }

 private:
  using thread = arriving_thread;

  bool done(std::uint64_t episodes) const { return all_passed(threads_, with_.absent, episodes); }

  void cycle(std::uint64_t episodes) {
    std::uint64_t arrive = 0, parity = 0;
    for (rank_t t = 0; t < with_.threads; ++t) {
      thread& me = threads_[t];
      const std::uint64_t bit = std::uint64_t{1} << t;
      if (!me.waits && t != with_.absent && me.episode < episodes && me.until <= bench_.cycle()) {
        me.waits = true;
        me.arrived = bench_.cycle();
        arrive |= bit;
        if (me.episode % 2 != 0) parity |= bit;
      } else if (with_.repeat != 0 && random_() % with_.repeat == 0 &&
                 (me.waits || me.episode > 0)) {
        // Repeats the last arrival.
        arrive |= bit;
        if ((me.waits ? me.episode : me.episode - 1) % 2 != 0) parity |= bit;
        ++repeated_;
      }
    }
    bench_.top().pin_arrive_i = arrive;
    bench_.top().pin_parity_i = parity;
    bench_.settle();
    const std::uint64_t sense = bench_.top().pin_sense_o;
    for (rank_t t = 0; t < with_.threads; ++t) {
      thread& me = threads_[t];
      if (!me.waits || me.arrived == bench_.cycle() || (sense >> t & 1) == me.episode % 2) continue;
      passages_.push_back({t, me.episode, me.arrived, bench_.cycle()});
      ++me.episode;
      me.waits = false;
      me.until = bench_.cycle() + 1 + with_.think();
    }
    bench_.tick();
  }

  void idle() {
    bench_.top().pin_arrive_i = 0;
    bench_.tick();
  }

  std::uint64_t request(std::uint64_t address, bool write, std::uint64_t value) {
    model& top = bench_.top();
    top.pin_arrive_i = 0;
    top.req_valid_i = 1;
    top.req_write_i = write;
    top.req_addr_i = static_cast<std::uint16_t>(address);
    top.req_data_i = value;
    bench_.settle();
    const std::uint64_t answer = top.rsp_data_o;
    bench_.tick();
    top.req_valid_i = 0;
    return answer;
  }

  testbench& bench_;
  plan with_;
  std::mt19937_64 random_;
  std::vector<thread> threads_;
  std::uint64_t repeated_ = 0;
};

std::string lives(testbench& bench, const arguments& with, rank_t n) {
  const std::uint64_t episodes = std::max<std::uint64_t>(with.cycles / 400, 20);
  party p(bench, {.threads = n, .repeat = 8, .think = moody(with.seed, 32, 500)}, with.seed);
  if (!p.run(episodes, episodes * 2'000)) return "stuck";
  if (std::string wrong = test::check(p.passages(), n, episodes); !wrong.empty()) return wrong;
  const std::uint64_t errors = p.read(reg::error);
  if (p.repeated() != 0 && errors != reg::arrived_again)
    return "the error register is " + std::to_string(errors) + " after repeated arrivals";
  if (const std::uint64_t e = p.read(reg::status); e != episodes)
    return "the unit counts " + std::to_string(e) + " episodes, not " + std::to_string(episodes);
  return survives_resets(p, n);
}

std::string misuse(testbench& bench, rank_t n) {
  if (n < 2) return {};
  party lonely(bench, {.threads = n, .absent = n / 2}, 1);
  if (lonely.run(1, 2'000) || !lonely.passages().empty())
    return "a thread left before all had arrived";
  const std::uint64_t all = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
  if (lonely.read(reg::arrived0) != (all & ~(std::uint64_t{1} << n / 2)))
    return "the unit does not know who is missing";
  party few(bench, {.threads = n, .believed = n - 1, .think = moody(3, 32, 500)}, 1);
  few.run(50, 20'000);
  if (test::check(few.passages(), n, 50).empty())
    return "the checker passes a unit with a size that is too small";
  party two(bench, {.threads = n - 1}, 1);
  two.strangers(std::uint64_t{1} << (n - 1));
  if (two.read(reg::error) != reg::foreign_arrival) return "a stranger's arrival is not reported";
  if (two.read(reg::arrived0) != 0) return "a stranger's arrival counts";
  return {};
}

std::string measure(testbench& bench, rank_t n) {
  party once(bench, {.threads = n}, 1);
  if (!once.run(1, 100)) return "stuck";
  const std::uint64_t cycles = once.passages().back().leave - once.passages().front().arrive + 1;
  constexpr std::uint64_t episodes = 100;
  party again(bench, {.threads = n}, 1);
  const std::uint64_t begin = bench.cycle();
  if (!again.run(episodes, 10'000)) return "stuck";
  const double each = static_cast<double>(bench.cycle() - begin) / episodes;
  std::printf(
      "{\"participants\": %u, \"arrival\": \"pins\", \"departure\": \"pins\", \"cycles\": %llu, "
      "\"cycles_again\": %.2f}\n",
      n, static_cast<unsigned long long>(cycles), each);
  return cycles <= 8 ? std::string{} : "more than 8 cycles: " + std::to_string(cycles);
}

}  // namespace

int main(int argc, char** argv) {
  return run_after_reset(argc, argv, [](testbench& bench, const arguments& with) {
    return check_sizes(bench, with, THREADS, lives, misuse, measure);
  });
}
