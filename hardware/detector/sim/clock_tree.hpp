// SPDX-License-Identifier: Apache-2.0
// A software clock tree on the same mesh: a token goes from thread to thread down a tree over all
// threads, and acknowledgements come back. Messages between nodes go through the mesh's routers and
// links; within a node they take `local` cycles. A thread is busy for `handle` cycles with each
// message that it takes or sends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "hardware/detector/sim/mesh.hpp"

namespace tutti::rtl {

struct tree_costs {
  // Threads of a node.
  unsigned threads = 1024;
  // Children of a thread within a node.
  unsigned fan_out = 4;
  // Cycles of a message within a node.
  unsigned local = 20;
  // Cycles that a thread needs for one message.
  unsigned handle = 80;
};

class clock_tree {
 public:
  // The tree has its root at thread 0 of node `root`; the first threads of all nodes form a tree
  // along the routes of messages from there.
  clock_tree(testbench& bench, unsigned root, tree_costs with)
      : bench_(bench), mesh_(bench), with_(with), out_(nodes), threads_(nodes * with.threads) {
    for (unsigned n = 0; n < nodes; ++n) {
      for (unsigned t = 1; t < with_.threads; ++t)
        adopt(n * with_.threads + (t - 1) / with_.fan_out, n * with_.threads + t);
      if (n != root) adopt(towards(n, root) * with_.threads, n * with_.threads);
    }
    // Send to the farthest first: to other nodes before threads of the same node.
    for (thread& t : threads_)
      std::sort(t.children.begin(), t.children.end(), [this](unsigned a, unsigned b) {
        const bool far_a = a % with_.threads == 0, far_b = b % with_.threads == 0;
        return far_a != far_b ? far_a : a < b;
      });
    root_ = root * with_.threads;
    mesh_.reset();
  }

  // Returns the cycles of one round trip, or 0 if it did not end within `most`.
  std::uint64_t round_trip(std::uint64_t most) {
    const std::uint64_t start = bench_.cycle();
    done_ = false;
    for (thread& t : threads_) t.answers = 0;
    hear(root_, false);
    while (!done_ && bench_.cycle() - start < most) cycle();
    return done_ ? bench_.cycle() - start : 0;
  }

  // Returns true if every thread has had this many tokens.
  bool everybody_had(std::uint64_t tokens) const {
    return std::all_of(threads_.begin(), threads_.end(),
                       [tokens](const thread& t) { return t.tokens == tokens; });
  }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  struct thread {
    unsigned parent = 0, answers = 0;
    std::uint64_t free_at = 0, tokens = 0;
    std::vector<unsigned> children;
  };
  struct event {
    std::uint64_t at;
    unsigned from, to;
    bool answer;
    bool operator>(const event& other) const { return at > other.at; }
  };

  // Returns the neighbour of `n` from which the root's messages come: first along the row, then
  // along the column.
  static unsigned towards(unsigned n, unsigned root) {
    const unsigned x = n % COLUMNS, y = n / COLUMNS, rx = root % COLUMNS, ry = root / COLUMNS;
    if (y != ry) return y > ry ? n - COLUMNS : n + COLUMNS;
    return x > rx ? n - 1 : n + 1;
  }
  void adopt(unsigned parent, unsigned child) {
    threads_[child].parent = parent;
    threads_[parent].children.push_back(child);
  }

  // A thread takes a message: it forwards a token to its children, and the last acknowledgement to
  // its parent.
  void hear(unsigned t, bool answer) {
    thread& me = threads_[t];
    me.free_at = std::max(me.free_at, bench_.cycle()) + with_.handle;
    if (answer && ++me.answers < me.children.size()) return;
    if (!answer) {
      ++me.tokens;
      for (const unsigned child : me.children) send(t, child, false);
      if (!me.children.empty()) return;
    }
    if (t == root_)
      finish_ = me.free_at;
    else
      send(t, me.parent, true);
  }

  void send(unsigned from, unsigned to, bool answer) {
    threads_[from].free_at += with_.handle;
    const bool same = from / with_.threads == to / with_.threads;
    (same ? local_ : leaving_)
        .push({threads_[from].free_at + (same ? with_.local : 0), from, to, answer});
  }

  void cycle() {
    const std::uint64_t now = bench_.cycle();
    if (now >= finish_) {
      done_ = true;
      finish_ = never;
      return;
    }
    for (; !local_.empty() && local_.top().at <= now; local_.pop())
      hear(local_.top().to, local_.top().answer);
    for (; !leaving_.empty() && leaving_.top().at <= now; leaving_.pop())
      out_[leaving_.top().from / with_.threads].push_back(leaving_.top());
    for (unsigned n = 0; n < nodes; ++n) {
      const bool waits = !out_[n].empty();
      mesh_.offer(n, waits, waits ? out_[n].front().to / with_.threads : 0,
                  waits ? std::uint64_t{out_[n].front().answer} : 0);
    }
    bench_.settle();
    for (unsigned n = 0; n < nodes; ++n) {
      if (mesh_.arrives(n)) local_.push({now + 1, 0, n * with_.threads, (mesh_.data(n) & 1) != 0});
      if (!out_[n].empty() && mesh_.taken(n)) out_[n].pop_front();
    }
    bench_.tick();
  }

  testbench& bench_;
  mesh mesh_;
  tree_costs with_;
  std::vector<std::deque<event>> out_;
  std::vector<thread> threads_;
  std::priority_queue<event, std::vector<event>, std::greater<>> local_, leaving_;
  std::uint64_t finish_ = never;
  unsigned root_ = 0;
  bool done_ = false;
};

}  // namespace tutti::rtl
