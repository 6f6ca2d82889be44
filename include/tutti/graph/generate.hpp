// SPDX-License-Identifier: Apache-2.0
// Graphs generated from a rule and a seed.
//
//   tutti::graph::csr g = tutti::graph::generate("kron:scale=18,degree=16,seed=1");
//   tutti::graph::csr h = tutti::graph::generate(
//       "geometric:vertices=1e6,degree=100,weights=integer,low=1,high=255");
//
// The same specification gives the same bits on every machine and for any number of threads: each
// random number is a function of the seed and of its purpose (Philox 4x32-10), and geometry is
// computed in integers.
// These functions need the compiled library tutti::graph_data. They may be called by several
// threads at once.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tutti/export.h"
#include "tutti/graph/csr.hpp"

namespace tutti::graph {

// A graph of a rule does not fit into memory; what() names the rule.
struct memory_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `specification` is NAME or NAME:KEY=VALUE,KEY=VALUE,... A number may be written as 1e6. `threads`
// is the number of threads to use; 0: one per core. Throws std::invalid_argument, which names the
// key, and memory_error if the graph does not fit into memory.
TUTTI_API csr generate(std::string_view specification, unsigned threads = 1);

// A key of a specification.
struct generator_key {
  std::string_view name;
  // The default value. Empty: the key must be given.
  std::string_view normally;
  std::string_view meaning;
};
// A generator and its keys.
struct generator {
  std::string_view name;
  std::string_view meaning;
  std::span<const generator_key> keys;
};
// All generators.
TUTTI_API std::span<const generator> generators();
// The keys of every generator: weights, low, high, seed.
TUTTI_API std::span<const generator_key> common_keys();

// All generators as text for --help, in lines of at most 100 columns.
TUTTI_API std::string generators_help();

// The kinds of weights: all 1, whole numbers, or real numbers.
enum class weight_kind { one, integer, real };
// Gives each edge a random weight from `low` to `high`; integer weights include both bounds. If
// `both_ways`, both directions of an edge, and all edges with the same ends, get the same weight;
// otherwise each direction has its own.
// Throws std::invalid_argument if low > high, or for integers beyond 2^24, where floats have gaps.
TUTTI_API void set_random_weights(csr& graph, weight_kind kind, double low, double high,
                                  std::uint64_t seed, bool both_ways = true);

}  // namespace tutti::graph
