// SPDX-License-Identifier: Apache-2.0
// A participant fails or leaves while the others write contents where it would read them: the
// others are told, and what they write afterwards lies in memory that is still there.
// AddressSanitizer would see if it were not.

#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/comm/run_threads.hpp"
#include "tests/graph/share_runs.hpp"
#include "tests/graph/vertex_runs.hpp"
#include "tutti/graph/generate.hpp"
#include "tutti/graph/run_across.hpp"

namespace {

using namespace tutti;
using namespace std::chrono_literals;
using graph::no_pin;
using graph::pin;
using graph::vertex_t;

// The handler in which a vertex fails.
enum class handler { init, send, gather, step, finish };
constexpr handler handlers[] = {handler::init, handler::send, handler::gather, handler::step,
                                handler::finish};

constexpr vertex_t vertices = 60, nobody = vertices;
constexpr const char* enough = "the vertex has had enough";

// Shared by all participants of a run.
struct events {
  std::atomic<bool> has_failed{false};
  // Sends after the failure.
  std::atomic<int> late_sends{0};
};

// All vertices send to all, in each step. One of them fails in a handler. One of another
// participant waits for that, before its participant sends, until the engine that has failed is
// gone.
struct one_fails {
  struct state {};
  using edge = graph::nothing;
  using message = std::uint64_t;
  using inbox = std::uint64_t;
  using vertex = graph::vertex<one_fails>;

  events* seen = nullptr;
  handler where = handler::step;
  vertex_t failing = nobody, waiting = nobody;
  bool throws_a_number = false;

  void init(vertex& v) const {
    if (where == handler::init) fail_or_wait(v.id());
    v.ready_to_send(pin(0));
  }
  void send(vertex& v, message& m) const {
    if (where == handler::send && v.time() == 2) fail_or_wait(v.id());
    if (seen->has_failed) ++seen->late_sends;
    m = v.id();
    v.ready_to_send(no_pin);
  }
  // Whichever participant is the first to see the message.
  void gather(inbox& sum, const message& m, const edge&) const {
    if (where == handler::gather && m == failing && !seen->has_failed.exchange(true)) fail();
    sum += m;
  }
  bool step(vertex& v) const {
    if (where == handler::step && v.time() == 2) fail_or_wait(v.id());
    v.ready_to_send(pin(0));
    return v.time() < 5;
  }
  bool finish(vertex& v, message& m) const {
    if (where == handler::finish) fail_or_wait(v.id());
    m = v.inbox();
    return true;
  }

 private:
  void fail() const {
    if (throws_a_number) throw 42;
    throw std::logic_error(enough);
  }
  void fail_or_wait(vertex_t who) const {
    if (who == failing) {
      seen->has_failed = true;
      fail();
    }
    if (who != waiting) return;
    while (!seen->has_failed) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(10ms);
  }
};

const graph::csr& all_to_all() {
  static const graph::csr made = graph::generate("complete:vertices=" + std::to_string(vertices));
  return made;
}
// Blocks of vertices: the first participant has the first vertex, and the last one the last.
std::vector<rank_t> owners_of(rank_t participants) {
  std::vector<rank_t> owners;
  for (vertex_t v = 0; v < vertices; ++v) owners.push_back(v * participants / vertices);
  return owners;
}
one_fails program_of(events& seen, handler where, vertex_t failing) {
  one_fails program{&seen, where, failing};
  // One at the other end, so it belongs to another participant.
  program.waiting = failing == 0 ? vertices - 1 : 0;
  return program;
}
// The others wrote after the failure; in gather(), which of them has failed is not known here.
void expect_late_sends(const events& seen, handler where) {
  EXPECT_TRUE(seen.has_failed);
  if (where != handler::finish && where != handler::gather) {
    EXPECT_GT(seen.late_sends, 0);
  }
}

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const std::logic_error& e) {
    return e.what();
  } catch (const std::runtime_error& e) {
    return std::string("told: ") + e.what();
  } catch (int number) {
    return std::to_string(number);
  }
  return "none";
}

TEST(VertexFailure, EndsTheRunWhileOthersWrite) {
  for (const rank_t threads : {2u, 3u, 4u})
    for (const handler where : handlers)
      for (const vertex_t failing : {vertex_t{0}, vertices - 1}) {
        events seen;
        const one_fails program = program_of(seen, where, failing);
        EXPECT_EQ(error_of([&] {
                    graph::run(program, all_to_all(), {.threads = threads}, owners_of(threads));
                  }),
                  enough)
            << threads << " threads, handler " << static_cast<int>(where);
        expect_late_sends(seen, where);
      }
}

// On virtual ranks nobody may wait: the failing one may be on the same thread.
TEST(VertexFailure, EndsTheRunOnVirtualRanksAndAlone) {
  for (const test::way& how : test::ways())
    for (const handler where : handlers)
      for (const bool throws_a_number : {false, true}) {
        events seen;
        one_fails program{&seen, where, 7};
        program.throws_a_number = throws_a_number;
        EXPECT_EQ(error_of([&] { test::run_in(how, program, all_to_all()); }),
                  throws_a_number ? "42" : enough)
            << how.threads << " threads, handler " << static_cast<int>(where);
      }
}

// The participants of a process share memory, and those of other processes do not. All are told,
// and a process whose own participants have not failed names the one that has.
TEST(VertexFailure, IsToldToAllProcesses) {
  for (const auto& [processes, threads] : {std::pair<rank_t, rank_t>{1, 1}, {1, 3}, {3, 1}, {3, 2}})
    for (const handler where : handlers) {
      const rank_t all = processes * threads;
      communicator comm(all);
      events seen;
      const one_fails program =
          all == 1 ? one_fails{&seen, where, 0} : program_of(seen, where, vertices - 1);
      std::vector<std::string> errors(processes);
      std::atomic<int> failures{0};
      run_threads(processes, [&](rank_t p) {
        const graph::edge_set<graph::nothing> pins{&all_to_all(), {}};
        test::process mine{comm, p * threads, threads};
        graph::across_options options;
        options.on_failure = [&](const std::string&) { ++failures; };
        errors[p] = error_of([&] {
          graph::run_across(program, std::span(&pins, 1), owners_of(all), mine, options);
        });
      });
      SCOPED_TRACE(std::to_string(processes) + " processes, handler " +
                   std::to_string(static_cast<int>(where)));
      EXPECT_EQ(failures, static_cast<int>(processes)) << "once in each process";
      int of_program = 0;
      for (const std::string& error : errors) {
        of_program += error == enough ? 1 : 0;
        if (error != enough) {
          EXPECT_NE(error.find("left"), std::string::npos) << error;
        }
      }
      EXPECT_EQ(of_program, 1);
      if (where != handler::gather) {
        EXPECT_EQ(errors.back(), enough);
        if (processes > 1) {
          EXPECT_NE(errors[0].find(std::to_string(all - 1)), std::string::npos) << errors[0];
        }
      }
    }
}

TEST(VertexFailure, AnotherExceptionIsToldAsWell) {
  communicator comm(2);
  events seen;
  one_fails program = program_of(seen, handler::step, vertices - 1);
  program.throws_a_number = true;
  std::vector<std::string> errors(2), said(2);
  run_threads(2, [&](rank_t p) {
    const graph::edge_set<graph::nothing> pins{&all_to_all(), {}};
    test::process mine{comm, p, 1};
    graph::across_options options;
    options.on_failure = [&, p](const std::string& what) { said[p] = what; };
    errors[p] = error_of(
        [&] { graph::run_across(program, std::span(&pins, 1), owners_of(2), mine, options); });
  });
  EXPECT_EQ(errors[1], "42");
  EXPECT_EQ(said[1], "an exception that is no std::exception");
  EXPECT_NE(errors[0].find("have left: 1"), std::string::npos) << errors[0];
}

// Runs the engines of all participants but the last, which calls body(endpoint). Returns what the
// others say.
template <class Body>
std::vector<std::string> run_without_the_last(rank_t participants, Body body,
                                              const graph::engine_options& options) {
  const graph::edge_set<graph::nothing> pins{&all_to_all(), {}};
  const graph::shards<graph::nothing> cut(std::span(&pins, 1), owners_of(participants),
                                          participants, {}, 1, true);
  const auto contents = graph::detail::shared_contents<one_fails>(cut, 0, participants, false);
  communicator comm(participants);
  events seen;
  const one_fails program{&seen};
  std::vector<std::string> said(participants);
  run_threads(participants, [&](rank_t rank) {
    if (rank + 1 == participants) return body(comm[rank]);
    said[rank] = error_of([&] {
      graph::collecting_host<std::uint64_t> host;
      graph::vertex_engine engine(program, cut[rank], cut.vertices(), comm[rank], host, options,
                                  contents.get());
      engine.run();
    });
  });
  said.pop_back();
  return said;
}

TEST(VertexFailure, OneThatLeavesIsNamed) {
  for (const rank_t participants : {2u, 4u}) {
    const std::string name = "have left: " + std::to_string(participants - 1);
    for (const auto before : {0ms, 20ms})
      for (const std::string& said : run_without_the_last(participants,
                                                          [&](endpoint& me) {
                                                            std::this_thread::sleep_for(before);
                                                            me.leave();
                                                          },
                                                          {}))
        EXPECT_NE(said.find(name), std::string::npos) << said;
  }
}

TEST(VertexFailure, OneThatDoesNotComeIsNamedAfterTheDeadline) {
  graph::engine_options options;
  options.deadline = 50ms;
  for (const std::string& said : run_without_the_last(
           3, [](endpoint&) {}, options))
    EXPECT_NE(said.find("participant 2 is still running"), std::string::npos) << said;
}

}  // namespace
