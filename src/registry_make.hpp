// SPDX-License-Identifier: Apache-2.0
// Makes an algorithm of the registry with one wait policy. Each policy is compiled in a file of its own
// (registry_WAIT.cpp): together they are the longest compilation of the library.
#pragma once

#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "tutti/registry.hpp"

namespace tutti::detail {

template <class Barrier>
class wrapped final : public any_barrier {
 public:
  explicit wrapped(std::unique_ptr<Barrier> barrier) : barrier_(std::move(barrier)) {}

  void arrive_and_wait(rank_t rank) override { barrier_->arrive_and_wait(rank); }
  bool arrive_and_wait(rank_t rank, deadline until) override {
    return barrier_->arrive_and_wait(rank, until);
  }
  void episodes(rank_t rank, std::uint64_t count) override {
    for (; count > 0; --count) barrier_->arrive_and_wait(rank);
  }
  rank_t participants() const noexcept override { return barrier_->participants(); }

 private:
  std::unique_ptr<Barrier> barrier_;
};

template <class Algorithm, class Wait>
std::unique_ptr<any_barrier> make_one(rank_t n) {
  using policy = typename Wait::template type<native>;
  using barrier = typename Algorithm::template type<native, policy>;
  return std::make_unique<wrapped<barrier>>(Algorithm::template make<native, policy>(n));
}

template <class Wait, class... Algorithm>
std::unique_ptr<any_barrier> find_and_make(std::string_view name, rank_t n,
                                           std::tuple<Algorithm...>*) {
  std::unique_ptr<any_barrier> made;
  (void)((Algorithm::info.name == name && (made = make_one<Algorithm, Wait>(n), true)) || ...);
  return made;
}

// Null if the registry has no algorithm of this name. Defined in registry_WAIT.cpp.
template <class Wait>
std::unique_ptr<any_barrier> make_waiting(std::string_view algorithm, rank_t n);
template <>
std::unique_ptr<any_barrier> make_waiting<registry::adaptive>(std::string_view, rank_t);
template <>
std::unique_ptr<any_barrier> make_waiting<registry::spin>(std::string_view, rank_t);
template <>
std::unique_ptr<any_barrier> make_waiting<registry::yield>(std::string_view, rank_t);
template <>
std::unique_ptr<any_barrier> make_waiting<registry::park>(std::string_view, rank_t);
template <>
std::unique_ptr<any_barrier> make_waiting<registry::monitor>(std::string_view, rank_t);

}  // namespace tutti::detail

// Defines make_waiting for one policy of the registry.
#define TUTTI_DEFINE_MAKE_WAITING(policy)                                                   \
  template <>                                                                               \
  std::unique_ptr<tutti::any_barrier> tutti::detail::make_waiting<tutti::registry::policy>( \
      std::string_view algorithm, tutti::rank_t n) {                                        \
    return find_and_make<registry::policy>(algorithm, n,                                    \
                                           static_cast<registry::algorithms*>(nullptr));    \
  }
