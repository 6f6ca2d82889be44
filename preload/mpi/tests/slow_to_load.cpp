// SPDX-License-Identifier: Apache-2.0
// A library whose constructor goes through the list of libraries for a while, as one that throws
// exceptions does.
#include <link.h>
#include <unistd.h>

#include <cstddef>

namespace {

[[gnu::constructor]] void go_through_list() {
  for (int i = 0; i < 500; ++i) {
    dl_iterate_phdr([](dl_phdr_info*, std::size_t, void*) { return 0; }, nullptr);
    usleep(1000);
  }
}

}  // namespace
