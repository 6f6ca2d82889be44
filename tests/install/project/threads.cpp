// SPDX-License-Identifier: Apache-2.0
// A user's program that is built with ThreadSanitizer and linked with the library as it is
// packaged. Every part of the library hands plain data from one thread to another, and
// ThreadSanitizer must report no race. With an argument the program has a race of its own, which
// ThreadSanitizer must still report.
#include <tutti.h>
#include <unistd.h>

#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <tutti/barrier/barrier.hpp>
#include <tutti/barrier/shared.hpp>
#include <tutti/comm/communicator.hpp>
#include <tutti/reduce/reduction.hpp>
#include <tutti/registry.hpp>
#include <tutti/team/team.hpp>
#include <vector>

namespace {

using tutti::member;
using tutti::rank_t;

constexpr rank_t threads = 3;
constexpr int phases = 20;
bool is_right = true;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  is_right = false;
}

// Each rank writes its own element and reads those of all others, in turns.
struct board {
  explicit board(rank_t n) : value(n) {}

  template <class Meet>
  bool play(rank_t rank, Meet meet) {
    bool is_right = true;
    for (int phase = 1; phase <= phases; ++phase) {
      value[rank] = phase;
      meet();
      for (const int other : value) is_right = is_right && other == phase;
      meet();
    }
    return is_right;
  }
  std::vector<int> value;
};

template <class Meet>
void on_threads(const char* what, Meet meet) {
  board all(threads);
  std::vector<std::thread> made;
  std::vector<char> right(threads);
  for (rank_t rank = 0; rank < threads; ++rank)
    made.emplace_back([&, rank] { right[rank] = all.play(rank, [&] { meet(rank); }); });
  for (std::thread& thread : made) thread.join();
  for (const char each : right) expect(each, what);
}

void check_team(const char* what, const tutti::team_options& options) {
  tutti::team team(options);
  const rank_t n = team.size();
  board all(n);
  std::vector<int> sum(n);
  for (int round = 0; round < 5; ++round) {
    std::vector<int> input(1000, round);
    team.run([&](member& me) {
      if (!all.play(me.rank(), [&] { me.barrier(); })) expect(false, what);
      const auto part = me.block(input.size());
      const int mine = std::accumulate(input.begin() + static_cast<long>(part.first),
                                       input.begin() + static_cast<long>(part.last), 0);
      sum[me.rank()] = me.reduce(tutti::plus{}, mine);
    });
    for (const int each : sum) expect(each == 1000 * round, what);
    const int of_ranks = team.run_reduce(
        tutti::plus{}, [&](member& me) { return sum[me.rank()] == 1000 * round ? 1 : 0; });
    expect(of_ranks == static_cast<int>(n), what);
    if (!options.barrier.empty()) continue;
    team.parallel_for(0, input.size(), [&](std::size_t i) { input[i] += static_cast<int>(i); });
    for (std::size_t i = 0; i < input.size(); ++i)
      expect(input[i] == round + static_cast<int>(i), what);
    const int total = team.parallel_reduce(0, input.size(), tutti::plus{},
                                           [&](std::size_t i) { return input[i]; });
    expect(total == std::accumulate(input.begin(), input.end(), 0), what);
  }
}

void check_communicator() {
  tutti::communicator comm(threads);
  std::vector<int> data(threads);
  std::vector<std::thread> made;
  for (rank_t rank = 0; rank < threads; ++rank)
    made.emplace_back([&, rank] {
      auto& me = comm[rank];
      for (int phase = 1; phase <= phases; ++phase) {
        data[rank] = phase;
        me.send((rank + 1) % threads, phase);
        while (me.idle(true) == tutti::idle_result::message) {
          const auto message = me.recv();
          if (data[message.source] != phase) expect(false, "communicator");
          me.release(message);
        }
      }
    });
  for (std::thread& thread : made) thread.join();
}

// Threads that meet as processes do: each has an object of its own and finds the barrier by name.
void check_barrier_by_name() {
  const std::string name = "tutti_install_threads_" + std::to_string(getpid());
  board all(threads);
  std::vector<std::thread> made;
  std::vector<char> right(threads);
  for (rank_t rank = 0; rank < threads; ++rank)
    made.emplace_back([&, rank] {
      auto sync = tutti::shared_barrier::create_or_attach(name, threads);
      sync.join(rank);
      right[rank] = all.play(rank, [&] { static_cast<void>(sync.arrive_and_wait()); });
    });
  for (std::thread& thread : made) thread.join();
  tutti::shared_barrier::unlink(name);
  for (const char each : right) expect(each, "barrier by name");
}

void check_c_interface() {
  tutti_barrier* barrier = nullptr;
  if (tutti_barrier_create(&barrier, threads, nullptr, nullptr) != TUTTI_OK)
    return expect(false, "tutti_barrier_create");
  on_threads("C barrier", [&](rank_t rank) { tutti_barrier_wait(barrier, rank); });
  tutti_barrier_destroy(barrier);
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    tutti::team team(2);
    int raced = 0;
    team.run([&](member&) {
      for (int i = 0; i < 1000; ++i) ++raced;
    });
    std::printf("a race: %d\n", raced);
    return 0;
  }
  tutti::barrier<> chosen(threads);
  on_threads("barrier", [&](rank_t rank) { chosen.arrive_and_wait(rank); });
  for (const auto& info : tutti::algorithms) {
    const auto barrier = tutti::make_barrier(info.name, threads);
    on_threads(info.name.data(), [&](rank_t rank) { barrier->arrive_and_wait(rank); });
  }
  for (const auto& info : tutti::wait_policies) {
    if (!info.available()) continue;
    const auto barrier = tutti::make_barrier("dissemination", threads, info.name);
    on_threads(info.name.data(), [&](rank_t rank) { barrier->arrive_and_wait(rank); });
  }
  tutti::barrier<> named(threads, tutti::barrier_options{.algorithm = "tournament"});
  on_threads("named barrier", [&](rank_t) { named.arrive_and_wait(); });
  tutti::reduction<int> sum(threads);
  on_threads("reduction", [&](rank_t rank) { sum.all(rank, 1); });
  check_communicator();
  check_barrier_by_name();
  check_c_interface();
  check_team("team of 2", {.threads = 2});
  check_team("team of more threads than cores", {.threads = 5});
  check_team("team with a named barrier", {.threads = 3, .barrier = "mcs"});
  check_team("virtual ranks", {.threads = 2, .ranks = 6});
  check_team("virtual ranks on one thread", {.threads = 1, .ranks = 4});
  if (is_right) std::puts("threads: all met");
  return is_right ? 0 : 1;
}
