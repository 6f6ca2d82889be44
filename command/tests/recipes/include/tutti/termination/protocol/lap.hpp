// SPDX-License-Identifier: Apache-2.0
// A termination protocol that a test adds: the ring under another name.
#pragma once

#include "tutti/termination/protocol/ring.hpp"

namespace tutti::protocol {

template <class Policy>
class lap : public ring<Policy> {
 public:
  using ring<Policy>::ring;
};

}  // namespace tutti::protocol
