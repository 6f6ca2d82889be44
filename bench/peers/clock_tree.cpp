// SPDX-License-Identifier: Apache-2.0
// What one would do without a termination detector, on tutti's own messages and reductions:
//   sampled   All participants give the numbers of messages that they have sent and received to a
//             tree of sums, a barrier each time, until both sums are equal. All are inside the
//             reduction when the last one gives its counts, so the counts fit together: a message
//             cannot wake a participant that is inside.
//   messages  A token goes down a tree of the participants, and acknowledgements come back up: one
//             round trip, of which a detection needs two (the asynchronous clock tree in figure 6
//             of Naylor et al. 2020). It knows nothing of messages.
#include "bench/contenders/contender.hpp"
#include "tutti/comm/communicator.hpp"
#include "tutti/reduce/reduction.hpp"

namespace tutti::bench {
namespace {

struct counts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};
struct added {
  counts operator()(const counts& a, const counts& b) const {
    return {a.sent + b.sent, a.received + b.received};
  }
};

struct sampled_tree {
  explicit sampled_tree(rank_t n) : comm(n), sums(n, {}, reduction_algorithm::tree) {}
  communicator comm;
  reduction<counts, added> sums;
};

// Until nothing is under way. Looks for messages only when a sample says that there are some.
void finish(sampled_tree& tree, rank_t rank, counts& mine) {
  endpoint& me = tree.comm[rank];
  me.flush();
  for (;;) {
    const counts all = tree.sums.all(rank, mine);
    if (all.sent == all.received) return;
    while (me.can_recv()) {
      me.release(me.recv());
      ++mine.received;
    }
  }
}

trial sampled(rank_t n, bool with_message) {
  return {"idle",
          "clock_tree",
          "sampled",
          with_message ? "message_each" : "empty_episode",
          n,
          [n, with_message, tree = std::make_shared<sampled_tree>(n)](
              team& threads, const placement& where, std::uint64_t count) {
            return time_team(threads, where, [&](rank_t rank) {
              counts mine;
              for (std::uint64_t i = 0; i < count; ++i) {
                if (with_message) {
                  tree->comm[rank].send((rank + 1) % n, i);
                  ++mine.sent;
                }
                finish(*tree, rank, mine);
              }
            });
          }};
}

void take_one(endpoint& me) {
  while (!me.can_recv()) {
  }
  me.release(me.recv());
}

void round_trip(endpoint& me) {
  const rank_t n = me.size(), rank = me.rank();
  const rank_t children = 2 * rank + 1 >= n ? 0 : std::min<rank_t>(2, n - (2 * rank + 1));
  if (rank != 0) take_one(me);
  for (rank_t child = 1; child <= children; ++child) me.send(2 * rank + child, std::uint64_t{0});
  me.flush();
  for (rank_t child = 1; child <= children; ++child) take_one(me);
  if (rank == 0) return;
  me.send((rank - 1) / 2, std::uint64_t{0});
  me.flush();
}

trial messages(rank_t n) {
  return {"idle",
          "clock_tree",
          "messages",
          "empty_episode",
          n,
          [comm = std::make_shared<communicator>(n)](team& threads, const placement& where,
                                                     std::uint64_t count) {
            return time_team(threads, where, [&](rank_t rank) {
              for (std::uint64_t i = 0; i < count; ++i) round_trip((*comm)[rank]);
            });
          }};
}

std::vector<trial> trials(rank_t n) { return {sampled(n, false), sampled(n, true), messages(n)}; }

}  // namespace

std::vector<contender> peer_clock_tree() {
  return {{.name = "sums, round trips",
           .summary = "termination by sampling and by round trips",
           .trials = trials,
           .trials_on_fibers = true}};
}

}  // namespace tutti::bench
