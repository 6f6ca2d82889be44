// SPDX-License-Identifier: Apache-2.0
// tutti's side: endpoint by endpoint what a program would write.
#include "bench/mpi/series.hpp"

namespace tutti::bench {
namespace {

void receive_all(mpi::endpoint& me, std::uint64_t& sum) {
  while (me.can_recv()) {
    const received message = me.recv();
    sum += message.as<std::uint64_t>();
    me.release(message);
  }
}

void finish(mpi::endpoint& me, std::uint64_t& sum) {
  do receive_all(me, sum);
  while (me.idle(true) == idle_result::message);
}

void empty_episodes(mpi::endpoint& me, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) me.idle(true);
}

void episodes_with_a_message(mpi::endpoint& me, std::uint64_t count) {
  const rank_t next = (me.rank() + 1) % me.size();
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    while (!me.can_send(next)) receive_all(me, sum);
    me.send(next, i);
    finish(me, sum);
  }
}

// To random others, never to oneself.
void random_messages(mpi::endpoint& me, std::uint64_t count) {
  const rank_t others = me.size() - 1;
  std::uint64_t sum = 0, state = me.rank() * 0x9e3779b97f4a7c15 + 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto chosen = static_cast<rank_t>((state >> 32) * others >> 32);
    const rank_t to = chosen + (chosen >= me.rank() ? 1 : 0);
    while (!me.can_send(to)) receive_all(me, sum);
    me.send(to, i);
  }
  finish(me, sum);
}

// One token that everybody else waits for in idle().
void hops(mpi::endpoint& me, std::uint64_t count) {
  const rank_t next = (me.rank() + 1) % me.size();
  if (me.rank() == 0) me.send(next, count);
  do {
    while (me.can_recv()) {
      const received message = me.recv();
      const auto left = message.as<std::uint64_t>();
      me.release(message);
      if (left > 1) me.send(next, left - 1);
    }
  } while (me.idle(true) == idle_result::message);
}

}  // namespace

void add_tutti_series(std::vector<mpi_series>& all, mpi::communicator& comm, const char* name) {
  mpi::endpoint& me = comm.local(0);
  const auto add = [&](const char* benchmark, const char* metric,
                       void (*run)(mpi::endpoint&, std::uint64_t)) {
    all.push_back({benchmark, "tutti", name, metric, [&me, run](std::uint64_t n) { run(me, n); }});
  };
  add("idle", "empty", empty_episodes);
  add("idle", "one_message", episodes_with_a_message);
  add("message", "random", random_messages);
  add("hop", "one_way", hops);
}

}  // namespace tutti::bench
