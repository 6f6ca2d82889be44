// SPDX-License-Identifier: Apache-2.0
// A user's program of two sources that share objects of tutti, one of them compiled with NDEBUG and
// the other without. The test compiles this file twice; TUTTI_SECOND_SOURCE makes it the source
// without main(). all_headers.hpp includes every header that is installed.
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>

#include "all_headers.hpp"

// Both sources have this class and its functions, of which the linker keeps one copy.
struct shared {
  tutti::barrier<> barrier{2};
  tutti::barrier<> ranked{2};
  tutti::communicator comm{2};
  tutti::reduction<int> sum{2};
  tutti::team team{tutti::team_options{.threads = 2, .ranks = 4}};

  void meet() { barrier.arrive_and_wait(); }
  void meet(tutti::rank_t rank) { ranked.arrive_and_wait(rank); }
};

struct sizes {
  std::size_t shared, team_options, fiber_options, barrier_options, communicator_options;
  bool operator==(const sizes&) const = default;
};
static sizes sizes_here() {
  return {sizeof(shared), sizeof(tutti::team_options), sizeof(tutti::fiber_options),
          sizeof(tutti::barrier_options), sizeof(tutti::communicator_options)};
}

// What a participant does. Returns whether all was right.
static bool take_part(shared& all, tutti::rank_t rank) {
  bool is_right = true;
  auto& me = all.comm[rank];
  for (int i = 0; i < 50; ++i) {
    all.meet();
    all.barrier.arrive_and_wait();
    all.meet(rank);
    all.ranked.arrive_and_wait(rank);
    is_right = is_right && all.sum.all(rank, static_cast<int>(rank) + 1) == 3;
    if (me.can_send(1 - rank)) me.send(1 - rank, i);
    int received = 0;
    while (me.idle(true) == tutti::idle_result::message) {
      const auto message = me.recv();
      received += message.as<int>() == i ? 1 : 100;
      me.release(message);
    }
    is_right = is_right && received == 1;
    const auto votes = me.idle(true, 1, tutti::plus{});
    is_right = is_right && votes.value == 2;
  }
  if (rank == 0)
    is_right = is_right && all.team.run_reduce(tutti::plus{}, [](tutti::member& it) {
      it.barrier();
      return static_cast<int>(it.rank());
    }) == 6;
  all.meet();
  return is_right;
}

// A source with checks tells of a misuse at its own line; one without does not look.
static bool tells_misuse([[maybe_unused]] shared& all) {
#ifdef NDEBUG
  return true;
#else
  tutti::on_misuse = [](const std::string&, const tutti::source_place& where) {
    throw std::string(where.file);
  };
  try {
    static_cast<void>(all.comm[0].can_send(99));
  } catch (const std::string& file) {
    return file.find("mixed.cpp") != std::string::npos;
  }
  return false;
#endif
}

#ifdef TUTTI_SECOND_SOURCE

sizes sizes_in_second() { return sizes_here(); }
bool second_takes_part(shared& all, tutti::rank_t rank) { return take_part(all, rank); }
shared* made_by_second() { return new shared; }
bool second_tells_misuse(shared& all) { return tells_misuse(all); }

#else

sizes sizes_in_second();
bool second_takes_part(shared& all, tutti::rank_t rank);
shared* made_by_second();
bool second_tells_misuse(shared& all);

int main() {
  if (!(sizes_here() == sizes_in_second())) {
    std::puts("the two sources have other layouts");
    return 1;
  }
  for (const bool mine : {true, false}) {
    shared* const all = mine ? new shared : made_by_second();
    bool second = false;
    std::thread other([&] { second = second_takes_part(*all, 1); });
    const bool first = take_part(*all, 0);
    other.join();
    const bool told = tells_misuse(*all) && second_tells_misuse(*all);
    delete all;
    if (!first || !second || !told) {
      std::puts("a result is wrong");
      return 1;
    }
  }
  std::puts("mixed: all met");
}

#endif
