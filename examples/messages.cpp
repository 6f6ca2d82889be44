// SPDX-License-Identifier: Apache-2.0
// Two participants that cannot know how many messages will come: every message calls for two
// more, ten times over, and idle() says when all of them have been received.

#include <cstdio>
#include <thread>
#include <vector>

#include "tutti/comm/communicator.hpp"

int main() {
  tutti::communicator comm(2);  // between processes: tutti::mpi::communicator
  std::vector<unsigned> seen(2);
  auto work = [&](tutti::rank_t rank) {
    auto& me = comm[rank];
    std::vector<unsigned> outgoing;
    if (rank == 0) outgoing = {10};
    for (;;) {
      while (!outgoing.empty() && me.can_send(1 - rank)) {
        me.send(1 - rank, outgoing.back());
        outgoing.pop_back();
      }
      while (me.can_recv()) {
        const tutti::received message = me.recv();
        const auto left = message.as<unsigned>();
        me.release(message);
        ++seen[rank];
        if (left > 0) outgoing.insert(outgoing.end(), 2, left - 1);
      }
      if (outgoing.empty() && me.idle(true) != tutti::idle_result::message) break;
    }
  };
  std::jthread other(work, 1);
  work(0);
  other.join();
  const unsigned messages = seen[0] + seen[1];
  std::printf("%u messages\n", messages);
  return messages == 2047 ? 0 : 1;
}
