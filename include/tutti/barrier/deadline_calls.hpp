// SPDX-License-Identifier: Apache-2.0
// The calls of tutti::barrier that have a deadline. If it passes, the arrival still counts: wait
// again with wait_for or wait_until, not by another arrival. A named algorithm cannot resume a
// wait: its barrier must not be used again.
// Hosted only: std::chrono is part of the interface.
#pragma once

#include <chrono>
#include <cstdint>

#include "tutti/barrier/timed.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

// The base of `Barrier`, which has arrive_and_wait_by(deadline, where), the same with a rank before
// the deadline, and wait_by(name of the call, phase, deadline, where).
template <class Barrier, class Memory>
class deadline_calls {
  using site = call_site;

 public:
  // Arrive, and wait until the phase has ended or the deadline has passed. If the timeout is not
  // positive, or the instant is past, they arrive all the same and do not wait: the result is in
  // time only if the phase has ended by then. Those with a rank may throw std::bad_alloc before
  // they arrive, as barrier.hpp says.
  template <class Rep, class Period>
  [[nodiscard]] timed_result arrive_and_wait_for(std::chrono::duration<Rep, Period> timeout,
                                                 site where = site::here()) {
    return self().arrive_and_wait_by(deadline_after<Memory>(timeout), where);
  }
  template <class Rep, class Period>
  [[nodiscard]] timed_result arrive_and_wait_for(rank_t rank,
                                                 std::chrono::duration<Rep, Period> timeout,
                                                 site where = site::here()) {
    return self().arrive_and_wait_by(rank, deadline_after<Memory>(timeout), where);
  }
  template <class Clock, class Duration>
  [[nodiscard]] timed_result arrive_and_wait_until(std::chrono::time_point<Clock, Duration> when,
                                                   site where = site::here()) {
    return self().arrive_and_wait_by(deadline_at<Memory>(when), where);
  }
  template <class Clock, class Duration>
  [[nodiscard]] timed_result arrive_and_wait_until(rank_t rank,
                                                   std::chrono::time_point<Clock, Duration> when,
                                                   site where = site::here()) {
    return self().arrive_and_wait_by(rank, deadline_at<Memory>(when), where);
  }

  // Wait for the end of `phase`, which a token or a late result supplies. Throw
  // std::invalid_argument if the barrier has a named algorithm.
  template <class Rep, class Period>
  [[nodiscard]] timed_result wait_for(std::uint64_t phase,
                                      std::chrono::duration<Rep, Period> timeout,
                                      site where = site::here()) const {
    return self().wait_by("wait_for", phase, deadline_after<Memory>(timeout), where);
  }
  template <class Clock, class Duration>
  [[nodiscard]] timed_result wait_until(std::uint64_t phase,
                                        std::chrono::time_point<Clock, Duration> when,
                                        site where = site::here()) const {
    return self().wait_by("wait_until", phase, deadline_at<Memory>(when), where);
  }

 private:
  friend Barrier;
  constexpr deadline_calls() noexcept = default;

  Barrier& self() noexcept { return static_cast<Barrier&>(*this); }
  const Barrier& self() const noexcept { return static_cast<const Barrier&>(*this); }
};

}  // namespace tutti
