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

}  // namespace

csr read_metis(const input& in) {
  text words(in.bytes, in.name);
  const header head = read_header(words);
  check_vertices(in, head.line, head.vertices);
  // An edge has two directions of at least two characters each.
  if (head.edges > words.rest().size() / 4 + 1)
    words.fail_at(head.line, "the header promises " + std::to_string(head.edges) +
                                 " edges, more than fit into the file");
  // The last vertex's line may be empty and end with the file.
  if (const std::uint64_t lines = lines_in(words.rest()) + 1; lines < head.vertices)
    words.fail_at(head.line, "the header promises " + std::to_string(head.vertices) +
                                 " vertices, but the file has only " + std::to_string(lines - 1) +
                                 " more lines");
  csr graph;
  graph.vertices = static_cast<vertex_t>(head.vertices);
  graph.offsets.reserve(head.vertices + 1);
  graph.targets.reserve(2 * head.edges);
  if (head.edge_weights) graph.weights.reserve(2 * head.edges);
  // The sum of the edges' hashes less those of their reverses.
  std::uint64_t balance = 0;
  for (vertex_t v = 0; v < graph.vertices; ++v) {
    skip_comments(words);
    if (words.at_end() && graph.targets.size() != 2 * head.edges)
      words.fail("the file ends at vertex " + std::to_string(v + std::uint64_t{1}) + " of " +
                 std::to_string(head.vertices));
    for (std::uint64_t i = 0; i < head.skipped && !words.at_end(); ++i)
      words.whole("a weight or size of a vertex");
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
        graph.weights.push_back(weight);
      }
      const auto bits = std::bit_cast<std::uint32_t>(weight);
      balance += edge_hash(v, target, bits) - edge_hash(target, v, bits);
      graph.targets.push_back(target);
      if (graph.targets.size() > 2 * head.edges)
        words.fail("the header promises " + std::to_string(head.edges) +
                   " edges, each listed twice, but here is one more");
    }
    words.next_line();
    graph.offsets.push_back(graph.targets.size());
  }
  while (!words.at_end()) {
    skip_comments(words);
    if (!words.at_end()) words.end_line("the last vertex");
  }
  if (graph.targets.size() != 2 * head.edges)
    words.fail_at(head.line, "the header promises " + std::to_string(head.edges) +
                                 " edges, each listed twice, but " +
                                 std::to_string(graph.targets.size()) + " neighbours are listed");
  if (balance != 0) explain_one_way(words, graph);
  return graph;
}

}  // namespace tutti::graph
