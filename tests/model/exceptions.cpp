// SPDX-License-Identifier: Apache-2.0
// Weakened orders that no check can catch, and why. One that is caught after all makes the test fail.
#include "subjects.hpp"

namespace tutti::model {

const std::vector<exception>& exceptions() {
  // As atomic.arrive, whose weakening is caught with three participants and not with two either: with one sleeper and one
  // notifier no execution of the model lets the sleeper's last look miss the update. C++ allows it, so the order stays.
  constexpr std::string_view only_two =
      "one sleeper and one notifier: the model shows the missed wake-up with three participants "
      "only (atomic.arrive)";
  // The update of the release word must stand before the notifier's look for sleepers in the one order
  // (sleepers::wake_after_update). A look that goes ahead of it, as ARM's may ahead of an acq_rel update, and a waiter that
  // announces itself in between give a sleeper whom nobody wakes. Found with atomic.arrive, whose waiter looks at one word.
  constexpr std::string_view woken =
      "the waiter looks at several words between its announcement and its sleep: no execution "
      "tried has it miss all of them. C++ allows it";
  // Who rings after a plain store has passed a fence, which publishes the store by the ring as well. Who rings after an
  // update has not (call_all): a waiter that saw the ring and not yet the update would sleep again, with nobody left to ring.
  constexpr std::string_view rung =
      "after a store the notifier's fence publishes what the ring is for; after an update no "
      "execution tried has the woken waiter miss it. C++ allows that";
  static const std::vector<exception> list = {{"pair.second", "acq_rel", only_two},
                                              {"pair.second", "release", only_two},
                                              {"idle.release", "acq_rel", woken},
                                              {"idle.release", "release", woken},
                                              {"bell.ring", "relaxed", rung}};
  return list;
}

}  // namespace tutti::model
