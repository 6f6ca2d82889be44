// SPDX-License-Identifier: Apache-2.0
// How the command fails: one sentence on standard error and one of these exit statuses.
#pragma once

namespace tutti::cli {

inline constexpr int success = 0;
// The machine did not let it, or a peer failed.
inline constexpr int failed = 1;
// An option or a value is wrong.
inline constexpr int wrong_usage = 2;

}  // namespace tutti::cli
