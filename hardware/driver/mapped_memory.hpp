// SPDX-License-Identifier: Apache-2.0
// Memory of this program that a real unit accesses too, and the lines by which a platform sends
// messages (UMsg) to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "hardware/driver/device.hpp"

namespace tutti::hardware {

// A file that is mapped for reading and writing while this lives.
class mapping {
 public:
  // Throws std::runtime_error, naming the file, if the file does not exist, cannot be opened, is
  // too short for what `needs` it, or cannot be mapped. `flags` are added to those of open().
  mapping(const std::string& path, std::size_t bytes, std::size_t offset, const std::string& needs,
          int flags = 0);
  ~mapping();
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  void* start() const noexcept { return start_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* start_;
  std::size_t bytes_;
};

// A buffer in main memory whose address on the bus is known: /dev/udmabuf0, a file in hugetlbfs, or
// what the platform's driver gives.
class mapped_memory {
 public:
  // Throws as `mapping` does, and std::invalid_argument if an address is no multiple of 64.
  mapped_memory(const std::string& path, std::size_t bytes, std::uint64_t bus_address);
  shared_memory memory() const noexcept { return {words_, file_.bytes(), bus_address_}; }

 private:
  mapping file_;
  std::uint64_t bus_address_;
  std::atomic<std::uint64_t>* words_;
};

// Returns the number in a file such as /sys/class/u-dma-buf/udmabuf0/phys_addr. Throws
// std::runtime_error, naming the file.
std::uint64_t bus_address_in(const std::string& path);

// The address space of messages. Each of the eight has a page and, in it, a line of its own; the
// platform sees a write to that line and tells the unit.
class mapped_messages {
 public:
  static constexpr unsigned addresses = 8;
  static constexpr std::size_t offset_of(unsigned address) noexcept {
    return address * std::size_t{0x1040};
  }
  static constexpr std::size_t bytes = addresses * std::size_t{0x1000};

  // Throws as `mapping` does.
  explicit mapped_messages(const std::string& path);
  // Sends a message. A thread's sends to one address must not run at the same time as another's.
  void send(unsigned address) noexcept;

 private:
  mapping file_;
};

}  // namespace tutti::hardware
