// SPDX-License-Identifier: Apache-2.0
// The simulated threads of several sockets, each of which has one hardware barrier structure. A
// thread belongs to one barrier, arrives by a request that takes some cycles to the structure of
// its socket, and leaves when it receives the complete message, some cycles later.
//
// A thread may withdraw its arrival (INIT) and arrive again. Whether that is too late follows from
// the order in which the structure takes the requests.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "hardware/driver/hbs_registers.hpp"
#include "hardware/flow/testbench.hpp"
#include "tests/conformance/trace.hpp"

namespace tutti::rtl {

namespace reg = tutti::hardware::hbs;

struct member {
  rank_t socket, thread;
};

inline constexpr std::uint64_t never = ~std::uint64_t{0};

struct sockets_plan {
  // The members of each barrier.
  std::vector<std::vector<member>> groups;
  // Cycles from a core to the structure and back.
  unsigned to_structure = 0, back = 0;
  // Arguments: group, rank, episode.
  std::function<std::uint64_t(rank_t, rank_t, std::uint64_t)> think =
      [](rank_t, rank_t, std::uint64_t) { return std::uint64_t{0}; };
  // Cycles from the structure's taking an arrival until the thread withdraws it, or never.
  std::function<std::uint64_t()> regret = [] { return never; };
  // This rank of group 0 never arrives.
  rank_t absent = ~rank_t{0};
};

class sockets {
 public:
  static constexpr rank_t words = (LOCAL + SOCKETS - 1 + 63) / 64 + 1;

  sockets(testbench& bench, sockets_plan with) : bench_(bench), with_(std::move(with)) {
    groups_.resize(with_.groups.size());
    create_all();
  }

  // Acts as the kernel: creates the barriers again once no message is on its way.
  void create_all() {
    for (auto& queue : queues_) queue.clear();
    set_valid(0);
    for (unsigned c = 0; c < 4 * (LINK_LATENCY + 4 * SKEW) + 50; ++c) step();
    for (rank_t g = 0; g < groups_.size(); ++g) {
      groups_[g] = {};
      groups_[g].ranks.resize(with_.groups[g].size());
      for (rank_t r = 0; r < groups_[g].ranks.size(); ++r)
        groups_[g].ranks[r].until = with_.think(g, r, 0);
      for (rank_t s = 0; s < SOCKETS; ++s) create(g, s);
    }
    const std::uint64_t start = bench_.cycle();
    for (group& g : groups_)
      for (rank& r : g.ranks) r.until += start;
  }

  bool run(std::uint64_t episodes, std::uint64_t most_cycles) {
    for (std::uint64_t c = 0; c < most_cycles && !done(episodes); ++c) cycle(episodes);
    return done(episodes);
  }

  // Returns what is wrong with the traces of all groups, or an empty string.
  std::string check(std::uint64_t episodes) const {
    if (strays_) return "a complete message for a barrier that nobody uses";
    for (rank_t g = 0; g < groups_.size(); ++g) {
      const auto n = static_cast<rank_t>(with_.groups[g].size());
      if (std::string wrong = test::check(groups_[g].passages, n, episodes); !wrong.empty())
        return "barrier " + std::to_string(g) + ": " + wrong;
    }
    return {};
  }

  const test::trace& passages(rank_t g) const { return groups_[g].passages; }
  // Arrivals while another member of the barrier had not left an earlier episode.
  std::uint64_t overlaps() const { return overlaps_; }
  // Withdrawn arrivals.
  std::uint64_t withdrawn() const { return withdrawn_; }
  // Withdrawals that came too late.
  std::uint64_t refused(rank_t socket) const { return refused_[socket]; }

  void write(rank_t socket, std::uint64_t address, std::uint64_t value) {
    request(socket, true, address, value);
  }
  std::uint64_t read(rank_t socket, std::uint64_t address) {
    return request(socket, false, address, 0);
  }

 private:
  struct rank {
    std::uint64_t until = 0, episode = 0, arrived = 0;
    // The cycle in which it withdraws its arrival.
    std::uint64_t init = never;
    bool waits = false;
    // The structure has taken its arrival in the open episode of its socket.
    bool counted = false;
  };
  struct group {
    std::vector<rank> ranks;
    test::trace passages;
  };
  struct message {
    std::uint64_t due;
    rank_t group, rank;
    bool init;
  };

  void create(rank_t g, rank_t socket) {
    std::uint64_t mask[words] = {};
    const auto set = [&](rank_t bit) { mask[bit / 64] |= std::uint64_t{1} << bit % 64; };
    bool local = false;
    for (const member& m : with_.groups[g]) {
      if (m.socket == socket) {
        set(m.thread);
        local = true;
      } else {
        set(LOCAL + (m.socket < socket ? m.socket : m.socket - 1));
      }
    }
    if (!local) return;
    for (rank_t w = 0; w < words; ++w) write(socket, reg::cluster(g, w, words), mask[w]);
  }

  bool done(std::uint64_t episodes) const {
    for (rank_t g = 0; g < groups_.size(); ++g)
      for (rank_t r = 0; r < groups_[g].ranks.size(); ++r)
        if (!(g == 0 && r == with_.absent) && groups_[g].ranks[r].episode < episodes) return false;
    return true;
  }

  void cycle(std::uint64_t episodes) {
    const std::uint64_t now = bench_.cycle();
    for (rank_t g = 0; g < groups_.size(); ++g)
      for (rank_t r = 0; r < groups_[g].ranks.size(); ++r) {
        rank& me = groups_[g].ranks[r];
        const rank_t socket = with_.groups[g][r].socket;
        if (me.waits && me.init <= now) {
          me.init = never;
          queues_[socket].push_back({now + with_.to_structure, g, r, true});
        }
        if (me.waits || me.episode >= episodes || me.until > now || (g == 0 && r == with_.absent))
          continue;
        me.waits = true;
        me.arrived = now;
        for (const rank& other : groups_[g].ranks)
          if (other.episode < me.episode) {
            ++overlaps_;
            break;
          }
        queues_[socket].push_back({now + with_.to_structure, g, r, false});
      }
    std::uint64_t valid = 0;
    for (rank_t s = 0; s < SOCKETS; ++s) {
      if (queues_[s].empty() || queues_[s].front().due > now) continue;
      const message& m = queues_[s].front();
      valid |= std::uint64_t{1} << s;
      const rank_t thread = with_.groups[m.group][m.rank].thread;
      set_request(s, m.init ? reg::init(m.group, thread) : reg::trigger(m.group, thread), 1);
    }
    set_valid(valid);
    set_write(valid);
    bench_.settle();
    const std::uint64_t ready = bench_.top().req_ready_o;
    // Handle completions first: they precede what is taken in this cycle.
    for (rank_t s = 0; s < SOCKETS; ++s)
      if (std::uint64_t{bench_.top().complete_valid_o} >> s & 1) {
        const auto g = static_cast<rank_t>(field(bench_.top().complete_barrier_o, s * 8, 8));
        told_.emplace(now + with_.back, std::pair{s, g});
        rearm(s, g);
      }
    for (rank_t s = 0; s < SOCKETS; ++s)
      if ((valid & ready) >> s & 1) {
        taken(queues_[s].front());
        queues_[s].pop_front();
      }
    for (auto it = told_.begin(); it != told_.end() && it->first <= now; it = told_.erase(it))
      leave(it->second.first, it->second.second);
    bench_.tick();
  }

  // The socket's structure begins the next episode.
  void rearm(rank_t socket, rank_t g) {
    if (g >= groups_.size()) return;
    for (rank_t r = 0; r < groups_[g].ranks.size(); ++r)
      if (with_.groups[g][r].socket == socket) groups_[g].ranks[r].counted = false;
  }

  // The structure has taken a request.
  void taken(const message& m) {
    rank& me = groups_[m.group].ranks[m.rank];
    if (!m.init) {
      me.counted = true;
      const std::uint64_t later = with_.regret();
      me.init = later == never ? never : bench_.cycle() + 1 + later;
      return;
    }
    // The episode was already over, so there is nothing to withdraw.
    if (!me.counted) return;
    const rank_t socket = with_.groups[m.group][m.rank].socket;
    for (rank_t r = 0; r < groups_[m.group].ranks.size(); ++r)
      if (with_.groups[m.group][r].socket == socket && !groups_[m.group].ranks[r].counted) {
        // A thread of its socket is missing, so the withdrawal succeeds and the thread arrives
        // again.
        ++withdrawn_;
        me.counted = me.waits = false;
        me.until = bench_.cycle() + 1 + with_.think(m.group, m.rank, me.episode);
        return;
      }
    // All threads of its socket had arrived, so the peers have been told already.
    ++refused_[socket];
  }

  void leave(rank_t socket, rank_t g) {
    if (g >= groups_.size()) {
      strays_ = true;
      return;
    }
    for (rank_t r = 0; r < groups_[g].ranks.size(); ++r) {
      rank& me = groups_[g].ranks[r];
      if (with_.groups[g][r].socket != socket || !me.waits) continue;
      groups_[g].passages.push_back({r, me.episode, me.arrived, bench_.cycle()});
      ++me.episode;
      me.waits = false;
      me.init = never;
      me.until = bench_.cycle() + 1 + with_.think(g, r, me.episode);
    }
  }

  void set_valid(std::uint64_t valid) {
    bench_.top().req_valid_i = static_cast<std::uint8_t>(valid);
  }
  void set_write(std::uint64_t write) {
    bench_.top().req_write_i = static_cast<std::uint8_t>(write);
  }
  void set_request(rank_t socket, std::uint64_t address, std::uint64_t value) {
    set_field(bench_.top().req_addr_i, socket * 32, 32, address);
    set_field(bench_.top().req_data_i, socket * 64, 64, value);
  }

  std::uint64_t request(rank_t socket, bool write, std::uint64_t address, std::uint64_t value) {
    set_valid(std::uint64_t{1} << socket);
    set_write(write ? std::uint64_t{1} << socket : 0);
    set_request(socket, address, value);
    bench_.settle();
    while ((std::uint64_t{bench_.top().req_ready_o} >> socket & 1) == 0) {
      step();
      bench_.settle();
    }
    const std::uint64_t data = field(bench_.top().rsp_data_o, socket * 64, 64);
    step();
    set_valid(0);
    return data;
  }

  void step() {
    told_.clear();
    bench_.tick();
  }

  testbench& bench_;
  sockets_plan with_;
  std::vector<group> groups_;
  std::deque<message> queues_[SOCKETS];
  std::multimap<std::uint64_t, std::pair<rank_t, rank_t>> told_;
  std::uint64_t overlaps_ = 0, withdrawn_ = 0;
  std::uint64_t refused_[SOCKETS] = {};
  bool strays_ = false;
};

}  // namespace tutti::rtl
