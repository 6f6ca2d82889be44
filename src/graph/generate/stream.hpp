// SPDX-License-Identifier: Apache-2.0
// A graph as a sequence of edges that can be gone through again and again, without any place where
// all of them are kept.
#pragma once

#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "src/graph/edge_sink.hpp"
#include "src/graph/generate/generators.hpp"
#include "tutti/graph/generate.hpp"

namespace tutti::graph {

struct edge_stream {
  vertex_t vertices = 0;
  bool weighted = false;
  // Whether the graph is known to be symmetric.
  bool symmetric = false;
  row_order rows = row_order::as_listed;
  // Lists all edges; the same ones in the same order at each call.
  std::function<void(edge_sink& to)> list;
};

// The edges of generate(text). Throws what generate() throws for a wrong specification.
edge_stream stream_of_rule(std::string_view text, unsigned threads);

// Calls make(), and says of which graph there is too much.
template <class Make>
auto fitting_memory(std::string_view text, const Make& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw memory_error("tutti: '" + std::string(text) + "' does not fit into memory");
}

}  // namespace tutti::graph
