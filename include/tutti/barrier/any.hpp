// SPDX-License-Identifier: Apache-2.0
// A barrier whose algorithm and wait policy are chosen by name at run time.
// Hosted only: it needs exceptions and the compiled library.
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

// The interface of all barriers. One thread at a time may use a rank; different ranks call at the
// same time.
class TUTTI_API any_barrier {
 public:
  any_barrier() = default;
  virtual ~any_barrier() = default;
  any_barrier(const any_barrier&) = delete;
  any_barrier& operator=(const any_barrier&) = delete;

  // Arrives as `rank`, 0 .. participants()-1, and returns when all have arrived. The rank is not
  // checked.
  virtual void arrive_and_wait(rank_t rank) = 0;
  // Does the same, but gives up at the deadline and returns false. The arrival still counts; this
  // rank must not use the barrier again.
  virtual bool arrive_and_wait(rank_t rank, deadline until) = 0;
  // Runs `count` episodes in a row as `rank` in one virtual call.
  virtual void episodes(rank_t rank, std::uint64_t count) = 0;
  virtual rank_t participants() const noexcept = 0;

  // Tells whether threads may arrive without a rank, so that any n arrivals complete an episode.
  virtual bool is_anonymous() const noexcept { return false; }
  // Arrives without a rank and waits. Throws std::invalid_argument unless is_anonymous().
  virtual void arrive_and_wait_without_rank();
  // Does the same, but gives up at the deadline and returns false. The arrival still counts, and
  // the thread must not arrive again in this episode. `missing` then becomes the number of arrivals
  // that the episode lacked, which is 0 if it ended at that moment.
  virtual bool arrive_and_wait_without_rank(deadline until, rank_t& missing);

  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  virtual bool set_patience(patience /*p*/) noexcept { return false; }
};

// Makes a barrier. `algorithm` and `wait` are names of the registry (registry.hpp), or `algorithm`
// is the name of a provider. Throws std::invalid_argument, with one sentence that names the value,
// for an unknown name, for a wait policy that this machine does not support, for 0 participants,
// for a wait policy together with a provider, and for a patience with a wait policy that has none.
// Thread-safe.
TUTTI_API std::unique_ptr<any_barrier> make_barrier(std::string_view algorithm, rank_t participants,
                                                    std::string_view wait = "adaptive",
                                                    patience p = {});

// Makes barriers that the registry does not have: in a device, a simulator or another runtime.
using barrier_provider = std::function<std::unique_ptr<any_barrier>(rank_t participants)>;

// Adds a provider: make_barrier(name, ...) and tutti::barrier with options call it from now on. The
// C interface and teams accept only the names of the registry. The provider decides how to wait.
// Throws std::invalid_argument if the name is empty or belongs to the registry or another provider.
// Thread-safe.
TUTTI_API void add_barrier_provider(std::string_view name, barrier_provider provider);
// Removes a provider, or does nothing if there is none with this name. Its barriers remain valid.
// Thread-safe.
TUTTI_API void remove_barrier_provider(std::string_view name) noexcept;

}  // namespace tutti
