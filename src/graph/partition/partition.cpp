// SPDX-License-Identifier: Apache-2.0
// The list of methods, and the simple ones: consecutive vertices, and random parts.
#include "tutti/graph/partition.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "src/graph/generate/random.hpp"
#include "src/graph/partition/methods.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

constexpr std::array methods = {
    partition_method{"blocks", "consecutive vertices, equally many in each part"},
    partition_method{
        "edge-blocks",
        "consecutive vertices, equally many vertices and out-edges together in each part"},
    partition_method{"random", "each vertex in a random part"},
    partition_method{
        "fennel", "each vertex in turn, where its neighbours are, minus a cost of the part's size"},
    partition_method{"ldg", "the same, times the share of the part's room that is left"},
    partition_method{"metis", "multilevel k-way, by METIS"}};

// Makes part p the range [first(p), first(p + 1)).
template <class First>
std::vector<rank_t> consecutive(vertex_t vertices, rank_t parts, const First& first) {
  std::vector<rank_t> part(vertices);
  for (rank_t p = 0; p < parts; ++p)
    std::fill(part.begin() + static_cast<std::ptrdiff_t>(first(p)),
              part.begin() + static_cast<std::ptrdiff_t>(first(p + std::uint64_t{1})), p);
  return part;
}

}  // namespace

std::span<const partition_method> partition_methods() { return methods; }

std::vector<rank_t> in_blocks(const csr& graph, rank_t parts) {
  return consecutive(graph.vertices, parts,
                     [&](std::uint64_t p) { return p * graph.vertices / parts; });
}

std::vector<rank_t> in_edge_blocks(const csr& graph, rank_t parts) {
  // A vertex counts as one more edge, so that vertices without edges are distributed too.
  const auto before = [&](std::uint64_t v) { return graph.offsets[v] + v; };
  const std::uint64_t all = before(graph.vertices);
  // This avoids p * all, which may overflow.
  const auto share = [&](std::uint64_t p) { return all / parts * p + all % parts * p / parts; };
  return consecutive(graph.vertices, parts, [&](std::uint64_t p) {
    std::uint64_t low = 0, high = graph.vertices;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (before(middle) < share(p))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  });
}

std::vector<rank_t> at_random(const csr& graph, rank_t parts, const partition_options& options) {
  std::vector<rank_t> part(graph.vertices);
  for (vertex_t v = 0; v < graph.vertices; ++v) {
    const random_words words = random_block(options.seed, purpose::part, v);
    part[v] = static_cast<rank_t>(below(parts, two_words(words[0], words[1])));
  }
  return part;
}

std::vector<rank_t> partition(const csr& graph, rank_t parts, std::string_view method,
                              const partition_options& options) {
  if (parts == 0) refuse("a partition needs at least one part");
  if (!(options.slack >= 0 && options.slack <= 100))
    refuse("the slack of a partition must be a number from 0 to 100");
  if (options.passes == 0) refuse("a streaming partition needs at least one pass");
  if (method == "streaming") method = "fennel";
  const auto found =
      std::find_if(methods.begin(), methods.end(),
                   [&](const partition_method& each) { return each.name == method; });
  if (found == methods.end()) {
    std::string known;
    for (const partition_method& each : methods) (known += known.empty() ? "" : ", ") += each.name;
    refuse("unknown partition method '" + std::string(method) + "' (known: " + known + ")");
  }
  if (method == "metis" && !has_metis())
    throw std::runtime_error("tutti: partition method 'metis': this tutti was built without METIS");
  if (graph.vertices == 0) return {};
  if (method == "blocks") return in_blocks(graph, parts);
  if (method == "edge-blocks") return in_edge_blocks(graph, parts);
  if (method == "random") return at_random(graph, parts, options);
  if (method == "metis") return by_metis(graph, parts, options);
  return streamed(graph, parts, options, method == "ldg" ? greedy::ldg : greedy::fennel);
}

}  // namespace tutti::graph
