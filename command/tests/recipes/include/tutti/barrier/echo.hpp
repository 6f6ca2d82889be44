// SPDX-License-Identifier: Apache-2.0
// A barrier algorithm that a test adds: the central barrier under another name.
#pragma once

#include "tutti/barrier/central.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class echo_barrier : public central_barrier<Memory, Wait> {
 public:
  using central_barrier<Memory, Wait>::central_barrier;
};

}  // namespace tutti
