// SPDX-License-Identifier: Apache-2.0
// A series without a check, a calibration or a floor: each round is a call that returns its sample.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "bench/harness/record.hpp"
#include "bench/harness/sweeps.hpp"

namespace tutti::bench {

class timed_series final : public series {
 public:
  // `round` returns ns; `to` outlives the series.
  timed_series(series_record& to, std::function<double()> round)
      : to_(to), round_(std::move(round)) {}

  bool prepare() override { return true; }
  void measure() override {
    ++to_.rounds;
    to_.add({round_()}, std::nullopt, to_.rounds);
  }
  double target_ns() const override { return 0; }
  // Rounds are counted, so that the time is never up.
  void give_up(const std::string&) override {}

 private:
  series_record& to_;
  std::function<double()> round_;
};

}  // namespace tutti::bench
