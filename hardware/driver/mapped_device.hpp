// SPDX-License-Identifier: Apache-2.0
// A real unit behind a file that can be mapped: /dev/uio0, or the BAR of a PCI device
// (/sys/bus/pci/.../resource0).
#pragma once

#include <memory>
#include <string>

#include "hardware/driver/device.hpp"
#include "hardware/driver/mapped_memory.hpp"

namespace tutti::hardware {

class mapped_device final : public device {
 public:
  // Maps `bytes` of the file from `offset`: window_bytes (registers.hpp) for a counting or mask
  // unit, hbs::window_bytes for a structure. Throws std::runtime_error, naming the file, if the
  // file does not exist, cannot be opened, is too short, or cannot be mapped.
  mapped_device(std::string path, std::size_t bytes, std::size_t offset = 0);

  // Memory that the unit may use from now on; give it before a barrier is made.
  void share(std::shared_ptr<mapped_memory> memory) { memory_ = std::move(memory); }

  std::uint64_t read(std::uint64_t offset) override;
  void write(std::uint64_t offset, std::uint64_t value) override;
  const std::string& name() const noexcept override { return path_; }
  std::uint64_t window() const noexcept override { return file_.bytes(); }
  shared_memory memory() noexcept override { return memory_ ? memory_->memory() : shared_memory{}; }

 private:
  std::string path_;
  mapping file_;
  volatile std::uint64_t* registers_;
  std::shared_ptr<mapped_memory> memory_;
};

}  // namespace tutti::hardware
