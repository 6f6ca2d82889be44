// SPDX-License-Identifier: Apache-2.0
// Threads at the tiles of a socket, a kernel that creates their barriers in all tiles, and other
// traffic in the same network. No latency is added: what passes between two cycles passes in the
// model.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "hardware/flow/testbench.hpp"

namespace tutti::rtl {

inline constexpr unsigned tiles = COLUMNS * ROWS;
inline constexpr unsigned barrier_bits = BARRIERS > 1 ? std::bit_width(unsigned{BARRIERS} - 1) : 1;

struct socket_thread {
  unsigned tile = 0, slot = 0;
};

class socket_threads {
 public:
  // Cycles that member m of barrier b pauses before its episode e.
  std::function<std::uint64_t(unsigned b, unsigned m, std::uint64_t e)> think =
      [](unsigned, unsigned, std::uint64_t) { return std::uint64_t{0}; };
  // In how many of 1000 cycles a tile has another message to send.
  unsigned load = 0;

  socket_threads(testbench& bench, std::uint64_t seed)
      : bench_(bench), random_(seed), waiting_(tiles), offered_(tiles, false) {
    model& top = bench.top();
    for (unsigned n = 0; n < tiles; ++n) {
      set_field(top.create_valid_i, n, 1, 0);
      set_field(top.other_valid_i, n, 1, 0);
      for (unsigned t = 0; t < THREADS; ++t) set_field(top.arrive_valid_i, n * THREADS + t, 1, 0);
    }
    bench.reset();
    bench.settle();
    for (unsigned n = 0; n < tiles; ++n)
      parents_.push_back(static_cast<unsigned>(field(top.parent_o, n * 3, 3)));
  }

  // Creates barrier b, in tiles one after the other; a thread is in one barrier at a time.
  void create(unsigned b, const std::vector<socket_thread>& members) {
    std::vector<unsigned> mask(tiles, 0), sides(tiles, 0);
    for (const socket_thread& t : members) mask[t.tile] |= 1u << t.slot;
    for (unsigned n = 0; n < tiles; ++n)
      if (mask[n] != 0)
        for (unsigned at = n; parents_[at] != 4; at = next(at, parents_[at]))
          sides[next(at, parents_[at])] |= 1u << (parents_[at] + 2) % 4;
    model& top = bench_.top();
    for (unsigned n = 0; n < tiles; ++n) {
      if ((mask[n] | sides[n]) == 0) continue;
      set_field(top.create_valid_i, n, 1, 1);
      top.create_barrier_i = static_cast<std::uint8_t>(b);
      set_field(top.create_threads_i, n * THREADS, THREADS, mask[n]);
      set_field(top.create_sides_i, n * 4, 4, sides[n]);
      for (bool taken = false; !taken;) {
        begin_cycle();
        bench_.settle();
        taken = field(top.create_ready_o, n, 1) != 0;
        end_cycle();
      }
      set_field(top.create_valid_i, n, 1, 0);
    }
    if (groups_.size() <= b) groups_.resize(b + 1);
    groups_[b] = {};
    for (const socket_thread& t : members) groups_[b].push_back({.at = t});
  }

  // Runs `episodes` of each barrier; false if they do not end within so many cycles.
  bool run(std::uint64_t episodes, std::uint64_t cycles) {
    for (unsigned b = 0; b < groups_.size(); ++b)
      for (unsigned m = 0; m < groups_[b].size(); ++m) {
        member& one = groups_[b][m];
        one.until = bench_.cycle() + think(b, m, one.arrived);
        one.goal = one.left + episodes;
      }
    for (std::uint64_t c = 0; c < cycles && !done() && wrong_.empty(); ++c) {
      begin_cycle();
      bench_.settle();
      end_cycle();
    }
    return done() && wrong_.empty();
  }

  // The cycles from the last call of barrier b's last episode to the last departure.
  std::uint64_t from_last_call(unsigned b) const {
    std::uint64_t call = 0, told = 0;
    for (const member& m : groups_[b]) {
      call = std::max(call, m.called);
      told = std::max(told, m.told);
    }
    return told - call;
  }

  // Lets all other messages arrive; returns what went wrong so far.
  std::string finish() {
    load = 0;
    for (unsigned c = 0; c < 2'000; ++c) {
      begin_cycle();
      bench_.settle();
      end_cycle();
    }
    if (wrong_.empty() && (sent_ != delivered_ || sent_sum_ != delivered_sum_))
      wrong_ = "other messages are lost or changed";
    return wrong_;
  }
  const std::string& wrong() const { return wrong_; }
  std::uint64_t sent() const { return sent_; }
  unsigned hops(unsigned n) const {
    unsigned count = 0;
    for (; parents_[n] != 4; n = next(n, parents_[n])) ++count;
    return count;
  }

 private:
  struct member {
    socket_thread at;
    // Episodes at which it has arrived and from which it has been told to leave.
    std::uint64_t arrived = 0, left = 0, goal = 0;
    std::uint64_t until = 0, called = 0, told = 0;
    bool calling = false;
  };

  static unsigned next(unsigned n, unsigned side) {
    return side == 0 ? n - COLUMNS : side == 1 ? n + 1 : side == 2 ? n + COLUMNS : n - 1;
  }
  bool done() const {
    for (const std::vector<member>& group : groups_)
      for (const member& m : group)
        if (m.left < m.goal) return false;
    return true;
  }
  void fail(const char* what) {
    if (wrong_.empty()) wrong_ = what;
  }

  void begin_cycle() {
    model& top = bench_.top();
    for (unsigned b = 0; b < groups_.size(); ++b)
      for (member& m : groups_[b]) {
        if (!m.calling && m.arrived == m.left && m.left < m.goal && m.until <= bench_.cycle()) {
          m.calling = true;
          m.called = bench_.cycle();
          set_field(top.arrive_barrier_i, (m.at.tile * THREADS + m.at.slot) * barrier_bits,
                    barrier_bits, b);
        }
        set_field(top.arrive_valid_i, m.at.tile * THREADS + m.at.slot, 1, m.calling);
      }
    for (unsigned n = 0; n < tiles; ++n) {
      if (!offered_[n] && random_() % 1'000 < load) {
        offered_[n] = true;
        const unsigned to = random_() % tiles;
        waiting_[n] = random_() % 512;
        // A place is {y, x}.
        set_field(top.other_to_i, n * 8, 8, (to / COLUMNS) << 4 | to % COLUMNS);
        set_field(top.other_load_i, n * 9, 9, waiting_[n]);
      }
      set_field(top.other_valid_i, n, 1, offered_[n]);
    }
  }

  void end_cycle() {
    model& top = bench_.top();
    for (unsigned n = 0; n < tiles; ++n) {
      if (field(top.complete_valid_o, n, 1) != 0)
        tell(n,
             static_cast<unsigned>(field(top.complete_barrier_o, n * barrier_bits, barrier_bits)),
             field(top.complete_threads_o, n * THREADS, THREADS));
      if (offered_[n] && field(top.other_ready_o, n, 1) != 0) {
        offered_[n] = false;
        ++sent_;
        sent_sum_ += waiting_[n] + 1;
      }
      if (field(top.other_valid_o, n, 1) != 0) {
        ++delivered_;
        delivered_sum_ += field(top.other_load_o, n * 9, 9) + 1;
      }
      if (field(top.misuse_o, n, 1) != 0) fail("a tile reports misuse");
    }
    for (std::vector<member>& group : groups_)
      for (member& m : group)
        if (m.calling && field(top.arrive_ready_o, m.at.tile * THREADS + m.at.slot, 1) != 0) {
          m.calling = false;
          ++m.arrived;
        }
    bench_.tick();
  }

  // A thread may be told only of an episode at which all have arrived.
  void tell(unsigned tile, unsigned b, std::uint64_t threads) {
    if (b >= groups_.size()) return fail("a barrier that does not exist is complete");
    std::vector<member>& all = groups_[b];
    std::uint64_t expected = 0;
    for (unsigned i = 0; i < all.size(); ++i) {
      member& m = all[i];
      if (m.at.tile != tile) continue;
      expected |= std::uint64_t{1} << m.at.slot;
      if (m.arrived != m.left + 1) return fail("a thread is told without having arrived");
      for (const member& other : all)
        if (other.arrived < m.arrived) return fail("a thread is told before all have arrived");
      ++m.left;
      m.told = bench_.cycle();
      m.until = m.told + 1 + think(b, i, m.arrived);
    }
    if (threads != expected) fail("others than the participants are told");
  }

  testbench& bench_;
  std::mt19937_64 random_;
  std::vector<unsigned> parents_;
  std::vector<std::vector<member>> groups_;
  // Other messages: what each tile offers, and what has been sent and delivered.
  std::vector<std::uint64_t> waiting_;
  std::vector<bool> offered_;
  std::uint64_t sent_ = 0, delivered_ = 0, sent_sum_ = 0, delivered_sum_ = 0;
  std::string wrong_;
};

}  // namespace tutti::rtl
