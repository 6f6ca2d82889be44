// SPDX-License-Identifier: Apache-2.0
// Rayon's broadcast, in a process of its own, as tutti's programs need no Rust.
#include "bench/contenders/contender.hpp"

namespace tutti::bench {
namespace {

contender opened(const std::string& opener, const std::string& summary) {
  return {.name = opener,
          .summary = summary,
          .process = {.program = "rayon",
                      .does = {operation::region},
                      .settings = {{"TUTTI_RAYON_OPENER", opener}}}};
}

}  // namespace

std::vector<contender> peer_rayon() {
  return {
      opened("inside",
             "Rayon's broadcast, called by a thread of its pool, which yields, then sleeps"),
      opened("outside", "Rayon's broadcast, called by a thread outside its pool, which sleeps")};
}

}  // namespace tutti::bench
