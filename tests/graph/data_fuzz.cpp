// SPDX-License-Identifier: Apache-2.0
// The libFuzzer program for one format at a time. -help=1 lists libFuzzer's own options:
//   graph_data_fuzz --format=mtx NEW_INPUTS tests/graph/data/corpus/mtx
// FORMAT is one of format_named(), or spec for the specifications of generators.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/graph/data_fuzz_one.hpp"

namespace {

bool is_specification = false;
tutti::graph::file_format format = tutti::graph::file_format::automatic;

// Returns the largest number that the text gives for the key, or `otherwise` if it gives none.
double number_of(const std::string& text, std::string_view key, double otherwise) {
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
bool is_small(const std::string& text) {
  constexpr double most = 512;
  const double scale = number_of(text, "scale", 0), depth = number_of(text, "depth", 1);
  const double box = number_of(text, "width", 1) * number_of(text, "height", 1) * depth;
  return number_of(text, "vertices", 0) <= most && number_of(text, "degree", 0) <= most &&
         std::exp2(scale) <= most && box <= most &&
         std::pow(std::max(2.0, number_of(text, "fanout", 0)), depth) <= most * most;
}

// A specification of a generator either throws std::invalid_argument or is understood.
void try_specification(const std::string& text) {
  if (!is_small(text)) return;
  try {
    validate(tutti::graph::generate(text));
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view flag = "--format=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (!argument.starts_with(flag)) continue;
    const std::string_view name = argument.substr(flag.size());
    is_specification = name == "spec";
    if (!is_specification) format = tutti::graph::format_named(name);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  is_specification ? try_specification(std::string(bytes))
                   : tutti::graph::test::try_load(bytes, format);
  return 0;
}
