// SPDX-License-Identifier: Apache-2.0
// The counting unit as an accelerator of a platform with CCI-P, such as HARP: found by its identity
// in the list of device feature headers, with memory and messages if the program has them.
//
//  auto platform = std::make_shared<hardware::mapped_device>(path,
//                                                            hardware::accelerator_window_bytes);
//  auto unit = std::make_shared<hardware::accelerator>(platform);
//  unit->share(std::make_shared<hardware::mapped_memory>("/dev/udmabuf0", bytes, address));
//  hardware::provider harp("harp", hardware::harp_barriers(unit, {.departure = ...}));
#pragma once

#include <memory>

#include "hardware/driver/device.hpp"
#include "hardware/driver/feature_header.hpp"
#include "hardware/driver/mapped_memory.hpp"

namespace tutti::hardware {

class accelerator final : public device {
 public:
  // Throws as find_accelerator does, and std::runtime_error if the window ends before the
  // registers.
  explicit accelerator(std::shared_ptr<device> platform,
                       accelerator_id wanted = counting_accelerator);

  // What the unit may use from now on; give it before a barrier is made.
  void share(std::shared_ptr<mapped_memory> memory) { memory_ = std::move(memory); }
  void send_by(std::shared_ptr<mapped_messages> messages) { messages_ = std::move(messages); }

  std::uint64_t read(std::uint64_t offset) override { return platform_->read(at_ + offset); }
  void write(std::uint64_t offset, std::uint64_t value) override {
    platform_->write(at_ + offset, value);
  }
  const std::string& name() const noexcept override { return platform_->name(); }
  std::uint64_t window() const noexcept override { return platform_->window() - at_; }
  shared_memory memory() noexcept override {
    return memory_ ? memory_->memory() : platform_->memory();
  }
  unsigned message_addresses() const noexcept override {
    return messages_ ? mapped_messages::addresses : platform_->message_addresses();
  }
  void send(unsigned address) override {
    messages_ ? messages_->send(address) : platform_->send(address);
  }
  // The requests that the port refused: accesses that were not of eight bytes, and hints.
  std::uint64_t refused_requests() { return platform_->read(header_ + refused_behind_header); }

 private:
  std::shared_ptr<device> platform_;
  std::shared_ptr<mapped_memory> memory_;
  std::shared_ptr<mapped_messages> messages_;
  // Offsets of the header and of the unit's registers.
  std::uint64_t header_, at_;
};

}  // namespace tutti::hardware
