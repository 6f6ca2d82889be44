// SPDX-License-Identifier: Apache-2.0
// Messages: all arrive, once, in order, in their episode, and complete, also if all participants
// send more than there is room for.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <utility>

#include "tests/mpi/scenario.hpp"
#include "tutti/mpi/packet.hpp"

namespace tutti::test {
namespace {

std::uint64_t first_word(const received& message) {
  std::uint64_t word = 0;
  std::memcpy(&word, message.data, sizeof word);
  return word;
}

// Random letters, some of which cause others, in many episodes.
void episodes(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    const rank_t n = me.size();
    const std::uint32_t count = n > 2 ? 40 : 100;
    dice random(me.rank() + 1);
    std::vector<std::uint32_t> sent(n), seen(n);
    std::vector<std::pair<rank_t, letter>> to_answer;
    std::uint32_t episode = 0;
    const auto take = [&](const received& message) {
      expect_equal(message.size, sizeof(letter), "size of a letter");
      const auto got = message.as<letter>();
      expect_equal(got.episode, episode, "episode of a letter");
      expect_equal(got.number, seen[message.source], "order of letters");
      ++seen[message.source];
      if (got.hops > 0) to_answer.emplace_back(static_cast<rank_t>(random.below(n)), got);
    };
    const auto send = [&](rank_t to, std::uint32_t hops) {
      const letter mail{episode, sent[to], hops};
      ++sent[to];
      send_receiving(me, to, &mail, sizeof mail, take);
    };
    for (; episode < count; ++episode) {
      const std::uint64_t first = random.below(episode % 3 == 0 ? 60 : 3);
      for (std::uint64_t i = 0; i < first; ++i)
        send(static_cast<rank_t>(random.below(n)), static_cast<std::uint32_t>(random.below(4)));
      for (;;) {
        receive_all(me, take);
        while (!to_answer.empty()) {
          const auto [to, mail] = to_answer.back();
          to_answer.pop_back();
          send(to, mail.hops - 1);
        }
        if (me.can_recv()) continue;
        if (me.idle(true) != idle_result::message) break;
      }
    }
    // Every message has been seen by its receiver: each participant tells the others.
    std::vector<std::uint32_t> told(n);
    const auto take_count = [&](const received& message) {
      told[message.source] = message.as<std::uint32_t>();
    };
    for (rank_t to = 0; to < n; ++to)
      send_receiving(me, to, &sent[to], sizeof sent[to], take_count);
    idle_receiving(me, true, take_count);
    for (rank_t from = 0; from < n; ++from)
      expect_equal(seen[from], told[from], "letters from " + std::to_string(from));
    const endpoint_statistics counted = me.statistics();
    expect_equal(counted.episodes, std::uint64_t{count} + 1, "episodes counted");
    std::uint64_t others = 0;
    for (rank_t to = 0; to < n; ++to) others += to == me.rank() ? 0 : sent[to] + 1;
    expect_equal(counted.sent, others, "messages counted as sent");
    expect_equal(counted.self, std::uint64_t{sent[me.rank()]} + 1, "messages to oneself");
  });
}

std::byte pattern(std::size_t at, rank_t from, rank_t to) {
  return static_cast<std::byte>((at * 131 + from * 7 + to * 3 + at / 251) & 0xff);
}

// Every size from each to each, in order, small and large mixed.
void sizes(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [&](mpi::endpoint& me) {
    const rank_t n = me.size();
    std::vector<std::size_t> all{0,   1,   7,    8,     9,     63,   64,    65, 250,
                                 256, 257, 1024, 4095,  4096,  4097, 40000, 8,  100000,
                                 16,  64,  3000, 16384, 16390, 16,   1};
    if (n <= 4) all.insert(all.end(), {1'000'003, 5, 24});
    std::vector<std::size_t> next(n, 0);
    const auto take = [&](const received& message) {
      const std::size_t wanted = all.at(next[message.source]++);
      expect_equal(message.size, wanted, "size of message " + std::to_string(next[message.source]));
      expect(reinterpret_cast<std::uintptr_t>(message.data) % 8 == 0, "data not 8-byte aligned");
      for (std::size_t i = 0; i < wanted; ++i)
        expect(message.data[i] == pattern(i, message.source, me.rank()), "bytes differ");
    };
    std::vector<std::byte> data;
    for (const std::size_t bytes : all)
      for (rank_t to = 0; to < n; ++to) {
        data.resize(bytes);
        for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(i, me.rank(), to);
        send_receiving(me, to, data.data(), bytes, take);
      }
    expect(idle_receiving(me, true, take) == idle_result::unanimous, "not unanimous");
    for (rank_t from = 0; from < n; ++from)
      expect_equal(next[from], all.size(), "messages from " + std::to_string(from));
    const endpoint_statistics counted = me.statistics();
    expect_equal(counted.sent, (n - 1) * all.size(), "messages counted as sent");
    expect_equal(counted.received, (n - 1) * all.size(), "messages counted as received");
  });
}

// Every participant sends to all others as fast as it can, and receives only if there is no room or
// nothing left to send.
void flood(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    // This is more than there is room for from one to another, with any transport.
    constexpr std::uint64_t least = 10000;
    const rank_t n = me.size();
    const std::uint64_t each = std::max<std::uint64_t>(60000 / n, least);
    std::uint64_t sum = 0, times_full = 0;
    const auto take = [&](const received& message) { sum += message.as<std::uint64_t>(); };
    for (std::uint64_t i = 1; i <= each; ++i)
      for (rank_t to = 0; to < n; ++to)
        while (to != me.rank() && !me.try_send(to, &i, sizeof i)) {
          ++times_full;
          receive_all(me, take);
        }
    idle_receiving(me, true, take);
    expect_equal(sum, (n - 1) * each * (each + 1) / 2, "sum of what was received");
    // The first to receive has met the bound; the others may never have.
    const auto all = me.idle(true, times_full, plus{});
    expect(n == 1 || all.value > 0, "there was always room");
  });
}

// The same with sends that wait, by all participants at once, including large messages, which
// travel in pieces. Adds up what came in between and at the end.
void press(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    const rank_t n = me.size();
    const std::uint64_t each = std::max<std::uint64_t>(40000 / n, 5000);
    std::vector<std::uint64_t> next(n, 0), large(5000);
    const auto take = [&](const received& message) {
      std::uint64_t first = 0;
      std::memcpy(&first, message.data, sizeof first);
      expect_equal(first, next[message.source]++, "order");
      const bool is_large = first % 1000 == 999;
      expect_equal(message.size, (is_large ? large.size() : 1) * sizeof first, "size of a message");
    };
    for (std::uint64_t i = 0; i < each; ++i)
      for (rank_t to = 0; to < n; ++to) {
        large[0] = i;
        if (i % 1000 == 999)
          me.send_wait(to, large.data(), large.size() * sizeof large[0], take);
        else if (i % 2 == 0)
          me.send_wait(to, i, take);
        else
          while (!me.send_wait_for(to, i, std::chrono::microseconds(200), take)) {
          }
      }
    expect(idle_receiving(me, true, take) == idle_result::unanimous, "votes");
    for (const std::uint64_t count : next) expect_equal(count, each, "messages");
  });
}

// Returns true once there is room. The room was given back before the episode ended, but may still
// be on its way.
bool gets_room(mpi::endpoint& me, rank_t to) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!me.can_send(to))
    if (std::chrono::steady_clock::now() > until) return false;
  return true;
}

// A receiver holds all messages: its senders run out of room, and no messages are lost. It releases
// them in reverse order.
void hold(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    constexpr std::uint64_t enough = 400000;
    if (me.size() == 1) return;
    if (me.rank() == 1) {
      // Sends as much as fits while the other receives nothing.
      std::uint64_t fit = 0;
      while (fit < enough && me.can_send(0)) me.send(0, fit++);
      expect(fit < enough, "room without end");
      for (int i = 0; i < 100; ++i) expect(!me.can_send(0), "room though nothing was released");
      const auto never = [](const received&) { expect(false, "a message from nowhere"); };
      std::array<std::uint64_t, 8> larger{fit};
      while (me.try_send(0, larger.data(), sizeof larger)) larger[0] = ++fit;
      const std::uint64_t counted = me.statistics().sent;
      const auto begin = std::chrono::steady_clock::now();
      expect(!me.send_wait_for(0, larger, std::chrono::milliseconds(30), never),
             "room from nowhere");
      expect(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(30),
             "too early");
      expect_equal(me.statistics().sent, counted, "messages counted as sent");
      // A smaller message than can_send() asks for may still fit; none is lost silently.
      expect_refused("without room", [&] {
        for (; fit < enough; ++fit) me.send(0, fit);
      });
      expect(idle_receiving(me, true, [](const received&) {}) == idle_result::unanimous, "votes");
      expect(gets_room(me, 0), "no room though all was released");
      expect(idle_receiving(me, true, [](const received&) {}) == idle_result::unanimous, "votes");
      return;
    }
    if (me.rank() > 1) {
      me.idle(true);
      me.idle(true);
      return;
    }
    std::vector<received> held;
    // Continues until the sender has filled all room and waits.
    for (bool is_full = false; !is_full;) {
      while (me.can_recv()) held.push_back(me.recv());
      const timed_idle now = me.idle_for(true, std::chrono::milliseconds(50));
      is_full =
          !now && std::none_of(now.missing.begin(), now.missing.end(),
                               [](const absentee& one) { return one.why == absence::running; });
    }
    expect(held.size() > 3, "nothing to hold");
    for (std::uint64_t i = 0; i < held.size(); ++i)
      expect_equal(first_word(held[i]), i, "a held message");
    std::shuffle(held.begin(), held.end(), std::mt19937(7));
    for (const received& one : held) me.release(one);
    std::uint64_t next = held.size();
    const auto take = [&](const received& message) {
      expect_equal(first_word(message), next++, "a later message");
    };
    expect(idle_receiving(me, true, take) == idle_result::unanimous, "votes");
    expect(idle_receiving(me, true, take) == idle_result::unanimous, "votes");
  });
}

// A sender that asks for room and then sends nothing, more often than packets may be under way, has
// lost no room.
void unsent(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [&](mpi::endpoint& me) {
    const std::uint64_t episodes = chosen.packets_under_way + 4;
    std::uint64_t episode = 0, seen = 0;
    const auto take = [&](const received& message) {
      expect_equal(message.as<std::uint64_t>(), episode, "episode of a message");
      ++seen;
    };
    for (; episode < episodes; ++episode) {
      for (rank_t to = 0; to < me.size(); ++to)
        expect(gets_room(me, to), "no room though nothing was sent");
      expect(idle_receiving(me, true, take) == idle_result::unanimous, "votes");
    }
    for (rank_t to = 0; to < me.size(); ++to)
      send_receiving(me, to, &episode, sizeof episode, take);
    expect(idle_receiving(me, true, take) == idle_result::unanimous, "votes");
    expect_equal(seen, std::uint64_t{me.size()}, "messages after all");
  });
}

// One token goes round; its holder is the only participant that is not idle.
void token(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    const rank_t n = me.size();
    const std::uint64_t hops = n > 2 ? 200 : 2000;
    const rank_t next = (me.rank() + 1) % n;
    std::uint64_t seen = 0;
    const auto take = [&](const received& message) {
      ++seen;
      const auto left = message.as<std::uint64_t>();
      if (left == 0) return;
      const std::uint64_t mine = left - 1;
      while (!me.try_send(next, &mine, sizeof mine)) {
      }
    };
    if (me.rank() == 0) me.send(next, hops);
    idle_receiving(me, true, take);
    // The first of my hops among the first n.
    const std::uint64_t turn = (me.rank() + n - 1) % n;
    expect_equal(seen, (hops + n - turn) / n, "visits of the token");
  });
}

// What the function of a send that waits may not do, and what a waiting sender may not hold.
void inside(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    const auto ignore = [](const received&) {};
    if (me.size() == 1) return;
    const std::uint64_t value = 1;
    if (me.rank() == 0) {
      // Each of these ends if there is no room, and the other makes room as fast as it can.
      bool is_refused = false;
      const auto nested = [&](const received&) {
        if (std::exchange(is_refused, true)) return;
        expect_refused("from the function that send_wait()", [&] { me.idle(true); });
        expect_refused("from the function that send_wait()", [&] {
          for (;;) me.send_wait(1, value, ignore);
        });
      };
      while (!is_refused) me.send_wait(1, value, nested);
      while (!me.can_recv()) (void)me.try_send(1, &value, sizeof value);
      const received held = me.recv();
      expect_refused("messages while it waits for room", [&] {
        for (;;) (void)me.send_wait_for(1, value, std::chrono::milliseconds(1), ignore);
      });
      me.release(held);
    }
    std::uint64_t count = 0;
    const auto answer = [&](const received&) {
      if (me.rank() == 1 && ++count % 64 == 0) (void)me.try_send(0, &value, sizeof value);
    };
    idle_receiving(me, true, answer);
  });
}

// What this process has given to MPI.
struct sends_to {
  int (*really)(const void*, int, int, mpi::handle, mpi::handle*) = nullptr;
  // Packets of messages, by process.
  std::vector<std::uint64_t> packets;
} counted_sends;

int send_and_count(const void* data, int bytes, int to, mpi::handle comm, mpi::handle* request) {
  mpi::packet_header header;
  std::memcpy(&header, data, sizeof header);
  if (header.kind == mpi::packet_kind::messages) ++counted_sends.packets[std::size_t(to)];
  return counted_sends.really(data, bytes, to, comm, request);
}

// All participants send to all others, small messages and some that are larger than a ring. Only
// what leaves the node goes to MPI, and all of that does.
void near(const mpi::calls& mpi, const mpi::options& chosen) {
  expect(chosen.processes_per_node != 0, "this scenario needs nodes of a given size");
  mpi::calls counting = mpi;
  counted_sends.really = mpi.send;
  counting.send = send_and_count;
  mpi::communicator comm(counting, counting.world, chosen);
  expect(!comm.is_shared(), "all on one node");
  counted_sends.packets.assign(comm.processes(), 0);
  constexpr std::uint32_t episodes = 3, small = 2000;
  const std::vector<std::uint64_t> large(10'000, 7);
  on_all_participants(comm, [&](mpi::endpoint& me) {
    std::vector<std::uint64_t> seen(me.size());
    const auto take = [&](const received& m) {
      if (m.size == sizeof(std::uint64_t)) {
        expect_equal(first_word(m), seen[m.source], "order of messages");
      } else {
        expect_equal(m.size, large.size() * sizeof large[0], "size of a large message");
        expect(std::memcmp(m.data, large.data(), m.size) == 0, "bytes of a large message");
      }
      ++seen[m.source];
    };
    for (std::uint32_t episode = 1; episode <= episodes; ++episode) {
      std::uint64_t next = (episode - 1) * (small + 1);
      for (std::uint32_t i = 0; i < small; ++i, ++next)
        for (rank_t to = 0; to < me.size(); ++to) send_receiving(me, to, &next, sizeof next, take);
      for (rank_t to = 0; to < me.size(); ++to)
        send_receiving(me, to, large.data(), large.size() * sizeof large[0], take);
      idle_receiving(me, true, take);
      for (const std::uint64_t each : seen)
        expect_equal(each, std::uint64_t{episode} * (small + 1), "messages of an episode");
    }
  });
  const std::uint32_t mine = comm.first_rank() / comm.threads();
  for (std::uint32_t other = 0; other < comm.processes(); ++other) {
    const bool is_near = other / chosen.processes_per_node == mine / chosen.processes_per_node;
    expect((counted_sends.packets[other] == 0) == is_near,
           std::to_string(counted_sends.packets[other]) + " packets of messages from process " +
               std::to_string(mine) + " to process " + std::to_string(other));
  }
}

void empty_episodes(const mpi::calls& mpi, const mpi::options& chosen, std::uint32_t count) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [&](mpi::endpoint& me) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const bool vote = i % 2 == 0 || me.rank() != i % me.size();
      const idle_result wanted = i % 2 == 0 ? idle_result::unanimous : idle_result::idle;
      if (me.idle(vote) != wanted) throw std::logic_error("votes of episode " + std::to_string(i));
    }
  });
}

}  // namespace

const std::vector<scenario> traffic_scenarios{
    {"episodes", episodes},
    {"sizes", sizes},
    {"flood", flood},
    {"press", press},
    {"inside", inside},
    {"hold", hold},
    {"unsent", unsent},
    {"token", token},
    {"near", near},
    {"empty",
     [](const mpi::calls& mpi, const mpi::options& chosen) { empty_episodes(mpi, chosen, 300); }},
    {"hundred_thousand", [](const mpi::calls& mpi,
                            const mpi::options& chosen) { empty_episodes(mpi, chosen, 100'000); }},
    {"million", [](const mpi::calls& mpi,
                   const mpi::options& chosen) { empty_episodes(mpi, chosen, 1'000'000); }},
};

}  // namespace tutti::test
