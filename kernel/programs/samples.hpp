// SPDX-License-Identifier: Apache-2.0
// Measured values and what a line says of them, by whole numbers alone.
#pragma once

#include "kernel/core/memory.hpp"
#include "kernel/core/print.hpp"

namespace tutti::kernel {

inline u64 square_root(u64 n) noexcept {
  u64 root = 0;
  for (u64 bit = u64{1} << 31; bit != 0; bit >>= 1)
    if ((root + bit) * (root + bit) <= n) root += bit;
  return root;
}

class samples {
 public:
  explicit samples(u64 most) noexcept
      : most_(most), values_(static_cast<u64*>(allocate(most * sizeof(u64)))) {}
  ~samples() { give_back(values_); }
  samples(const samples&) = delete;
  samples& operator=(const samples&) = delete;

  void add(u64 value) noexcept {
    if (count_ < most_) values_[count_++] = value;
  }
  u64 count() const noexcept { return count_; }
  u64 at(u64 i) const noexcept { return values_[i]; }

  u64 mean_in_thousandths() const noexcept {
    u64 sum = 0;
    for (u64 i = 0; i < count_; ++i) sum += values_[i];
    return count_ == 0 ? 0 : sum * 1000 / count_;
  }
  // The standard deviation in thousandths.
  u64 sigma_in_thousandths() const noexcept {
    if (count_ == 0) return 0;
    const u64 mean = mean_in_thousandths();
    u64 sum = 0;
    for (u64 i = 0; i < count_; ++i) {
      const u64 value = values_[i] * 1000;
      // A tenth, so that the squares fit.
      const u64 off = (value > mean ? value - mean : mean - value) / 10;
      sum += off * off;
    }
    return square_root(sum / count_) * 10;
  }
  void sort() noexcept {
    for (u64 gap = count_ / 2; gap > 0; gap /= 2)
      for (u64 i = gap; i < count_; ++i)
        for (u64 j = i; j >= gap && values_[j - gap] > values_[j]; j -= gap) {
          const u64 greater = values_[j - gap];
          values_[j - gap] = values_[j];
          values_[j] = greater;
        }
  }
  // After sort(): the value of which `percent` of the others are no greater.
  u64 percentile(u64 percent) const noexcept {
    return count_ == 0 ? 0 : values_[(count_ - 1) * percent / 100];
  }

 private:
  u64 most_, count_ = 0;
  u64* values_;
};

}  // namespace tutti::kernel
