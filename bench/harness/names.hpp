// SPDX-License-Identifier: Apache-2.0
// Lists of names that a user gives, against those that are known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::bench {

// What `names` asks for out of `known`: all, none, or some, each once. `what` is for the error
// (std::invalid_argument).
std::vector<std::string> choose_names(const std::vector<std::string>& names,
                                      const std::vector<std::string>& known, std::string_view what);

// The wait policies of the registry that are asked for. Throws std::invalid_argument for one that
// is not known or that this machine does not have; `all` leaves those out.
std::vector<std::string> choose_waits(const std::vector<std::string>& names);

std::vector<std::string> wait_names();
// The default and all detectors.
std::vector<std::string> detector_names();

// Whether `name` asks for this peer: all, FAMILY or FAMILY:NAME.
bool is_named(const std::string& name, const std::string& family, const std::string& own_name);

// The summary of an algorithm in the registry; `otherwise` for what chooses one by itself.
std::string summary_of(const std::string& algorithm, std::string_view otherwise);

}  // namespace tutti::bench
