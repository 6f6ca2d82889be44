// SPDX-License-Identifier: Apache-2.0
// Headers and names in their old spelling still work for one version, and mean the same as the new
// ones.
#include <gtest/gtest.h>

#include <cstdint>
#include <tutti/detect/communicator.hpp>
#include <tutti/detect/endpoint.hpp>
#include <tutti/detect/endpoint_concept.hpp>
#include <tutti/detect/options.hpp>
#include <tutti/detect/protocol/algorithms.hpp>
#include <tutti/detect/protocol/interface.hpp>
#include <tutti/detect/protocol/machine.hpp>
#include <tutti/graph/participant.hpp>
#include <type_traits>

namespace {

struct program {
  struct state {};
  struct edge {};
  using message = int;
  using vertex = tutti::graph::vertex<program>;

  void init(vertex&) const {}
  void send(vertex&, message&) const {}
  void recv(vertex&, const message&, const edge&) const {}
  bool step(vertex&) const { return false; }
  bool finish(vertex&, message&) const { return false; }
};
using host = void (*)(tutti::graph::vertex_t, std::uint64_t, int);

static_assert(std::is_same_v<tutti::graph::participant<program, tutti::endpoint, host>,
                             tutti::graph::vertex_engine<program, tutti::endpoint, host>>);

TEST(Forwards, OldHeadersDeclareTheCommunicator) {
  tutti::communicator comm(1, tutti::communicator_options{});
  static_assert(tutti::endpoint_like<tutti::endpoint>);
  EXPECT_EQ(comm[0].idle(true), tutti::idle_result::unanimous);
}

TEST(Forwards, OldHeadersDeclareTheProtocols) { EXPECT_FALSE(tutti::protocol::algorithms.empty()); }

}  // namespace
