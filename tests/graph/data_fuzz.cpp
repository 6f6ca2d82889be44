// SPDX-License-Identifier: Apache-2.0
// The libFuzzer program for one format at a time. -help=1 lists libFuzzer's own options:
//   graph_data_fuzz --format=mtx NEW_INPUTS tests/graph/data/corpus/mtx
// FORMAT is one of format_named(), or spec for the specifications of generators.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/graph/data_fuzz_one.hpp"

namespace {

bool is_specification = false;
tutti::graph::file_format format = tutti::graph::file_format::automatic;

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
  is_specification ? tutti::graph::test::try_specification(bytes)
                   : tutti::graph::test::try_load(bytes, format);
  return 0;
}
