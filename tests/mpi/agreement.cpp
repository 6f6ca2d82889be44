// SPDX-License-Identifier: Apache-2.0
// What participants agree on (votes, values, groups), and disagreements, which all of them must
// refuse.
#include <array>
#include <memory>

#include "tests/mpi/scenario.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti::test {
namespace {

// A vote that a message has refuted does not count: all vote true first, and false once they have
// their message.
void votes(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    const rank_t n = me.size(), next = (me.rank() + 1) % n;
    for (int i = 0; i < 100; ++i) {
      const auto last = static_cast<std::uint64_t>(i % 2);
      while (!me.try_send(next, &last, sizeof last)) receive_all(me, [](const received&) {});
      bool vote = true;
      idle_result now{};
      while ((now = me.idle(vote)) == idle_result::message)
        receive_all(me, [&](const received& m) { vote = m.as<std::uint64_t>() != 0; });
      expect_equal(static_cast<unsigned>(now), i % 2 == 0 ? 1u : 3u, "result of idle()");
    }
  });
}

void values(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [&](mpi::endpoint& me) {
    const rank_t n = me.size(), next = (me.rank() + 1) % n;
    for (int i = 0; i < 60; ++i) {
      // The bits of these sums depend on the order.
      const auto mine = [&](rank_t rank) { return 1.0 / (3.0 + rank) + 1e10 * (rank % 3) + i; };
      while (!me.try_send(next, &i, sizeof i)) receive_all(me, [](const received&) {});
      for (;;) {
        const auto got = me.idle(true, mine(me.rank()), plus{});
        if (got.result == idle_result::message) {
          expect(got.value == mine(me.rank()), "a value without a release is the caller's");
          receive_all(me, [](const received&) {});
          continue;
        }
        const double wanted = schedule::fold(0, n, mine, plus{});
        expect(got.value == wanted, "the bits of a sum");
        break;
      }
      const auto least = me.idle(false, std::int64_t{100} - me.rank(), minimum{});
      expect_equal(least.value, std::int64_t{101} - n, "a minimum");
      expect(least.result == idle_result::idle, "a vote beside a value");
      using pair = std::array<std::uint64_t, 2>;
      const auto both = me.idle(true, pair{me.rank(), 1}, plus{});
      expect(both.value == pair{std::uint64_t{n} * (n - 1) / 2, n}, "a pair of sums");
    }
  });
}

void mismatched_values(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    if (me.size() == 1) return;
    bool is_refused = false;
    try {
      if (me.rank() == 0)
        me.idle(true, 1.0, maximum{});
      else
        me.idle(true, std::int64_t{1}, plus{});
    } catch (const std::invalid_argument&) {
      is_refused = true;
    }
    expect(is_refused, "values of two types were combined");
    expect(me.idle(true) == idle_result::unanimous, "idle() after a refused one");
  });
}

// Even and odd ranks run separately, at their own pace; then all run together again.
void groups(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  if (comm.size() < 4) return;
  std::array<std::vector<rank_t>, 2> members;
  // The order is not ascending.
  for (rank_t rank = comm.size(); rank-- > 0;) members[rank % 2].push_back(rank);
  std::array<std::unique_ptr<mpi::communicator>, 2> group;
  for (rank_t parity = 0; parity < 2; ++parity) {
    bool is_mine = false;
    for (rank_t thread = 0; thread < comm.threads(); ++thread)
      is_mine |= comm.local(thread).rank() % 2 == parity;
    if (is_mine) group[parity] = comm.group(members[parity], static_cast<int>(parity));
  }
  on_all_participants(comm, [&](mpi::endpoint& all) {
    const rank_t parity = all.rank() % 2;
    rank_t mine = 0;
    while (members[parity][mine] != all.rank()) ++mine;
    mpi::endpoint& me = (*group[parity])[mine];
    expect_equal(me.size(), members[parity].size(), "size of a group");
    std::uint64_t sum = 0;
    const auto take = [&](const received& m) { sum += m.as<std::uint64_t>(); };
    const std::uint64_t rounds = parity == 0 ? 50 : 20;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      for (rank_t to = 0; to < me.size(); ++to) send_receiving(me, to, &i, sizeof i, take);
      idle_receiving(me, true, take);
    }
    expect_equal(sum, me.size() * rounds * (rounds - 1) / 2, "sum within a group");
    const auto part = [](rank_t rank) { return 1.0 / (3.0 + rank) + 1e10 * (rank % 3); };
    expect(me.idle(true, part(mine), plus{}).value == schedule::fold(0, me.size(), part, plus{}),
           "the bits of a group's sum");
    expect(all.idle(true) == idle_result::unanimous, "all after their groups");
  });
}

void refused(const mpi::calls& mpi, const mpi::options& chosen) {
  int rank = 0, size = 0;
  mpi.rank(mpi.world, &rank);
  mpi.size(mpi.world, &size);
  const auto with = [&](auto change) {
    return [&, change] {
      mpi::options changed = chosen;
      change(changed);
      mpi::communicator(mpi, mpi.world, changed);
    };
  };
  expect_refused("threads is 0", with([](auto& o) { o.threads = 0; }));
  expect_refused("'comet'", with([](auto& o) { o.detector = "comet"; }));
  expect_refused("transport 'pigeon'", with([](auto& o) { o.transport = "pigeon"; }));
  expect_refused("packet_bytes is 8", with([](auto& o) { o.packet_bytes = 8; }));
  if (chosen.threads > 1)
    expect_refused("too small for this number of threads", with([](auto& o) {
                     o.packet_bytes = 1024;
                     o.threads = 64;
                   }));
  expect_refused("packets_under_way is 0", with([](auto& o) { o.packets_under_way = 0; }));
  expect_refused("ring_bytes is 3", with([](auto& o) { o.ring_bytes = 3; }));
  if (size > 1) {
    const bool last = rank == size - 1;
    expect_refused("disagree on detector",
                   with([=](auto& o) { o.detector = last ? "ring" : "star"; }));
    expect_refused("disagree on packet_bytes",
                   with([=](auto& o) { o.packet_bytes = last ? 2048 : 4096; }));
    expect_refused("disagree on transport",
                   with([=](auto& o) { o.transport = last ? "mpi" : "auto"; }));
    expect_refused("disagree on processes_per_node",
                   with([=](auto& o) { o.processes_per_node = last ? 1 : 2; }));
    expect_refused("'shared' needs all processes on one node", with([](auto& o) {
                     o.transport = "shared";
                     o.processes_per_node = 1;
                   }));
    // The process whose options are not valid is named to all.
    expect_refused("process " + std::to_string(size - 1),
                   with([=](auto& o) { o.packets_under_way = last ? 0 : 8; }));
  }
  mpi::calls other = mpi;
  other.version = 999;
  expect_refused("version 999", [&] { mpi::communicator(other, mpi.world, chosen); });

  mpi::communicator comm(mpi, mpi.world, chosen);
  expect_refused("is not in this process", [&] { comm[comm.size()]; });
  const std::array<rank_t, 2> beyond{0, comm.size()}, twice{0, 0};
  expect_refused("out of range", [&] { comm.group(beyond); });
  expect_refused("named twice", [&] { comm.group(twice); });
}

}  // namespace

const std::vector<scenario> agreement_scenarios{
    {"votes", votes},   {"values", values},   {"mismatched", mismatched_values},
    {"groups", groups}, {"refused", refused},
};

}  // namespace tutti::test
