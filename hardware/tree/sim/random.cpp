// SPDX-License-Identifier: Apache-2.0
// Runs the tree unit with a queue at every port, constrained random threads, and resets; measures
// the cycles of threads that arrive together and again at once.

#include <algorithm>
#include <deque>
#include <functional>

#include "hardware/driver/registers.hpp"
#include "hardware/flow/barrier_unit.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;
namespace reg = tutti::hardware;

constexpr rank_t group = (THREADS + PORTS - 1) / PORTS;

struct plan {
  rank_t threads = 1;
  rank_t believed = 0;
  rank_t absent = ~rank_t{0};
  std::function<std::uint64_t(rank_t)> think = [](rank_t) { return std::uint64_t{0}; };
};

class grove : public unit_driver<grove> {
  friend unit_driver<grove>;

 public:
  grove(testbench& bench, plan with)
      : bench_(bench), with_(std::move(with)), threads_(with_.threads) {
    write(reg::size, with_.believed != 0 ? with_.believed : with_.threads);
    write(reg::error, ~std::uint64_t{0});
    reset_by_software();
  }

  void reset_by_software() {
    write(reg::control, reg::control_enable | reg::control_reset);
    bench_.tick();
    for (auto& queue : queues_) queue.clear();
    passages_.clear();
    for (rank_t t = 0; t < with_.threads; ++t)
      threads_[t] = {.until = bench_.cycle() + with_.think(t)};
  }

  std::uint64_t overlaps() const { return overlaps_; }

 private:
  using thread = arriving_thread;
  struct request_t {
    rank_t who;
    bool write;
  };

  bool done(std::uint64_t episodes) const { return all_passed(threads_, with_.absent, episodes); }

  void set_address(rank_t port, std::uint64_t address) {
    set_field(bench_.top().req_addr_i, port * 16, 16, address);
  }
  std::uint64_t answer(rank_t port) { return field(bench_.top().rsp_data_o, port * 64, 64); }

  void cycle(std::uint64_t episodes) {
    model& top = bench_.top();
    for (rank_t t = 0; t < with_.threads; ++t) {
      thread& me = threads_[t];
      if (me.waits || t == with_.absent || me.episode >= episodes || me.until > bench_.cycle())
        continue;
      me.waits = true;
      me.arrived = bench_.cycle();
      for (const thread& other : threads_)
        if (other.episode < me.episode) {
          ++overlaps_;
          break;
        }
      queues_[t / group].push_back({t, true});
    }
    std::uint32_t valid = 0, writes = 0;
    for (rank_t p = 0; p < PORTS; ++p) {
      if (queues_[p].empty()) continue;
      const request_t r = queues_[p].front();
      const std::uint64_t copy = threads_[r.who].episode % 2;
      valid |= 1u << p;
      if (r.write) writes |= 1u << p;
      set_address(p, r.write ? reg::trigger(copy, r.who) : reg::sense(copy, r.who));
    }
    top.req_valid_i = static_cast<std::decay_t<decltype(top.req_valid_i)>>(valid);
    top.req_write_i = static_cast<std::decay_t<decltype(top.req_write_i)>>(writes);
    bench_.settle();
    for (rank_t p = 0; p < PORTS; ++p) {
      if (queues_[p].empty()) continue;
      const request_t r = queues_[p].front();
      queues_[p].pop_front();
      if (!r.write) look(r.who, answer(p));
      if (threads_[r.who].waits) queues_[p].push_back({r.who, false});
    }
    bench_.tick();
    top.req_valid_i = 0;
  }

  void look(rank_t t, std::uint64_t sense) {
    thread& me = threads_[t];
    if (static_cast<std::uint8_t>(sense >> 32) != static_cast<std::uint8_t>(me.episode / 2 + 1))
      return;
    passages_.push_back({t, me.episode, me.arrived, bench_.cycle()});
    ++me.episode;
    me.waits = false;
    me.until = bench_.cycle() + 1 + with_.think(t);
  }

  std::uint64_t request(std::uint64_t address, bool write, std::uint64_t value) {
    model& top = bench_.top();
    top.req_valid_i = 1;
    top.req_write_i = write;
    set_address(0, address);
    top.req_data_i = value;
    bench_.settle();
    const std::uint64_t data = answer(0);
    bench_.tick();
    top.req_valid_i = 0;
    return data;
  }

  testbench& bench_;
  plan with_;
  std::vector<thread> threads_;
  std::deque<request_t> queues_[PORTS];
  std::uint64_t overlaps_ = 0;
};

std::string lives(testbench& bench, const arguments& with, rank_t n) {
  const std::uint64_t episodes = std::max<std::uint64_t>(with.cycles / 400, 20);
  grove g(bench, {.threads = n, .think = moody(with.seed, 32, 500)});
  if (!g.run(episodes, episodes * 2'000)) return "stuck";
  if (std::string wrong = test::check(g.passages(), n, episodes); !wrong.empty()) return wrong;
  if (n > 2 && g.overlaps() == 0) return "generations never overlapped";
  if (const std::uint64_t e = g.read(reg::error); e != 0) return "errors " + std::to_string(e);
  return survives_resets(g, n);
}

std::string misuse(testbench& bench, rank_t n) {
  if (n < 2) return {};
  grove lonely(bench, {.threads = n, .absent = n / 2});
  if (lonely.run(1, 2'000) || !lonely.passages().empty())
    return "a thread left before all had arrived";
  if (lonely.read(reg::arrived0) != n - 1) return "the unit miscounts the arrived";
  grove few(bench, {.threads = n, .believed = n - 1, .think = [n](rank_t t) {
                      return std::uint64_t{t == n - 1 ? 100u : 0u};
                    }});
  few.run(50, 20'000);
  if (test::check(few.passages(), n, 50).empty())
    return "the checker passes a unit with a size that is too small";
  if (few.read(reg::error) != reg::foreign_arrival) return "a stranger's arrival is not reported";
  return {};
}

std::string measure(testbench& bench, rank_t n) {
  grove once(bench, {.threads = n});
  if (!once.run(1, 1'000)) return "stuck";
  const std::uint64_t cycles = once.passages().back().leave - once.passages().front().arrive + 1;
  constexpr std::uint64_t episodes = 100;
  grove again(bench, {.threads = n});
  const std::uint64_t begin = bench.cycle();
  if (!again.run(episodes, 100'000)) return "stuck";
  std::printf(
      "{\"participants\": %u, \"arrival\": \"csr\", \"departure\": \"csr\", \"cycles\": %llu, "
      "\"cycles_again\": %.2f}\n",
      n, static_cast<unsigned long long>(cycles),
      static_cast<double>(bench.cycle() - begin) / episodes);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  return run_after_reset(argc, argv, [](testbench& bench, const arguments& with) {
    return check_sizes(bench, with, THREADS, lives, misuse, measure);
  });
}
