// SPDX-License-Identifier: Apache-2.0
// Checks that only one thread (or fiber) at a time is inside an endpoint by calls from sources that
// are compiled with checks. Other calls cost nothing.
#pragma once

#include <string>

#include "tutti/platform/config.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

template <class Memory>
class exclusive_use_check {
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

  visit enter(rank_t rank, call_site where) {
    if (!where.checks()) return visit(nullptr);
    // relaxed: as above.
    if (!inside_.exchange(true, relaxed)) return visit(&inside_);
    report(rank, where);
    return visit(nullptr);
  }

 private:
  [[gnu::noinline, gnu::cold]] static void report(rank_t rank, call_site where) {
    on_misuse("two threads use the endpoint of rank " + std::to_string(rank) + " at the same time",
              where.at());
  }

  flag inside_{false};
};

}  // namespace tutti
