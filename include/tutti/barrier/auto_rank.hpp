// SPDX-License-Identifier: Apache-2.0
// An algorithm that tutti::barrier uses by name. Only a program that writes such a name needs the
// compiled library, because only the conversion of a name to algorithm_name refers to it.
// Hosted only: it needs exceptions and the compiled library.
#pragma once

#include <concepts>
#include <string_view>

#include "tutti/barrier/any_class.hpp"
#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/interface_base.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// The compiled library makes it.
class TUTTI_API auto_rank : public interface_base {
 public:
  any_barrier& barrier() const noexcept { return *barrier_; }

  // Returns this thread's rank here, which the thread claims at its first call. The algorithms need
  // a fixed set of participants, so it throws std::invalid_argument for one thread too many.
  virtual rank_t rank_of_this_thread() = 0;

 protected:
  explicit auto_rank(any_barrier& barrier) noexcept : barrier_(&barrier) {}

 private:
  any_barrier* const barrier_;
};

// Throws what make_barrier (any.hpp) throws. The caller deletes the result.
TUTTI_API auto_rank* make_auto_rank(std::string_view algorithm, rank_t participants,
                                    std::string_view wait, patience p);

// The name of an algorithm of the registry or of a provider, or no name.
class algorithm_name {
 public:
  constexpr algorithm_name() noexcept = default;
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view>
  constexpr algorithm_name(const Text& name) noexcept(
      std::is_nothrow_convertible_v<const Text&, std::string_view>)
      : name_(name), make_(&make_auto_rank) {}

  constexpr bool empty() const noexcept { return name_.empty(); }
  constexpr operator std::string_view() const noexcept { return name_; }
  // Makes the algorithm. The name must not be empty.
  auto_rank* make(rank_t participants, std::string_view wait, patience p) const {
    return make_(name_, participants, wait, p);
  }

 private:
  std::string_view name_;
  auto_rank* (*make_)(std::string_view, rank_t, std::string_view, patience) = nullptr;
};

}  // namespace tutti
