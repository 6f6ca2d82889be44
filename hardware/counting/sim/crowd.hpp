// SPDX-License-Identifier: Apache-2.0
// Software threads around the counting unit: each arrives, waits, leaves, pauses and arrives again,
// by the configured path. All share one request port: a queue from which the unit takes one request
// a cycle, in order.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hardware/driver/registers.hpp"
#include "hardware/flow/barrier_unit.hpp"

namespace tutti::rtl {

namespace reg = tutti::hardware;

struct crowd_options {
  rank_t threads = 1;
  reg::arrival_path arrival = reg::arrival_path::csr;
  reg::departure_path departure = reg::departure_path::csr;
  // Cycles from a read to its answer, at least 1.
  unsigned memory_latency = 4;
  // Answers take up to twice as long and overtake each other.
  bool shuffle_memory = false;
  // Sense departure by the flag, as in Hetland et al. 2019, instead of the generation.
  bool flag_only = false;
  // If not 0, the size that the unit is given instead of `threads`.
  rank_t believed = 0;
  // This thread never arrives.
  rank_t absent = ~rank_t{0};
  // Cycles that a thread pauses before it arrives at an episode.
  std::function<std::uint64_t(rank_t, std::uint64_t)> think = [](rank_t, std::uint64_t) {
    return std::uint64_t{0};
  };
  std::uint64_t seed = 1;
};

// Main memory. It outlives a crowd, because reads may still be in flight.
struct main_memory {
  struct answer {
    std::uint64_t due, data;
    rank_t tag;
  };
  std::vector<answer> flights;
  std::unordered_map<std::uint64_t, std::uint64_t> lines;
};

class crowd {
 public:
  crowd(testbench& bench, main_memory& memory, crowd_options with)
      : bench_(bench),
        memory_(memory),
        with_(std::move(with)),
        random_(with_.seed),
        threads_(with_.threads) {}

  // Programs the unit as a driver does, and restarts all software threads.
  void configure() {
    write(reg::control, 0);
    const rank_t size = with_.believed != 0 ? with_.believed : with_.threads;
    // Drive all inputs that this crowd does not use to 0; inputs of the model begin with arbitrary
    // values.
    bench_.top().msg_valid_i = 0;
    bench_.top().mem_valid_i = bench_.top().mem_error_i = 0;
    // Set a size that all paths accept, so that the path is checked on its own.
    write(reg::size, 1);
    write(reg::arrival, static_cast<std::uint64_t>(with_.arrival));
    write(reg::departure, static_cast<std::uint64_t>(with_.departure));
    write(reg::arrival_base, arrivals_at);
    write(reg::departure_base, departures_at);
    write(reg::size, size);
    write(reg::error, ~std::uint64_t{0});
    reset_by_software();
  }

  void restart() {
    requests_.clear();
    messages_.clear();
    asked_.clear();
    for (rank_t t = 0; t < with_.threads; ++t) {
      threads_[t] = {};
      threads_[t].until = bench_.cycle() + with_.think(t, 0);
    }
    passages_.clear();
    start_ = bench_.cycle();
  }

  // Resets the unit in the middle of an episode and restarts all threads. Memory is cleared between
  // the reset and the enabling: before, the unit may still write to it; after, it may poll old
  // values.
  void reset_by_software() {
    write(reg::control, reg::control_reset);
    step();
    memory_.lines.clear();
    write(reg::control, reg::control_enable);
    restart();
  }

  // Runs until every thread has left `episodes` episodes, and then returns true; returns false
  // after `most_cycles`.
  bool run(std::uint64_t episodes, std::uint64_t most_cycles) {
    for (std::uint64_t c = 0; c < most_cycles; ++c) {
      if (done(episodes)) return true;
      cycle(episodes);
    }
    return done(episodes);
  }

  void write(std::uint64_t address, std::uint64_t value) {
    write_register(bench_.top(), address, value, [this] { step(); });
  }

  std::uint64_t read(std::uint64_t address) {
    bench_.top().req_valid_i = 1;
    bench_.top().req_write_i = 0;
    bench_.top().req_addr_i = static_cast<std::uint16_t>(address);
    bench_.settle();
    while (!bench_.top().rsp_valid_o) {
      step();
      bench_.top().req_valid_i = 0;
      bench_.settle();
    }
    const std::uint64_t value = bench_.top().rsp_data_o;
    step();
    bench_.top().req_valid_i = 0;
    return value;
  }

  const test::trace& passages() const { return passages_; }
  std::uint64_t start() const { return start_; }
  std::uint64_t overlaps() const { return overlaps_; }
  std::uint64_t polls_in_vain() const { return vain_; }
  rank_t left(std::uint64_t episode) const {
    rank_t count = 0;
    for (const thread& t : threads_) count += t.episode > episode;
    return count;
  }

 private:
  static constexpr std::uint64_t arrivals_at = 0x10'0000, departures_at = 0x20'0000;

  enum class state { thinking, arriving, waiting, asking };
  struct thread {
    state now = state::thinking;
    std::uint64_t until = 0, episode = 0, arrived = 0;
  };
  struct request {
    rank_t who;
    bool write;
  };

  bool done(std::uint64_t episodes) const { return all_passed(threads_, with_.absent, episodes); }

  // Steps everything by one cycle.
  void cycle(std::uint64_t episodes) {
    model& top = bench_.top();
    for (rank_t t = 0; t < with_.threads; ++t) act(t, episodes);
    top.req_valid_i = !requests_.empty();
    if (!requests_.empty()) {
      const request& r = requests_.front();
      const std::uint64_t copy = threads_[r.who].episode % 2;
      top.req_write_i = r.write;
      top.req_addr_i =
          static_cast<std::uint16_t>(r.write ? reg::trigger(copy, r.who) : reg::sense(copy, r.who));
      top.req_data_i = 1;
    }
    top.msg_valid_i = !messages_.empty();
    if (!messages_.empty())
      top.msg_addr_i = static_cast<std::uint8_t>(threads_[messages_.front()].episode % 2 * 4 +
                                                 messages_.front());
    bench_.settle();
    if (!requests_.empty()) {
      const request r = requests_.front();
      requests_.pop_front();
      if (r.write)
        threads_[r.who].now = state::waiting;
      else
        asked_.push_back(r.who);
    }
    if (!messages_.empty()) {
      threads_[messages_.front()].now = state::waiting;
      messages_.pop_front();
    }
    if (top.rsp_valid_o && !asked_.empty()) {
      const rank_t who = asked_.front();
      asked_.pop_front();
      look(who, top.rsp_data_o);
    }
    step();
  }

  // Steps one thread.
  void act(rank_t t, std::uint64_t episodes) {
    thread& me = threads_[t];
    if (me.now == state::thinking && t != with_.absent && me.episode < episodes &&
        me.until <= bench_.cycle()) {
      me.arrived = bench_.cycle();
      me.now = state::arriving;
      bool others_leave = false;
      for (const thread& other : threads_) others_leave |= other.episode < me.episode;
      overlaps_ += others_leave;
      switch (with_.arrival) {
        case reg::arrival_path::csr: requests_.push_back({t, true}); break;
        case reg::arrival_path::message: messages_.push_back(t); break;
        case reg::arrival_path::memory:
          memory_.lines[arrivals_at + t * 64] = me.episode + 1;
          me.now = state::waiting;
          break;
      }
    }
    if (me.now != state::waiting) return;
    if (with_.departure == reg::departure_path::csr) {
      requests_.push_back({t, false});
      me.now = state::asking;
      return;
    }
    const rank_t line = with_.departure == reg::departure_path::lines ? t : 0;
    if (memory_.lines[departures_at + line * 64] > me.episode) leave(t);
  }

  void look(rank_t t, std::uint64_t sense) {
    thread& me = threads_[t];
    const auto uses = static_cast<std::uint8_t>(me.episode / 2 + 1);
    const bool open =
        with_.flag_only ? (sense & 1) != 0 : static_cast<std::uint8_t>(sense >> 32) == uses;
    vain_ += !open;
    me.now = state::waiting;
    if (open) leave(t);
  }

  void leave(rank_t t) {
    thread& me = threads_[t];
    passages_.push_back({t, me.episode, me.arrived, bench_.cycle()});
    ++me.episode;
    me.now = state::thinking;
    // A thread acts on what it learns in this cycle in the next one.
    me.until = bench_.cycle() + 1 + with_.think(t, me.episode);
  }

  void take_read() {
    model& top = bench_.top();
    if (!top.rd_valid_o) return;
    std::uint64_t delay = with_.memory_latency;
    if (with_.shuffle_memory) delay += random_() % (with_.memory_latency + 1);
    memory_.flights.push_back(
        {bench_.cycle() + delay, memory_.lines[top.rd_addr_o], static_cast<rank_t>(top.rd_tag_o)});
  }

  // Steps one rising edge, with the memory around it.
  void step() {
    model& top = bench_.top();
    top.rd_ready_i = 1;
    top.wr_ready_i = !with_.shuffle_memory || random_() % 4 != 0;
    top.mem_valid_i = 0;
    for (std::size_t i = 0; i < memory_.flights.size(); ++i) {
      if (memory_.flights[i].due > bench_.cycle()) continue;
      top.mem_valid_i = 1;
      top.mem_tag_i = static_cast<std::uint8_t>(memory_.flights[i].tag);
      top.mem_data_i = memory_.flights[i].data;
      memory_.flights.erase(memory_.flights.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    bench_.settle();
    take_read();
    if (top.wr_valid_o && top.wr_ready_i) memory_.lines[top.wr_addr_o] = top.wr_data_o;
    bench_.tick();
  }

  testbench& bench_;
  main_memory& memory_;
  crowd_options with_;
  std::mt19937_64 random_;
  std::vector<thread> threads_;
  std::deque<request> requests_;
  std::deque<rank_t> messages_;
  std::deque<rank_t> asked_;
  test::trace passages_;
  std::uint64_t start_ = 0, overlaps_ = 0, vain_ = 0;
};

}  // namespace tutti::rtl
