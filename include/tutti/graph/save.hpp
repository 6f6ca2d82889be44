// SPDX-License-Identifier: Apache-2.0
// Writes graphs and results to files. A file appears completely or not at all: it is written beside
// its place under another name and renamed at the end. Only a pipe or a device is written directly.
//
//   tutti::graph::save(g, "web.sg");
//   tutti::graph::save_npy("rank.npy", rank);                  // a std::vector<double>
//   tutti::graph::save_csv("rank.csv", {{"rank", rank}, {"component", component}});
//
// A format that cannot hold a graph is refused with std::invalid_argument: weights in an unweighted
// format, fractions in GAP's, one-way edges in METIS's. Failures of the file throw file_error.
// These functions need the compiled library tutti::graph_data.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/export.h"
#include "tutti/graph/csr.hpp"
#include "tutti/graph/load.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

// `automatic` chooses the format by the end of the name: .el .wel .mtx .sg .wsg .graph .metis.
// Loading the file again gives the same graph, with the edges in the same order.
TUTTI_API void save(const csr& graph, const std::string& path,
                    file_format format = file_format::automatic);

// Writes the same bytes to a stream. `format` must not be `automatic`. If the graph is refused,
// nothing is written. The caller has to check the stream's state.
TUTTI_API void save_to(std::ostream& out, const csr& graph, file_format format);

// A view of numbers of a type that NumPy knows, as rows x columns in C's order. The numbers must
// live as long as the view. The constructor throws std::invalid_argument if the number of values is
// not a multiple of the columns.
struct array_view {
  const void* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 1;
  // NumPy's kind: 'f', 'i' or 'u'.
  char kind = 'f';
  // Bytes of an element: 1, 2, 4 or 8; of a floating-point number 4 or 8.
  std::size_t bytes = 8;

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
            "an array's values must fill its rows, which must have at least one column");
  }
  template <class T>
  array_view(const std::vector<T>& values, std::size_t columns_of_a_row = 1)
      : array_view(std::span<const T>(values), columns_of_a_row) {}
};

// A column of a table and its name.
struct csv_column {
  std::string name;
  // One column. If the view has more, they are called name_0, name_1, ...
  array_view values;
};

// Writes an array or a table in portions of rows, so that it need not be in memory as a whole. The
// file appears when commit() is called, and is complete then. The functions throw what save_npy()
// and save_csv() throw.
//
//   tutti::graph::csv_file file("rank.csv");
//   for (...) file.add({{"rank", some_ranks}});
//   file.commit();
class npy_file {
 public:
  // `first` has the type and the columns of all portions; `rows` are those of all of them.
  TUTTI_API npy_file(const std::string& path, std::size_t rows, const array_view& first);
  TUTTI_API ~npy_file();
  npy_file(const npy_file&) = delete;
  npy_file& operator=(const npy_file&) = delete;

  TUTTI_API void add(const array_view& values);
  TUTTI_API void commit();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};
class csv_file {
 public:
  TUTTI_API explicit csv_file(const std::string& path, const std::string& row_name = "vertex");
  TUTTI_API ~csv_file();
  csv_file(const csv_file&) = delete;
  csv_file& operator=(const csv_file&) = delete;

  // The names of the first portion are the first line of the file. Each portion has as many columns
  // as the first one, whose rows are numbered from 0; the numbers go on.
  TUTTI_API void add(std::span<const csv_column> columns);
  TUTTI_API void commit();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

// Writes NumPy's format 1.0: one dimension if there is one column, otherwise two. Throws
// std::invalid_argument for a type that NumPy does not have.
TUTTI_API void save_npy(const std::string& path, const array_view& values);

// The first line has the names. Then each row has a line, which begins with the row's number.
// Floating-point numbers are as short as an exact round trip allows. Throws std::invalid_argument
// if columns differ in length.
TUTTI_API void save_csv(const std::string& path, std::span<const csv_column> columns,
                        const std::string& row_name = "vertex");
inline void save_csv(const std::string& path, std::initializer_list<csv_column> columns,
                     const std::string& row_name = "vertex") {
  save_csv(path, std::span<const csv_column>(columns.begin(), columns.size()), row_name);
}

}  // namespace tutti::graph
