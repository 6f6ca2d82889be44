// SPDX-License-Identifier: Apache-2.0
// The programs of peers that own their threads and read their settings when they are loaded.
#pragma once

#include <string>
#include <string_view>

#include "bench/harness/worker.hpp"

namespace tutti::bench {

// tutti-peer-<runtime>: below the program's folder in a build tree, in libexec when installed.
// Empty: not there.
std::string find_peer_program(std::string_view runtime);

// Why it is not there.
std::string missing_peer_program(std::string_view runtime);

// `settings` and those that every measured OpenMP runtime needs.
environment openmp_settings(environment settings);

}  // namespace tutti::bench
