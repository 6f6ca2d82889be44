// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/settings.hpp"

#include <cstdlib>
#include <functional>
#include <string_view>

#include "src/mpi/neighbours.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti::preload {
namespace {

settings read() {
  settings all;
  const auto text = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  const std::string_view verbose = text("TUTTI_MPI_VERBOSE");
  if (verbose == "1")
    all.is_verbose = true;
  else if (!verbose.empty() && verbose != "0")
    all.complaints.push_back("TUTTI_MPI_VERBOSE is '" + std::string(verbose) +
                             "'; it must be 0 or 1");
  // `tutti run --verbose` sets this for all libraries that it preloads.
  if (!text("TUTTI_VERBOSE").empty()) all.is_verbose = true;
  const std::string_view deadline = text("TUTTI_MPI_DEADLINE");
  if (!deadline.empty()) {
    // A time is written as a patience is.
    patience said;
    if (patience::parse(deadline.data(), deadline.size(), said) && !said.is_active() &&
        !said.is_balanced() && !said.is_passive())
      all.deadline_ns = said.ns();
    else
      all.complaints.push_back("TUTTI_MPI_DEADLINE is '" + std::string(deadline) +
                               "'; it must be a time with its unit, such as 500ms or 10s");
  }
  const std::string_view node = text("TUTTI_MPI_NODE");
  all.node = mpi::this_node();
  if (!node.empty()) all.node ^= std::hash<std::string_view>{}(node);
  all.network = text("TUTTI_MPI_NETWORK");
  return all;
}

}  // namespace

const settings& settings::get() {
  static const settings said = read();
  return said;
}

}  // namespace tutti::preload
