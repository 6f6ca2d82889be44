// SPDX-License-Identifier: Apache-2.0
// How the program starts again without this library.
#pragma once

#include <string>

namespace tutti::openmp {

struct preloads {
  // Whether LD_PRELOAD names this library. If it does not, a program that started again would get
  // the library again, and start for ever.
  bool has_own = false;
  // The rest of the list.
  std::string others;
};
preloads read_preloads(const std::string& own_file);

// Becomes the program again, with these preloads.
[[noreturn]] void start_again(char** arguments, const std::string& preloads);

}  // namespace tutti::openmp
