// SPDX-License-Identifier: Apache-2.0
// Tests with every detector and every wait policy with which waiters give their cores away.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/comm/detectors.hpp"
#include "tutti/comm/communicator.hpp"

namespace tutti::test {

class DetectorAndWait : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  static communicator_options options() {
    communicator_options chosen;
    chosen.detector = std::get<0>(GetParam());
    chosen.wait = std::get<1>(GetParam());
    return chosen;
  }
  // The same with rings that a few messages fill.
  static communicator_options options_with_small_rings() {
    communicator_options chosen = options();
    chosen.ring_bytes = 256;
    chosen.batch_bytes = 64;
    return chosen;
  }
};

inline auto detectors_and_waits() {
  return testing::Combine(testing::ValuesIn(detector_names()),
                          testing::ValuesIn(sharing_wait_names()));
}
inline std::string name_of_both(const testing::TestParamInfo<DetectorAndWait::ParamType>& tested) {
  return std::get<0>(tested.param) + "_" + std::get<1>(tested.param);
}

}  // namespace tutti::test
