// SPDX-License-Identifier: Apache-2.0
// A wait policy that a test adds: it yields under another name.
#pragma once

#include "tutti/wait/yield.hpp"

namespace tutti {

template <class Memory = native>
class doze_wait : public yield_wait<Memory> {
 public:
  using yield_wait<Memory>::yield_wait;
};

}  // namespace tutti
