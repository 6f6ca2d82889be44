// SPDX-License-Identifier: Apache-2.0
// Puts the functions of fmt that `tutti vcode` calls into its program, so that it does not load
// libfmt and with it the shared C++ library, which takes half a millisecond.
#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace tutti::command {

// Functions whose addresses are taken are compiled here; those of the shared library are then not
// used.
extern std::string (*const inside_vformat)(fmt::string_view, fmt::format_args);
extern void (*const inside_vprint)(std::FILE*, fmt::string_view, fmt::format_args);
std::string (*const inside_vformat)(fmt::string_view, fmt::format_args) = &fmt::vformat;
void (*const inside_vprint)(std::FILE*, fmt::string_view, fmt::format_args) = &fmt::vprint;

}  // namespace tutti::command
