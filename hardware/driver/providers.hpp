// SPDX-License-Identifier: Apache-2.0
// Registers units as barriers by name, for tutti::barrier and make_barrier.
//
//  auto unit = std::make_shared<hardware::mapped_device>("/dev/uio0", hardware::window_bytes);
//  hardware::provider harp("harp", hardware::harp_barriers(unit));
//  tutti::barrier sync(28, tutti::barrier_options{.algorithm = "harp"});
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "hardware/driver/device.hpp"
#include "hardware/driver/harp_barrier.hpp"
#include "tutti/barrier/provider.hpp"

namespace tutti::hardware {

// Returns a provider for a counting or mask unit, which has one barrier at a time. Making a barrier
// throws as harp_barrier does, and std::runtime_error while the unit has a barrier.
barrier_provider harp_barriers(std::shared_ptr<device> unit, harp_options with = {});

// Returns a provider for a structure, which has several barriers; rank r is the socket's thread r
// in each. Throws as hbs_structure does; making a barrier throws as hbs_barrier does.
barrier_provider hbs_barriers(std::shared_ptr<device> unit);

// Registers a provider for the lifetime of this object. Throws as add_barrier_provider does.
class provider {
 public:
  provider(std::string name, barrier_provider make) : name_(std::move(name)) {
    add_barrier_provider(name_, std::move(make));
  }
  ~provider() { remove_barrier_provider(name_); }
  provider(const provider&) = delete;
  provider& operator=(const provider&) = delete;

 private:
  std::string name_;
};

}  // namespace tutti::hardware
