// SPDX-License-Identifier: Apache-2.0
// The binary files of the GAP benchmark suite (Beamer, Asanovic and Patterson, arXiv:1508.03619;
// .sg, and .wsg with weights), without padding, little-endian:
//
//   u8   directed
//   i64  edges as stored: both directions of an undirected graph
//   i64  vertices
//   i64  offsets[vertices + 1]
//   i32  targets[edges], or pairs {i32 target, i32 weight}[edges]
//   if it is directed, the in-edges follow in the same way: offsets and sources
//
// The in-edges contain nothing new; they are only compared.
#include <bit>
#include <cstring>

#include "src/graph/read/edge_hash.hpp"
#include "src/graph/read/readers.hpp"

namespace tutti::graph {

namespace {

static_assert(std::endian::native == std::endian::little, "the file's numbers are little-endian");

constexpr std::uint64_t header_bytes = 17;

template <class T>
T at(std::string_view bytes, std::uint64_t position) {
  T value;
  std::memcpy(&value, bytes.data() + position, sizeof value);
  return value;
}

[[noreturn]] void fail(const input& in, const std::string& what) {
  throw file_error(in.name, 0, what);
}

// The sums over the edges of one direction.
struct sums {
  // The sum of edge_hash(row, entry).
  std::uint64_t forward = 0;
  // The sum of edge_hash(entry, row).
  std::uint64_t backward = 0;
};

struct layout {
  bool directed;
  bool weighted;
  std::uint64_t edges;
  std::uint64_t vertices;
  std::uint64_t offset_bytes() const { return 8 * (vertices + 1); }
  std::uint64_t edge_bytes() const { return edges * (weighted ? 8 : 4); }
};

// Calls offset(vertex, its first edge) for each vertex and once for the end.
template <class Offset>
void each_offset(const input& in, const layout& file, std::uint64_t position, const char* which,
                 const Offset& offset) {
  std::uint64_t before = 0;
  for (std::uint64_t v = 0; v <= file.vertices; ++v) {
    const auto here = at<std::uint64_t>(in.bytes, position + 8 * v);
    if (v == 0 && here != 0)
      fail(in, std::string("the first offset of the ") + which + " is not 0");
    if (here < before || here > file.edges)
      fail(in, std::string("the offset of the ") + which + " of vertex " + std::to_string(v) +
                   " does not lie between the one before it and the number of edges");
    offset(v, before = here);
  }
  if (before != file.edges)
    fail(in, std::string("the last offset of the ") + which + " is not the number of edges");
}

// Calls edge(index, from, to, weight) for each edge. Precondition: the offsets are right.
template <class Edge>
sums each_edge(const input& in, const layout& file, std::uint64_t position, const char* which,
               const Edge& edge) {
  const std::uint64_t edges_at = position + file.offset_bytes();
  sums found;
  for (std::uint64_t v = 0; v < file.vertices; ++v) {
    const auto end = at<std::uint64_t>(in.bytes, position + 8 * (v + 1));
    for (auto e = at<std::uint64_t>(in.bytes, position + 8 * v); e < end; ++e) {
      const std::uint64_t place = edges_at + e * (file.weighted ? 8 : 4);
      const auto other = at<std::uint32_t>(in.bytes, place);
      if (other >= file.vertices)
        fail(in, "vertex " + std::to_string(v) + " has vertex " +
                     std::to_string(static_cast<std::int32_t>(other)) + " among its " + which +
                     ", but there are " + std::to_string(file.vertices) + " vertices");
      std::uint32_t bits = 0;
      if (file.weighted) {
        bits = at<std::uint32_t>(in.bytes, place + 4);
        if (static_cast<std::int32_t>(bits) < 0 && !in.options.negative_weights)
          fail(in, "vertex " + std::to_string(v) +
                       " has an edge of negative weight; negative weights are not allowed here");
      }
      edge(e, static_cast<vertex_t>(v), other, static_cast<float>(static_cast<std::int32_t>(bits)));
      found.forward += edge_hash(v, other, bits);
      found.backward += edge_hash(other, v, bits);
    }
  }
  return found;
}

// Compares the edges with the file's in-edges, or with their own reverses.
void compare_in_edges(const input& in, const layout& file, const sums& out) {
  if (!file.directed) {
    if (out.forward != out.backward)
      fail(in, "is marked as undirected, but an edge lacks its reverse");
    return;
  }
  const std::uint64_t second = header_bytes + file.offset_bytes() + file.edge_bytes();
  each_offset(in, file, second, "in-edges", [](std::uint64_t, edge_t) {});
  const char* const edges = in.bytes.data() + second + file.offset_bytes();
  const sums back =
      each_edge(in, file, second, "in-edges", [&](edge_t e, vertex_t, vertex_t, float) {
        if (e % (1 << 16) == 0) in.forget_before(edges + e * (file.weighted ? 8 : 4));
      });
  if (back.backward != out.forward) fail(in, "its in-edges are not the reverse of its out-edges");
}

layout read_layout(const input& in, bool weighted) {
  if (in.bytes.size() < header_bytes) fail(in, "is too short for the header of a GAP graph");
  const auto directed = at<std::uint8_t>(in.bytes, 0);
  const auto edges = at<std::int64_t>(in.bytes, 1);
  const auto vertices = at<std::int64_t>(in.bytes, 9);
  if (directed > 1) fail(in, "does not begin as a GAP graph does, with a byte 0 or 1");
  if (edges < 0 || vertices < 0) fail(in, "the header has a negative number of edges or vertices");
  layout file{directed == 1, weighted, static_cast<std::uint64_t>(edges),
              static_cast<std::uint64_t>(vertices)};
  check_vertices(in, 0, file.vertices);
  const std::uint64_t room = in.bytes.size() - header_bytes;
  const auto size_if = [&](bool with_weights) {
    layout guess = file;
    guess.weighted = with_weights;
    return (guess.offset_bytes() + guess.edge_bytes()) * (file.directed ? 2 : 1);
  };
  if (file.edges > room)
    fail(in,
         "the header promises " + std::to_string(edges) + " edges, more than fit into the file");
  if (room != size_if(weighted)) {
    if (room != size_if(!weighted))
      fail(in, "the header promises " + std::to_string(vertices) + " vertices and " +
                   std::to_string(edges) + " edges, which are " +
                   std::to_string(header_bytes + size_if(weighted)) + " bytes, but the file has " +
                   std::to_string(in.bytes.size()));
    file.weighted = !weighted;
  }
  return file;
}

}  // namespace

csr read_gap(const input& in, bool weighted) {
  const layout file = read_layout(in, weighted);
  csr graph;
  graph.vertices = static_cast<vertex_t>(file.vertices);
  graph.offsets.resize(file.vertices + 1);
  each_offset(in, file, header_bytes, "out-edges",
              [&](std::uint64_t v, edge_t first) { graph.offsets[v] = first; });
  graph.targets.resize(file.edges);
  if (file.weighted) graph.weights.resize(file.edges);
  const sums out = each_edge(in, file, header_bytes, "out-edges",
                             [&](edge_t e, vertex_t, vertex_t to, float weight) {
                               graph.targets[e] = to;
                               if (file.weighted) graph.weights[e] = weight;
                             });
  compare_in_edges(in, file, out);
  return graph;
}

listed_graph list_gap(const input& in, bool weighted, edge_sink& to) {
  const layout file = read_layout(in, weighted);
  to.announce(file.weighted, file.edges);
  each_offset(in, file, header_bytes, "out-edges", [](std::uint64_t, edge_t) {});
  const char* const edges = in.bytes.data() + header_bytes + file.offset_bytes();
  const sums out = each_edge(in, file, header_bytes, "out-edges",
                             [&](edge_t e, vertex_t from, vertex_t target, float weight) {
                               if (to.is_full())
                                 in.forget_before(edges + e * (file.weighted ? 8 : 4));
                               to.add(from, target, weight);
                             });
  to.flush();
  compare_in_edges(in, file, out);
  return {static_cast<vertex_t>(file.vertices), !file.directed};
}

}  // namespace tutti::graph
