// SPDX-License-Identifier: Apache-2.0
// The property of any bytes: they are refused with a file_error of one line, or become a sound
// graph that survives being saved and loaded. The fuzzer tries it on generated inputs, a test on
// the corpus in data/corpus.
#pragma once

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

// A specification of a generator either throws std::invalid_argument or is understood.
inline void try_specification(std::string_view text) {
  for (const char* large : {"vertices", "scale", "width", "degree", "radius", "depth", "fanout"})
    if (const auto at = text.find(large); at != text.npos)
      if (const auto equals = text.find('=', at); equals != text.npos)
        if (text.find_first_not_of("0123456789.", equals + 1) > equals + 3 ||
            text.find('e', equals) != text.npos)
          return;
  try {
    validate(generate(text));
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace tutti::graph::test
