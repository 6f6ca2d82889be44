// SPDX-License-Identifier: Apache-2.0
// The Hardware Barrier Structures of a simulated machine (Hetland et al. 2019, section 4), one in
// each socket. A thread's arrival is a message to the structure of its socket, which takes one
// message in a cycle of the processor's clock; the structures announce arrivals to each other, and
// complete messages let the threads go on. Each structure is a model that is exact to the cycle
// (hardware/model).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "hardware/model/hbs_unit.hpp"
#include "sim/machine.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::sim {

// Throws std::invalid_argument, beginning with `why`, for more threads than the machine has CPUs.
void refuse_more_threads(const machine& m, rank_t threads, const std::string& why);

class structures {
 public:
  // How far cores and structures are from each other: as the description says in its section
  // [structure], or as far as a line of another core.
  enum class distances { described, of_lines };

  // Throws std::invalid_argument if a CPU would have two of the threads.
  structures(const machine& m, rank_t threads, distances of);

  // The thread waits until all have arrived.
  void arrive_and_wait(rank_t rank);

 private:
  struct place {
    unsigned socket = 0, bit = 0;
    // From its core to the structure.
    sim_time way = 0;
  };
  struct socket {
    socket(unsigned local, unsigned peers)
        : unit(1, local, peers), announced(peers), ranks(local) {}
    hardware::model::hbs_unit unit;
    std::deque<hardware::model::register_request> arrived;
    // The announcements of each peer that are there.
    std::vector<unsigned> announced;
    // The rank of each bit.
    std::vector<rank_t> ranks;
    bool clock_is_due = false;
  };

  void need_clock(unsigned number);
  void edge(unsigned number);
  sim_time way_between(unsigned from, unsigned to) const;
  unsigned first_core_of(unsigned number) const;

  const machine machine_;
  const distances of_;
  const sim_time cycle_;
  std::vector<place> places_;
  std::vector<socket> sockets_;
  // The thread of each rank.
  std::vector<std::uint32_t> threads_;
};

}  // namespace tutti::sim
