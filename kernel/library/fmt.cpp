// SPDX-License-Identifier: Apache-2.0
// The two functions of the library fmt that programs call. Systems have it as a shared library,
// and its headers contain the same code.
#define FMT_HEADER_ONLY 1
#include <fmt/format-inl.h>

namespace {
[[gnu::used]] constexpr std::string (*needed)(fmt::string_view, fmt::format_args) = &fmt::vformat;
[[gnu::used]] constexpr void (*also_needed)(std::FILE*, fmt::string_view,
                                            fmt::format_args) = &fmt::vprint;
}  // namespace
