// SPDX-License-Identifier: Apache-2.0
// The graph file of METIS (manual, section 4.1.1), undirected and without self-loops: a header "n m
// [fmt [ncon]]", then one line per vertex with its neighbours, counted from 1. Lines that begin
// with % are comments; an empty line is a vertex without neighbours. Weights of edges are read.
// Sizes and weights of vertices are checked and dropped, because a csr has no place for them.
#include <bit>

#include "src/graph/read/edge_hash.hpp"
#include "src/graph/read/readers.hpp"
#include "src/graph/read/text.hpp"

namespace tutti::graph {

namespace {

struct header {
  std::uint64_t vertices = 0;
  // Undirected edges.
  std::uint64_t edges = 0;
  bool edge_weights = false;
  // The number of numbers on a line before its first neighbour.
  std::uint64_t skipped = 0;
  std::uint64_t line = 0;
};

void skip_comments(text& words) {
  while (words.peek() == '%') words.take_line();
}

header read_header(text& words) {
  skip_comments(words);
  if (words.at_end()) words.fail("the file ends before its header");
  header found;
  found.line = words.line();
  found.vertices = words.whole("the number of vertices");
  found.edges = words.whole("the number of edges");
  if (!words.at_line_end()) {
    const std::string_view format = words.word();
    if (format.size() > 3 || format.find_first_not_of("01") != format.npos)
      words.fail("the format must be up to three digits 0 or 1, not '" + text::shown(format) + "'");
    // `digit` counts from the right.
    const auto has = [&](std::size_t digit) {
      return format.size() > digit && format[format.size() - 1 - digit] == '1';
    };
    found.edge_weights = has(0);
    std::uint64_t weights = has(1) ? 1 : 0;
    if (!words.at_line_end()) {
      const std::uint64_t given = words.whole("the number of weights of a vertex");
      if (!has(1) && given > 0)
        words.fail("a number of weights is given, but the format has no weights of vertices");
      if (has(1) && given == 0)
        words.fail("the format has weights of vertices, but their number is 0");
      weights = given;
    }
    if (weights > 1000) words.fail("more than 1000 weights of a vertex");
    found.skipped = weights + (has(2) ? 1 : 0);
  }
  words.end_line("the header");
  return found;
}

void explain_one_way(text& words, const csr& graph) {
  if (const auto edge = find_one_way(graph))
    words.fail_at(0, "vertex " + std::to_string(edge->from + 1) + " lists " +
                         std::to_string(edge->to + 1) + " as a neighbour more often than " +
                         std::to_string(edge->to + 1) + " lists it");
  words.fail_at(0, "an edge has different weights in its two directions");
}

header read_and_check_header(text& words, const input& in) {
  const header head = read_header(words);
  check_vertices(in, head.line, head.vertices);
  // An edge has two directions of at least two characters each.
  if (head.edges > words.rest().size() / 4 + 1)
    words.fail_at(head.line, "the header promises " + std::to_string(head.edges) +
                                 " edges, more than fit into the file");
  // The last vertex's line may be empty and end with the file.
  if (const std::uint64_t lines = lines_in(in, words.rest()) + 1; lines < head.vertices)
    words.fail_at(head.line, "the header promises " + std::to_string(head.vertices) +
                                 " vertices, but the file has only " + std::to_string(lines - 1) +
                                 " more lines");
  return head;
}

// Calls edge(from, to, weight) for each edge, and row() after each row. Returns the sum of the
// edges' hashes less those of their reverses, which is 0 if the graph is symmetric.
template <class Edge, class Row>
std::uint64_t each_edge(text& words, const header& head, const Edge& edge, const Row& row) {
  std::uint64_t balance = 0, edges = 0;
  for (vertex_t v = 0; v < head.vertices; ++v) {
    skip_comments(words);
    // An empty line of the last vertex may lack its end, and is nothing then.
    const bool is_last = v + std::uint64_t{1} == head.vertices;
    if (words.at_end() && (!is_last || edges != 2 * head.edges))
      words.fail("the file ends at vertex " + std::to_string(v + std::uint64_t{1}) + " of " +
                 std::to_string(head.vertices));
    for (std::uint64_t i = 0; i < head.skipped; ++i) words.whole("a weight or size of a vertex");
    while (!words.at_line_end()) {
      const std::uint64_t neighbour = words.whole("a neighbour");
      if (neighbour == 0 || neighbour > head.vertices)
        words.fail("neighbour " + std::to_string(neighbour) + " is not one of " +
                   std::to_string(head.vertices) + " vertices, counted from 1");
      const auto target = static_cast<vertex_t>(neighbour - 1);
      if (target == v) words.fail("vertex " + std::to_string(neighbour) + " is its own neighbour");
      float weight = 0;
      if (head.edge_weights) {
        weight = words.real("an edge's weight", true);
        if (weight <= 0) words.fail("an edge's weight must be a whole number from 1");
      }
      const auto bits = std::bit_cast<std::uint32_t>(weight);
      balance += edge_hash(v, target, bits) - edge_hash(target, v, bits);
      if (++edges > 2 * head.edges)
        words.fail("the header promises " + std::to_string(head.edges) +
                   " edges, each listed twice, but here is one more");
      edge(v, target, weight);
    }
    words.next_line();
    row();
  }
  while (!words.at_end()) {
    skip_comments(words);
    if (!words.at_end()) words.end_line("the last vertex");
  }
  if (edges != 2 * head.edges)
    words.fail_at(head.line, "the header promises " + std::to_string(head.edges) +
                                 " edges, each listed twice, but " + std::to_string(edges) +
                                 " neighbours are listed");
  return balance;
}

}  // namespace

csr read_metis(const input& in) {
  text words(in.bytes, in.name);
  const header head = read_and_check_header(words, in);
  csr graph;
  graph.vertices = static_cast<vertex_t>(head.vertices);
  graph.offsets.reserve(head.vertices + 1);
  graph.targets.reserve(2 * head.edges);
  if (head.edge_weights) graph.weights.reserve(2 * head.edges);
  const std::uint64_t balance = each_edge(
      words, head,
      [&](vertex_t, vertex_t to, float weight) {
        graph.targets.push_back(to);
        if (head.edge_weights) graph.weights.push_back(weight);
      },
      [&] { graph.offsets.push_back(graph.targets.size()); });
  if (balance != 0) explain_one_way(words, graph);
  return graph;
}

listed_graph list_metis(const input& in, edge_sink& to) {
  text words(in.bytes, in.name);
  const header head = read_and_check_header(words, in);
  to.announce(head.edge_weights, 2 * head.edges);
  const std::uint64_t balance = each_edge(
      words, head,
      [&](vertex_t from, vertex_t target, float weight) { to.add(from, target, weight); },
      [&] { in.forget_before(words.rest().data()); });
  to.flush();
  // The rows tell which edge lacks its reverse.
  if (balance != 0) read_metis(in);
  return {static_cast<vertex_t>(head.vertices), true};
}

}  // namespace tutti::graph
