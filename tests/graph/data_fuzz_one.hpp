// SPDX-License-Identifier: Apache-2.0
// The property of any bytes: they are refused with a file_error of one line, or become a sound
// graph that survives being saved and loaded. The fuzzer tries it on generated inputs, a test on
// the corpus in data/corpus.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/generate.hpp"
#include "tutti/graph/load.hpp"
#include "tutti/graph/save.hpp"

namespace tutti::graph::test {

inline void require_sound(bool holds) {
  if (!holds) std::abort();
}

inline void try_load(std::string_view bytes, file_format format) {
  // Large inputs are slow and no more interesting than small ones.
  const load_options options = {
      .format = format, .vertices_at_most = 1 << 12, .bytes_at_most = 1 << 20};
  csr graph;
  try {
    graph = load_from(bytes, "fuzz", options);
  } catch (const file_error& error) {
    const std::string what = error.what();
    require_sound(what.starts_with("fuzz:") && what.find('\n') == what.npos && what.size() < 300);
    return;
  }
  validate(graph);
  require_sound(graph.vertices <= options.vertices_at_most);
  load_options again = options;
  again.format = format != file_format::automatic ? format
                 : graph.weighted()               ? file_format::weighted_edge_list
                                                  : file_format::edge_list;
  std::ostringstream out;
  try {
    save_to(out, graph, again.format);
  } catch (const std::invalid_argument&) {
    // For instance, duplicates in METIS's format are read but not written.
    return;
  }
  require_sound(load_from(out.str(), "fuzz", again) == graph);
}

// Returns the largest number that the text gives for the key, or `otherwise` if it gives none.
inline double number_of(const std::string& text, std::string_view key, double otherwise) {
  const std::string wanted = std::string(key) + '=';
  bool is_given = false;
  double most = 0;
  for (std::size_t at = 0; (at = text.find(wanted, at)) != text.npos;) {
    at += wanted.size();
    most = std::max(most, std::strtod(text.c_str() + at, nullptr));
    is_given = true;
  }
  return is_given ? most : otherwise;
}

// Whether the graph has so few vertices that all their pairs could be edges. Large graphs are slow,
// do not fit into the fuzzer's memory, and are no more interesting than small ones.
inline bool is_small(const std::string& text) {
  constexpr double most = 512;
  const double scale = number_of(text, "scale", 0), depth = number_of(text, "depth", 1);
  const double box = number_of(text, "width", 1) * number_of(text, "height", 1) * depth;
  return number_of(text, "vertices", 0) <= most && number_of(text, "degree", 0) <= most &&
         std::exp2(scale) <= most && box <= most &&
         std::pow(std::max(2.0, number_of(text, "fanout", 0)), depth) <= most * most;
}

// A specification of a generator either throws std::invalid_argument or is understood.
inline void try_specification(std::string_view text) {
  if (!is_small(std::string(text))) return;
  try {
    validate(generate(text));
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace tutti::graph::test
