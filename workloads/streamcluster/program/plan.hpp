// SPDX-License-Identifier: Apache-2.0
// What one call of tutti-streamcluster runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/streamcluster/streamcluster.hpp"

namespace tutti::streamcluster {

// A barrier, how its participants wait, and a number of threads.
struct setting {
  // tutti, pthread or std.
  std::string provider;
  // A name of tutti's registry, or the provider's name.
  std::string barrier;
  // Empty for a third-party barrier.
  std::string wait;
  rank_t threads = 0;
  rank_t ranks = 0;
  collectives_kind kind = collectives_kind::team;
};

struct plan {
  // A name of named_inputs(), or a file.
  std::string input;
  bool is_file = false;
  file_format format = file_format::automatic;
  // The points of a generated input.
  std::uint64_t points = 0;
  std::size_t dimensions = 0;
  options how;
  std::uint64_t seed = 1;
  std::uint64_t repeat = 1;
  std::vector<setting> settings;

  std::unique_ptr<source> open() const;
};

// The texts of the options.
struct request {
  std::string input = "simlarge", format = "auto", threads, ranks, barriers = "default",
              wait = "adaptive", seed = "1", repeat = "1", points, dimensions, k_min, k_max, chunk,
              limit;
};

// Throws std::invalid_argument with one sentence that names the option.
plan make_plan(const request& r);

}  // namespace tutti::streamcluster
