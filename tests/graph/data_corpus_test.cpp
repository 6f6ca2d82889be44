// SPDX-License-Identifier: Apache-2.0
// Runs the fuzzer's seeds, and the inputs that it once found, with the ordinary compiler.
#include "tests/graph/data_fuzz_one.hpp"
#include "tests/graph/data_graphs.hpp"

namespace tutti::graph::test {
namespace {

TEST(Corpus, IsRefusedOrSound) {
  namespace fs = std::filesystem;
  std::size_t tried = 0;
  for (const char* format : {"auto", "el", "wel", "mtx", "gap", "metis", "spec"}) {
    const fs::path seeds = fs::path(TUTTI_TEST_CORPUS) / format;
    ASSERT_TRUE(fs::is_directory(seeds)) << seeds;
    for (const auto& entry : fs::directory_iterator(seeds)) {
      SCOPED_TRACE(entry.path().string());
      const std::string bytes = tutti::test::bytes_of(entry.path());
      std::string(format) == "spec" ? try_specification(bytes)
                                    : try_load(bytes, format_named(format));
      ++tried;
    }
  }
  EXPECT_GE(tried, 30u);
}

}  // namespace
}  // namespace tutti::graph::test
