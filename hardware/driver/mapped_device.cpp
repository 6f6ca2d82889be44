// SPDX-License-Identifier: Apache-2.0
#include "hardware/driver/mapped_device.hpp"

#include <fcntl.h>

#include "tutti/platform/native.hpp"

namespace tutti::hardware {

mapped_device::mapped_device(std::string path, std::size_t bytes, std::size_t offset)
    : path_(std::move(path)),
      file_(path_, bytes, offset, "registers", O_SYNC),
      registers_(static_cast<volatile std::uint64_t*>(file_.start())) {}

std::uint64_t mapped_device::read(std::uint64_t offset) {
  const std::uint64_t value = registers_[offset / 8];
  // seq_cst: reads after a departure was sensed must not move before it; uncached reads are ordered
  // on x86 but not on every processor.
  platform::fence(std::memory_order_seq_cst);
  return value;
}

void mapped_device::write(std::uint64_t offset, std::uint64_t value) {
  // seq_cst: all writes before an arrival are visible before the unit counts it.
  platform::fence(std::memory_order_seq_cst);
  registers_[offset / 8] = value;
}

}  // namespace tutti::hardware
