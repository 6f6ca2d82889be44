// SPDX-License-Identifier: Apache-2.0
// Threads that send, answer, wait and vote at random on the mesh, and an oracle. The oracle knows
// every message and every thread; it reads the detector's counts only to compare them with its own.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "hardware/detector/sim/mesh.hpp"

namespace tutti::rtl {

inline constexpr unsigned threads_a_core = 2;
inline constexpr unsigned threads = nodes * CORES * threads_a_core;
inline constexpr unsigned levels = CORES == 1 ? 0 : CORES <= 4 ? 1 : CORES <= 16 ? 2 : 3;

struct plan {
  // Messages that a thread may send on its own in an episode.
  unsigned chatter = 8;
  // One of this many messages makes its receiver send one.
  unsigned answers = 2;
  // The longest pause.
  unsigned think = 40;
  // In one of this many episodes a thread votes false; 0 means in none.
  unsigned dissent = 4;
  // The message with this number, counted from 1, never arrives.
  unsigned lose = 0;
  // This thread never waits.
  unsigned lazy = threads;
  // This thread sends while sending is disabled.
  unsigned rude = threads;
  // Nodes refuse messages now and then.
  bool stalls = true;
};

class crowd {
 public:
  crowd(testbench& bench, plan with, std::uint64_t seed)
      : bench_(bench),
        mesh_(bench),
        with_(with),
        random_(seed),
        threads_(threads),
        out_(nodes),
        stall_(nodes),
        local_(nodes),
        history_(nodes) {
    mesh_.reset();
    mesh_.run(true);
    for (unsigned t = 0; t < threads; ++t) begin_episode(t);
  }

  // Runs until every thread has seen `episodes`; returns what went wrong, or an empty string.
  std::string run(std::uint64_t episodes, std::uint64_t most_cycles) {
    const std::uint64_t end = bench_.cycle() + most_cycles;
    while (wrong_.empty() && bench_.cycle() < end && !done(episodes)) cycle();
    if (!wrong_.empty()) return wrong_ + " in cycle " + std::to_string(bench_.cycle());
    return done(episodes) ? "" : "stuck in episode " + std::to_string(fewest());
  }

  bool done(std::uint64_t episodes) const { return fewest() >= episodes; }
  mesh& ports() { return mesh_; }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t between() const { return between_; }
  std::uint64_t unanimous() const { return unanimous_; }
  std::uint64_t waves() const { return waves_; }

 private:
  struct message {
    unsigned from, to;
    std::uint64_t episode;
  };
  struct thread {
    std::uint64_t until = 0, episode = 0;
    unsigned chatter = 0;
    std::deque<message> box;
    bool waits = false, leaving = false, vote = false, result = false;
  };

  static unsigned core_of(unsigned t) { return t / threads_a_core; }
  static unsigned node_of(unsigned t) { return core_of(t) / CORES; }
  std::uint64_t now() const { return bench_.cycle(); }
  std::uint64_t pause() { return random_() % 4 == 0 ? 0 : random_() % (with_.think + 1); }
  void fail(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  std::uint64_t fewest() const {
    std::uint64_t least = ~std::uint64_t{0};
    for (const thread& t : threads_) least = std::min(least, t.episode);
    return least;
  }

  void begin_episode(unsigned t) {
    thread& me = threads_[t];
    me.chatter = random_() % 3 == 0 ? static_cast<unsigned>(random_() % (with_.chatter + 1)) : 0;
    me.until = now() + pause();
  }

  // Returns true if all threads wait and no message is under way, by the oracle's own record.
  bool over() const {
    if (under_way_ != 0) return false;
    for (const thread& t : threads_)
      if (!t.waits || t.leaving) return false;
    return true;
  }

  bool all_voted() const {
    for (const thread& t : threads_)
      if (!t.vote) return false;
    return true;
  }

  void send(unsigned t) {
    // One of four messages stays in its node; a thread may send to itself.
    const unsigned n = node_of(t), in_node = CORES * threads_a_core;
    const unsigned to = random_() % 4 == 0
                            ? n * in_node + static_cast<unsigned>(random_() % in_node)
                            : static_cast<unsigned>(random_() % threads);
    ++sent_;
    ++under_way_;
    if (sent_ == with_.lose) return;
    const message m{t, to, threads_[t].episode};
    if (node_of(to) == n) {
      local_[n].push_back({now() + 1 + random_() % 20, m});
    } else {
      ++between_;
      const std::uint64_t number = next_++ & count_mask;
      if (book_.size() <= number) book_.resize(number + 1);
      book_[number] = m;
      out_[n].push_back(number);
    }
  }

  void deliver(const message& m) {
    thread& to = threads_[m.to];
    if (to.episode != m.episode)
      fail("thread " + std::to_string(m.to) + " of episode " + std::to_string(to.episode) +
           " gets a message of episode " + std::to_string(m.episode));
    if (to.leaving) fail("a message reaches a thread that has not left yet");
    to.box.push_back(m);
  }

  void cycle() {
    bench_.settle();
    const model& top = bench_.top();
    if (top.strange_o) fail("an unexpected reply");
    if (top.begin_o) ++waves_;
    if (top.detected_o) {
      if (!over()) fail("termination detected while threads or messages are active");
      if (releases_left_ != 0) fail("termination detected before all nodes were released");
      releases_left_ = nodes;
      vote_ = all_voted();
      unanimous_ += vote_;
      over_since_ = ~std::uint64_t{0};
    }
    if (over_since_ == ~std::uint64_t{0}) {
      if (releases_left_ == 0 && over()) over_since_ = now();
    } else if (now() - over_since_ > 3 * (2 * HOP_LATENCY * (farthest() + 1) + 4 * nodes + 40)) {
      fail("not detected in time");
    }
    for (unsigned n = 0; n < nodes && wrong_.empty(); ++n) node(n);
    bench_.settle();
    for (unsigned n = 0; n < nodes; ++n) {
      if (ready_[n] && mesh_.arrives(n)) deliver(book_[mesh_.data(n)]);
      if (offered_[n] && mesh_.taken(n)) out_[n].pop_front();
    }
    bench_.tick();
  }

  void node(unsigned n) {
    std::uint64_t& true_count = counts_[n];
    // Conservation: the node's counter equals the oracle's count from as many cycles ago as the
    // tree is deep.
    history_[n].push_back(true_count & count_mask);
    if (history_[n].size() > levels + 1) history_[n].pop_front();
    if (history_[n].size() == levels + 1 && mesh_.count(n) != history_[n].front())
      fail("node " + std::to_string(n) + " counts " + std::to_string(mesh_.count(n)) + ", not " +
           std::to_string(history_[n].front()));
    if (with_.rude == threads && mesh_.error(n) != 0)
      fail("node " + std::to_string(n) + " reports error " + std::to_string(mesh_.error(n)));

    const unsigned first = n * CORES * threads_a_core, end = first + CORES * threads_a_core;
    const bool enabled = mesh_.enabled(n);
    if (mesh_.released(n)) {
      if (releases_left_ == 0) fail("node " + std::to_string(n) + " is released out of turn");
      if (enabled) fail("messages are allowed during a release");
      --releases_left_;
      if (mesh_.unanimous(n) != vote_) fail("the result of the vote is wrong");
      for (unsigned t = first; t < end; ++t) {
        thread& me = threads_[t];
        if (!me.waits || me.leaving || !me.box.empty()) fail("a busy thread is released");
        me.leaving = true;
        me.until = now() + random_() % 12;
      }
    }
    if (enabled && !was_enabled_[n] && top_phase() == release_phase) fail("enabled too early");
    was_enabled_[n] = enabled;

    while (!local_[n].empty() && local_[n].front().first <= now()) {
      deliver(local_[n].front().second);
      local_[n].pop_front();
    }

    unsigned send_wires = 0, receive_wires = 0, idle = 0, vote = 0, left = 0;
    for (unsigned c = 0; c < CORES; ++c) {
      bool all_wait = true, all_vote = true, all_left = true, sent = false, received = false;
      for (unsigned k = 0; k < threads_a_core; ++k) {
        const unsigned t = first + c * threads_a_core + k;
        step(t, enabled, sent, received);
        const thread& me = threads_[t];
        all_wait &= me.waits && !me.leaving;
        all_vote &= me.vote;
        all_left &= !me.leaving;
      }
      send_wires |= unsigned{sent} << c;
      receive_wires |= unsigned{received} << c;
      idle |= unsigned{all_wait} << c;
      vote |= unsigned{all_vote} << c;
      left |= unsigned{all_left} << c;
      true_count += sent;
      true_count -= received;
    }
    mesh_.cores(n, send_wires, receive_wires, idle, vote, left);

    // An offered message stays until it is taken; a refused one stays in the router.
    offered_[n] = !out_[n].empty();
    if (offered_[n]) {
      const std::uint64_t number = out_[n].front();
      mesh_.offer(n, true, node_of(book_[number].to), number);
    } else {
      mesh_.offer(n, false, 0, 0);
    }
    if (stall_[n] > 0)
      --stall_[n];
    else if (with_.stalls && random_() % 64 == 0)
      stall_[n] = static_cast<unsigned>(random_() % (2 * with_.think + 1));
    ready_[n] = stall_[n] == 0;
    mesh_.take(n, ready_[n]);
  }

  unsigned top_phase() { return bench_.top().phase_o; }

  // Steps a thread by a cycle; a core sends and receives at most once a cycle.
  void step(unsigned t, bool enabled, bool& sent, bool& received) {
    thread& me = threads_[t];
    if (me.until > now()) return;
    if (me.leaving) {
      me.leaving = me.waits = false;
      ++me.episode;
      begin_episode(t);
      return;
    }
    if (me.waits) {
      if (me.box.empty()) return;
      // The message wakes the thread and withdraws its vote.
      me.waits = false;
      me.until = now() + pause();
      return;
    }
    if (t == with_.rude && !enabled && me.episode > 0 && !sent) {
      sent = true;
      return;
    }
    if (!me.box.empty()) {
      if (received) return;
      received = true;
      --under_way_;
      me.box.pop_front();
      if (random_() % with_.answers == 0 && me.chatter < 2) ++me.chatter;
      me.until = now() + pause();
    } else if (me.chatter > 0) {
      if (!enabled || sent) return;
      sent = true;
      --me.chatter;
      send(t);
      me.until = now() + pause();
    } else if (t != with_.lazy) {
      me.waits = true;
      me.vote = with_.dissent == 0 || me.episode % with_.dissent != 1 || t != me.episode % threads;
    }
  }

  testbench& bench_;
  mesh mesh_;
  plan with_;
  std::mt19937_64 random_;
  std::vector<thread> threads_;
  // Messages between nodes, by number.
  std::vector<message> book_;
  // Messages waiting for the mesh.
  std::vector<std::deque<std::uint64_t>> out_;
  std::vector<unsigned> stall_;
  std::vector<std::deque<std::pair<std::uint64_t, message>>> local_;
  std::vector<std::deque<std::uint64_t>> history_;
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(nodes);
  std::vector<bool> offered_ = std::vector<bool>(nodes), ready_ = std::vector<bool>(nodes, true);
  std::vector<bool> was_enabled_ = std::vector<bool>(nodes, true);
  std::uint64_t next_ = 0, sent_ = 0, under_way_ = 0, between_ = 0, unanimous_ = 0, waves_ = 0;
  std::uint64_t over_since_ = ~std::uint64_t{0};
  unsigned releases_left_ = 0;
  bool vote_ = false;
  std::string wrong_;
};

}  // namespace tutti::rtl
