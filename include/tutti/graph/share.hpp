// SPDX-License-Identifier: Apache-2.0
// The part of a graph that one process of a run needs, loaded or generated without the rest.
//
//   const tutti::graph::share_request mine{.participants = comm.size(),
//                                          .first = comm.first_rank(), .count = comm.threads()};
//   auto part = tutti::graph::load_share("web.mtx", {}, mine);
//   auto result = tutti::graph::run_across(program, std::move(part), comm);
//
// Each participant has a block of consecutive vertices. Its process keeps the edges that lead to
// them and, of the edges that they have, only how many they are and to which participants they
// lead. The graph is the one that load() or generate() makes, edge by edge, and the results of a
// run are the same, bit by bit.
//
// Memory     A share of all edges needs at its peak 12 bytes for each of its edges, or 16 if they
//            have weights, as the whole graph does for all of them; and 8 to 20 bytes for each
//            vertex of the whole graph. A compressed file, and one that comes through a pipe, is
//            unpacked in memory by each process.
// Time       Every process goes through the whole file, twice, or through all edges that the
//            generator lists, and keeps what is its own: nobody sends edges, and the time does not
//            shrink with the number of processes.
// Threads    The functions may be called by several threads at once. They need the compiled library
//            tutti::graph_data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.h"
#include "tutti/graph/csr.hpp"
#include "tutti/graph/load.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::graph {

// Which share is wanted.
struct share_request {
  // The participants of all processes together.
  rank_t participants = 1;
  // Those of this process: `count` of them from `first` on.
  rank_t first = 0;
  rank_t count = 1;
  // "edge-blocks": about as many vertices and edges together for each participant, which takes one
  // more pass over the edges of a generator (before it drops repeated ones). "blocks": as many
  // vertices for each.
  std::string partition = "edge-blocks";
  // False drops the weights.
  bool weights = true;
  // True: edges lead both ways. The reverse of each edge is added unless the file's format or the
  // generator says that the graph is symmetric, so an edge whose reverse is in the file too may
  // occur twice.
  bool both_ways = false;
  // Refuses negative weights of generated edges; for files load_options decides. The error names
  // the first edge that has one, and is the same in all processes.
  bool negative_weights = true;
};

// What one participant needs of a graph.
struct participant_share {
  // The vertices with edges that lead here, ascending.
  std::vector<vertex_t> sources;
  // sources + 1 entries: the edges of each source that lead here.
  std::vector<edge_t> first_target;
  // The targets, counted from the participant's first vertex, in the order of the source's row.
  std::vector<vertex_t> targets;
  // The weight of each target; empty if the share has no weights.
  std::vector<float> weights;
  // The out-degree of each vertex of the participant.
  std::vector<std::uint32_t> out_degrees;
  // For each vertex of the participant one bit for each participant, in words of 64: whether an
  // edge leads there.
  std::vector<std::uint64_t> leads_to;
};

// What one process needs of a graph.
struct graph_share {
  // The vertices of the whole graph.
  vertex_t vertices = 0;
  bool weighted = false;
  // participants + 1 entries: participant p has the vertices from blocks[p] up to blocks[p + 1].
  std::vector<vertex_t> blocks = {0, 0};
  // The first participant of this process.
  rank_t first = 0;
  // One for each participant of this process.
  std::vector<participant_share> parts;

  rank_t participants() const noexcept { return static_cast<rank_t>(blocks.size() - 1); }
  // Words of leads_to for each vertex.
  std::size_t words() const noexcept { return (std::size_t{participants()} + 63) / 64; }
  // The edges that the vertices of this process have.
  edge_t out_edges() const noexcept {
    edge_t all = 0;
    for (const participant_share& part : parts)
      for (const std::uint32_t degree : part.out_degrees) all += degree;
    return all;
  }
};

// Whether a process can have a share by this method of partition(): blocks and edge-blocks.
TUTTI_API bool can_share(std::string_view partition) noexcept;

// The share of the graph that load(path, options) would load. Throws what load() throws, the same
// in all processes, and std::invalid_argument for a request that is not valid. options.threads is
// of no use here.
TUTTI_API graph_share load_share(const std::string& path, const load_options& options,
                                 const share_request& request);

// The share of the graph that generate(specification) would make. Throws what generate() throws,
// and std::invalid_argument for a request that is not valid. `threads` may prepare the rule.
TUTTI_API graph_share generate_share(std::string_view specification, const share_request& request,
                                     unsigned threads = 1);

}  // namespace tutti::graph
