// SPDX-License-Identifier: Apache-2.0
// Tests what an engine refuses, and how a run ends in which something fails.

#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/graph/vertex_runs.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace tutti;
using graph::no_pin;
using graph::pin;
using test::graph_of;

struct plain {
  struct state {};
  using edge = graph::nothing;
  using message = std::uint32_t;
  void init(auto& v) const { v.ready_to_send(pin(0)); }
  void send(auto& v, message&) const { v.ready_to_send(no_pin); }
  void recv(auto&, const message&, const edge&) const {}
  bool step(auto&) const { return false; }
  bool finish(auto&, message&) const { return false; }
};

template <class F>
std::string refusal(F f) {
  return test::refusal_of<std::invalid_argument>(f);
}

struct waits : plain {
  static constexpr bool needs_symmetric = true;
};

TEST(VertexMisuse, AProgramThatWaitsNeedsASymmetricGraph) {
  const graph::csr one_way = graph_of(3, {{0, 1}, {1, 0}, {1, 2}}),
                   both = graph_of(2, {{0, 1}, {1, 0}, {0, 0}});
  EXPECT_NE(refusal([&] { graph::run_alone(waits{}, one_way); }).find("from 1 to 2 has no reverse"),
            std::string::npos);
  EXPECT_NE(refusal([&] { graph::run(waits{}, one_way, {.threads = 2}); }).find("symmetric"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { graph::run(waits{}, both, {.threads = 2}); }), "accepted");
}

TEST(VertexMisuse, PartsThatDoNotFit) {
  const graph::csr g = graph_of(3, {{0, 1}}), other = graph_of(4, {});
  const graph::run_options two{.threads = 2};
  const std::vector<rank_t> few{0, 1}, far{0, 1, 2}, good{0, 1, 1};
  EXPECT_NE(
      refusal([&] { graph::run(plain{}, g, two, few); }).find("one participant for each vertex"),
      std::string::npos);
  EXPECT_NE(refusal([&] {
              graph::run(plain{}, g, two, far);
            }).find("vertex 2 to participant 2, but there are only 2"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { graph::run(plain{}, g, two, good); }), "accepted");

  using set = graph::edge_set<graph::nothing>;
  const std::vector<set> none, missing{{}}, different{{&g, {}}, {&other, {}}};
  for (const auto& pins : {none, missing, different})
    EXPECT_NE(refusal([&] { graph::run_alone(plain{}, std::span(pins)); }), "accepted");

  graph::csr broken = g;
  broken.targets[0] = 7;
  EXPECT_NE(refusal([&] { graph::run_alone(plain{}, broken); }).find("vertex 7"),
            std::string::npos);
}

struct strays : plain {
  void init(auto& v) const {
    EXPECT_EQ(v.out_degree(pin(1)), 0u);
    EXPECT_EQ(v.out_degree(no_pin), 0u);
    if (v.id() == 3) v.ready_to_send(pin(1));
  }
};

TEST(VertexMisuse, APinThatThereIsNot) {
  const graph::csr chain = graph_of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  const std::string sentence = "vertex 3 wants to send on pin(1): the engine was given only 1 pin";
  EXPECT_NE(refusal([&] { graph::run_alone(strays{}, chain); }).find(sentence), std::string::npos);
  EXPECT_NE(refusal([&] { graph::run(strays{}, chain, {.threads = 2}); }).find(sentence),
            std::string::npos);
}

struct astray : plain {
  std::uint32_t number;
  explicit astray(std::uint32_t n) : number(n) {}
  void init(auto& v) const {
    if (v.id() == 3) v.ready_to_send(pin(number));
  }
};

// Pins that are computed from "not found", and others that no engine has, are refused like pin(1).
TEST(VertexMisuse, PinsThatNoEngineHas) {
  const graph::csr chain = graph_of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  for (const std::uint32_t each :
       {1u, 0x7ffffffdu, 0x7ffffffeu, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) {
    const std::string sentence = "vertex 3 wants to send on pin(";
    const std::string alone = refusal([&] { graph::run_alone(astray(each), chain); });
    EXPECT_NE(alone.find(sentence), std::string::npos) << each << ": " << alone;
    const std::string two = refusal([&] { graph::run(astray(each), chain, {.threads = 2}); });
    EXPECT_NE(two.find(sentence), std::string::npos) << each << ": " << two;
  }
}

TEST(VertexMisuse, NoBurstIsEmpty) {
  const graph::csr chain = graph_of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  EXPECT_EQ(refusal([&] { graph::run(plain{}, chain, {.threads = 2, .engine = {.burst = 0}}); }),
            "accepted");
}

struct needs_values : plain {
  using edge = int;
  void recv(auto&, const message&, const edge&) const {}
};

TEST(VertexMisuse, EdgesWithoutTheirValues) {
  const graph::csr g = graph_of(3, {{0, 1}, {1, 2}});
  const std::vector<int> one{1}, two{1, 2};
  EXPECT_NE(refusal([&] { graph::run_alone(needs_values{}, g); }).find("need values"),
            std::string::npos);
  const graph::edge_set<int> short_set{&g, one}, set{&g, two};
  EXPECT_NE(refusal([&] {
              graph::run_alone(needs_values{}, std::span(&short_set, 1));
            }).find("one value for each"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { graph::run_alone(needs_values{}, std::span(&set, 1)); }), "accepted");
}

// A vertex that fails ends the run with its own exception, even if others wait for it.
struct fails : plain {
  graph::vertex_t who = 0;
  bool in_step = false;
  void recv(auto& v, const message&, const edge&) const {
    if (!in_step && v.id() == who) throw std::runtime_error("the vertex has had enough");
  }
  bool step(auto& v) const {
    if (in_step && v.id() == who && v.time() == 3)
      throw std::runtime_error("the vertex has had enough");
    return v.time() < 10;
  }
};

TEST(VertexMisuse, AHandlersExceptionEndsTheRun) {
  const graph::csr g = graph_of(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}});
  for (const rank_t threads : {1u, 2u, 4u})
    for (const graph::vertex_t who : {0u, 5u})
      for (const bool in_step : {false, true}) {
        fails program;
        program.who = who;
        program.in_step = in_step;
        try {
          graph::run(program, g, {.threads = threads});
          ADD_FAILURE() << "no exception";
        } catch (const std::runtime_error& e) {
          EXPECT_STREQ(e.what(), "the vertex has had enough");
        }
      }
}

// The other participants' rings to the one that has failed are full.
struct floods : plain {
  using message = std::array<std::uint64_t, 7>;
  void init(auto& v) const { v.ready_to_send(pin(0)); }
  // It stays ready for ever.
  void send(auto&, message&) const {}
  void recv(auto& v, const message& m, const edge&) const {
    if (v.id() == 0) throw std::runtime_error(m[0] == 0 ? "flooded" : "garbled");
  }
  bool finish(auto&, message&) const { return false; }
};

TEST(VertexMisuse, WhoHasNoRoomNoticesThatTheReceiverIsGone) {
  const graph::csr g = graph_of(2, {{1, 0}});
  const std::vector<rank_t> owners{0, 1};
  EXPECT_THROW(graph::run(floods{}, g, {.threads = 2}, owners), std::runtime_error);
}

// Whether the receiver runs is not known to the one that waits for room.
struct sleeps_in_recv : floods {
  void recv(auto&, const message&, const edge&) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    throw std::runtime_error("slept long enough");
  }
};

TEST(VertexMisuse, ADeadlineEndsAWaitForRoom) {
  const graph::csr g = graph_of(2, {{1, 0}});
  const std::vector<rank_t> owners{0, 1};
  graph::run_options options{.threads = 2};
  options.engine.deadline = std::chrono::milliseconds(50);
  EXPECT_NE(test::refusal_of<graph::run_late>([&] {
              graph::run(sleeps_in_recv{}, g, options, owners);
            }).find("participant 1 has waited for too long for room to send to participant 0"),
            std::string::npos);
}

struct sleeps : plain {
  bool step(auto& v) const {
    if (v.id() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(600));
    return false;
  }
};

TEST(VertexMisuse, ADeadlineNamesWhoIsMissing) {
  const graph::csr g = graph_of(2, {{1, 0}});
  const std::vector<rank_t> owners{0, 1};
  graph::run_options options{.threads = 2};
  options.engine.deadline = std::chrono::milliseconds(100);
  try {
    graph::run(sleeps{}, g, options, owners);
    ADD_FAILURE() << "no exception";
  } catch (const graph::run_late& e) {
    EXPECT_NE(std::string(e.what()).find("participant 1 is still running"), std::string::npos)
        << e.what();
  }
  options.engine.deadline = std::chrono::minutes(1);
  EXPECT_NO_THROW(graph::run(sleeps{}, g, options, owners));
}

}  // namespace
