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
