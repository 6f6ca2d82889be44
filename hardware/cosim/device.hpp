// SPDX-License-Identifier: Apache-2.0
// What a driver sees of a unit: a window of 64-bit registers and, if there is one, memory that the unit reaches too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace tutti::hardware {

// Memory that both sides reach. Words are 8 bytes.
struct shared_memory {
  std::atomic<std::uint64_t>* words = nullptr;
  std::size_t bytes = 0;
  std::uint64_t bus_address = 0;  // of words[0], as the unit sees it
};

class device {
 public:
  device() = default;
  virtual ~device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  // Safe from any thread. Offsets are in bytes, multiples of 8. Requests of one thread are taken in order.
  virtual std::uint64_t read(std::uint64_t offset) = 0;
  virtual void write(std::uint64_t offset, std::uint64_t value) = 0;
  // For messages of errors.
  virtual const std::string& name() const noexcept = 0;
  // Of the window that can be reached: offsets lie below.
  virtual std::uint64_t window() const noexcept = 0;
  // No words: the unit reaches no memory.
  virtual shared_memory memory() noexcept { return {}; }
};

// Throws std::runtime_error.
[[noreturn]] inline void fail(const std::string& device, const std::string& what) {
  throw std::runtime_error("tutti: hardware device '" + device + "': " + what);
}

// Throws std::runtime_error if the window is shorter than the unit's.
inline void require_window(const device& unit, std::uint64_t bytes) {
  if (unit.window() >= bytes) return;
  fail(unit.name(), std::to_string(unit.window()) + " bytes are mapped, the registers need " +
                        std::to_string(bytes));
}

}  // namespace tutti::hardware
