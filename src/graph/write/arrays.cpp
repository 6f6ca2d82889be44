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

void save_npy(const std::string& path, const array_view& values) {
  check(values);
  atomic_file file(path);
  file.stream() << npy_header(values);
  file.stream().write(static_cast<const char*>(values.data),
                      static_cast<std::streamsize>(values.rows * values.columns * values.bytes));
  file.commit();
}

void save_csv(const std::string& path, std::span<const csv_column> columns,
              const std::string& row_name) {
  if (columns.empty()) refuse("a table needs at least one column");
  const std::size_t rows = columns[0].values.rows;
  for (const csv_column& column : columns) {
    check(column.values);
    if (column.values.rows != rows)
      refuse("column '" + column.name + "' has " + std::to_string(column.values.rows) +
             " rows, the first one has " + std::to_string(rows));
  }
  atomic_file file(path);
  {
    digits text(file.stream());
    text.put(csv_name(row_name));
    for (const csv_column& column : columns)
      for (std::size_t c = 0; c < column.values.columns; ++c) {
        text.put(',');
        text.put(csv_name(column.values.columns == 1 ? column.name
                                                     : column.name + "_" + std::to_string(c)));
      }
    text.put('\n');
    for (std::size_t row = 0; row < rows; ++row) {
      text.put(row);
      for (const csv_column& column : columns)
        for (std::size_t c = 0; c < column.values.columns; ++c) {
          text.put(',');
          put_element(text, column.values, row * column.values.columns + c);
        }
      text.put('\n');
    }
    text.flush();
  }
  file.commit();
}

}  // namespace tutti::graph
