// SPDX-License-Identifier: Apache-2.0
// `check-library`: the parts of the C++ library that hosted programs use, on all cores at once.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <limits>
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
  // Otherwise the compiler refuses such sizes.
  volatile std::size_t most = ~std::size_t{0};
  if (std::malloc(most) != nullptr || std::malloc(most / 2 + 2) != nullptr) return false;
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

u32 controls_of_sse() {
  u32 bits;
  asm volatile("stmxcsr %0" : "=m"(bits));
  return bits;
}
void set_controls_of_sse(u32 bits) { asm volatile("ldmxcsr %0" ::"m"(bits)); }

// A thread begins with the usual controls, whatever the thread before it on the core has set.
bool begins_with_usual_floating_point(u32 me) {
  constexpr u32 usual = 0x1F80, towards_zero_and_to_0 = 0xFF80;
  u32 found = 0;
  set_controls_of_sse(towards_zero_and_to_0);
  const auto note = [](void* place) { *static_cast<u32*>(place) = controls_of_sse(); };
  join(create(me, note, &found, "fresh"));
  const bool are_kept = controls_of_sse() == towards_zero_and_to_0;
  set_controls_of_sse(usual);
  return found == usual && are_kept;
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

bool reads_real(const std::string& text, double value, std::size_t end, int error = 0) {
  char* stopped = nullptr;
  errno = 0;
  return std::strtod(text.c_str(), &stopped) == value && stopped == text.c_str() + end &&
         errno == error;
}

// The expected values are those of Linux' C library.
bool reads_real_numbers() {
  const std::string zeros(400, '0');
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return reads_real("-5", -5, 2) && reads_real("+-5", 0, 0) && reads_real("--5", 0, 0) &&
         reads_real("0x-5", 0, 1) && reads_real("0x.8p1", 1, 6) &&
         reads_real("1" + zeros, infinity, 401, ERANGE) &&
         reads_real("-1" + zeros + " e-3", -infinity, 402, ERANGE) &&
         reads_real("1" + zeros + "e-50", infinity, 405, ERANGE) &&
         reads_real("0." + zeros + "1", 0, 403, ERANGE) &&
         reads_real("0." + zeros + "1e401", 1, 407) && reads_real("0xep-2000", 0, 9, ERANGE);
}

bool reads_whole(const char* text, int base, long value, std::ptrdiff_t end, int error = 0) {
  char* stopped = nullptr;
  errno = 0;
  return std::strtol(text, &stopped, base) == value && stopped == text + end && errno == error;
}

bool reads_whole_numbers() {
  constexpr long least = std::numeric_limits<long>::min(), most = std::numeric_limits<long>::max();
  return reads_whole(" -12x", 10, -12, 4) && reads_whole("+-5", 10, 0, 0) &&
         reads_whole("9223372036854775807", 10, most, 19) &&
         reads_whole("9223372036854775808", 10, most, 19, ERANGE) &&
         reads_whole("-9223372036854775808", 10, least, 20) &&
         reads_whole("-99999999999999999999", 10, least, 21, ERANGE) &&
         reads_whole("010", 0, 8, 3) && reads_whole("0x1F", 0, 31, 4) &&
         reads_whole("0xg", 16, 0, 1);
}

// Such a limit is more than 2^64 ticks, and 2^64 microseconds several times.
bool waits_beyond_the_counter(u32 me) {
  std::atomic<u32> word{0};
  thread* const waker = create(
      me,
      [](void* given) {
        // relaxed: the wake comes after it.
        static_cast<std::atomic<u32>*>(given)->store(1, relaxed);
        syscall(SYS_futex, given, FUTEX_WAKE, 1);
      },
      &word, "waker");
  const timespec limit{std::time_t{1} << 58, 0};
  const bool is_woken =
      syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &limit) == 0 || errno == EAGAIN;
  join(waker);
  return is_woken;
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
    expect(begins_with_usual_floating_point(me), "floating point of a new thread");
    expect(refuses_too_much_memory(), "bad_alloc");
    expect(converts_text(), "texts");
    expect(reads_real_numbers(), "strtod");
    expect(reads_whole_numbers(), "strtol");
    expect(waits_beyond_the_counter(me), "a wait of centuries");
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
