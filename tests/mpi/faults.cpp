// SPDX-License-Identifier: Apache-2.0
// Participants that fail to act: the others learn in time which they are.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "tests/mpi/scenario.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

// Waits until this participant's deadline finds exactly that rank missing, for that reason: the
// others may need a while to get to idle(). Takes messages that come meanwhile.
template <class Take>
absentee find_only_absentee(mpi::endpoint& me, rank_t wanted, absence why, Take take) {
  const auto until = std::chrono::steady_clock::now() + 200s;
  std::string seen;
  // On a busy machine the others may be late too: each deadline is longer than the one before.
  for (auto time = 100ms; std::chrono::steady_clock::now() < until;
       time = std::min(2 * time, 25'600ms)) {
    const timed_idle now = me.idle_for(true, time);
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

// One participant computes until the first has found it missing; then all go on as if nothing had
// happened. It answers nobody at first, and later checks for messages while it computes.
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
        // After a deadline a participant may send as before, once its report is answered.
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

// Rank 1 receives a message of that sender, and does not release it before another comes.
void holds_message_of(rank_t sender, const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [&](mpi::endpoint& me) {
    const auto ignore = [](const received&) {};
    if (me.size() == 1) return;
    if (me.rank() == sender) me.send(1, std::uint64_t{42});
    if (me.rank() == 0) {
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

// The last participant's deadline passes, but its report ends the episode. The participant belongs
// to that episode until its next idle() says so: what it sends before (also to itself) belongs
// there, and what the others send after comes later. The others of its process come to idle() at
// once, so that there is a report; all others come when its deadline is past.
void overtaken(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  if (comm.processes() == 1) return;
  const rank_t slow = comm.size() - 1;
  const bool is_beside = comm.first_rank() + comm.threads() > slow;
  on_all_participants(comm, [&](mpi::endpoint& me) {
    std::uint64_t episode = 0;
    const auto take = [&](const received& m) {
      expect_equal(m.as<std::uint64_t>(), episode, "episode of a message");
    };
    const auto finish = [&] {
      idle_result now{};
      while ((now = me.idle(true)) == idle_result::message) receive_all(me, take);
      expect(now == idle_result::unanimous, "votes");
      ++episode;
    };
    if (me.rank() != slow) {
      // A packet is opened in one episode and filled in the next.
      expect(me.can_send(slow), "no room for the first message");
      if (!is_beside) std::this_thread::sleep_for(300ms);
      finish();
      send_receiving(me, slow, &episode, sizeof episode, take);
      finish();
      return;
    }
    // The others may be late themselves on a busy machine.
    if (!me.idle_for(true, 50ms)) {
      std::vector<bool> is_told(me.size(), false);
      const auto until = std::chrono::steady_clock::now() + 400ms;
      while (std::chrono::steady_clock::now() < until) {
        receive_all(me, take);
        for (rank_t to = 0; to < me.size(); ++to)
          if (!is_told[to] || to == slow) is_told[to] = me.try_send(to, &episode, sizeof episode);
      }
      finish();
    } else {
      ++episode;
    }
    finish();
    expect(me.can_send(slow), "no room for a message to oneself");
  });
}

// Waits for an MPI_Isend or MPI_Irecv of the test itself, without calling the communicator.
void complete(const mpi::calls& mpi, mpi::handle request) {
  for (bool is_done = false; !is_done;) {
    expect_equal(mpi.test(&request, &is_done, nullptr), 0, "an error of MPI_Test");
    std::this_thread::sleep_for(1ms);
  }
}

// Only a part of a message finds room, because its receiver does not look. Its sender returns at
// the deadline and learns of the receiver, and so do the others. Then the message arrives
// completely, and small ones after it. MPI itself tells the receiver to go on, with one thread per
// process.
void stuck(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  if (comm.threads() > 1 || comm.size() == 1) return;
  on_all_participants(comm, [&](mpi::endpoint& me) {
    const rank_t slow = me.size() - 1;
    const std::vector<std::uint64_t> large(125'000, 42);
    char go = 0;
    mpi::handle request;
    if (me.rank() == slow) {
      for (rank_t other = 0; other < slow; ++other) {
        mpi.receive(&go, 1, mpi::any_source, mpi.world, &request);
        complete(mpi, request);
      }
    } else {
      if (me.rank() == 0)
        expect(me.try_send(slow, large.data(), large.size() * sizeof large[0]),
               "no room for a part");
      find_only_absentee(me, slow, absence::running, [](const received&) {});
      mpi.send(&go, 1, static_cast<int>(slow), mpi.world, &request);
      complete(mpi, request);
    }
    std::size_t seen = 0;
    const auto take = [&](const received& m) {
      const std::size_t words = seen++ == 0 ? large.size() : 1;
      expect_equal(m.size, words * sizeof large[0], "size of a message");
      expect(std::memcmp(m.data, large.data(), m.size) == 0, "bytes differ");
    };
    for (std::size_t messages = 1; messages <= 2; ++messages) {
      expect(idle_receiving(me, true, take) == idle_result::unanimous, "votes");
      expect_equal(seen, me.rank() == slow ? messages : 0, "messages");
      if (me.rank() == 0 && messages == 1)
        send_receiving(me, slow, large.data(), sizeof large[0], take);
    }
  });
}

// The last process dies. Every process that waits for it, in idle() or for room, learns which one
// died.
void killed(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  const rank_t dead = comm.size() - 1;
  const auto start = std::chrono::steady_clock::now();
  on_all_participants(comm, [&](mpi::endpoint& me) {
    for (int i = 0; i < 10; ++i) me.idle(true);
    if (me.rank() == dead) kill(getpid(), SIGKILL);
    try {
      if (me.rank() == 0) {
        // A program that must send before it can go on.
        for (std::uint64_t i = 0;; ++i) me.send_wait(dead, i, [](const received&) {});
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
  // The launcher sees a process that died; this line tells the test that this process has seen it
  // too.
  std::printf("process %u saw the death\n", comm.first_rank());
  std::fflush(stdout);
  // The others must see one dead process, not two.
  std::this_thread::sleep_for(500ms);
  // MPI_Finalize would wait for the dead process.
  _exit(0);
}

// The last process leaves while the others rely on it.
void left(const mpi::calls& mpi, const mpi::options& chosen) {
  auto comm = std::make_unique<mpi::communicator>(mpi, mpi.world, chosen);
  if (comm->processes() == 1) return;
  on_all_participants(*comm, [](mpi::endpoint& me) { me.idle(true); });
  const rank_t first_of_last = comm->size() - comm->threads();
  // Returning destroys the communicator.
  if (comm->first_rank() == first_of_last) return;
  on_all_participants(*comm, [&](mpi::endpoint& me) {
    try {
      if (me.rank() == 0)
        for (std::uint64_t i = 0;; ++i) me.send_wait(first_of_last, i, [](const received&) {});
      me.idle(true);
    } catch (const std::runtime_error& error) {
      expect(std::string(error.what()).find(std::to_string(first_of_last)) != std::string::npos,
             std::string("who left is not named: ") + error.what());
      return;
    }
    throw std::logic_error("idle() ended though somebody had left");
  });
}

// One participant leaves; its process and its communicator stay. All others learn of it in idle()
// and in a wait for room, and get what it has sent before.
void departed(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  if (comm.size() == 1) return;
  on_all_participants(comm, [&](mpi::endpoint& me) {
    const rank_t gone = me.size() - 1;
    std::uint64_t got = 0;
    const auto take = [&](const received& m) { got += m.as<std::uint64_t>(); };
    expect(idle_receiving(me, true, take) == idle_result::unanimous, "votes");
    if (me.rank() == gone) {
      me.send(0, std::uint64_t{42});
      return me.leave();
    }
    std::string told;
    try {
      if (me.rank() == 0) {
        while (got == 0) receive_all(me, take);
        for (std::uint64_t i = 0;; ++i) me.send_wait(gone, i, take);
      }
      for (;;) idle_receiving(me, true, take);
    } catch (const std::runtime_error& error) {
      told = error.what();
    }
    expect(told.find(std::to_string(gone)) != std::string::npos, "who left is not named: " + told);
    if (me.rank() == 0) expect_equal(got, std::uint64_t{42}, "what was sent before");
  });
}

// All but the last participant have a deadline, which passes at about the same time. None calls
// another that waits as it does running.
void both_late(const mpi::calls& mpi, const mpi::options& chosen) {
  mpi::communicator comm(mpi, mpi.world, chosen);
  on_all_participants(comm, [&](mpi::endpoint& me) {
    const rank_t slow = me.size() - 1;
    const auto ignore = [](const received&) {};
    if (me.size() == 1) return;
    expect(idle_receiving(me, true, ignore) == idle_result::unanimous, "votes");
    if (me.rank() == slow) {
      std::this_thread::sleep_for(1500ms);
    } else {
      for (int i = 0; i < 2; ++i) {
        const timed_idle now = me.idle_for(true, 200ms);
        expect(!now, "an end though one is not there");
        bool is_named = false;
        for (const absentee& one : now.missing) {
          is_named = is_named || one.rank == slow;
          expect(one.rank == slow ? one.why == absence::running : one.why == absence::late,
                 "rank " + std::to_string(one.rank) + " is called " +
                     std::to_string(static_cast<int>(one.why)));
        }
        expect(is_named, "the slow one is not named");
        // Others may be a little behind: they wait while this one computes.
        if (i == 0) std::this_thread::sleep_for(20ms * me.rank());
      }
    }
    expect(idle_receiving(me, true, ignore) == idle_result::unanimous, "votes");
  });
}

}  // namespace

const std::vector<scenario> fault_scenarios{
    {"late", late},
    {"holder",
     [](const mpi::calls& mpi, const mpi::options& chosen) { holds_message_of(0, mpi, chosen); }},
    {"own",
     [](const mpi::calls& mpi, const mpi::options& chosen) { holds_message_of(1, mpi, chosen); }},
    {"overtaken", overtaken},
    {"stuck", stuck},
    {"killed", killed},
    {"left", left},
    {"departed", departed},
    {"both_late", both_late},
};

}  // namespace tutti::test
