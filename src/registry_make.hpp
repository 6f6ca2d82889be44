// SPDX-License-Identifier: Apache-2.0
// Makes an algorithm of the registry with one wait policy, as a barrier or as a region. CMake
// writes a file for each policy (from registry_wait.cpp.in), because in one file they would be the
// longest compilation of the library.
#pragma once

#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/registry_waiting.hpp"
#include "tutti/registry.hpp"
#include "tutti/team/region.hpp"

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
  bool set_patience(patience p) noexcept override { return barrier_->set_patience(p); }

  bool is_anonymous() const noexcept override { return anonymous; }
  void arrive_and_wait_without_rank() override {
    if constexpr (anonymous)
      barrier_->arrive_and_wait(any_rank);
    else
      any_barrier::arrive_and_wait_without_rank();
  }
  bool arrive_and_wait_without_rank(deadline until, rank_t& missing) override {
    if constexpr (anonymous)
      return barrier_->arrive_and_wait(any_rank, until, &missing);
    else
      return any_barrier::arrive_and_wait_without_rank(until, missing);
  }

 private:
  static constexpr bool anonymous = requires { Barrier::anonymous; };

  std::unique_ptr<Barrier> barrier_;
};

template <class Algorithm, class Wait>
std::unique_ptr<any_barrier> make_one(rank_t n) {
  using policy = typename Wait::template type<native>;
  using barrier = typename Algorithm::template type<native, policy>;
  return std::make_unique<wrapped<barrier>>(Algorithm::template make<native, policy>(n));
}

template <class Region>
class wrapped_region final : public any_region {
 public:
  explicit wrapped_region(std::unique_ptr<Region> region) : region_(std::move(region)) {}

  void open() override { region_->open(); }
  void await(rank_t rank) override { region_->await(rank); }
  void close(rank_t rank) override { region_->collect(rank); }
  bool set_patience(patience p) noexcept override { return region_->set_patience(p); }

 private:
  std::unique_ptr<Region> region_;
};

template <class Algorithm, class Wait>
std::unique_ptr<any_region> make_one_region(rank_t n) {
  using policy = typename Wait::template type<native>;
  using barrier = typename Algorithm::template type<native, policy>;
  auto made = Algorithm::template make<native, policy>(n);
  if constexpr (requires { made->open(); }) {
    return std::make_unique<wrapped_region<barrier>>(std::move(made));
  } else {
    using region = region_before_barrier<barrier, native, policy>;
    return std::make_unique<wrapped_region<region>>(std::make_unique<region>(std::move(made), n));
  }
}

template <class Wait, class... Algorithm>
std::unique_ptr<any_region> find_and_make_region(std::string_view name, rank_t n,
                                                 std::tuple<Algorithm...>*) {
  std::unique_ptr<any_region> made;
  (void)((Algorithm::info.name == name && (made = make_one_region<Algorithm, Wait>(n), true)) ||
         ...);
  return made;
}

template <class Wait, class... Algorithm>
std::unique_ptr<any_barrier> find_and_make(std::string_view name, rank_t n,
                                           std::tuple<Algorithm...>*) {
  std::unique_ptr<any_barrier> made;
  (void)((Algorithm::info.name == name && (made = make_one<Algorithm, Wait>(n), true)) || ...);
  return made;
}

template <class Wait>
std::unique_ptr<any_barrier> waiting<Wait>::make_barrier(std::string_view algorithm, rank_t n) {
  return find_and_make<Wait>(algorithm, n, static_cast<registry::algorithms*>(nullptr));
}
template <class Wait>
std::unique_ptr<any_region> waiting<Wait>::make_region(std::string_view algorithm, rank_t n) {
  return find_and_make_region<Wait>(algorithm, n, static_cast<registry::algorithms*>(nullptr));
}

}  // namespace tutti::detail
