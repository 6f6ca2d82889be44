// SPDX-License-Identifier: Apache-2.0
// A barrier whose algorithm and wait policy are chosen by name at run time. Needs the compiled library.
// Hosted only: exceptions and a compiled library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

class TUTTI_API any_barrier {
 public:
  any_barrier() = default;
  virtual ~any_barrier() = default;
  any_barrier(const any_barrier&) = delete;
  any_barrier& operator=(const any_barrier&) = delete;

  // Arrives as `rank`, 0 .. participants()-1, and returns when all have arrived. Not checked.
  virtual void arrive_and_wait(rank_t rank) = 0;
  // The same, but gives up at the deadline and returns false. The arrival stands; this rank must not use the
  // barrier again.
  virtual bool arrive_and_wait(rank_t rank, deadline until) = 0;
  // `count` episodes in a row as `rank`: one virtual call for all of them.
  virtual void episodes(rank_t rank, std::uint64_t count) = 0;
  virtual rank_t participants() const noexcept = 0;

  // Whether any thread may arrive, without a rank: any n arrivals make an episode.
  virtual bool is_anonymous() const noexcept { return false; }
  // Arrives as a thread without a rank and waits. Throws std::invalid_argument unless is_anonymous().
  virtual void arrive_and_wait_without_rank();
  // The same, but gives up at the deadline and returns false; the arrival stands, and the thread must not arrive again
  // in this episode. `missing` is then how many arrivals the episode lacked: 0 if it ended at that moment.
  virtual bool arrive_and_wait_without_rank(deadline until, rank_t& missing);

  // From the next wait on; at any time, by any thread. False: it waits by a policy that has no patience.
  virtual bool set_patience(patience /*p*/) noexcept { return false; }
};

// `algorithm` and `wait` are names of the registry (registry.hpp), or `algorithm` is a provider's. Throws
// std::invalid_argument with one sentence that names the value for an unknown name, for a wait policy that this machine
// lacks, for 0 participants, for a provider that is told how to wait, and for patience with a policy that has none.
TUTTI_API std::unique_ptr<any_barrier> make_barrier(std::string_view algorithm, rank_t participants,
                                                    std::string_view wait = "adaptive",
                                                    patience p = {});

// Makes barriers that the registry does not have: in a device, in a simulator, in another runtime.
using barrier_provider = std::function<std::unique_ptr<any_barrier>(rank_t participants)>;

// From now on make_barrier(name, ...) calls `provider`, and so does tutti::barrier with options; C and teams know the names
// of the registry only. How to wait is the provider's own affair. Throws std::invalid_argument if the name is empty, the
// registry's, or another provider's.
TUTTI_API void add_barrier_provider(std::string_view name, barrier_provider provider);
// No barriers are made under this name any more; those that there are go on. Nothing happens if there is no such provider.
TUTTI_API void remove_barrier_provider(std::string_view name) noexcept;

}  // namespace tutti
