// SPDX-License-Identifier: Apache-2.0
#include "hardware/driver/mapped_device.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tutti/platform/native.hpp"

namespace tutti::hardware {

mapped_device::mapped_device(std::string path, std::size_t bytes, std::size_t offset)
    : path_(std::move(path)), bytes_(bytes) {
  const int file = ::open(path_.c_str(), O_RDWR | O_SYNC | O_CLOEXEC);
  if (file < 0) fail(path_, std::string("cannot be opened: ") + std::strerror(errno));
  struct stat about {};
  // Character devices have no size; the file of a BAR has the BAR's size.
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
      static_cast<std::size_t>(about.st_size) < offset + bytes) {
    ::close(file);
    fail(path_, "has " + std::to_string(about.st_size) + " bytes, the registers need " +
                    std::to_string(offset + bytes));
  }
  void* at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  const int why = errno;
  ::close(file);
  if (at == MAP_FAILED) fail(path_, std::string("cannot be mapped: ") + std::strerror(why));
  registers_ = static_cast<volatile std::uint64_t*>(at);
}

mapped_device::~mapped_device() { ::munmap(const_cast<std::uint64_t*>(registers_), bytes_); }

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
