// SPDX-License-Identifier: Apache-2.0
// The barriers that a team uses by name. The compiled library has them for the native platform;
// other platforms have only those that tutti chooses.
// Hosted only: it makes barriers by name.
#pragma once

#include <memory>
#include <string_view>

#include "tutti/barrier/any.hpp"
#include "tutti/export.h"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/team/region.hpp"

namespace tutti::detail {

template <class Memory>
struct named_barriers {
  static constexpr bool exist = false;
  // Tells whether the name lets tutti choose.
  static bool is_tuttis_choice(std::string_view name) noexcept { return name.empty(); }
  // Tells whether regions, too, end by the barrier. A provider's barrier, which may be a device
  // that has no second one, is only for the ranks inside a region.
  static bool ends_regions(std::string_view /*name*/) noexcept { return false; }
  [[noreturn]] static std::unique_ptr<any_barrier> make(std::string_view, rank_t, std::string_view,
                                                        patience) {
    refuse("this platform has no barriers by name");
  }
  [[noreturn]] static std::unique_ptr<any_region> make_region(std::string_view, rank_t,
                                                              std::string_view, patience) {
    refuse("this platform has no barriers by name");
  }
};

template <>
struct TUTTI_API named_barriers<native> {
  static constexpr bool exist = true;
  static bool is_tuttis_choice(std::string_view name) noexcept;
  static bool ends_regions(std::string_view name) noexcept;
  static std::unique_ptr<any_barrier> make(std::string_view algorithm, rank_t participants,
                                           std::string_view wait, patience p) {
    return make_barrier(algorithm, participants, wait, p);
  }
  static std::unique_ptr<any_region> make_region(std::string_view algorithm, rank_t participants,
                                                 std::string_view wait, patience p) {
    return tutti::make_region(algorithm, participants, wait, p);
  }
};

}  // namespace tutti::detail
