// SPDX-License-Identifier: Apache-2.0
// The policy under which the explorer runs the shipped machines: small wave numbers, inline
// storage, and one named choice at a time answered wrongly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace tutti::protocol::test {

inline constexpr std::size_t most_participants = 4;

struct watched {
  // The site whose answer is wrong; empty: none. `met` collects the sites that were asked, if it is
  // set.
  inline static std::string_view broken;
  inline static std::set<std::string>* met = nullptr;

  template <class T>
  static T choose(const char* site, T right, T wrong) noexcept {
    if (met != nullptr) met->insert(site);
    if (!broken.empty() && broken == site) return wrong;
    return right;
  }
  // With two bits a wave is never mistaken for its neighbours, and the number of states is finite.
  static constexpr std::uint32_t wave_mask = 3;

  template <class T>
  class slots {
   public:
    explicit slots(std::size_t /*size*/) {}
    T& operator[](std::size_t i) noexcept { return items_[i]; }
    const T& operator[](std::size_t i) const noexcept { return items_[i]; }

   private:
    T items_[most_participants - 1]{};
  };
};

}  // namespace tutti::protocol::test
