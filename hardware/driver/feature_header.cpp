// SPDX-License-Identifier: Apache-2.0
#include "hardware/driver/feature_header.hpp"

#include <cstdio>

namespace tutti::hardware {

namespace {

// The fields of a header: its type in bits 63:60, the end of the list in bit 40, the distance to
// the next header in bits 39:16.
constexpr std::uint64_t accelerator_type = 1, bytes_of_a_header = 0x18;
constexpr std::uint64_t type_of(std::uint64_t header) { return header >> 60; }
constexpr bool ends_list(std::uint64_t header) { return (header >> 40 & 1) != 0; }
constexpr std::uint64_t to_next(std::uint64_t header) { return header >> 16 & 0xFF'FFFF; }

std::string text_of(const accelerator_id& id) {
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx",
                static_cast<unsigned>(id.high >> 32), static_cast<unsigned>(id.high >> 16 & 0xFFFF),
                static_cast<unsigned>(id.high & 0xFFFF), static_cast<unsigned>(id.low >> 48),
                static_cast<unsigned long long>(id.low & 0xFFFF'FFFF'FFFF));
  return text;
}

}  // namespace

std::uint64_t find_accelerator(device& platform, accelerator_id wanted) {
  std::string others;
  // Distances are positive, so the walk ends with the window.
  for (std::uint64_t at = 0;;) {
    if (platform.window() < bytes_of_a_header || at > platform.window() - bytes_of_a_header)
      fail(platform.name(),
           "its list of feature headers leaves the window at offset " + std::to_string(at));
    const std::uint64_t header = platform.read(at);
    if (header == 0 || header == ~std::uint64_t{0})
      fail(platform.name(), "has no device feature header at offset " + std::to_string(at));
    if (type_of(header) == accelerator_type) {
      const accelerator_id found{platform.read(at + 16), platform.read(at + 8)};
      if (found == wanted) return at;
      others += (others.empty() ? "" : ", ") + text_of(found);
    }
    if (ends_list(header) || to_next(header) == 0) break;
    at += to_next(header);
  }
  fail(platform.name(), "has no accelerator " + text_of(wanted) +
                            (others.empty() ? ", and no other" : "; it has " + others));
}

}  // namespace tutti::hardware
