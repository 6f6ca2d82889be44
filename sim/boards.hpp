// SPDX-License-Identifier: Apache-2.0
// A machine of boards in a mesh, whose threads have no shared memory and send messages: that of
// Naylor et al. 2020. boards_engine.hpp runs vertex programs on it.
//
// A thread handles one message at a time, in so many cycles for each that it takes or sends. A
// message takes the links of its row first, then those of its column, and each link takes the next
// one only after some cycles. Not simulated: queues inside a board, threads that share a core
// (each has its turn of the core all the time), mailboxes that are full, caches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/events.hpp"

namespace tutti::sim {

// How the machine learns that all threads wait and no message is under way.
enum class idle_detector : std::uint8_t { hardware, clock_tree };

// Times are in cycles.
struct board_machine {
  std::uint32_t columns = 6, rows = 8, threads = 1024;
  double clock_mhz = 240;
  double link = 150;
  double link_gap = 8;
  double inside = 20;
  double handler = 1;
  double step = 1;
  // Children of a thread in the clock tree.
  std::uint32_t fan = 4;
  idle_detector detector = idle_detector::hardware;

  std::uint32_t boards() const noexcept { return columns * rows; }
  std::uint32_t all_threads() const noexcept { return boards() * threads; }
  double seconds(double cycles) const noexcept { return cycles / (clock_mhz * 1e6); }
};

// A number of a machine: its key, what it is, and where the value of Naylor et al.'s comes from.
struct board_number {
  std::string key, meaning, source;
  double value;
};
std::vector<board_number> numbers_of(const board_machine& m);

// Replaces a number. Throws std::invalid_argument for an unknown key or a value that cannot be.
void set_number(board_machine& m, const std::string& key, double value);

// The machine of Naylor et al.: with `handler` and `step` as `tutti sim idle --fit 6` finds them.
board_machine naylor_machine();

// The links of the mesh.
class board_links {
 public:
  explicit board_links(const board_machine& m)
      : machine_(m), free_at_(std::size_t{4} * m.boards(), 0) {}

  // When a message that leaves a thread at `when` arrives at another one.
  sim_time arrival(std::uint32_t from, std::uint32_t to, sim_time when) {
    when += static_cast<sim_time>(machine_.inside);
    std::uint32_t at = from / machine_.threads;
    const std::uint32_t board = to / machine_.threads;
    while (at != board) {
      const std::uint32_t column = at % machine_.columns, goal = board % machine_.columns;
      enum : std::uint32_t { east, west, south, north };
      const std::uint32_t way = column < goal   ? east
                                : column > goal ? west
                                : at < board    ? south
                                                : north;
      sim_time& free_at = free_at_[std::size_t{4} * at + way];
      when = when < free_at ? free_at : when;
      free_at = when + static_cast<sim_time>(machine_.link_gap);
      when += static_cast<sim_time>(machine_.link);
      at = way == east    ? at + 1
           : way == west  ? at - 1
           : way == south ? at + machine_.columns
                          : at - machine_.columns;
    }
    return when;
  }

 private:
  const board_machine& machine_;
  // By board and direction.
  std::vector<sim_time> free_at_;
};

// The cycles from the first order of a master, which is one link before the first board, until it
// has all replies: by the detector of the machine. Orders leave one a cycle, the farthest first.
double round_trip(const board_machine& m);
// From the moment when all threads wait until all may send again: three round trips.
inline double detection(const board_machine& m) { return 3 * round_trip(m); }

}  // namespace tutti::sim
