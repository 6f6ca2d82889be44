// SPDX-License-Identifier: Apache-2.0
// The driver's view of a unit: a window of 64-bit registers and optional memory that the unit can
// access too. The words of that memory are std::atomic but in a simulated machine
// (sim/accelerator.hpp), which has words of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "tutti/platform/interface_base.hpp"

namespace tutti::hardware {

// Memory that both the program and the unit access, in words of 8 bytes.
template <class Word>
struct basic_shared_memory {
  Word* words = nullptr;
  std::size_t bytes = 0;
  // The address of words[0] as the unit sees it.
  std::uint64_t bus_address = 0;
};
using shared_memory = basic_shared_memory<std::atomic<std::uint64_t>>;

template <class Word>
class basic_device : public interface_base {
 public:
  // Any thread may call these. Offsets are in bytes, multiples of 8. The unit takes the requests of
  // one thread in order.
  virtual std::uint64_t read(std::uint64_t offset) = 0;
  virtual void write(std::uint64_t offset, std::uint64_t value) = 0;
  // The name that error messages give.
  virtual const std::string& name() const noexcept = 0;
  // The size of the window in bytes; offsets must lie below it.
  virtual std::uint64_t window() const noexcept = 0;
  // Returns no words if the unit accesses no memory.
  virtual basic_shared_memory<Word> memory() noexcept { return {}; }
  // How many addresses take messages; 0 if the platform sends none.
  virtual unsigned message_addresses() const noexcept { return 0; }
  // Sends a message to the unit; the address lies below message_addresses(). Only one thread sends
  // to an address at a time.
  virtual void send(unsigned) {}
};
using device = basic_device<std::atomic<std::uint64_t>>;

// Throws std::runtime_error.
[[noreturn]] inline void fail(const std::string& name, const std::string& what) {
  throw std::runtime_error("tutti: hardware device '" + name + "': " + what);
}

// Throws std::runtime_error if the window is shorter than the unit's.
template <class Word>
void require_window(const basic_device<Word>& unit, std::uint64_t bytes) {
  if (unit.window() >= bytes) return;
  fail(unit.name(), std::to_string(unit.window()) + " bytes are mapped, the registers need " +
                        std::to_string(bytes));
}

}  // namespace tutti::hardware
