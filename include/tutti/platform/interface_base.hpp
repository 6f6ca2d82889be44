// SPDX-License-Identifier: Apache-2.0
// The base of interfaces: classes that are used by reference, so that nobody copies their objects.
#pragma once

#include "tutti/export.h"

namespace tutti {

class TUTTI_API interface_base {
 public:
  virtual ~interface_base() = default;
  interface_base(const interface_base&) = delete;
  interface_base& operator=(const interface_base&) = delete;

 protected:
  interface_base() = default;
};

}  // namespace tutti
