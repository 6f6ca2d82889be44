// SPDX-License-Identifier: Apache-2.0
// Writes results: NumPy's .npy, format 1.0 (NEP 1), and comma-separated values.
#include <cstring>
#include <ostream>

#include "src/graph/write/atomic_file.hpp"
#include "src/graph/write/digits.hpp"
#include "tutti/graph/save.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

void check(const array_view& values) {
  if (values.columns == 0) refuse("an array's rows must have at least one column");
  const bool known = values.kind == 'f' ? values.bytes == 4 || values.bytes == 8
                                        : (values.kind == 'i' || values.kind == 'u') &&
                                              (values.bytes == 1 || values.bytes == 2 ||
                                               values.bytes == 4 || values.bytes == 8);
  if (!known)
    refuse("an array of type '" + std::string(1, values.kind) + std::to_string(values.bytes) +
           "', which is not one of f4 f8 i1 i2 i4 i8 u1 u2 u4 u8");
  if (values.data == nullptr && values.rows != 0) refuse("an array has rows but no address");
}

std::string npy_header(const array_view& values) {
  const char order = values.bytes == 1                            ? '|'
                     : std::endian::native == std::endian::little ? '<'
                                                                  : '>';
  std::string shape = std::to_string(values.rows) + ",";
  if (values.columns != 1) shape += " " + std::to_string(values.columns);
  std::string text = std::string("{'descr': '") + order + values.kind +
                     std::to_string(values.bytes) + "', 'fortran_order': False, 'shape': (" +
                     shape + "), }";
  // Magic, version and length take 10 bytes. The data begin at a multiple of 64, and the last byte
  // before them is a line end.
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  const auto length = static_cast<unsigned>(text.size());
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(length & 255);
  header += static_cast<char>(length >> 8);
  return header + text;
}

template <class T>
T element(const array_view& values, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(values.data) + index * sizeof(T), sizeof value);
  return value;
}

void put_element(digits& text, const array_view& values, std::size_t i) {
  if (values.kind == 'f')
    return values.bytes == 4 ? text.put(element<float>(values, i))
                             : text.put(element<double>(values, i));
  const bool is_signed = values.kind == 'i';
  switch (values.bytes) {
    // to_chars treats an int8_t as a number; put()'s overload for a character does not.
    case 1:
      return is_signed ? text.put(int{element<std::int8_t>(values, i)})
                       : text.put(unsigned{element<std::uint8_t>(values, i)});
    case 2:
      return is_signed ? text.put(element<std::int16_t>(values, i))
                       : text.put(element<std::uint16_t>(values, i));
    case 4:
      return is_signed ? text.put(element<std::int32_t>(values, i))
                       : text.put(element<std::uint32_t>(values, i));
    default:
      return is_signed ? text.put(element<std::int64_t>(values, i))
                       : text.put(element<std::uint64_t>(values, i));
  }
}

// RFC 4180: a name with a comma, a quote or a line end is put in quotes, and its own quotes are
// doubled.
std::string csv_name(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == name.npos) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

struct npy_file::parts {
  parts(const std::string& path, std::size_t all_rows, const array_view& first)
      : file(path), kind(first.kind), bytes(first.bytes), columns(first.columns), left(all_rows) {}

  atomic_file file;
  char kind;
  std::size_t bytes, columns;
  // The rows that are to come.
  std::size_t left;
};

npy_file::npy_file(const std::string& path, std::size_t rows, const array_view& first) {
  check(first);
  parts_ = std::make_unique<parts>(path, rows, first);
  array_view all = first;
  all.rows = rows;
  parts_->file.stream() << npy_header(all);
}
npy_file::~npy_file() = default;

void npy_file::add(const array_view& values) {
  check(values);
  parts& p = *parts_;
  require(values.kind == p.kind && values.bytes == p.bytes && values.columns == p.columns,
          "all rows of an array must have the type and the columns of the first ones");
  require(values.rows <= p.left, "an array has more rows than were announced");
  p.left -= values.rows;
  p.file.stream().write(static_cast<const char*>(values.data),
                        static_cast<std::streamsize>(values.rows * values.columns * values.bytes));
}

void npy_file::commit() {
  require(parts_->left == 0, "an array has fewer rows than were announced");
  parts_->file.commit();
}

struct csv_file::parts {
  parts(const std::string& path, const std::string& name) : file(path), row_name(name) {}

  atomic_file file;
  digits text{file.stream()};
  std::string row_name;
  // 0: the first line is to come.
  std::size_t columns = 0;
  std::size_t next_row = 0;
};

csv_file::csv_file(const std::string& path, const std::string& row_name)
    : parts_(std::make_unique<parts>(path, row_name)) {}
csv_file::~csv_file() = default;

namespace {

// Returns the number of columns in the file.
std::size_t check(std::span<const csv_column> columns) {
  if (columns.empty()) refuse("a table needs at least one column");
  const std::size_t rows = columns[0].values.rows;
  std::size_t all = 0;
  for (const csv_column& column : columns) {
    check(column.values);
    if (column.values.rows != rows)
      refuse("column '" + column.name + "' has " + std::to_string(column.values.rows) +
             " rows, the first one has " + std::to_string(rows));
    all += column.values.columns;
  }
  return all;
}

void put_names(digits& text, std::span<const csv_column> columns, const std::string& row_name) {
  text.put(csv_name(row_name));
  for (const csv_column& column : columns)
    for (std::size_t c = 0; c < column.values.columns; ++c) {
      text.put(',');
      text.put(csv_name(column.values.columns == 1 ? column.name
                                                   : column.name + "_" + std::to_string(c)));
    }
  text.put('\n');
}

}  // namespace

void csv_file::add(std::span<const csv_column> columns) {
  const std::size_t width = check(columns);
  parts& p = *parts_;
  if (p.columns == 0) {
    put_names(p.text, columns, p.row_name);
    p.columns = width;
  }
  require(width == p.columns, "all rows of a table must have as many columns as the first ones");
  for (std::size_t row = 0; row < columns[0].values.rows; ++row) {
    p.text.put(p.next_row++);
    for (const csv_column& column : columns)
      for (std::size_t c = 0; c < column.values.columns; ++c) {
        p.text.put(',');
        put_element(p.text, column.values, row * column.values.columns + c);
      }
    p.text.put('\n');
  }
}

void csv_file::commit() {
  parts_->text.flush();
  parts_->file.commit();
}

void save_npy(const std::string& path, const array_view& values) {
  npy_file file(path, values.rows, values);
  file.add(values);
  file.commit();
}

void save_csv(const std::string& path, std::span<const csv_column> columns,
              const std::string& row_name) {
  // A table that is refused leaves no file behind, not even an empty one.
  check(columns);
  csv_file file(path, row_name);
  file.add(columns);
  file.commit();
}

}  // namespace tutti::graph
