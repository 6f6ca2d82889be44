// SPDX-License-Identifier: Apache-2.0
// A reduction that a test adds: the exchange under another name.
#pragma once

#include "tutti/reduce/exchange.hpp"

namespace tutti {

template <class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class relay_reduction : public exchange_reduction<Slot, Memory, Wait> {
 public:
  using exchange_reduction<Slot, Memory, Wait>::exchange_reduction;
};

}  // namespace tutti
