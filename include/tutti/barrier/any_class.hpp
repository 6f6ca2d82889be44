// SPDX-License-Identifier: Apache-2.0
// The interface of a barrier whose algorithm is chosen at run time; any.hpp makes them by name.
// No function of it stands in the compiled library, so that each source that needs the type at run
// time has it: a sanitizer asks for it wherever a barrier might have a name.
// Hosted only: it needs exceptions.
#pragma once

#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/hosted.hpp"
#include "tutti/platform/interface_base.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// The interface of all barriers. One thread at a time may use a rank; different ranks call at the
// same time.
class TUTTI_API any_barrier : public interface_base {
 public:
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
  virtual void arrive_and_wait_without_rank() { refuse_without_rank(); }
  // Does the same, but gives up at the deadline and returns false. The arrival still counts, and
  // the thread must not arrive again in this episode. `missing` then becomes the number of arrivals
  // that the episode lacked, which is 0 if it ended at that moment.
  virtual bool arrive_and_wait_without_rank(deadline /*until*/, rank_t& /*missing*/) {
    refuse_without_rank();
  }

  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  virtual bool set_patience(patience /*p*/) noexcept { return false; }

 private:
  [[noreturn]] static void refuse_without_rank() {
    refuse("this algorithm needs the same participants in every episode: arrive with a rank");
  }
};

}  // namespace tutti
