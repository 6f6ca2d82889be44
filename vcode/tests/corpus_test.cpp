// SPDX-License-Identifier: Apache-2.0
// What the fuzzer found worth keeping, without the fuzzer: see fuzz.cpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

TEST(VcodeCorpus, DoesNoHarm) {
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(TUTTI_TEST_CORPUS)) {
    std::ifstream in(each.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), 0);
    ++files;
  }
  EXPECT_GT(files, 100U);
}

}  // namespace
