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

struct half {
  csr graph;
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

half read_half(const input& in, const layout& file, std::uint64_t position, const char* which) {
  const std::uint64_t edges_at = position + file.offset_bytes();
  half found;
  csr& graph = found.graph;
  graph.vertices = static_cast<vertex_t>(file.vertices);
  graph.offsets.resize(file.vertices + 1);
  std::memcpy(graph.offsets.data(), in.bytes.data() + position, file.offset_bytes());
  if (graph.offsets.front() != 0)
    fail(in, std::string("the first offset of the ") + which + " is not 0");
  for (std::uint64_t v = 0; v < file.vertices; ++v)
    if (graph.offsets[v + 1] < graph.offsets[v] || graph.offsets[v + 1] > file.edges)
      fail(in, std::string("the offset of the ") + which + " of vertex " + std::to_string(v + 1) +
                   " does not lie between the one before it and the number of edges");
  if (graph.offsets.back() != file.edges)
    fail(in, std::string("the last offset of the ") + which + " is not the number of edges");

  graph.targets.resize(file.edges);
  if (file.weighted) graph.weights.resize(file.edges);
  for (std::uint64_t v = 0; v < file.vertices; ++v) {
    for (edge_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const std::uint64_t place = edges_at + e * (file.weighted ? 8 : 4);
      const auto other = at<std::uint32_t>(in.bytes, place);
      if (other >= file.vertices)
        fail(in, "vertex " + std::to_string(v) + " has vertex " +
                     std::to_string(static_cast<std::int32_t>(other)) + " among its " + which +
                     ", but there are " + std::to_string(file.vertices) + " vertices");
      std::uint32_t bits = 0;
      if (file.weighted) {
        bits = at<std::uint32_t>(in.bytes, place + 4);
        const auto weight = static_cast<std::int32_t>(bits);
        if (weight < 0 && !in.options.negative_weights)
          fail(in, "vertex " + std::to_string(v) +
                       " has an edge of negative weight; negative weights are not allowed here");
        graph.weights[e] = static_cast<float>(weight);
      }
      graph.targets[e] = other;
      found.forward += edge_hash(v, other, bits);
      found.backward += edge_hash(other, v, bits);
    }
  }
  return found;
}

}  // namespace

csr read_gap(const input& in, bool weighted) {
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
  half out = read_half(in, file, header_bytes, "out-edges");
  if (!file.directed) {
    if (out.forward != out.backward)
      fail(in, "is marked as undirected, but an edge lacks its reverse");
    return std::move(out.graph);
  }
  const std::uint64_t second = header_bytes + file.offset_bytes() + file.edge_bytes();
  if (read_half(in, file, second, "in-edges").backward != out.forward)
    fail(in, "its in-edges are not the reverse of its out-edges");
  return std::move(out.graph);
}

}  // namespace tutti::graph
