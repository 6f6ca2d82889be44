// SPDX-License-Identifier: Apache-2.0
// Lists of names that a user gives, against those that are known.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
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

// The peers that `names` asks for: all, none, families, or family:name. Each peer has a family and a name, each missing one
// a family and a reason. Throws std::invalid_argument for one that is missing, and with unknown(name) for any other.
template <class Peer, class Missing, class Unknown>
std::vector<Peer> choose_from(const std::vector<Peer>& peers, const std::vector<Missing>& missing,
                              const std::vector<std::string>& names, Unknown unknown) {
  std::vector<Peer> chosen;
  for (const auto& name : names) {
    if (name == "none") continue;
    bool found = false;
    for (const auto& p : peers) {
      if (name != "all" && name != p.family && name != p.family + ":" + p.name) continue;
      found = true;
      chosen.push_back(p);
    }
    if (found) continue;
    for (const auto& m : missing) {
      if (name.substr(0, name.find(':')) == m.family) {
        throw std::invalid_argument(fmt::format("peer {} is not available: {}", name, m.reason));
      }
    }
    throw std::invalid_argument(unknown(name));
  }
  return chosen;
}

}  // namespace tutti::bench
