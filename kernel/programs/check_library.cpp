// SPDX-License-Identifier: Apache-2.0
// `check-library`: the parts of the C++ library that hosted programs use, on all cores at once.
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernel/platform/policy.hpp"
#include "kernel/programs/group.hpp"
#include "kernel/programs/programs.hpp"

namespace tutti::kernel {

namespace {

thread_local u64 mine_alone = 7;

struct base {
  virtual ~base() = default;
};
struct derived final : base {};

[[gnu::noinline]] void fail_at(u32 depth, std::string what) {
  const std::string text = what + ".";
  if (depth == 0) throw std::runtime_error(text);
  fail_at(depth - 1, text);
}

bool throws_through_frames(u32 me) {
  try {
    fail_at(5, std::to_string(me));
  } catch (const std::exception& e) {
    return e.what() == std::to_string(me) + "......";
  }
  return false;
}

bool refuses_too_much_memory() {
  try {
    ::operator delete(::operator new (std::size_t{1} << 40));
    return false;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

bool keeps_floating_point(u32 me) {
  double sum = 0;
  for (int i = 1; i <= 200; ++i) {
    sum += std::sqrt(static_cast<double>(me + i)) * std::exp(-i / 50.0);
    if (i % 16 == 0) yield();
  }
  double again = 0;
  for (int i = 1; i <= 200; ++i)
    again += std::sqrt(static_cast<double>(me + i)) * std::exp(-i / 50.0);
  return sum == again;
}

bool converts_text() {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, 0.1);
  std::istringstream words("three words here");
  std::string word, all;
  while (words >> word) all += word;
  char printed[64];
  std::snprintf(printed, sizeof printed, "%.3f %d", 2.5, 7);
  return error == std::errc() && std::string(text, end) == "0.1" && all == "threewordshere" &&
         std::strtod("1.5e3", nullptr) == 1500 && std::string(printed) == "2.500 7";
}

const std::vector<int>& made_once(std::atomic<u32>& times) {
  static const std::vector<int> numbers = [&] {
    times.fetch_add(1, relaxed);  // relaxed: a count.
    for (int i = 0; i < 20; ++i) yield();
    return std::vector<int>{1, 2, 3};
  }();
  return numbers;
}

}  // namespace

bool check_library(const char*) {
  checks all;
  std::atomic<u32> failed{0}, times{0}, sum{0};
  std::mutex lock;
  std::map<std::string, u32> cores_by_name;
  run_on_cores(cores(), [&](u32 me) {
    const auto expect = [&](bool holds, const char* what) {
      if (holds) return;
      print("failed on core ", me, ": ", what);
      failed.fetch_add(1, relaxed);  // relaxed: join() orders the counts.
    };
    for (int round = 0; round < 20; ++round) expect(throws_through_frames(me), "exceptions");
    expect(keeps_floating_point(me), "floating point");
    expect(refuses_too_much_memory(), "bad_alloc");
    expect(converts_text(), "texts");
    mine_alone += me;
    yield();
    expect(mine_alone == 7 + me, "thread-local variables");
    const std::unique_ptr<base> object = std::make_unique<derived>();
    expect(dynamic_cast<derived*>(object.get()) != nullptr, "types at run time");
    expect(made_once(times).size() == 3, "static variables");
    for (int i = 0; i < 100; ++i) {
      const std::lock_guard hold(lock);
      ++cores_by_name["core " + std::to_string(me)];
    }
    sum.fetch_add(1, relaxed);
  });
  all.expect(failed.load(relaxed) == 0, failed.load(relaxed), " checks of the C++ library failed");
  all.expect(times.load(relaxed) == 1, "a static variable was made more than once");
  all.expect(cores_by_name.size() == cores() && cores_by_name["core 0"] == 100,
             "a map under a mutex is wrong");
  return all.report("check-library");
}

}  // namespace tutti::kernel
