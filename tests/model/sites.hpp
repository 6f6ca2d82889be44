// SPDX-License-Identifier: Apache-2.0
// The memory orders that a run has used, by the names of their sites, and the one that is weakened
// in this run.
//
// This file uses no heap, because Relacy owns the heap of an execution.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace tutti::model {

struct site {
  const char* name = nullptr;
  std::memory_order order = std::memory_order_relaxed;
  friend bool operator==(const site& a, const site& b) {
    return a.order == b.order && std::strcmp(a.name, b.name) == 0;
  }
};

// A site with a weaker order than the one written there. Without a name nothing is weakened.
struct mutant {
  site original;
  std::memory_order weakened = std::memory_order_relaxed;
};

class site_log {
 public:
  // Every operation calls this: it records the site and returns the order to use in this run.
  std::memory_order pass(const char* name, std::memory_order order) noexcept {
    if (is_recording_) note({name, order});
    const bool is_weakened =
        mutant_.original.name != nullptr && std::strcmp(mutant_.original.name, name) == 0;
    return is_weakened ? mutant_.weakened : order;
  }

  void record() noexcept {
    count_ = 0;
    is_recording_ = true;
    mutant_ = {};
  }
  void weaken(const mutant& m) noexcept {
    is_recording_ = false;
    mutant_ = m;
  }

  const site* begin() const noexcept { return sites_.data(); }
  const site* end() const noexcept { return sites_.data() + count_; }

 private:
  void note(const site& seen) noexcept {
    for (const site& known : *this)
      if (known == seen) return;
    if (count_ < sites_.size()) sites_[count_++] = seen;
  }

  std::array<site, 64> sites_{};
  std::size_t count_ = 0;
  bool is_recording_ = false;
  mutant mutant_;
};

inline site_log sites;

constexpr std::string_view name_of(std::memory_order order) noexcept {
  switch (order) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_consume: return "consume";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    case std::memory_order_seq_cst: return "seq_cst";
  }
  return "?";
}

}  // namespace tutti::model
