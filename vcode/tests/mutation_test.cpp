// SPDX-License-Identifier: Apache-2.0
// Mutates programs randomly, from a fixed seed. Each mutant is refused with a position, or it runs
// and ends in any way.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "vcode/language/instructions.hpp"
#include "vcode/tests/random_numbers.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::string> made;
  for (const char* folder : {"conformance", "nesl-compiled"}) {
    for (const auto& each :
         std::filesystem::directory_iterator(std::filesystem::path(TUTTI_TEST_PROGRAMS) / folder)) {
      if (each.path().extension() != ".vcode" || each.file_size() > 6000) continue;
      std::ifstream in(each.path(), std::ios::binary);
      made.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
  }
  return made;
}

class mutator : public random_numbers<std::size_t> {
 public:
  using random_numbers::random_numbers;

  std::string mutate(std::string text, const std::vector<std::string>& others) {
    const std::size_t count = 1 + below(2);
    for (std::size_t i = 0; i < count; ++i) {
      if (text.empty()) text = "FUNC";
      const std::size_t at = below(text.size());
      switch (below(9)) {
        case 0: text[at] = static_cast<char>(below(256)); break;
        case 1: text.erase(at, below(20)); break;
        case 2:
          text.insert(at, " " + std::string(instructions[below(instructions.size())].name) + " ");
          break;
        case 3: text.insert(at, " " + std::to_string(static_cast<int>(below(12)) - 3) + " "); break;
        case 4: {
          const std::string& other = others[below(others.size())];
          const std::size_t from = below(other.size());
          text.insert(at, other.substr(from, below(60)));
          break;
        }
        case 5: swap_lines(text); break;
        default: change_digit(text);
      }
    }
    return text;
  }

 private:
  // The mutant stays a program, with wrong lengths, indices or depths.
  void change_digit(std::string& text) {
    const std::size_t at = text.find_first_of("0123456789", below(text.size()));
    if (at != std::string::npos) text[at] = static_cast<char>('0' + below(10));
  }

  void swap_lines(std::string& text) {
    const std::size_t a = text.find('\n', below(text.size()));
    if (a == std::string::npos) return;
    const std::size_t b = text.find('\n', a + 1);
    if (b == std::string::npos) return;
    const std::string line = text.substr(a, b - a);
    text.erase(a, b - a);
    text.insert(below(text.size() + 1), line);
  }
};

// Programs that use files or other programs, or that may not end, are only compiled.
bool may_run(const std::string& text) {
  for (const char* word : {"SPAWN", "FOPEN", "FWRITE", "WRITE", "CALL", "READ", "FCLOSE"}) {
    if (text.find(word) != std::string::npos) return false;
  }
  return true;
}

TEST(VcodeMutation, BrokenProgramsAreRefusedOrRun) {
  const std::vector<std::string> programs = corpus();
  ASSERT_GT(programs.size(), 200U);
  mutator random(20260101);
  int refused = 0, failed = 0, finished = 0;
  run_options how;
  how.memory = 1 << 22;
  for (int i = 0; i < 40000; ++i) {
    const std::string text = random.mutate(programs[random.below(programs.size())], programs);
    try {
      const program code = compile(text, "x");
      require_no_inputs(code);
      if (!may_run(text)) continue;
      // Defers nearly everything or nothing.
      how.defer_from = i % 2 == 0 ? 1 : 4096;
      run(code, {}, how);
      ++finished;
    } catch (const source_error& e) {
      EXPECT_GE(e.line(), 1U);
      ++refused;
    } catch (const run_error& e) {
      EXPECT_EQ(std::string(e.what()).rfind("x:", 0), 0U);
      ++failed;
    }
  }
  // All three outcomes must occur; otherwise the test covers too little.
  EXPECT_GT(refused, 1000);
  EXPECT_GT(failed, 100);
  EXPECT_GT(finished, 1000);
}

}  // namespace
}  // namespace tutti::vcode
