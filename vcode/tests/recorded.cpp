// SPDX-License-Identifier: Apache-2.0
// Runs programs in this process, each in a folder of its own, and compares the output line by line.
#include "vcode/tests/recorded.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/support/scratch.hpp"
#include "tutti/team/team.hpp"

namespace tutti::vcode::test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

recorded_program load(const fs::path& program) {
  fs::path base = program;
  base.replace_extension();
  const auto beside = [&](const char* extension) { return fs::path(base.string() + extension); };
  recorded_program made;
  made.name = program.parent_path().filename() / base.filename();
  made.text = read(program);
  made.has_output = fs::exists(beside(".out"));
  if (made.has_output) made.output = read(beside(".out"));
  if (fs::exists(beside(".rc"))) made.status = std::stoi(read(beside(".rc")));
  made.has_timers = made.name == "nesl-compiled/nascg_rand" || made.name == "nesltest/nesltest";
  made.checks_error =
      made.status == 0 && fs::exists(beside(".err")) && made.name != "nesl-compiled/nascg_rand";
  if (made.checks_error) made.error = read(beside(".err"));
  return made;
}

// Captures what is written to a stream.
class captured {
 public:
  captured() : stream_(std::tmpfile()) {}
  ~captured() { std::fclose(stream_); }
  captured(const captured&) = delete;
  captured& operator=(const captured&) = delete;
  std::FILE* stream() const { return stream_; }
  // Other processes may have written to the stream too, so it is read from the file.
  std::string text() const {
    std::fflush(stream_);
    std::rewind(stream_);
    std::string made;
    char buffer[4096];
    while (const std::size_t n = fread(buffer, 1, sizeof buffer, stream_)) made.append(buffer, n);
    return made;
  }

 private:
  std::FILE* stream_;
};

// Programs open files under the current folder.
class temporary_folder {
 public:
  temporary_folder() : before_(fs::current_path()) { fs::current_path(folder_.folder()); }
  ~temporary_folder() { fs::current_path(before_); }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

 private:
  const tutti::test::scratch folder_;
  const fs::path before_;
};

// The original's rounding error leaves five correct digits in the result of line_fit at 1e6 points:
// it prints the intercept 0.49901207..., and the true one is 0.499. Blocked sums give 0.4989999994.
double tolerance(const recorded_program& p) {
  return p.name == "nesl-compiled/linefit_1e6" ? 1e-4 : 1e-9;
}

bool is_real(const std::string& word) {
  return word.find('.') != std::string::npos && word.find('e') != std::string::npos;
}

std::string difference(const std::string& line, const std::string& wanted, double allowed) {
  std::istringstream a(line), b(wanted);
  std::string x, y;
  while (true) {
    const bool has_x = static_cast<bool>(a >> x);
    const bool has_y = static_cast<bool>(b >> y);
    if (!has_x && !has_y) return {};
    if (has_x != has_y) return "a different number of elements";
    if (x == y) continue;
    if (!is_real(x) || !is_real(y)) return fmt::format("{} instead of {}", x, y);
    const double left = std::stod(x);
    const double right = std::stod(y);
    if (!(std::abs(left - right) <= allowed * std::max(std::abs(left), std::abs(right)))) {
      return fmt::format("{} instead of {}", x, y);
    }
  }
}

void expect_output(const recorded_program& p, const std::string& output, bool exactly) {
  if (exactly) {
    EXPECT_EQ(output, p.output);
    return;
  }
  std::istringstream a(output), b(p.output);
  std::string line, wanted;
  int number = 0;
  while (std::getline(b, wanted)) {
    ++number;
    ASSERT_TRUE(std::getline(a, line)) << "line " << number << " of the output is missing";
    EXPECT_EQ(difference(line, wanted, tolerance(p)), "") << "in line " << number;
  }
  EXPECT_FALSE(std::getline(a, line)) << "more output than recorded: " << line;
}

}  // namespace

std::vector<recorded_program> recorded_programs(const std::string& folder) {
  std::vector<recorded_program> made;
  for (const auto& each : fs::directory_iterator(fs::path(TUTTI_TEST_PROGRAMS) / folder)) {
    if (each.path().extension() == ".vcode") made.push_back(load(each.path()));
  }
  std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return made;
}

recorded_program recorded(const std::string& name) {
  return load(fs::path(TUTTI_TEST_PROGRAMS) / (name + ".vcode"));
}

bool is_long(const recorded_program& p) {
  static const char* const parts[] = {"_1e6", "_1e7",  "batcher", "jacobi_256", "spmv",
                                      "2e18", "micro", "nascg",   "1e5",        "kshull"};
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](const char* part) { return p.name.find(part) != std::string::npos; });
}

void expect_recorded(const recorded_program& p, run_options how) {
  SCOPED_TRACE(fmt::format("{} on {} ranks, engine {}, barrier '{}'", p.name,
                           how.team != nullptr ? how.team->size() : how.threads,
                           static_cast<int>(how.engine), how.barrier));
  const captured output;
  const captured error;
  const temporary_folder here;
  std::FILE* const nothing = std::fopen("/dev/null", "r");
  how.input = nothing;
  how.output = output.stream();
  how.error = error.stream();
  how.zero_timers = !p.has_timers;
  how.check = how.check || p.name.starts_with("conformance/");
  int status = 0;
  std::string dump;
  try {
    const program code = compile(p.text, p.name);
    require_no_inputs(code);
    const run_result result = run(code, {}, how);
    for (const auto& each : result.stack) dump += to_text(each);
  } catch (const source_error& e) {
    status = 1;
    EXPECT_EQ(std::string(e.what()).rfind(p.name + ":", 0), 0U) << e.what();
  } catch (const run_error& e) {
    status = 1;
    EXPECT_EQ(std::string(e.what()).rfind(p.name + ":", 0), 0U) << e.what();
  }
  std::fclose(nothing);
  EXPECT_EQ(status, p.status);
  if (p.has_output) {
    expect_output(p, output.text() + dump, how.strict && !p.has_timers);
  }
  if (p.checks_error) {
    EXPECT_EQ(error.text(), p.error);
  }
}

}  // namespace tutti::vcode::test
