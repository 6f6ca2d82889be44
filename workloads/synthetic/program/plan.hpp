// SPDX-License-Identifier: Apache-2.0
// What a run of tutti-synthetic measures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/sweeps.hpp"

namespace tutti::synthetic {

// The options as they were given; an empty one was not given.
struct request {
  std::string regions;
  std::string length = "0";
  std::string sets = "none";
  std::string access = "stream,random";
  std::string lines = "1024";
  std::string threads;
  std::string barriers = "default,flags,flags_padded,recursive,recursive_padded,atomic,mutex";
  std::string waits = "adaptive";
  std::string peers = "all";
  std::string pin = "core";
  std::string seconds = "15";
  std::string seed = "1";
};

// What every rank does in a region beside the vectors.
struct situation {
  // "free", or the access and the set: stream_l2, random_64M.
  std::string name = "free";
  // A word of --set; none: there is no walk.
  std::string set = "none";
  bool at_random = false;
};

struct plan {
  // The number of regions whose time is reported.
  std::uint64_t regions = 0;
  std::size_t length = 0;
  std::vector<situation> situations;
  // The lines of a walk.
  std::uint64_t lines = 0;
  std::vector<rank_t> threads;
  std::vector<bench::contender> contenders;
  bench::placement where;
  bench::run_length run;
};

// Throws std::invalid_argument for options that are not valid or leave nothing to measure.
plan make_plan(const request& r);

// The peers with this benchmark's programs, and those that it cannot run.
bench::peer_list peers();

}  // namespace tutti::synthetic
