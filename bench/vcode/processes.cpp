// SPDX-License-Identifier: Apache-2.0
// Every round runs all contenders of a program one after the other, first free, then beside busy
// processes. Another one begins in every round, because what ran before decides which CPU is warm
// and where the scheduler puts the busy process.
#include "bench/vcode/processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "bench/harness/peer_program.hpp"
#include "bench/harness/statistics.hpp"
#include "cli/end_with_parent.hpp"

extern char** environ;

namespace tutti::bench {
namespace {

constexpr double none = -1;

// The same work by whole-array operations; prints nanoseconds.
constexpr const char* numpy_script = R"(
import sys, time
import numpy as np
def dotp_1e7():
    i = np.arange(10**7, dtype=np.int32)
    return np.dot((i % 100).astype(float), (i % 77).astype(float))
def muladd_1e7():
    i = np.arange(10**7, dtype=np.int32)
    return i * i + i
def primes_1e6():
    flags = np.ones(10**6, dtype=bool)
    for p in range(2, 1000):
        if flags[p]: flags[p * p::p] = False
    return np.flatnonzero(flags)
def quicksort_rand_1e6():
    return np.sort(np.random.default_rng(1).integers(0, 10**9, 10**6, dtype=np.int32))
work = globals()[sys.argv[1]]
begin = time.perf_counter_ns()
work()
print(time.perf_counter_ns() - begin)
)";

struct contender {
  std::string name;
  std::vector<std::string> command;
  // True if the process prints its nanoseconds.
  bool tells = false;
  std::vector<double> free = {};
  std::vector<double> beside = {};

  // What failed once is not run again.
  bool has_failed() const {
    return (!free.empty() && free.back() < 0) || (!beside.empty() && beside.back() < 0);
  }
};

pid_t start(const std::vector<std::string>& command, int output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const auto& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  pid_t made = 0;
  const int failed = posix_spawnp(&made, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error(fmt::format("{} cannot be started", command[0]));
  return made;
}

// Returns the nanoseconds of the process, or those that it printed; none if it failed.
double time_process(const contender& c) {
  int ends[2] = {-1, -1};
  const int silent = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (silent < 0 || pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  const auto begin = std::chrono::steady_clock::now();
  const pid_t process = start(c.command, c.tells ? ends[1] : silent);
  int status = 0;
  waitpid(process, &status, 0);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  close(silent);
  close(ends[1]);
  char text[64] = {};
  const ssize_t length = c.tells ? read(ends[0], text, sizeof text - 1) : 0;
  close(ends[0]);
  if (status != 0) return none;
  if (!c.tells) return took.count();
  return length > 0 ? std::strtod(text, nullptr) : none;
}

// Processes that compute until they are ended, or until this one has ended in whatever way.
class busy_processes {
 public:
  explicit busy_processes(unsigned count) {
    const pid_t parent = getpid();
    for (unsigned i = 0; i < count; ++i) {
      const pid_t made = fork();
      if (made == 0) {
        cli::end_with_parent(parent);
        volatile bool goes_on = true;
        while (goes_on) {
        }
      }
      if (made > 0) list_.push_back(made);
    }
  }
  ~busy_processes() {
    for (const pid_t each : list_) {
      kill(each, SIGKILL);
      waitpid(each, nullptr, 0);
    }
  }
  busy_processes(const busy_processes&) = delete;
  busy_processes& operator=(const busy_processes&) = delete;

 private:
  std::vector<pid_t> list_;
};

std::vector<contender> contenders_for(const std::string& file, const process_plan& plan) {
  const std::string plain = find_peer_program("vcode-plain");
  if (plain.empty()) throw std::runtime_error("tutti-peer-vcode-plain is not there");
  const std::string tutti = std::filesystem::path(plain).parent_path() / "tutti-vcode";
  const std::string name = std::filesystem::path(file).stem();
  return {{"plain", {plain, file}},
          {"tutti 1", {tutti, "vcode", file, "--threads", "1"}},
          {"tutti 2", {tutti, "vcode", file, "--threads", "2"}},
          {"tutti auto", {tutti, "vcode", file}},
          {"loop", {plain, "--loop", name}, true},
          {"NumPy", {plan.python, "-c", numpy_script, name}, true}};
}

// Why an interpreter cannot measure NumPy; empty if it can.
std::string why_no_numpy(const std::string& python) {
  const int silent = open("/dev/null", O_WRONLY | O_CLOEXEC);
  int status = 0;
  try {
    waitpid(start({python, "-c", "import numpy"}, silent), &status, 0);
  } catch (const std::runtime_error& error) {
    close(silent);
    return error.what();
  }
  close(silent);
  // A process that could not become the interpreter ends with 127.
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return python + " cannot be started";
  return status == 0 ? "" : python + " cannot import numpy";
}

double least(const std::vector<double>& samples) {
  double found = none;
  for (const double each : samples) {
    if (each >= 0 && (found < 0 || each < found)) found = each;
  }
  return found;
}

double median(std::vector<double> samples) {
  std::erase_if(samples, [](double each) { return each < 0; });
  if (samples.empty()) return none;
  return median_of(std::move(samples));
}

// The median of the rounds' ratios a / b, and the interval that contains the true median with a
// probability of at least 95 %; with few rounds it is their range, and its probability is said.
std::string paired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] > 0 && b[i] > 0) ratios.push_back(a[i] / b[i]);
  if (ratios.empty()) return "";
  const median_range range = range_of_median(ratios);
  const std::string less =
      range.probability < 0.95 ? fmt::format(", {:.0f} %", 100 * range.probability) : "";
  return fmt::format("{:.2f} ({:.2f} to {:.2f}{})", median_of(ratios), range.low, range.high, less);
}

std::string milliseconds(double ns) { return ns < 0 ? "" : fmt::format("{:.1f}", ns / 1e6); }
std::string ratio(double a, double b) {
  return a < 0 || b <= 0 ? "" : fmt::format("{:.2f}", a / b);
}

// The number of rounds of a program, or a time for them.
class round_limit {
 public:
  round_limit(std::size_t rounds, double seconds)
      : rounds_(rounds), end_(clock::now() + std::chrono::duration<double>(seconds)) {
    is_timed_ = seconds > 0;
  }
  bool allows(std::size_t round) const {
    constexpr std::size_t least = 3;
    return is_timed_ ? round < least || clock::now() < end_ : round < rounds_;
  }

 private:
  using clock = std::chrono::steady_clock;
  std::size_t rounds_;
  std::chrono::time_point<clock, std::chrono::duration<double>> end_;
  bool is_timed_;
};

// One round, of which another contender is the first each time.
void measure_round(std::vector<contender>& all, std::size_t round, unsigned busy) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    contender& each = all[(round + i) % all.size()];
    if (each.has_failed()) continue;
    each.free.push_back(time_process(each));
  }
  if (busy == 0) return;
  const busy_processes others(busy);
  for (std::size_t i = 0; i < all.size(); ++i) {
    contender& each = all[(round + i) % all.size()];
    if (!each.tells && !each.has_failed()) each.beside.push_back(time_process(each));
  }
}

void complain_of_failure(const contender& c) {
  if (!c.has_failed()) return;
  const auto good = std::count_if(c.free.begin(), c.free.end(), [](double ns) { return ns >= 0; });
  if (good > 0) {
    fmt::print(stderr, "{} was measured in {} round{}, then its process failed\n", c.name, good,
               good == 1 ? "" : "s");
  } else if (!c.tells) {  // a loop that a program does not have is no failure
    fmt::print(stderr, "{} is not measured: {} failed\n", c.name, fmt::join(c.command, " "));
  }
}

}  // namespace

std::string measure_processes(const process_plan& plan) {
  const std::string lack = plan.is_form ? "" : why_no_numpy(plan.python);
  if (!lack.empty()) fmt::print(stderr, "NumPy is not measured: {}\n", lack);
  std::string free =
      "| program | rounds | plain | tutti 1 | tutti 2 | tutti auto | loop | NumPy | "
      "plain / tutti 1 | tutti 1 / loop | tutti 1 / tutti 2 | tutti 1 / tutti auto |\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  std::string beside =
      "| program | plain | tutti 1 | tutti 2 | tutti auto | plain / tutti 1 | tutti 1 / tutti 2 | "
      "tutti 1 / tutti auto |\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const auto& file : plan.files) {
    std::vector<contender> all = contenders_for(file, plan);
    // Its column stays empty, as that of a program that it does not have.
    if (!lack.empty()) all.back().free.push_back(none);
    const round_limit limit(plan.rounds, plan.seconds / static_cast<double>(plan.files.size()));
    std::size_t rounds = 0;
    while (!plan.is_form && limit.allows(rounds)) measure_round(all, rounds++, plan.busy);
    const std::string name = std::filesystem::path(file).stem();
    std::vector<double> f, b;
    for (const auto& each : all) {
      complain_of_failure(each);
      f.push_back(least(each.free));
      b.push_back(median(each.beside));
    }
    free +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, rounds,
                    milliseconds(f[0]), milliseconds(f[1]), milliseconds(f[2]), milliseconds(f[3]),
                    milliseconds(f[4]), milliseconds(f[5]), ratio(f[0], f[1]), ratio(f[1], f[4]),
                    paired_ratio(all[1].free, all[2].free), paired_ratio(all[1].free, all[3].free));
    beside += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", name, milliseconds(b[0]),
                          milliseconds(b[1]), milliseconds(b[2]), milliseconds(b[3]),
                          ratio(b[0], b[1]), paired_ratio(all[1].beside, all[2].beside),
                          paired_ratio(all[1].beside, all[3].beside));
  }
  std::string text = "Free, least of all rounds, ms:\n\n" + free;
  if (plan.busy > 0) {
    text += fmt::format("\nBeside {} busy process{}, median of all rounds, ms:\n\n{}", plan.busy,
                        plan.busy == 1 ? "" : "es", beside);
  }
  return text +
         "\nplain: an interpreter that runs one instruction at a time on one thread. loop: one "
         "fused C++ loop; loop and NumPy without the start of their processes, all others with it. "
         "tutti 1 / tutti 2 and tutti 1 / tutti auto: the median of the rounds' ratios, and the "
         "interval in which the true median lies with a probability of 95 %, or of the percentage "
         "beside it.\n";
}

}  // namespace tutti::bench
