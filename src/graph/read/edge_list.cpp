// SPDX-License-Identifier: Apache-2.0
// Edge lists: "from to" or "from to weight" on each line. Lines that begin with # or % are
// comments. Two comments have a meaning: the one that save() writes states the numbers of vertices
// and edges, and must be right; SNAP's "# Nodes: N Edges: M" may count edges differently and only
// says that there are at least N vertices.
#include <algorithm>
#include <charconv>
#include <optional>

#include "src/graph/read/readers.hpp"
#include "src/graph/read/text.hpp"

namespace tutti::graph {

namespace {

// Returns the number that follows `key` in a comment.
std::optional<std::uint64_t> number_after(std::string_view comment, std::string_view key) {
  const std::size_t at = comment.find(key);
  if (at == comment.npos) return {};
  comment.remove_prefix(at + key.size());
  comment.remove_prefix(std::min(comment.find_first_not_of(" \t"), comment.size()));
  std::uint64_t value = 0;
  if (std::from_chars(comment.data(), comment.data() + comment.size(), value).ec != std::errc())
    return {};
  return value;
}

struct promise {
  std::uint64_t vertices = 0;
  std::optional<std::uint64_t> edges;
  std::uint64_t line = 0;
};

void read_comment(text& words, const input& in, promise& promised) {
  const std::uint64_t line = words.line();
  const std::string_view comment = words.take_line();
  if (comment.starts_with("# tutti graph:")) {
    const auto vertices = number_after(comment, "vertices=");
    const auto edges = number_after(comment, "edges=");
    if (!vertices || !edges)
      words.fail_at(line, "the header of a saved graph must say 'vertices=N edges=M'");
    if (promised.edges) words.fail_at(line, "there is a second header");
    check_vertices(in, line, *vertices);
    promised = {*vertices, edges, line};
  } else if (const auto nodes = number_after(comment, "Nodes:"); nodes && !promised.edges) {
    check_vertices(in, line, *nodes);
    promised.vertices = std::max(promised.vertices, *nodes);
    promised.line = line;
  }
}

unsigned columns_of(text words) {
  unsigned columns = 0;
  while (!words.at_line_end()) {
    words.word();
    ++columns;
  }
  return columns;
}

}  // namespace

listed_graph list_edge_list(const input& in, unsigned columns, edge_sink& sink) {
  text words(in.bytes, in.name);
  promise promised;
  // The largest vertex + 1.
  std::uint64_t largest = 0;
  while (!words.at_end()) {
    if (words.peek() == '#' || words.peek() == '%') {
      read_comment(words, in, promised);
      continue;
    }
    if (words.at_line_end()) {
      words.next_line();
      continue;
    }
    if (sink.edges() == 0) {
      if (columns == 0) {
        columns = columns_of(words);
        if (columns != 2 && columns != 3)
          words.fail("an edge is 'from to' or 'from to weight', not " + std::to_string(columns) +
                     " columns");
      }
      sink.announce(columns == 3, lines_in(in, words.rest()));
    }
    const std::uint64_t from = words.whole("a vertex");
    const std::uint64_t to = words.whole("a vertex");
    if (const std::uint64_t larger = std::max(from, to); larger >= largest) {
      check_vertices(in, words.line(), larger == ~std::uint64_t{0} ? larger : larger + 1);
      largest = larger + 1;
    }
    float weight = 0;
    if (columns == 3) {
      weight = words.real("a weight");
      if (weight < 0 && !in.options.negative_weights)
        words.fail("negative weights are not allowed here");
    }
    if (sink.is_full()) in.forget_before(words.rest().data());
    sink.add(static_cast<vertex_t>(from), static_cast<vertex_t>(to), weight);
    words.end_line(columns == 3 ? "the weight of an edge" : "the two vertices of an edge");
  }
  if (promised.edges && largest > promised.vertices)
    words.fail_at(promised.line, "the header promises " + std::to_string(promised.vertices) +
                                     " vertices, but there is a vertex " +
                                     std::to_string(largest - 1));
  if (promised.edges && sink.edges() != *promised.edges)
    words.fail_at(promised.line, "the header promises " + std::to_string(*promised.edges) +
                                     " edges, but there are " + std::to_string(sink.edges()));
  if (sink.edges() == 0 && promised.line == 0 && promised.vertices == 0)
    throw file_error(in.name, 0, "holds no edge, and no header that says so");
  sink.flush();
  return {static_cast<vertex_t>(std::max(largest, promised.vertices)), false};
}

}  // namespace tutti::graph
