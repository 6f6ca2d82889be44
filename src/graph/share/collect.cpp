// SPDX-License-Identifier: Apache-2.0
// Collects the edges that lead to the vertices of this process, and turns them into lists, one for
// each source: a pass over the collected edges finds where each list begins, another puts the
// targets there. The collected edges are freed while they are put there.
#include "src/graph/share/collect.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

// Edges in the order in which they came, in pieces that are freed one by one.
class collected_edges {
 public:
  explicit collected_edges(bool weighted) : weighted_(weighted) {}

  void add(vertex_t from, vertex_t to, float weight) {
    if (pieces_.empty() || pieces_.back().sources.size() == piece_edges) {
      piece& fresh = pieces_.emplace_back();
      fresh.sources.reserve(piece_edges);
      fresh.targets.reserve(piece_edges);
      if (weighted_) fresh.weights.reserve(piece_edges);
    }
    piece& last = pieces_.back();
    last.sources.push_back(from);
    last.targets.push_back(to);
    if (weighted_) last.weights.push_back(weight);
  }

  // The arrays of a csr.
  struct row_arrays {
    std::vector<edge_t> offsets;
    std::vector<vertex_t> targets;
    std::vector<float> weights;
  };
  // The rows of sources 0 .. sources-1. This object is empty afterwards.
  row_arrays take_rows(vertex_t sources) {
    row_arrays made;
    made.offsets.assign(std::size_t{sources} + 1, 0);
    for (const piece& each : pieces_)
      for (const vertex_t source : each.sources) ++made.offsets[source + std::size_t{1}];
    for (std::size_t v = 1; v < made.offsets.size(); ++v) made.offsets[v] += made.offsets[v - 1];
    made.targets = scattered(made.offsets, &piece::targets);
    if (weighted_) made.weights = scattered(made.offsets, &piece::weights);
    pieces_ = {};
    return made;
  }

 private:
  static constexpr std::size_t piece_edges = std::size_t{1} << 18;
  struct piece {
    std::vector<vertex_t> sources, targets;
    std::vector<float> weights;
  };

  template <class T>
  std::vector<T> scattered(std::vector<edge_t>& offsets, std::vector<T> piece::*values) {
    std::vector<T> rows(offsets.back());
    for (piece& each : pieces_) {
      for (std::size_t e = 0; e < each.sources.size(); ++e)
        rows[offsets[each.sources[e]]++] = (each.*values)[e];
      std::vector<T>().swap(each.*values);
    }
    // Each offset is now the end of its row, which is the beginning of the next one.
    for (std::size_t v = offsets.size() - 1; v > 0; --v) offsets[v] = offsets[v - 1];
    offsets[0] = 0;
    return rows;
  }

  bool weighted_;
  std::vector<piece> pieces_;
};

// Sorts a row by target, then by weight, and drops repeated targets if `simple`. Returns the number
// of edges that remain, at the beginning of the row.
std::size_t sort_row(std::span<vertex_t> targets, std::span<float> weights, bool simple,
                     std::vector<std::pair<vertex_t, float>>& space) {
  if (weights.empty()) {
    std::sort(targets.begin(), targets.end());
    if (!simple) return targets.size();
    return static_cast<std::size_t>(std::unique(targets.begin(), targets.end()) - targets.begin());
  }
  space.clear();
  for (std::size_t i = 0; i < targets.size(); ++i) space.emplace_back(targets[i], weights[i]);
  std::sort(space.begin(), space.end());
  if (simple)
    space.erase(std::unique(space.begin(), space.end(),
                            [](const auto& a, const auto& b) { return a.first == b.first; }),
                space.end());
  for (std::size_t i = 0; i < space.size(); ++i) std::tie(targets[i], weights[i]) = space[i];
  return space.size();
}

// Sorts the rows as the graph's rule wants them.
void finish_rows(collected_edges::row_arrays& rows, row_order order) {
  if (order == row_order::as_listed) return;
  std::vector<std::pair<vertex_t, float>> space;
  edge_t kept = 0;
  edge_t first = 0;
  for (std::size_t v = 0; v + 1 < rows.offsets.size(); ++v) {
    const edge_t last = rows.offsets[v + 1];
    const std::span<vertex_t> targets(rows.targets.data() + first, last - first);
    const std::span<float> weights(rows.weights.data() + first,
                                   rows.weights.empty() ? 0 : last - first);
    const std::size_t left = sort_row(targets, weights, order == row_order::simple, space);
    std::copy_n(targets.begin(), left, rows.targets.begin() + static_cast<std::ptrdiff_t>(kept));
    if (!weights.empty())
      std::copy_n(weights.begin(), left, rows.weights.begin() + static_cast<std::ptrdiff_t>(kept));
    kept += left;
    rows.offsets[v + 1] = kept;
    first = last;
  }
  rows.targets.resize(kept);
  if (!rows.weights.empty()) rows.weights.resize(kept);
}

class collector {
 public:
  collector(const edge_stream& edges, const share_request& request, std::vector<vertex_t> blocks)
      : edges_(edges), request_(request) {
    share_.vertices = edges.vertices;
    share_.weighted = edges.weighted && request.weights;
    share_.blocks = std::move(blocks);
    share_.first = request.first;
    share_.parts.resize(request.count);
    begin_ = share_.blocks[request.first];
    end_ = share_.blocks[request.first + std::size_t{request.count}];
    words_ = share_.words();
    for (rank_t i = 0; i < request.count; ++i) {
      const std::size_t own = size_of(i);
      share_.parts[i].out_degrees.resize(own);
      share_.parts[i].leads_to.resize(own * words_);
    }
  }

  graph_share take() {
    // Repeated edges count once, so they must be found before they are counted.
    if (edges_.rows == row_order::simple) count_simple_out_edges();
    collect_in_edges(edges_.rows != row_order::simple);
    return std::move(share_);
  }

 private:
  vertex_t first_of(rank_t i) const { return share_.blocks[request_.first + i]; }
  std::size_t size_of(rank_t i) const {
    return share_.blocks[request_.first + i + std::size_t{1}] - first_of(i);
  }
  // The participant that has vertex v, or no participant of this share_.
  rank_t owner_of(vertex_t v) const noexcept {
    const auto after = std::upper_bound(share_.blocks.begin() + 1, share_.blocks.end(), v);
    return static_cast<rank_t>(after - share_.blocks.begin() - 1);
  }
  bool is_here(vertex_t v) const noexcept { return v - begin_ < end_ - begin_; }

  // Calls take(from, to, weight) for each edge, and for its reverse if that is asked for.
  template <class Take>
  void each_edge(const Take& take) const {
    const bool twice = request_.both_ways && !edges_.symmetric;
    edge_sink sink([&](std::span<const streamed_edge> portion) {
      for (const streamed_edge& e : portion) {
        take(e.from, e.to, e.weight);
        if (twice && e.from != e.to) take(e.to, e.from, e.weight);
      }
    });
    edges_.list(sink);
    sink.flush();
  }

  void count_out_edge(vertex_t from, vertex_t to) {
    const rank_t owner = owner_of(from) - request_.first;
    participant_share& part = share_.parts[owner];
    const std::size_t local = from - first_of(owner);
    ++part.out_degrees[local];
    const rank_t there = owner_of(to);
    part.leads_to[local * words_ + there / 64] |= std::uint64_t{1} << there % 64;
  }

  void count_simple_out_edges() {
    collected_edges out(false);
    each_edge([&](vertex_t from, vertex_t to, float) {
      if (from != to && is_here(from)) out.add(from - begin_, to, 0);
    });
    collected_edges::row_arrays rows = out.take_rows(end_ - begin_);
    finish_rows(rows, row_order::simple);
    for (vertex_t v = begin_; v < end_; ++v)
      for (edge_t e = rows.offsets[v - begin_]; e < rows.offsets[v - begin_ + std::size_t{1}]; ++e)
        count_out_edge(v, rows.targets[e]);
  }

  void collect_in_edges(bool count_out_edges) {
    const bool loops = edges_.rows != row_order::simple;
    std::vector<collected_edges> in(request_.count, collected_edges(share_.weighted));
    each_edge([&](vertex_t from, vertex_t to, float weight) {
      if (count_out_edges && is_here(from)) count_out_edge(from, to);
      if (!is_here(to) || (!loops && from == to)) return;
      const rank_t owner = request_.count == 1 ? 0 : owner_of(to) - request_.first;
      in[owner].add(from, to - first_of(owner), weight);
    });
    for (rank_t i = 0; i < request_.count; ++i) {
      collected_edges::row_arrays rows = in[i].take_rows(edges_.vertices);
      finish_rows(rows, edges_.rows);
      make_lists(rows, share_.parts[i]);
    }
  }

  // Leaves out the sources without edges that lead here.
  static void make_lists(collected_edges::row_arrays& rows, participant_share& part) {
    std::size_t lists = 0;
    for (std::size_t v = 0; v + 1 < rows.offsets.size(); ++v)
      lists += rows.offsets[v] != rows.offsets[v + 1] ? 1 : 0;
    part.sources.reserve(lists);
    part.first_target.reserve(lists + 1);
    for (std::size_t v = 0; v + 1 < rows.offsets.size(); ++v) {
      if (rows.offsets[v] == rows.offsets[v + 1]) continue;
      part.sources.push_back(static_cast<vertex_t>(v));
      part.first_target.push_back(rows.offsets[v]);
    }
    part.first_target.push_back(rows.offsets.back());
    part.targets = std::move(rows.targets);
    part.weights = std::move(rows.weights);
  }

  const edge_stream& edges_;
  const share_request& request_;
  graph_share share_;
  // The vertices of this process.
  vertex_t begin_ = 0, end_ = 0;
  std::size_t words_ = 1;
};

// The number of edges that each vertex has.
using degrees_t = std::vector<std::uint32_t>;

// The cuts of in_blocks() or in_edge_blocks() in partition.cpp, from the degrees alone.
std::vector<vertex_t> blocks_of(vertex_t vertices, const degrees_t* degrees, rank_t parts) {
  std::vector<vertex_t> cuts(std::size_t{parts} + 1, vertices);
  cuts[0] = 0;
  if (degrees == nullptr) {
    for (std::uint64_t p = 1; p < parts; ++p) cuts[p] = static_cast<vertex_t>(p * vertices / parts);
    return cuts;
  }
  std::uint64_t all = vertices;
  for (const std::uint32_t degree : *degrees) all += degree;
  std::uint64_t before = 0;
  vertex_t v = 0;
  for (std::uint64_t p = 1; p < parts; ++p) {
    const std::uint64_t share = all / parts * p + all % parts * p / parts;
    for (; v < vertices && before < share; ++v) before += (*degrees)[v] + std::uint64_t{1};
    cuts[p] = v;
  }
  return cuts;
}

void refuse_negative(const streamed_edge& e) {
  if (e.weight < 0)
    refuse("nonnegative weights are needed; the weight of the edge from " + std::to_string(e.from) +
           " to " + std::to_string(e.to) + " is " + std::to_string(e.weight));
}

}  // namespace

bool can_share(std::string_view partition) noexcept {
  return partition == "blocks" || partition == "edge-blocks";
}

void check(const share_request& request) {
  require(request.participants >= 1, "a share of a graph needs at least one participant");
  if (request.first >= request.participants || request.count == 0 ||
      request.count > request.participants - request.first)
    refuse("the share of " + std::to_string(request.count) + " participants from " +
           std::to_string(request.first) + " on is not one of " +
           std::to_string(request.participants) + " participants");
  if (!can_share(request.partition))
    refuse("a share of a graph needs a partition into blocks or edge-blocks, not '" +
           request.partition + "'");
}

graph_share share_of(const edge_stream& edges, const share_request& request) {
  check(request);
  const bool by_edges = request.partition == "edge-blocks" && request.participants > 1;
  const bool looks_at_weights = edges.weighted && !request.negative_weights;
  degrees_t degrees(by_edges ? edges.vertices : 0);
  if (by_edges || looks_at_weights) {
    edge_sink survey([&](std::span<const streamed_edge> portion) {
      for (const streamed_edge& e : portion) {
        if (by_edges) ++degrees[e.from];
        if (looks_at_weights) refuse_negative(e);
      }
    });
    edges.list(survey);
    survey.flush();
  }
  std::vector<vertex_t> blocks =
      blocks_of(edges.vertices, by_edges ? &degrees : nullptr, request.participants);
  degrees_t().swap(degrees);
  return collector(edges, request, std::move(blocks)).take();
}

graph_share share_of_file(const std::function<listed_graph(edge_sink& to)>& list,
                          const share_request& request) {
  check(request);
  degrees_t degrees;
  edge_sink survey([&](std::span<const streamed_edge> portion) {
    for (const streamed_edge& e : portion) {
      if (e.from >= degrees.size()) degrees.resize(std::size_t{e.from} + 1);
      ++degrees[e.from];
    }
  });
  const listed_graph found = list(survey);
  survey.flush();
  degrees.resize(found.vertices);
  const edge_stream edges{found.vertices, survey.weighted(), found.symmetric, row_order::as_listed,
                          [&](edge_sink& to) { list(to); }};
  const bool by_edges = request.partition == "edge-blocks";
  std::vector<vertex_t> blocks =
      blocks_of(found.vertices, by_edges ? &degrees : nullptr, request.participants);
  degrees_t().swap(degrees);
  return collector(edges, request, std::move(blocks)).take();
}

graph_share generate_share(std::string_view text, const share_request& request, unsigned threads) {
  check(request);
  return fitting_memory(text, [&] { return share_of(stream_of_rule(text, threads), request); });
}

}  // namespace tutti::graph
