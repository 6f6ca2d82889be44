// SPDX-License-Identifier: Apache-2.0
// Lists of names that a user gives, against those that are known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::bench {

// What `names` asks for out of `known`: all, none, or some, each once. `what` is for the error (std::invalid_argument).
std::vector<std::string> choose_names(const std::vector<std::string>& names,
                                      const std::vector<std::string>& known, std::string_view what);

// Of the registry's wait policies. Throws std::invalid_argument for one that is not known or that this machine does not
// have; `all` leaves those out.
std::vector<std::string> choose_waits(const std::vector<std::string>& names);

std::vector<std::string> wait_names();

}  // namespace tutti::bench
