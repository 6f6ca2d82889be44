// SPDX-License-Identifier: Apache-2.0
// A termination detector that a test adds: the counter under another name.
#pragma once

#include "tutti/termination/counter.hpp"

namespace tutti {

template <class Memory = native>
class roll_call_detector : public counter_detector<Memory> {
 public:
  using counter_detector<Memory>::counter_detector;
};

}  // namespace tutti
