// SPDX-License-Identifier: Apache-2.0
// Checks that only one thread (or fiber) at a time is inside an endpoint. It costs nothing in
// builds without checks.
#pragma once

#include <string>

#include "tutti/platform/config.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

template <class Memory, bool Checks>
class exclusive_use_check {
 public:
  struct visit {
    visit() noexcept {}
    // Not trivial, so that compilers do not report the guard as an unused variable.
    ~visit() {}
  };
  visit enter(rank_t, const call_site<Checks>&) const noexcept { return {}; }
};

template <class Memory>
class exclusive_use_check<Memory, true> {
  using flag = typename Memory::template atomic<bool>;

 public:
  class visit {
   public:
    explicit visit(flag* inside) noexcept : inside_(inside) {}
    ~visit() {
      // relaxed: reports a misuse and orders nothing.
      if (inside_ != nullptr) inside_->store(false, relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    flag* inside_;
  };

  visit enter(rank_t rank, const call_site<true>& where) {
    // relaxed: as above.
    if (!inside_.exchange(true, relaxed)) return visit(&inside_);
    on_misuse("two threads use the endpoint of rank " + std::to_string(rank) + " at the same time",
              where.at);
    return visit(nullptr);
  }

 private:
  flag inside_{false};
};

}  // namespace tutti
