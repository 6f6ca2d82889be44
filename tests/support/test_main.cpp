// SPDX-License-Identifier: Apache-2.0
// The main() of the test programs. If every case was skipped, it returns 77, which ctest shows as
// skipped.

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  const bool none_ran = all.test_to_run_count() == all.skipped_test_count();
  constexpr int skipped = 77;
  return status == 0 && none_ran && all.skipped_test_count() > 0 ? skipped : status;
}
