// SPDX-License-Identifier: Apache-2.0
// Graphs from a rule and a seed.
//
//   tutti::graph::csr g = tutti::graph::generate("kron:scale=18,degree=16,seed=1");
//   tutti::graph::csr h = tutti::graph::generate("geometric:vertices=1e6,degree=100,weights=integer,low=1,high=255");
//
// The same specification gives the same bits on every machine and for any number of threads: each random number is a
// function of the seed and of what it is for (Philox 4x32-10), and geometry is computed in integers.
// Needs the compiled library tutti::graph_data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tutti/export.h"
#include "tutti/graph/csr.hpp"

namespace tutti::graph {

// NAME or NAME:KEY=VALUE,KEY=VALUE,... Numbers may be written 1e6. Throws std::invalid_argument that names the key.
TUTTI_API csr generate(std::string_view specification, unsigned threads = 1);

struct generator_key {
  std::string_view name;
  std::string_view normally;  // the value if it is not given; empty: it must be given
  std::string_view meaning;
};
struct generator {
  std::string_view name;
  std::string_view meaning;
  std::span<const generator_key> keys;
};
TUTTI_API std::span<const generator> generators();
// Keys that every generator has: weights, low, high, seed.
TUTTI_API std::span<const generator_key> common_keys();

// All of them as text for --help, lines of at most 100 columns.
TUTTI_API std::string generators_help();

enum class weight_kind { one, integer, real };
// Weights from low to high, both included if they are integers. Both directions of an edge, and edges with the same ends,
// get the same weight if `both_ways`; else each direction has its own.
// Throws std::invalid_argument if low > high, or if integers are asked for beyond 2^24, where floats have gaps.
TUTTI_API void set_random_weights(csr& graph, weight_kind kind, double low, double high,
                                  std::uint64_t seed, bool both_ways = true);

}  // namespace tutti::graph
