// SPDX-License-Identifier: Apache-2.0
#include "sim/boards.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

namespace tutti::sim {
namespace {

struct key_of_number {
  const char *key, *meaning, *source;
  double least, most;
  bool is_whole;
  double (*get)(const board_machine&);
  void (*set)(board_machine&, double);
};

template <auto Member>
constexpr key_of_number number(const char* key, const char* meaning, const char* source,
                               double least, double most, bool is_whole = true) {
  return {key,
          meaning,
          source,
          least,
          most,
          is_whole,
          [](const board_machine& m) { return static_cast<double>(m.*Member); },
          [](board_machine& m, double value) {
            using type = std::remove_reference_t<decltype(m.*Member)>;
            m.*Member = static_cast<type>(value);
          }};
}

constexpr double any = 1e9;
constexpr key_of_number keys[] = {
    number<&board_machine::columns>("columns", "boards in a row", "Naylor et al. 2020, figure 2", 1,
                                    64),
    number<&board_machine::rows>("rows", "boards in a column", "Naylor et al. 2020, figure 2", 1,
                                 64),
    number<&board_machine::threads>("threads", "threads of a board",
                                    "Naylor et al. 2020, section II.A", 1, 4096),
    number<&board_machine::clock_mhz>("clock_mhz", "cycles a microsecond",
                                      "Naylor et al. 2020, section II.A", 1, 1e5, false),
    number<&board_machine::link>("link", "cycles from a board to the next",
                                 "Naylor et al. 2020, section V.B", 1, any),
    number<&board_machine::link_gap>("link_gap",
                                     "cycles until a link takes the next message, of two flits",
                                     "Naylor et al. 2020, section II: 10 Gbit/s, 16 bytes a flit, "
                                     "240 MHz",
                                     0, any),
    number<&board_machine::inside>("inside", "cycles of the way inside a board", "assumed", 0, any),
    number<&board_machine::handler>("handler", "cycles of a thread for a message taken or sent",
                                    "fitted: tutti sim idle --fit 6", 1, any),
    number<&board_machine::step>("step", "cycles of a thread for a vertex at a step",
                                 "assumed: the same as handler", 1, any),
    number<&board_machine::fan>("fan", "children of a thread in the clock tree", "assumed", 1,
                                1024),
};

std::string text_of(double value) { return std::to_string(static_cast<std::uint64_t>(value)); }

}  // namespace

std::vector<board_number> numbers_of(const board_machine& m) {
  std::vector<board_number> all;
  for (const key_of_number& k : keys) all.push_back({k.key, k.meaning, k.source, k.get(m)});
  return all;
}

void set_number(board_machine& m, const std::string& key, double value) {
  std::string known;
  for (const key_of_number& k : keys) {
    if (key == k.key) {
      if (!(value >= k.least && value <= k.most))
        throw std::invalid_argument("--set " + key + " must be a number from " + text_of(k.least) +
                                    " to " + text_of(k.most));
      if (k.is_whole && value != std::floor(value))
        throw std::invalid_argument("--set " + key + " must be a whole number");
      return k.set(m, value);
    }
    known += std::string(" ") + k.key;
  }
  throw std::invalid_argument("the boards have no number '" + key + "'; numbers are:" + known);
}

board_machine naylor_machine() {
  board_machine m;
  m.handler = m.step = 222;
  return m;
}

namespace {

// A node of the detector replies at once. The master's own link carries an order a cycle.
double hardware_round_trip(const board_machine& m) {
  sim_time last = 0, order = 0;
  // The farthest first.
  for (std::uint32_t distance = m.columns + m.rows - 1; distance-- > 0;)
    for (std::uint32_t column = 0; column < m.columns; ++column) {
      if (distance < column || distance - column >= m.rows) continue;
      last = std::max(last, order++ + static_cast<sim_time>(2 * m.link * (distance + 1)));
    }
  return static_cast<double>(last);
}

// A token goes from a thread to all its children, and back when all theirs have replied. The first
// thread of a board passes it on to the next board of its column, and in the first row also to the
// next of the row; the threads of a board form a tree below it.
class clock_tree {
 public:
  explicit clock_tree(const board_machine& m)
      : machine_(m),
        links_(m),
        nodes_(m.all_threads()),
        handler_(static_cast<sim_time>(m.handler)) {}

  double run() {
    const auto link = static_cast<sim_time>(machine_.link);
    queue_.at(link, {0, true});
    while (!queue_.empty()) {
      const event e = queue_.take();
      handle(e.thread, e.is_order);
    }
    return static_cast<double>(done_ + link);
  }

 private:
  struct event {
    std::uint32_t thread;
    bool is_order;
  };
  struct node {
    sim_time free_at = 0;
    std::uint32_t missing = 0;
  };

  template <class Visit>
  void each_child(std::uint32_t thread, Visit visit) const {
    const std::uint32_t fan = machine_.fan, board = thread / machine_.threads,
                        local = thread % machine_.threads;
    if (local == 0) {
      const bool is_first_row = board < machine_.columns;
      if (is_first_row && board + 1 < machine_.columns) visit(thread + machine_.threads);
      if (board + machine_.columns < machine_.boards())
        visit(thread + machine_.columns * machine_.threads);
    }
    for (std::uint64_t i = 1; i <= fan; ++i) {
      const std::uint64_t child = std::uint64_t{local} * fan + i;
      if (child < machine_.threads)
        visit(board * machine_.threads + static_cast<std::uint32_t>(child));
    }
  }
  std::uint32_t parent_of(std::uint32_t thread) const {
    const std::uint32_t board = thread / machine_.threads, local = thread % machine_.threads;
    if (local == 0)
      return thread - (board < machine_.columns ? 1 : machine_.columns) * machine_.threads;
    return board * machine_.threads + (local - 1) / machine_.fan;
  }

  // The thread takes a message when it has done with those before; what it then sends leaves one by
  // one.
  void handle(std::uint32_t thread, bool is_order) {
    node& n = nodes_[thread];
    n.free_at = std::max(n.free_at, queue_.now()) + handler_;
    if (is_order)
      each_child(thread, [&](std::uint32_t child) {
        ++n.missing;
        send(thread, child, true);
      });
    else
      --n.missing;
    if (n.missing > 0) return;
    if (thread == 0)
      done_ = n.free_at + handler_;
    else
      send(thread, parent_of(thread), false);
  }
  void send(std::uint32_t from, std::uint32_t to, bool is_order) {
    node& n = nodes_[from];
    n.free_at += handler_;
    queue_.at(links_.arrival(from, to, n.free_at), {to, is_order});
  }

  const board_machine& machine_;
  board_links links_;
  std::vector<node> nodes_;
  const sim_time handler_;
  event_queue<event> queue_;
  sim_time done_ = 0;
};

}  // namespace

double round_trip(const board_machine& m) {
  if (m.detector == idle_detector::hardware) return hardware_round_trip(m);
  return clock_tree(m).run();
}

}  // namespace tutti::sim
