// SPDX-License-Identifier: Apache-2.0
// Graphs and results into files. A file appears whole or not at all: it is written beside its place under another name,
// and renamed at the end. Only a pipe or a device is written directly.
//
//   tutti::graph::save(g, "web.sg");
//   tutti::graph::save_npy("rank.npy", rank);                                     // a std::vector<double>
//   tutti::graph::save_csv("rank.csv", {{"rank", rank}, {"component", component}});
//
// What a format cannot hold is refused with std::invalid_argument: weights in an unweighted format, fractions in GAP's,
// one-way edges in METIS's. Trouble with the file is a file_error. Needs the compiled library tutti::graph_data.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "tutti/export.h"
#include "tutti/graph/csr.hpp"
#include "tutti/graph/load.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

// automatic: by the end of the name, .el .wel .mtx .sg .wsg .graph .metis. Loading it again gives the same graph, edges in
// the same order.
TUTTI_API void save(const csr& graph, const std::string& path,
                    file_format format = file_format::automatic);

// The same bytes into a stream; not `automatic`. Nothing is written if the graph is refused. The caller looks at the
// stream's state.
TUTTI_API void save_to(std::ostream& out, const csr& graph, file_format format);

// Numbers of a type that NumPy knows, as rows x columns in C's order. They must live as long as it does. Making one throws
// std::invalid_argument if the number of values is no multiple of the columns.
struct array_view {
  const void* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 1;
  char kind = 'f';        // as NumPy's: 'f', 'i', 'u'
  std::size_t bytes = 8;  // of an element: 1, 2, 4, 8; of a floating-point number 4, 8

  array_view() = default;
  template <class T>
  requires(std::integral<T> || std::same_as<T, float> || std::same_as<T, double>)
      array_view(std::span<const T> values, std::size_t columns_of_a_row = 1)
      : data(values.data()),
        rows(columns_of_a_row == 0 ? 0 : values.size() / columns_of_a_row),
        columns(columns_of_a_row),
        kind(std::floating_point<T>      ? 'f'
             : std::unsigned_integral<T> ? 'u'
                                         : 'i'),
        bytes(sizeof(T)) {
    require(columns != 0 && values.size() % columns == 0,
            "an array's values fill its rows, which have at least one column");
  }
  template <class T>
  array_view(const std::vector<T>& values, std::size_t columns_of_a_row = 1)
      : array_view(std::span<const T>(values), columns_of_a_row) {}
};

// NumPy's format 1.0: one dimension if there is one column, else two. Throws std::invalid_argument for a type that NumPy has
// no name for.
TUTTI_API void save_npy(const std::string& path, const array_view& values);

struct csv_column {
  std::string name;
  array_view values;  // a column each; if it has more, they are called name_0, name_1, ...
};

// A first line of names, then a line a row, which begins with its number. Floating-point numbers are as short as they can
// be to be read back exactly. Throws std::invalid_argument if columns differ in length.
TUTTI_API void save_csv(const std::string& path, std::span<const csv_column> columns,
                        const std::string& row_name = "vertex");
inline void save_csv(const std::string& path, std::initializer_list<csv_column> columns,
                     const std::string& row_name = "vertex") {
  save_csv(path, std::span<const csv_column>(columns.begin(), columns.size()), row_name);
}

}  // namespace tutti::graph
