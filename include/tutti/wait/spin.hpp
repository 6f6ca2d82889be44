// SPDX-License-Identifier: Apache-2.0
// Waits by polling. This policy has the lowest latency if every participant has a core of its own.
// If two participants share a core it is the worst by three orders of magnitude, because the waiter
// keeps the other from running until its time slice ends.
//
// A wait policy is a class template over the platform with these members:
//   Wait(n)                  the policy of one barrier, which n participants share
//   Wait::wait_state         what one participant remembers from wait to wait
//   until(wait_state, word, order, ready, deadline)
//                            returns true once ready(word.load(order)) is true, or false once the
//                            deadline has passed
//   notify(word)             must follow a plain store that may end a wait
//   notify_ordered(word)     must follow a seq_cst read-modify-write of the word that may end a
//                            wait; it needs no fence of its own
//   set_patience(patience)   optional: changes the patience of later waits
#pragma once

#include "tutti/wait/polling.hpp"

namespace tutti {

template <class Memory = native>
using spin_wait = polling_wait<Memory, calling_between_polls<&Memory::relax>>;

}  // namespace tutti
