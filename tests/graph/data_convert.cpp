// SPDX-License-Identifier: Apache-2.0
// graph_data_convert FROM TO...: converts a file or a generator's specification to files. A TO that
// ends in .npy or .csv gets the out-degrees. The tests compare with other programs' readers and
// writers by it.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/graph/generate.hpp"
#include "tutti/graph/load.hpp"
#include "tutti/graph/save.hpp"

int main(int argc, char** argv) {
  using namespace tutti::graph;
  if (argc < 2) {
    std::fputs("usage: graph_data_convert FROM TO...\n", stderr);
    return 2;
  }
  try {
    const csr graph = std::filesystem::exists(argv[1]) ? load(argv[1]) : generate(argv[1]);
    std::vector<edge_t> degree(graph.vertices);
    for (vertex_t v = 0; v < graph.vertices; ++v) degree[v] = graph.degree(v);
    for (int i = 2; i < argc; ++i) {
      const std::string_view to = argv[i];
      if (to.ends_with(".npy"))
        save_npy(argv[i], degree);
      else if (to.ends_with(".csv"))
        save_csv(argv[i], {{"degree", degree}});
      else
        save(graph, argv[i]);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "graph_data_convert: %s\n", error.what());
    return 1;
  }
}
