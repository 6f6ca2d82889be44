// SPDX-License-Identifier: Apache-2.0
// Finds the programs of peers.
#include "bench/harness/peer_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

namespace tutti::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "tutti-peer-";

}  // namespace

std::string find_peer_program(std::string_view runtime) {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  const std::string file = fmt::format("{}{}", prefix, runtime);
  const fs::path below = "libexec/tutti";
  // The program's own build comes first: a build of another preset lies in a folder of the release
  // build, whose peers are where an installation's would be.
  std::vector<fs::path> places{folder, folder / below,
                               folder.parent_path() / TUTTI_WORKER_INSTALL_DIR};
  // In a build tree the tests lie some folders deeper than the programs.
  fs::path above = folder.parent_path();
  for (int up = 1; up < 4; ++up, above = above.parent_path()) places.push_back(above / below);
  for (const fs::path& place : places) {
    if (access((place / file).c_str(), R_OK) == 0) return place / file;
  }
  return {};
}

std::string missing_peer_program(std::string_view runtime) {
  return fmt::format(
      "the program {}{} is not installed: its runtime was not there when tutti was built", prefix,
      runtime);
}

environment openmp_settings(environment settings) {
  settings.emplace_back("OMP_PROC_BIND", "false");  // the harness places the threads
  settings.emplace_back("OMP_DYNAMIC", "false");
  return settings;
}

}  // namespace tutti::bench
