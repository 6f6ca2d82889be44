// SPDX-License-Identifier: Apache-2.0
// Chooses the format of a file and calls its reader.
#include "tutti/graph/load.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <stdexcept>
#include <utility>

#include "src/graph/read/bytes.hpp"
#include "src/graph/read/readers.hpp"
#include "src/graph/share/collect.hpp"
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

enum class reader { edge_list, matrix_market, gap, metis };

struct choice {
  reader by;
  // For edge lists: 2, 3 with weights, 0 for as many as the first line has.
  unsigned columns = 0;
  // For GAP's files without edges.
  bool weighted = false;
};

choice chosen_reader(const input& in) {
  const std::string_view end = ending(in.name);
  switch (in.options.format) {
    case file_format::edge_list: return {reader::edge_list, 2};
    case file_format::weighted_edge_list: return {reader::edge_list, 3};
    case file_format::matrix_market: return {reader::matrix_market};
    case file_format::gap: return {reader::gap, 0, end == "wsg"};
    case file_format::metis: return {reader::metis};
    case file_format::automatic: break;
  }
  if (in.bytes.starts_with("%%MatrixMarket") || end == "mtx") return {reader::matrix_market};
  if (end == "sg" || end == "wsg") return {reader::gap, 0, end == "wsg"};
  if (end == "graph" || end == "metis") return {reader::metis};
  if (end == "el") return {reader::edge_list, 2};
  if (end == "wel") return {reader::edge_list, 3};
  if (in.bytes.substr(0, 4096).find('\0') != in.bytes.npos)
    throw file_error(in.name, 0, "is not text, and its name does not end in .sg or .wsg");
  return {reader::edge_list, 0};
}

listed_graph list_edges(const input& in, edge_sink& to) {
  const choice how = chosen_reader(in);
  switch (how.by) {
    case reader::matrix_market: return list_matrix_market(in, to);
    case reader::gap: return list_gap(in, how.weighted, to);
    case reader::metis: return list_metis(in, to);
    case reader::edge_list: break;
  }
  return list_edge_list(in, how.columns, to);
}

csr read(const input& in) {
  const choice how = chosen_reader(in);
  if (how.by == reader::gap) return read_gap(in, how.weighted);
  if (how.by == reader::metis) return read_metis(in);
  edge_list list;
  bool weighted = false;
  edge_sink all([&](std::span<const streamed_edge> edges) {
    for (const streamed_edge& e : edges) {
      list.sources.push_back(e.from);
      list.targets.push_back(e.to);
      if (weighted) list.weights.push_back(e.weight);
    }
  });
  all.on_announcement([&](bool with_weights, std::uint64_t most) {
    weighted = with_weights;
    list.sources.reserve(most);
    list.targets.reserve(most);
    if (weighted) list.weights.reserve(most);
  });
  list.vertices = list_edges(in, all).vertices;
  return from_edges(std::move(list), in.options.threads);
}

// `bytes`: those of the file, which may be compressed.
file_error too_large(std::size_t bytes, const input& in) {
  return file_error(
      in.name, 0,
      "is a file of " + std::to_string(bytes) + " bytes whose graph" +
          (in.vertices != 0 ? " of " + std::to_string(in.vertices) + " vertices" : "") +
          " does not fit into memory");
}

// Calls use(input) with the bytes of a file, unpacked if they are compressed.
template <class Use>
auto with_input(std::string_view bytes, const std::string& name, const load_options& options,
                const file_bytes* file, const Use& use) {
  if (bytes.empty()) throw file_error(name, 0, "is empty");
  input in{bytes, name, options, file};
  std::string plain;
  try {
    if (is_compressed(bytes)) {
      plain = unpacked(bytes, name, options.bytes_at_most);
      if (plain.empty()) throw file_error(name, 0, "is empty");
      in.bytes = plain;
      in.file = nullptr;
    }
    return use(std::as_const(in));
  } catch (const std::bad_alloc&) {
    throw too_large(bytes.size(), in);
  } catch (const std::length_error&) {
    throw too_large(bytes.size(), in);
  }
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
  if (vertices <= most) {
    in.vertices = std::max(in.vertices, vertices);
    return;
  }
  const bool huge = vertices == ~std::uint64_t{0};
  throw file_error(in.name, line,
                   (huge ? "a number beyond 2^64" : std::to_string(vertices)) +
                       std::string(" vertices are more than the limit of ") + std::to_string(most) +
                       (most == most_vertices
                            ? ""
                            : ", which vertices_at_most (tutti graph --vertices-at-most) sets"));
}

std::uint64_t lines_in(const input& in, std::string_view rest) {
  constexpr std::size_t window = std::size_t{1} << 22;
  std::uint64_t ends = 0;
  for (std::string_view left = rest; !left.empty();) {
    const std::string_view part = left.substr(0, window);
    ends += static_cast<std::uint64_t>(std::count(part.begin(), part.end(), '\n'));
    left.remove_prefix(part.size());
    in.forget_before(left.data());
  }
  return rest.empty() || rest.back() == '\n' ? ends : ends + 1;
}

csr load_from(std::string_view bytes, const std::string& name, const load_options& options) {
  return with_input(bytes, name, options, nullptr, [](const input& in) { return read(in); });
}

csr load(const std::string& path, const load_options& options) {
  const file_bytes file(path, options.bytes_at_most);
  return load_from(file.view(), path, options);
}

graph_share load_share(const std::string& path, const load_options& options,
                       const share_request& request) {
  const file_bytes file(path, options.bytes_at_most);
  return with_input(file.view(), path, options, &file, [&](const input& in) {
    const auto list = [&](edge_sink& to) { return list_edges(in, to); };
    return share_of_file(list, request);
  });
}

}  // namespace tutti::graph
