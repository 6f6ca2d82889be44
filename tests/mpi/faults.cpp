// SPDX-License-Identifier: Apache-2.0
// Participants that do not do their part: the others learn who it is, in time.
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "scenario.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

void expect_missing(const timed_idle& result, rank_t rank, absence why) {
  expect(!result, "idle() came to an end without rank " + std::to_string(rank));
  expect_equal(result.missing.size(), std::size_t{1}, "number of those who are missing");
  expect_equal(result.missing[0].rank, rank, "who is missing");
  expect_equal(static_cast<int>(result.missing[0].why), static_cast<int>(why), "why it is missing");
}

// Until the deadline passes without a message, or the episode is over.
template <class Take>
timed_idle idle_for_receiving(mpi::endpoint& me, std::chrono::milliseconds timeout, Take take) {
  for (;;) {
    const timed_idle now = me.idle_for(true, timeout);
    if (!now || now.result != idle_result::message) return now;
    receive_all(me, take);
  }
}

// One participant computes for long; the others' deadlines pass, and later all goes on as if nothing had been.
void late(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    const rank_t n = me.size(), slow = n - 1;
    if (n == 1) return;
    std::uint64_t sum = 0;
    const auto take = [&](const received& m) { sum += m.as<std::uint64_t>(); };
    for (std::uint64_t i = 0; i < 2; ++i) {
      if (me.rank() == slow)
        std::this_thread::sleep_for(800ms);
      else if (me.rank() == 0)
        expect_missing(idle_for_receiving(me, 150ms, take), slow, absence::running);
      // After a deadline one may send as before, once what was said is answered.
      for (rank_t to = 0; to < n; ++to) send_receiving(me, to, &i, sizeof i, take);
      expect(idle_receiving(me, true, take) == idle_result::unanimous, "votes after a deadline");
      expect_equal(sum, n * i * (i + 1) / 2, "messages after a deadline");
    }
    const timed_idle in_time = me.idle_for(true, 20s);
    expect(in_time && in_time.result == idle_result::unanimous, "an episode in time");
  });
}

// One that receives a message and never gives it back.
void holder(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [](mpi::endpoint& me) {
    if (me.size() == 1) return;
    if (me.rank() == 0) me.send(1, std::uint64_t{42});
    if (me.rank() == 1) {
      while (me.idle(true) != idle_result::message) {
      }
      const received kept = me.recv();
      // Longer than the others' deadline and the time in which they ask around.
      expect(!me.idle_for(true, 1200ms), "an episode ended over a message that is held");
      expect_equal(kept.as<std::uint64_t>(), std::uint64_t{42}, "the message that was held");
      me.release(kept);
    } else if (me.rank() == 0) {
      const timed_idle result = me.idle_for(true, 400ms);
      expect_missing(result, 1, absence::holding);
      expect_equal(result.missing[0].messages, std::uint64_t{1}, "messages held");
    }
    expect(idle_receiving(me, true, [](const received&) {}) == idle_result::unanimous, "votes");
  });
}

// The last process dies. Whoever waits for it, in idle() or for room, is told which.
void killed(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  const rank_t dead = comm.size() - 1;
  const auto start = std::chrono::steady_clock::now();
  on_all_participants(comm, [&](mpi::endpoint& me) {
    for (int i = 0; i < 10; ++i) me.idle(true);
    if (me.rank() == dead) {
      // MPICH's launcher ends everything if a process dies while it still answers what that asked at the start.
      std::this_thread::sleep_for(500ms);
      kill(getpid(), SIGKILL);
    }
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
