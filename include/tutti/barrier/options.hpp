// SPDX-License-Identifier: Apache-2.0
// The options of tutti::barrier.
// Hosted only: it needs the compiled library for a named algorithm.
#pragma once

#include <string_view>

#include "tutti/barrier/auto_rank.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/schedule/choose.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

struct barrier_options {
  // The name of an algorithm of the registry ("dissemination", "mcs", ...) or of a provider
  // (provider.hpp). If it is empty, tutti chooses. A barrier with a named algorithm supports
  // neither arrive without wait, nor drops, nor a completion function. The name is the only part of
  // barrier.hpp that needs the compiled library.
  algorithm_name algorithm = {};
  // The wait policy of a named algorithm.
  std::string_view wait = "adaptive";
  // The largest number of participants that use one counter instead of a tree of counters. With
  // fewer than 8 CPUs more participants than CPUs use one counter too (schedule/choose.hpp).
  rank_t few = choose::few_on_one_counter;
  // The number of participants, or of counters, that share a counter of the tree.
  rank_t fan = choose::fan_of_counters;
  // How long a wait keeps the processor before it sleeps (wait/patience.hpp).
  tutti::patience patience = {};
};

}  // namespace tutti
