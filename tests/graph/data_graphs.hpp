// SPDX-License-Identifier: Apache-2.0
// Common parts of the tests of graphs as data: small graphs of every kind, a folder to write into,
// and the text of an error.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/generate.hpp"

namespace tutti::graph::test {

struct pair {
  vertex_t from;
  vertex_t to;
  float weight = 0;
};

inline csr graph_of(vertex_t vertices, const std::vector<pair>& edges, bool weighted = false) {
  edge_list list;
  list.vertices = vertices;
  for (const pair& each : edges)
    weighted ? list.add(each.from, each.to, each.weight) : list.add(each.from, each.to);
  return from_edges(std::move(list));
}

struct named_graph {
  std::string name;
  csr graph;
};

// Graphs that are directed, symmetric, disconnected, with self-loops, with duplicates, with
// isolated vertices at the end, or empty.
inline std::vector<named_graph> odd_graphs() {
  return {{"nothing", csr()},
          {"one vertex", graph_of(1, {})},
          {"one loop", graph_of(1, {{0, 0}})},
          {"isolated", graph_of(5, {{1, 2}})},
          {"directed", graph_of(4, {{2, 0}, {0, 3}, {0, 1}, {3, 0}})},
          {"loops", graph_of(3, {{0, 0}, {0, 1}, {2, 2}, {2, 2}})},
          {"duplicates", graph_of(3, {{0, 2}, {0, 1}, {0, 2}, {1, 0}})},
          {"disconnected", graph_of(6, {{0, 1}, {1, 0}, {3, 4}, {4, 3}})},
          {"weighted", graph_of(3, {{0, 1, 2}, {1, 2, 7}, {0, 1, 5}, {2, 2, 3}}, true)},
          {"ring", generate("ring:vertices=7")},
          {"kron", generate("kron:scale=8,degree=4,weights=integer")},
          {"geometric", generate("geometric:vertices=300,degree=6,weights=integer")}};
}

// A folder for each test, since ctest runs tests side by side; it is removed with the object.
class folder {
 public:
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tutti-graph-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~folder() { std::filesystem::remove_all(path_); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  std::string at(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(at(name), std::ios::binary) << bytes;
    return at(name);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

// The text of the exception that f throws. The test fails if f does not throw an E.
template <class E, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

}  // namespace tutti::graph::test
