// SPDX-License-Identifier: Apache-2.0
// Chooses the format of a file and calls its reader.
#include "tutti/graph/load.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

#include "src/graph/read/bytes.hpp"
#include "src/graph/read/readers.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

constexpr std::array<std::string_view, 6> format_names = {"auto", "el",  "wel",
                                                          "mtx",  "gap", "metis"};

std::string located(const std::string& file, std::uint64_t line, const std::string& what) {
  return file + ":" + (line != 0 ? std::to_string(line) + ":" : "") + " " + what;
}

std::string_view ending(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  const std::size_t dot = name.find_last_of("./");
  return dot == name.npos || name[dot] == '/' ? std::string_view() : name.substr(dot + 1);
}

csr read(const input& in) {
  const std::string_view end = ending(in.name);
  switch (in.options.format) {
    case file_format::edge_list: return read_edge_list(in, 2);
    case file_format::weighted_edge_list: return read_edge_list(in, 3);
    case file_format::matrix_market: return read_matrix_market(in);
    case file_format::gap: return read_gap(in, end == "wsg");
    case file_format::metis: return read_metis(in);
    case file_format::automatic: break;
  }
  if (in.bytes.starts_with("%%MatrixMarket") || end == "mtx") return read_matrix_market(in);
  if (end == "sg" || end == "wsg") return read_gap(in, end == "wsg");
  if (end == "graph" || end == "metis") return read_metis(in);
  if (end == "el") return read_edge_list(in, 2);
  if (end == "wel") return read_edge_list(in, 3);
  if (in.bytes.substr(0, 4096).find('\0') != in.bytes.npos)
    throw file_error(in.name, 0, "is not text, and its name does not end in .sg or .wsg");
  return read_edge_list(in, 0);
}

}  // namespace

file_error::file_error(const std::string& file, std::uint64_t line, const std::string& what)
    : std::runtime_error(located(file, line, what)), file_(file), line_(line) {}

file_format format_named(std::string_view name) {
  const auto found = std::find(format_names.begin(), format_names.end(), name);
  if (found != format_names.end()) return static_cast<file_format>(found - format_names.begin());
  std::string known;
  for (const std::string_view each : format_names) (known += known.empty() ? "" : ", ") += each;
  refuse("unknown graph format '" + std::string(name) + "' (known: " + known + ")");
}

std::string_view name_of(file_format format) {
  return format_names.at(static_cast<std::size_t>(format));
}

void check_vertices(const input& in, std::uint64_t line, std::uint64_t vertices) {
  const std::uint64_t most = std::min(in.options.vertices_at_most, most_vertices);
  if (vertices <= most) return;
  const bool huge = vertices == ~std::uint64_t{0};
  throw file_error(in.name, line,
                   (huge ? "a number beyond 2^64" : std::to_string(vertices)) +
                       std::string(" vertices are more than the limit of ") + std::to_string(most));
}

std::uint64_t lines_in(std::string_view bytes) noexcept {
  const auto ends = static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  return bytes.empty() || bytes.back() == '\n' ? ends : ends + 1;
}

file_error too_large(std::string_view bytes, const std::string& name) {
  return file_error(name, 0,
                    "is a file of " + std::to_string(bytes.size()) +
                        " bytes whose graph does not fit into memory");
}

csr load_from(std::string_view bytes, const std::string& name, const load_options& options) {
  if (bytes.empty()) throw file_error(name, 0, "is empty");
  try {
    if (!is_compressed(bytes)) return read({bytes, name, options});
    const std::string plain = unpacked(bytes, name, options.bytes_at_most);
    if (plain.empty()) throw file_error(name, 0, "is empty");
    return read({plain, name, options});
  } catch (const std::bad_alloc&) {
    throw too_large(bytes, name);
  } catch (const std::length_error&) {
    throw too_large(bytes, name);
  }
}

csr load(const std::string& path, const load_options& options) {
  const file_bytes file(path, options.bytes_at_most);
  return load_from(file.view(), path, options);
}

}  // namespace tutti::graph
