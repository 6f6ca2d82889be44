// SPDX-License-Identifier: Apache-2.0
// The multilevel method of Karypis and Kumar, "A fast and high quality multilevel scheme for
// partitioning irregular graphs", SIAM J. Sci. Comput. 1998, by their library. METIS requires an
// undirected graph without duplicates, so a pair of vertices gets one edge, whose weight is the
// number of its edges in both directions.
#include "src/graph/partition/methods.hpp"

#if TUTTI_HAVE_METIS

#include <metis.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>

#include "src/graph/rows.hpp"

namespace tutti::graph {

namespace {

csr undirected(const csr& graph) {
  // The rows of both graphs are sorted.
  const csr in = transpose(graph), out = transpose(in);
  return rows_by(graph.vertices, true, 1, [&](vertex_t u, auto&& emit) {
    const auto a = out.out(u), b = in.out(u);
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      const vertex_t v = j == b.size() || (i < a.size() && a[i] < b[j]) ? a[i] : b[j];
      float count = 0;
      for (; i < a.size() && a[i] == v; ++i) ++count;
      for (; j < b.size() && b[j] == v; ++j) ++count;
      if (v != u) emit(v, count);
    }
  });
}

}  // namespace

bool has_metis() noexcept { return true; }

std::vector<rank_t> by_metis(const csr& graph, rank_t parts, const partition_options& options) {
  // METIS would divide by zero for these.
  if (parts == 1 || graph.vertices <= parts || graph.edges() == 0) return in_blocks(graph, parts);
  const csr simple = undirected(graph);
  if (simple.edges() == 0) return in_blocks(graph, parts);
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<idx_t>::max());
  if (simple.edges() > most || graph.vertices > most)
    throw std::runtime_error("tutti: partition method 'metis': " + describe(graph) +
                             " are too many for this METIS, which counts to " +
                             std::to_string(most));

  std::vector<idx_t> offsets(simple.offsets.begin(), simple.offsets.end());
  std::vector<idx_t> targets(simple.targets.begin(), simple.targets.end());
  std::vector<idx_t> weights(simple.weights.begin(), simple.weights.end());
  std::vector<idx_t> found(graph.vertices);
  auto vertices = static_cast<idx_t>(graph.vertices);
  auto count = static_cast<idx_t>(parts);
  idx_t constraints = 1, cut = 0;
  idx_t settings[METIS_NOPTIONS];
  METIS_SetDefaultOptions(settings);
  settings[METIS_OPTION_NUMBERING] = 0;
  settings[METIS_OPTION_SEED] = static_cast<idx_t>(options.seed & 0x7fffffff);
  settings[METIS_OPTION_UFACTOR] =
      static_cast<idx_t>(std::max(1.0, std::floor(options.slack * 1000)));
  // METIS keeps its memory and its random numbers per process.
  static std::mutex one_at_a_time;
  const std::lock_guard hold(one_at_a_time);
  const int state =
      METIS_PartGraphKway(&vertices, &constraints, offsets.data(), targets.data(), nullptr, nullptr,
                          weights.data(), &count, nullptr, nullptr, settings, &cut, found.data());
  if (state == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (state != METIS_OK)
    throw std::runtime_error("tutti: METIS failed with status " + std::to_string(state));
  return {found.begin(), found.end()};
}

}  // namespace tutti::graph

#else

namespace tutti::graph {

bool has_metis() noexcept { return false; }
std::vector<rank_t> by_metis(const csr&, rank_t, const partition_options&) { return {}; }

}  // namespace tutti::graph

#endif
