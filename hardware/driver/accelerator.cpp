// SPDX-License-Identifier: Apache-2.0
#include "hardware/driver/accelerator.hpp"

namespace tutti::hardware {

accelerator::accelerator(std::shared_ptr<device> platform, accelerator_id wanted)
    : platform_(std::move(platform)),
      header_(find_accelerator(*platform_, wanted)),
      at_(header_ + registers_behind_header) {
  require_window(*platform_, header_ + accelerator_window_bytes);
}

}  // namespace tutti::hardware
