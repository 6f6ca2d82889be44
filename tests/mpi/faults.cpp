// SPDX-License-Identifier: Apache-2.0
// Participants that do not do their part: the others learn who it is, in time.
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "scenario.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

// Until this participant's deadline finds that one missing, for that reason, and nobody else: the others may need a while
// to get to idle(). Messages that come meanwhile are taken.
template <class Take>
absentee find_only_absentee(mpi::endpoint& me, rank_t wanted, absence why, Take take) {
  const auto until = std::chrono::steady_clock::now() + 30s;
  std::string seen;
  while (std::chrono::steady_clock::now() < until) {
    const timed_idle now = me.idle_for(true, 100ms);
    expect(!now || now.result == idle_result::message, "idle() came to an end though one is late");
    if (now) {
      receive_all(me, take);
      continue;
    }
    if (now.missing.size() == 1 && now.missing[0].rank == wanted && now.missing[0].why == why)
      return now.missing[0];
    seen.clear();
    for (const absentee& one : now.missing)
      seen += " " + std::to_string(one.rank) + ":" + std::to_string(static_cast<int>(one.why));
  }
  throw std::logic_error("rank " + std::to_string(wanted) + " is not named, but" + seen);
}

constexpr std::uint64_t go_on = 1'000'000;

// One participant computes, until the first has named it to itself; then all goes on as if nothing had been. It answers
// nobody at first, and later looks for messages as it computes.
void late(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    const rank_t n = me.size(), slow = n - 1;
    if (n == 1) return;
    std::uint64_t sum = 0, told = 0;
    const auto take = [&](const received& m) {
      const auto value = m.as<std::uint64_t>();
      value == go_on ? ++told : sum += value;
    };
    for (std::uint64_t i = 0; i < 2; ++i) {
      if (me.rank() == slow) {
        if (i == 0) std::this_thread::sleep_for(300ms);
        while (told == i) receive_all(me, take);
      } else if (me.rank() == 0) {
        find_only_absentee(me, slow, absence::running, take);
        // After a deadline one may send as before, once what was said is answered.
        send_receiving(me, slow, &go_on, sizeof go_on, take);
      }
      for (rank_t to = 0; to < n; ++to) send_receiving(me, to, &i, sizeof i, take);
      expect(idle_receiving(me, true, take) == idle_result::unanimous, "votes after a deadline");
      expect_equal(sum, n * i * (i + 1) / 2, "messages after a deadline");
    }
    const timed_idle in_time = me.idle_for(true, 20s);
    expect(in_time && in_time.result == idle_result::unanimous, "an episode in time");
  });
}

// One that receives a message and does not give it back before another comes.
void holder(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    const auto ignore = [](const received&) {};
    if (me.size() == 1) return;
    if (me.rank() == 0) {
      me.send(1, std::uint64_t{42});
      const absentee found = find_only_absentee(me, 1, absence::holding, ignore);
      expect_equal(found.messages, std::uint64_t{1}, "messages held");
      const std::uint64_t release_it = 43;
      send_receiving(me, 1, &release_it, sizeof release_it, ignore);
    } else if (me.rank() == 1) {
      while (me.idle(true) != idle_result::message) {
      }
      const received kept = me.recv();
      expect(me.idle(true) == idle_result::message, "an episode ended over a message that is held");
      expect_equal(kept.as<std::uint64_t>(), std::uint64_t{42}, "the message that was held");
      me.release(kept);
    }
    expect(idle_receiving(me, true, ignore) == idle_result::unanimous, "votes");
  });
}

// The last process dies. Whoever waits for it, in idle() or for room, is told which.
void killed(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  const rank_t dead = comm.size() - 1;
  const auto start = std::chrono::steady_clock::now();
  on_all_participants(comm, [&](mpi::endpoint& me) {
    for (int i = 0; i < 10; ++i) me.idle(true);
    if (me.rank() == dead) kill(getpid(), SIGKILL);
    try {
      if (me.rank() == 0) {
        // As a program that must send before it can go on.
        for (std::uint64_t i = 0;; ++i)
          send_receiving(me, dead, &i, sizeof i, [](const received&) {});
      }
      for (;;) idle_receiving(me, true, [](const received&) {});
    } catch (const std::runtime_error& error) {
      const auto took = std::chrono::steady_clock::now() - start;
      expect(std::string(error.what()).find("process " + std::to_string(me.size() - 1)) !=
                 std::string::npos,
             std::string("the dead is not named: ") + error.what());
      expect(took < 20s, "the death was noticed late");
      return;
    }
  });
  // The launcher sees a process that died; this line tells the test that we have seen it too.
  std::printf("process %u saw the death\n", comm.first_rank());
  std::fflush(stdout);
  std::this_thread::sleep_for(500ms);  // the others shall see one dead process, not two
  _exit(0);                            // MPI_Finalize would wait for the dead
}

// The last process leaves while the others count on it.
void left(const mpi::calls& mpi, const mpi::options& chosen) {
  auto comm = std::make_unique<mpi::communicator>(mpi, mpi.world, chosen);
  if (comm->processes() == 1) return;
  on_all_participants(*comm, [](mpi::endpoint& me) { me.idle(true); });
  const rank_t first_of_last = comm->size() - comm->threads();
  if (comm->first_rank() == first_of_last) return;  // destroys it
  on_all_participants(*comm, [&](mpi::endpoint& me) {
    try {
      me.idle(true);
    } catch (const std::runtime_error& error) {
      expect(std::string(error.what()).find(std::to_string(first_of_last)) != std::string::npos,
             std::string("who left is not named: ") + error.what());
      return;
    }
    throw std::logic_error("idle() ended though somebody had left");
  });
}

}  // namespace

const std::vector<scenario> fault_scenarios{
    {"late", late},
    {"holder", holder},
    {"killed", killed},
    {"left", left},
};

}  // namespace tutti::test
